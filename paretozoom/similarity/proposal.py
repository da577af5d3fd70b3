"""A similarity that rewards bear out, and the noise they have: what PCZ takes instead of its defaults."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretozoom.findings import Finding
from paretozoom.findings.causes import Causes
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats
from paretozoom.similarity.similarity import Similarity, names_of

PAIRS = 1 << 16  # of points, for mean distances
SMALL = 0.01  # of all pairs: how many are closer than the radius of balls that are compared
STEEP = 2.0  # times as many points in a ball as proposed: from there on it is said
FLAT = 1.25  # times as fast as allowed, for sure: the same
LEAST_WEIGHT = 0.01  # beside the largest: what hardly matters on the whole may still matter somewhere
DIGITS = 2  # of proposed numbers


def weighted(problem: Problem, causes: list[Causes], point: Floats) -> Similarity | None:
    """A similarity by how fast rewards change along each coordinate, of scale 1; None if nothing is known of that.

    Weights of norm 2 are squares of slopes, root mean squares over the space: of the objective that changes fastest,
    and of one standard error more.

    >>> from paretozoom import Objective, Real
    >>> task = Problem([Real("x"), Real("z")], [Real("y")], [Objective("r")])
    >>> causes = [Causes("r", 900, 0.2, 0, 0, 0, 1, {"x": 0, "z": 0.1, "y": 0.2}, dict.fromkeys("xzy", 0.001), 1, 1, 1)]
    >>> found = weighted(task, causes, np.random.default_rng(1).random((5000, 3)))
    >>> [round(float(weight), 2) for weight in found.weights]
    [0.01, 0.49, 1.0]
    """
    square = _mean_gaps(problem, point)
    slopes = {
        name: max(
            (2 * cause.variance * max(0.0, cause.coordinates[name] + cause.errors[name]) / gap for cause in causes),
            default=0.0,
        )
        for name, gap in square.items()
        if gap > 0
    }
    most = max(slopes.values(), default=0.0)
    if most <= 0:
        return None
    weights = {name: rounded(max(LEAST_WEIGHT, slope / most)) for name, slope in slopes.items()}
    return Similarity.of(problem, weights=[weights.get(name, LEAST_WEIGHT) for name in names_of(problem)])


def proposed(
    problem: Problem, given: Similarity, better: Similarity, causes: list[Causes], low: float, point: Floats
) -> Finding | None:
    """What is wrong with a similarity beside a better one, if rewards change at least `low` times as fast as given."""
    rng = np.random.default_rng(0)
    a, b = point[rng.integers(len(point), size=(2, PAIRS))]
    apart = better.uncut(a, b)
    more = SMALL * PAIRS / (1 + int((given.uncut(a, b) <= np.quantile(apart, SMALL)).sum()))
    noise = rounded(max(cause.noise for cause in causes))
    weights = dict(zip(names_of(problem), better.weights.tolist(), strict=True))
    similarity: dict[str, Any] = {"scale": better.scale, "weights": weights}
    values = {"similarity": similarity, "noise": noise}
    advice = f"Try PCZ(..., similarity={similarity!r}, noise={noise!r})."
    if low >= FLAT:
        text = f"the similarity is too flat: rewards change at least {low:.2g} times as fast as it says."
        return Finding("flat-similarity", None, low, text, advice, values)
    if more >= STEEP:
        text = (
            "the similarity is too steep: by weights and a scale that rewards bear out, a small ball holds "
            f"{more:.2g} times as many points."
        )
        return Finding("steep-similarity", None, more, text, advice, values)
    return None


def _mean_gaps(problem: Problem, point: Floats) -> dict[str, float]:
    """The mean squared gap of two random points along each dimension; along all of a finite arm together."""
    plain = Similarity.of(problem)
    rng = np.random.default_rng(0)
    a, b = point[rng.integers(len(point), size=(2, PAIRS))]
    names, gaps = names_of(problem), []
    for owner in range(len(names)):
        own = np.flatnonzero(plain.owners == owner)
        gaps.append(plain.part_of(a[:, own], b[:, own], own).mean() * plain.shares[own[0]] / plain.factors[own[0]])
    return {name: float(sum(gap for gap, known in zip(gaps, names, strict=True) if known == name)) for name in names}


def rounded(number: float) -> float:
    """A number with two digits, upwards.

    >>> rounded(0.1234), rounded(5.61)
    (0.13, 5.7)
    """
    unit = 10.0 ** (math.floor(math.log10(number)) - DIGITS + 1)
    return float(f"{math.ceil(number / unit - 1e-9) * unit:.{DIGITS}g}")
