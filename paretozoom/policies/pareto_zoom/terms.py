"""Which functions and terms the fixed forms of ParetoZoom have."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, combinations, islice, product
from typing import NamedTuple

import numpy as np

from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR
from paretozoom.kernels.pareto_zoom.functions import POLYNOMIALS
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints


class Terms(NamedTuple):
    """Functions of coordinates, those of contexts first, and products of three of them."""

    functions: list[tuple[int, int]]  # coordinate, and which of its functions; the first is the constant
    of_contexts: int  # how many functions are, the constant included
    factors: list[tuple[int, int, int]]  # of each term, in order


def terms_of(problem: Problem, settings: Settings) -> Terms:
    """The functions of all coordinates, and the terms of the quadratic that the trend is.

    These are the constant, functions up to squares, products of two, and of labels with squares and products of
    numbers. Where they would be too many, those are left out first that tell arms apart least: only labels multiply
    squares, contexts multiply arms rather than contexts.

    >>> from paretozoom import Objective, Problem, Real
    >>> problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a")])
    >>> terms = terms_of(problem, Settings())
    >>> terms.functions[:4], terms.functions[15:17]
    ([(0, 0), (0, 0), (0, 1), (0, 2)], [(1, 0), (1, 1)])
    >>> terms.factors
    [(0, 0, 0), (0, 0, 15), (0, 0, 16), (0, 0, 1), (0, 1, 15), (0, 0, 2)]
    """
    encoding = problem.encoding
    sizes = [abs(value) or len(encoding.arms) for value in encoding.values.tolist()]  # of those that have labels
    functions, of_contexts = [(0, 0)], 1
    numbers = int((encoding.kinds != CATEGORICAL).sum())
    most = int(settings.most_trend_terms)
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

    def apart(*factors: int) -> bool:
        return len({functions[k][0] for k in factors}) == len(factors)

    def is_of_context(k: int) -> bool:
        return functions[k][0] < encoding.context

    all_simple = sorted(labels + simple)
    of_context, of_arm = ([k for k in all_simple if is_of_context(k) == so] for so in (True, False))
    curves = chain(([k] for k in squares), (pair for pair in combinations(simple, 2) if apart(*pair)))
    groups: list[Iterable[Iterable[int]]] = [  # what tells arms apart comes first
        ([k] for k in [*of_arm, *squares] if not is_of_context(k)),
        ([k] for k in of_context),
        product(of_context, of_arm),
        (pair for pair in combinations(of_arm, 2) if apart(*pair)),
        ([k] for k in squares if is_of_context(k)),
        (pair for pair in combinations(of_context, 2) if apart(*pair)),
        ([label, *curve] for curve in curves for label in labels),
    ]
    factors = [(0, 0, 0)]
    for group in groups:  # of which there may be far more than are taken
        some = list(islice(group, most + 1 - len(factors)))
        if len(factors) + len(some) > most:
            break
        factors += sorted(_three(*of) for of in some)
    return Terms(functions, of_contexts, factors)


def cheapest(cost: Floats, coordinate: Ints, limit: float, room: int) -> Ints:
    """The products of functions of three different coordinates that cost least together, but no more than a limit.

    The constant, the first function, costs nothing, has the coordinate -1, and may be there several times.

    >>> cheapest(np.array([0.0, 1.0, 2.0, 3.0]), np.array([-1, 0, 0, 1]), 4.0, 9).tolist()
    [[0, 0, 0], [0, 0, 1], [0, 0, 2], [0, 0, 3], [0, 1, 3]]
    """
    order = np.argsort(cost, kind="stable")
    order = order[cost[order] <= limit]
    of, price = coordinate[order], cost[order]
    a, b, c = np.ogrid[: len(order), : len(order), : len(order)]
    is_set = ((a < b) | ((a == 0) & (b == 0))) & ((b < c) | ((b == 0) & (c == 0)))
    apart = ((of[a] != of[b]) | (a == 0)) & ((of[b] != of[c]) | (b == 0)) & ((of[a] != of[c]) | (a == 0))
    total = price[a] + price[b] + price[c]
    three = np.argwhere(is_set & apart & (total <= limit))
    least = np.argsort(total[tuple(three.T)], kind="stable")[:room]
    return np.sort(order[three[least]], axis=1)


def _three(*factors: int) -> tuple[int, int, int]:
    first, second, third = [0, 0, *sorted(factors)][-3:]
    return first, second, third


def forms_of(problem: Problem, settings: Settings) -> tuple[list[int], int]:
    """The functions of contexts that forms of finite arms have, the constant first, and how many terms that makes.

    These are lines, waves and labels. Where they are too many, terms are the constant and sums along some directions,
    or the constant alone. There are none if arms are not finite.

    >>> from paretozoom import Finite, Objective, Problem, Real
    >>> problem = Problem(context=[Real("x"), Real("y")], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    >>> functions = terms_of(problem, Settings()).functions
    >>> which, terms = forms_of(problem, Settings())
    >>> [functions[k] for k in which], terms
    ([(0, 0), (0, 0), (1, 0)], 3)
    """
    encoding = problem.encoding
    if len(encoding.arms) == 0:
        return [], 0
    terms = terms_of(problem, settings)
    simple = [0]
    for k, (j, which) in enumerate(terms.functions[1 : terms.of_contexts], 1):
        kind = encoding.kinds[j]
        if kind == CATEGORICAL or which == 0 or (kind != LINEAR and which == 1):
            simple.append(k)
    for size in (len(simple), 1 + int(settings.directions)):
        if size <= len(simple) and len(encoding.arms) * size**2 <= settings.form_room:
            return simple, size
    return [0], 1
