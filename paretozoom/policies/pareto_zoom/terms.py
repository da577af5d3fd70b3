"""Which terms trend and smooth estimate of ParetoZoom have, and how much there is of each, by regression."""

from __future__ import annotations

import itertools
import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR
from paretozoom.kernels.pareto_zoom.functions import POLYNOMIALS
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints

if TYPE_CHECKING:
    from paretozoom.policies.pareto_zoom.space import Sites, Space


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

    pairs = [(a, b) for a, b in itertools.combinations(sorted(labels + simple), 2) if apart(a, b)]
    curves = [[k] for k in squares] + [[a, b] for a, b in itertools.combinations(simple, 2) if apart(a, b)]
    groups = [  # what tells arms apart comes first
        [(k,) for k in sorted(labels + simple + squares) if not is_of_context(k)],
        [(k,) for k in sorted(labels + simple) if is_of_context(k)],
        [pair for pair in pairs if is_of_context(pair[0]) and not is_of_context(pair[1])],
        [pair for pair in pairs if not is_of_context(pair[0])],
        [(k,) for k in squares if is_of_context(k)],
        [pair for pair in pairs if is_of_context(pair[1])],
        [(label, *curve) for label in labels for curve in curves],
    ]
    factors = [(0, 0, 0)]
    for group in groups:
        if len(factors) + len(group) > most:
            break
        factors += sorted(_three(*some) for some in group)
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


def scaled(gram: Floats, v: Floats) -> tuple[Floats, Floats]:
    """The inverse of C, given the sum of phi phi', with roots of v on both sides; and these, which are of all sizes."""
    root = np.sqrt(v)
    return np.eye(len(v)) + np.outer(root, root) * gram, root


def posterior(gram: Floats, right: Floats, v: Floats) -> tuple[Floats, Floats]:
    """w and C, given the sums of phi phi' and phi r."""
    inverse, root = scaled(gram, v)
    return root * np.linalg.solve(inverse, root * right), np.outer(root, root) * np.linalg.inv(inverse)


def log_likelihood(gram: Floats, right: Floats, n: float, Q: float, v: Floats) -> float:
    """How likely n rewards are, but for a constant, with the noise that makes them likeliest."""
    inverse, root = scaled(gram, v)
    missed = Q - float(root * right @ np.linalg.solve(inverse, root * right))
    return float(-0.5 * np.linalg.slogdet(inverse)[1] - 0.5 * n * math.log(max(missed, 1e-12 * Q, 1e-300) / n))


class Fixed:
    """r = w.phi(z) + noise, where w is normal beforehand with variances v sigma2; w and C of each objective."""

    def __init__(self, space: Space, terms: int) -> None:
        self.space, self.s, self.factors = space, space.settings, np.zeros((0, 3), np.int64)
        self.w, self.C = [np.zeros(terms)] * space.d, [np.zeros((terms, terms))] * space.d

    def predict(self, z: Floats) -> tuple[Floats, Floats]:
        """Means, and squared standard errors beside the noise, of rows of points: (d, rows) each."""
        phi, n = self.space.phi(z, self.factors), len(self.factors)
        variances = [((phi @ C[:n, :n]) * phi).sum(axis=1) for C in self.C]
        return np.array([phi @ w[:n] for w in self.w]), np.array(variances)

    def sums(self, sites: Sites, o: int) -> tuple[Floats, Floats, float, float]:
        """What a posterior takes, each reward in the middle of its site."""
        phi, (n, S, Q) = self.space.phi(self.space.middles(sites.digits), self.factors), sites.sums[:, o]
        return phi.T @ (n[:, None] * phi), phi.T @ S, n.sum(), Q.sum()


def forms_of(problem: Problem, settings: Settings) -> list[int]:
    """The functions of contexts that forms of finite arms have, the constant first: lines, waves, labels.

    None if arms are not finite, the constant alone if all would be too many.

    >>> from paretozoom import Finite, Objective, Problem, Real
    >>> problem = Problem(context=[Real("x"), Real("y")], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    >>> functions = terms_of(problem, Settings()).functions
    >>> [functions[k] for k in forms_of(problem, Settings())]
    [(0, 0), (0, 0), (1, 0)]
    """
    encoding = problem.encoding
    if len(encoding.arms) == 0:
        return []
    terms = terms_of(problem, settings)
    simple = [0]
    for k, (j, which) in enumerate(terms.functions[1 : terms.of_contexts], 1):
        kind = encoding.kinds[j]
        if kind == CATEGORICAL or which == 0 or (kind != LINEAR and which == 1):
            simple.append(k)
    return simple if len(encoding.arms) * len(simple) ** 2 <= settings.form_room else [0]
