"""Fifty items with two features each, and four objectives that pull towards different corners."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.environments.base import Task
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Objective, Real
from paretozoom.similarity import Similarity

ITEMS = 50
TOP = 0.95  # the mean at a peak
SLOPE = 0.75
EDGE = 0.05  # how near the middle of the peaks comes to the sides of the square
SIDE = 0.2  # of the square whose corners are the peaks


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    middle = EDGE + (1.0 - 2.0 * EDGE) * point[0]
    for o in range(4):
        first = middle + SIDE * (o % 2 - 0.5)
        second = 1.0 - middle + SIDE * (o // 2 - 0.5)
        out[o] = max(0.0, TOP - SLOPE * math.hypot(point[1] - first, point[2] - second))


def _features() -> Floats:
    """Places spread evenly over the square: the R-sequence of Roberts (2018), stretched to reach its sides."""
    root = 1.32471795724474602596  # z^3 = z + 1
    places = (0.5 + np.outer(np.arange(ITEMS), [1.0 / root, 1.0 / root**2])) % 1.0
    return np.asarray((places - places.min(axis=0)) / np.ptp(places, axis=0))


class Catalogue(Task):
    """Fifty finite arms with two features each, one number as context, four objectives.

    mu_i = 0.95 - 0.75 |features - peak_i|, at least 0. The peaks are the corners of a square whose middle moves with
    the context from the upper left to the lower right of the features, so the Pareto set is the few items around it;
    truth is by enumeration. Under the task's similarity, the problem's own with a scale, Assumption 1 holds.

    >>> task = Catalogue()
    >>> len(task.front([0.0])), len(task.front([0.5]))
    (3, 8)
    >>> task.lipschitz(similarity=task.similarity) <= 1 + 1e-9
    True
    """

    name = "catalogue"
    mean_kernel = _mean

    def __init__(self, spread: float | None = None) -> None:
        """`spread`: Gaussian noise of that standard deviation instead of Bernoulli rewards."""
        problem = Problem(
            context=[Real("taste")],
            arm=Finite([f"item{k}" for k in range(ITEMS)], features=_features().tolist()),
            objectives=[Objective(f"r{k + 1}", bounded=spread is None) for k in range(4)],
        )
        super().__init__(
            problem,
            noise="bernoulli" if spread is None else "gaussian",
            spread=0.0 if spread is None else spread,
        )

    @property
    def similarity(self) -> Similarity:
        """|mu - mu'| <= 0.75 (|features - features'| + 0.9 sqrt(2) |x - x'|), then Cauchy and Schwarz."""
        steepest = SLOPE * math.hypot(1.0, math.sqrt(2.0) * (1.0 - 2.0 * EDGE))
        return Similarity.of(self.problem, scale=steepest * math.sqrt(self.problem.dim))
