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
    raw: int  # how many functions of coordinates of contexts there are, the constant included
    of_contexts: int  # and those of axes
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
    functions, raw, dim = [(0, 0)], 1, len(sizes)
    most = int(settings.most_trend_terms)
    is_number = encoding.kinds != CATEGORICAL
    narrow = int(is_number[: encoding.context].sum()) <= settings.directions
    numbers = int(is_number[0 if narrow else encoding.context :].sum())  # that have cosines
    cosines = max(1, min(int(settings.cosines), int(settings.all_functions) // max(1, numbers) - POLYNOMIALS))
    labels: list[int] = []
    squares: list[int] = []
    simple: list[int] = []
    for j, (kind, size) in enumerate(zip(encoding.kinds.tolist(), sizes, strict=True)):
        if j == encoding.context:
            raw, lines = len(functions), sum(functions[k][0] < j for k in labels + simple)
            axes = int(settings.axes) if lines > settings.directions else 0
            functions += [(dim + k, POLYNOMIALS + which) for k in range(axes) for which in range(cosines)]
            of_contexts = len(functions)
        if kind == CATEGORICAL and size > settings.most_labels:
            continue
        of_number = POLYNOMIALS + (cosines if narrow or j >= encoding.context or kind != LINEAR else 0)
        for which in range(size if kind == CATEGORICAL else of_number):
            family = labels if kind == CATEGORICAL else squares if kind == LINEAR and which == 1 else simple
            if kind == CATEGORICAL or which < POLYNOMIALS:
                family.append(len(functions))
            functions.append((j, which))

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
    return Terms(functions, raw, of_contexts, factors)


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


def simple_of(problem: Problem, terms: Terms) -> tuple[list[int], list[int]]:
    """Simple functions of contexts, and of arms, the constant first: lines, first waves, labels; of arms squares, too.

    >>> from paretozoom import Objective, Problem, Real
    >>> problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])
    >>> terms = terms_of(problem, Settings())
    >>> of_contexts, of_arms = simple_of(problem, terms)
    >>> [terms.functions[k] for k in of_contexts[1:]], [terms.functions[k] for k in of_arms[1:]]
    ([(0, 0)], [(1, 0), (1, 1)])
    """
    kinds = problem.encoding.kinds

    def first(start: int, end: int, square: bool) -> list[int]:
        some = enumerate(terms.functions[start:end], start)
        return [k for k, (j, which) in some if kinds[j] == CATEGORICAL or which <= int(square or kinds[j] != LINEAR)]

    return [0, *first(1, terms.raw, False)], [0, *first(terms.of_contexts, len(terms.functions), True)]


def form_terms_of(arms: int, simple: int, settings: Settings) -> int:
    """How many terms forms of finite arms have: the simple functions of contexts, or where these are too many the
    constant and sums along some directions, or the constant alone. There are none if arms are not finite.

    >>> form_terms_of(2, 3, Settings()), form_terms_of(10, 385, Settings()), form_terms_of(0, 3, Settings())
    (3, 9, 0)
    """
    if arms == 0:
        return 0
    sizes = [size for size in (simple, 1 + int(settings.directions)) if size <= simple]
    return next((size for size in sizes if arms * size**2 <= settings.form_room), 1)
