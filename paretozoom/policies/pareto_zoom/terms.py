"""Which functions and terms the trend of ParetoZoom has on a problem."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR
from paretozoom.kernels.pareto_zoom.functions import POLYNOMIALS
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.problem import Problem


class Terms(NamedTuple):
    """Functions of coordinates, those of contexts first, and products of three of them."""

    functions: list[tuple[int, int]]  # coordinate, and which of its functions; the first is the constant
    of_contexts: int  # how many functions are, the constant included
    factors: list[tuple[int, int, int]]  # of each term, in order


def terms_of(problem: Problem, settings: Settings) -> Terms:
    """The functions of all coordinates, and the terms of the quadratic that the trend is.

    These are the constant, functions up to squares, products of two, and of labels with squares and products of
    numbers. Products are left out where they would be too many, and so is all but the constant. Only
    labels multiply squares.

    >>> from paretozoom import Objective, Problem, Real
    >>> problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a")])
    >>> terms = terms_of(problem, Settings())
    >>> terms.functions[:4], terms.functions[15:17]
    ([(0, 0), (0, 0), (0, 1), (0, 2)], [(1, 0), (1, 1)])
    >>> terms.factors
    [(0, 0, 0), (0, 0, 1), (0, 0, 2), (0, 0, 15), (0, 0, 16), (0, 1, 15)]
    """
    encoding = problem.encoding
    sizes = [abs(value) or len(encoding.arms) for value in encoding.values.tolist()]  # of those that have labels
    functions, of_contexts = [(0, 0)], 1
    numbers = int((encoding.kinds != CATEGORICAL).sum())
    most = int(settings.most_terms)
    cosines = min(int(settings.cosines), int(settings.all_functions) // max(1, numbers) - POLYNOMIALS)
    of_number = POLYNOMIALS + max(1, cosines)
    labels: list[int] = []
    squares: list[int] = []
    simple: list[int] = []
    for j, (kind, size) in enumerate(zip(encoding.kinds.tolist(), sizes, strict=True)):
        if kind == CATEGORICAL and size > settings.most_labels:
            continue
        for which in range(size if kind == CATEGORICAL else of_number):
            family = labels if kind == CATEGORICAL else squares if kind == LINEAR and which == 1 else simple
            if kind == CATEGORICAL or which < POLYNOMIALS:
                family.append(len(functions))
            functions.append((j, which))
        if j < encoding.context:
            of_contexts = len(functions)

    quadratic = sorted(labels + simple + squares)
    if len(quadratic) >= most:
        return Terms([(0, 0)], 1, [(0, 0, 0)])

    def apart(*factors: int) -> bool:
        return len({functions[k][0] for k in factors}) == len(factors)

    singles = [_three(k) for k in [0, *quadratic]]
    pairs = [_three(a, b) for a, b in itertools.combinations(sorted(labels + simple), 2) if apart(a, b)]
    pairs = pairs if len(singles) + len(pairs) <= most else []
    curves = [[k] for k in squares] + [[a, b] for a, b in itertools.combinations(simple, 2) if apart(a, b)]
    triples = [_three(label, *curve) for label in labels for curve in curves]
    triples = triples if pairs and len(singles) + len(pairs) + len(triples) <= most else []
    return Terms(functions, of_contexts, singles + pairs + triples)


def _three(*factors: int) -> tuple[int, int, int]:
    first, second, third = [0, 0, *sorted(factors)][-3:]
    return first, second, third
