"""Smooth ridges along a wave."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.dimensions import Floats, Ints, Objective, Real
from paretozoom.environments.base import BINS, Bools, Task
from paretozoom.kernels.jit import kernel
from paretozoom.problem import Problem

APART = 0.08  # each peak from the crest between them
WIDTH = 0.15
BISECTIONS = 50


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    crest = 0.5 + 0.3 * math.sin(2.0 * math.pi * point[0])
    below = (point[1] - crest + APART) / WIDTH
    above = (point[1] - crest - APART) / WIDTH
    out[0] = 0.9 * math.exp(-below * below) + 0.05
    out[1] = 0.9 * math.exp(-above * above) + 0.05


class SmoothRidges(Task):
    """One number as context, one as arm, two smooth and narrow ridges that wind through them.

    mu_i = 0.9 exp(-((y - a(x) +- 0.08) / 0.15)^2) + 0.05 with a(x) = 0.5 + 0.3 sin(2 pi x), Bernoulli rewards; far
    steeper than Assumption 1 allows. The Pareto set is [a(x) - 0.08, a(x) + 0.08]: between the peaks one objective
    falls while the other rises, outside both fall.

    >>> [(round(low, 9), round(high, 9)) for low, high in SmoothRidges().front([0.0])]
    [(0.42, 0.58)]
    """

    name = "smooth-ridges"
    mean_kernel = _mean
    gap_error = 1e-12

    def __init__(self) -> None:
        super().__init__(
            Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("first"), Objective("second")])
        )

    def _crest(self, points: Floats) -> Floats:
        return np.asarray(0.5 + 0.3 * np.sin(2.0 * np.pi * points[:, 0]))

    def gaps(self, points: Floats) -> Floats:
        """The largest smaller advantage of a Pareto optimal arm: where the two advantages cross, by bisection."""
        own, crest = self.means(points), self._crest(points)
        low, high = crest - APART, crest + APART
        for _ in range(BISECTIONS):
            middle = (low + high) / 2
            advantage = self.means(np.column_stack([points[:, 0], middle])) - own
            falls_short = advantage[:, 0] > advantage[:, 1]  # the first falls and the second rises with the arm
            low, high = np.where(falls_short, middle, low), np.where(falls_short, high, middle)
        advantage = self.means(np.column_stack([points[:, 0], low])) - own
        return np.asarray(np.maximum(0.0, advantage.min(axis=1)))

    def are_optimal(self, points: Floats) -> Bools:
        """Between the peaks."""
        return np.asarray(np.abs(points[:, 1] - self._crest(points)) <= APART)

    def front_intervals(self, points: Floats) -> list[list[tuple[float, float]]]:
        """From peak to peak."""
        return [[(a - APART, a + APART)] for a in self._crest(points).tolist()]

    def bin_of(self, points: Floats, arms: Ints) -> Ints:
        """Six equal parts of the Pareto set."""
        place = (points[:, 1] - self._crest(points) + APART) / (2 * APART)
        bins = np.clip((place * BINS).astype(np.int64), 0, BINS - 1)
        return np.where(self.are_optimal(points), bins, -1)
