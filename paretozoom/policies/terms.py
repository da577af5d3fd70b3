"""Which functions and terms the trend of ParetoZoom has on a problem."""

from __future__ import annotations

import itertools
from typing import NamedTuple

from paretozoom.kernels.kinds import CATEGORICAL, LINEAR
from paretozoom.problem import Problem

MOST_LABELS = 16  # of a coordinate, for the trend to tell them apart
MOST_TERMS = 128


class Terms(NamedTuple):
    """Functions of coordinates, those of contexts first, and products of two of them."""

    functions: list[tuple[int, int]]  # coordinate, and which of its functions; the first is the constant
    of_contexts: int  # how many functions are, the constant included
    factors: list[tuple[int, int]]  # of each term, the one of lower number first


def terms_of(problem: Problem) -> Terms:
    """The constant, all functions, and products of those of two coordinates but for squares, unless they are too many.

    >>> from paretozoom import Objective, Problem, Real
    >>> terms = terms_of(Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a")]))
    >>> terms.functions, terms.factors
    ([(0, 0), (0, 0), (0, 1), (1, 0), (1, 1)], [(0, 0), (0, 1), (0, 2), (0, 3), (0, 4), (1, 3)])
    """
    encoding = problem.encoding
    labels = [abs(value) or len(encoding.arms) for value in encoding.values.tolist()]  # of those that have labels
    functions, simple, of_contexts = [(0, 0)], [], 1
    for j, (kind, count) in enumerate(zip(encoding.kinds.tolist(), labels, strict=True)):
        if kind == CATEGORICAL and count > MOST_LABELS:
            continue
        for which in range(count if kind == CATEGORICAL else 2):
            if kind != LINEAR or which == 0:
                simple.append(len(functions))
            functions.append((j, which))
        if j < encoding.context:
            of_contexts = len(functions)
    products = [(a, b) for a, b in itertools.combinations(simple, 2) if functions[a][0] != functions[b][0]]
    if len(functions) + len(products) > MOST_TERMS:
        products = []
    return Terms(functions, of_contexts, [(0, k) for k in range(len(functions))] + products)
