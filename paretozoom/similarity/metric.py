"""Is it a metric? Samples of a similarity, and what they contradict."""

from __future__ import annotations

import inspect
import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np

from paretozoom.kernels.core.kinds import FUNCTION, MATRIX
from paretozoom.problem import Problem, random_points, same_encoding
from paretozoom.problem.dimensions import Floats
from paretozoom.records import Refused
from paretozoom.similarity import Similarity

TOLERANCE = 1e-9
MOST_WAYS = 300  # pairs of a matrix by which all detours are tried


def check_similarity(problem: Problem, similarity: Similarity, *, samples: int = 1000, seed: int = 0) -> None:
    """Refuse a similarity that is not a metric of diameter at most 1 (before its scale), naming points that show it.

    Of a matrix every entry is looked at, and the ways by up to 300 pairs; otherwise random triples of points, half of
    them with the third between the other two. Policies do this with every matrix and function they are given.

    >>> from paretozoom import Objective, Real
    >>> task = Problem(context=[], arm=[Real("y")], objectives=[Objective("r")])
    >>> check_similarity(task, Similarity.of(task, norm=1, scale=9))
    >>> check_similarity(task, Similarity.of(task, function=lambda a, b: 2 * abs(a[0] - b[0])))
    Traceback (most recent call last):
    paretozoom.records.Refused: similarity: D({'y': 0.63696}, {'y': 0.013008}) = 1.24791, expected at most 1
    """
    encoding = problem.encoding
    if not isinstance(similarity, Similarity) or not same_encoding(similarity.encoding, encoding):
        raise Refused("similarity: expected a Similarity of this problem")
    if similarity.matrix is not None:
        _check_triples(problem, similarity, *_suspects(similarity))
        return
    rng = np.random.default_rng(seed)
    a, b, c = (random_points(encoding, samples, rng) for _ in range(3))
    continuous = encoding.values == 0
    if len(encoding.arms):
        continuous[encoding.context :] = False
    on_the_way = np.ix_(np.arange(samples) % 2 == 0, continuous)
    share = rng.random((samples, 1))
    c[on_the_way] = (share * a + (1 - share) * b)[on_the_way]
    _check_triples(problem, similarity, a, b, c)


def _suspects(similarity: Similarity) -> tuple[Floats, Floats, Floats]:
    """Of a matrix, triples of points that hold every kind of fault it has."""
    assert similarity.matrix is not None
    matrix, encoding = similarity.matrix, similarity.encoding
    n = len(matrix)
    wrong = (matrix < 0) | (np.abs(matrix - matrix.T) > TOLERANCE) | (matrix > 1 + TOLERANCE) | (matrix == 0)
    wrong &= ~np.eye(n, dtype=bool)
    np.fill_diagonal(wrong, np.abs(np.diag(matrix)) > TOLERANCE)
    triples = [(a, b, b) for a, b in np.argwhere(wrong)[:10]]
    ways = np.arange(n) if n <= MOST_WAYS else np.random.default_rng(0).choice(n, MOST_WAYS, replace=False)
    for c in ways:  # the way by c
        longer = np.argwhere(matrix > matrix[:, c, None] + matrix[None, c, :] + TOLERANCE)
        triples += [(a, b, c) for a, b in longer[:1]]
    contexts = [
        np.arange(-v, dtype=float) if v < 0 else np.arange(v) / (v - 1) for v in encoding.values[: encoding.context]
    ]
    points = np.array([[*x, *arm] for x in itertools.product(*contexts) for arm in encoding.arms])
    chosen = np.array(triples or [(0, n - 1, 0)])
    return points[chosen[:, 0]], points[chosen[:, 1]], points[chosen[:, 2]]


def _check_triples(problem: Problem, similarity: Similarity, a: Floats, b: Floats, c: Floats) -> None:
    ways = {"aa": (a, a), "ab": (a, b), "ba": (b, a), "ac": (a, c), "bc": (b, c)}
    d = {way: similarity.uncut(*ends) / similarity.scale for way, ends in ways.items()}

    def refuse_where(wrong: Any, what: str) -> None:
        for k in np.flatnonzero(wrong)[:1]:
            points = {name: _shown(problem, many[k]) for name, many in (("a", a), ("b", b), ("c", c))}
            raise Refused("similarity: " + what.format(**points, **{way: many[k] for way, many in d.items()}))

    refuse_where(~np.isfinite(d["ab"]), "D({a}, {b}) = {ab} is not a finite number")
    refuse_where(d["ab"] < 0, "D({a}, {b}) = {ab:.6g} is negative")
    refuse_where(np.abs(d["aa"]) > TOLERANCE, "D({a}, {a}) = {aa:.6g}, expected 0")
    refuse_where((d["ab"] == 0) & (a != b).any(axis=1), "D({a}, {b}) = 0, though these differ")
    refuse_where(np.abs(d["ab"] - d["ba"]) > TOLERANCE, "D({a}, {b}) = {ab:.6g}, but {ba:.6g} the other way round")
    refuse_where(d["ab"] > 1 + TOLERANCE, "D({a}, {b}) = {ab:.6g}, expected at most 1")
    detour = "D({a}, {b}) = {ab:.6g} is longer than the way by {c}, {ac:.6g} + {bc:.6g}"
    refuse_where(d["ab"] > d["ac"] + d["bc"] + TOLERANCE, detour)


def _shown(problem: Problem, point: Floats) -> str:
    """A point in the user's units."""
    encoding = problem.encoding
    same = np.flatnonzero((encoding.arms == point[encoding.context :]).all(axis=1))
    arm = problem.decode_arm(int(same[0]) if len(same) else -1, point)
    parts = [part for part in (problem.decode_context(point), arm) if part != {}]
    return ", ".join(str(_rounded(part)) for part in parts)


def _rounded(part: Any) -> Any:
    if isinstance(part, dict):
        return {name: _rounded(value) for name, value in part.items()}
    return float(f"{part:.5g}") if isinstance(part, float) else part


def checked_similarity(problem: Problem, similarity: Any) -> Similarity:
    """A similarity of the problem, whole or by its parameters; None stands for the problem's own."""
    if similarity is None:
        return Similarity.of(problem)
    if isinstance(similarity, Mapping):
        taken = [name for name in inspect.signature(Similarity.of).parameters if name != "problem"]
        unknown = [name for name in similarity if name not in taken]
        if unknown:
            raise Refused(f"similarity: {unknown[0]!r} is not a parameter of a similarity, which takes {taken!r}")
        similarity = Similarity.of(problem, **similarity)
    if not isinstance(similarity, Similarity):
        raise Refused(
            f"similarity: {similarity!r} given, expected a Similarity or a mapping of its arguments; a function "
            'goes in as {"function": f}'
        )
    if not same_encoding(similarity.encoding, problem.encoding):
        raise Refused("similarity: it is one of another problem")
    if similarity.kernel_norm in (MATRIX, FUNCTION):
        check_similarity(problem, similarity)
    return similarity
