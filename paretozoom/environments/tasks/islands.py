"""A front in two pieces, far apart in the arms and in the objectives."""

from __future__ import annotations

import numpy as np

from paretozoom.environments.base import BINS, Bools, Task
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints, Objective, Real

FLOOR = 0.1  # both means, away from the islands
HALF = 0.02  # of the way between an island's two peaks
WIDTH = 0.1  # from a peak to where its slope meets the floor
FIRST, APART, MOVES = 0.13, 0.36, 0.38  # the middle of the first island at context 0, of the second, how far they move
HIGH, LOW = 0.8, 0.4  # above the floor: the peak of an objective on its own island and on the other
SLOPE = 2.0 * HALF / WIDTH  # the part of a peak's height that is lost on the way to the other peak


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    out[0] = out[1] = FLOOR
    for island in range(2):
        middle = FIRST + APART * island + MOVES * point[0]
        for o in range(2):
            peak = middle + HALF * (2 * o - 1)
            height = HIGH if o == island else LOW
            out[o] += height * max(0.0, 1.0 - abs(point[1] - peak) / WIDTH)


class Islands(Task):
    """One number as context, one as arm; all arms but those on two narrow islands have means of 0.1.

    On the first island the first objective reaches 0.9 and the second 0.5, on the other they change places. The two
    objectives peak 0.04 apart on each island, and fall from there to nothing within 0.1; what is between the peaks of
    an island is Pareto optimal. Both islands move with the context.

    >>> [(round(low, 9), round(high, 9)) for low, high in Islands().front([0.5])]
    [(0.3, 0.34), (0.66, 0.7)]
    """

    name = "islands"
    mean_kernel = _mean
    gap_error = 1e-12

    def __init__(self) -> None:
        super().__init__(
            Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("first"), Objective("second")])
        )

    def _middles(self, points: Floats) -> Floats:
        first = FIRST + MOVES * points[:, 0]
        return np.column_stack([first, first + APART])

    # On an island, u of the way from the first peak to the second, the advantages over an arm are straight lines in u:
    # that of the first objective falls, that of the second rises, so the smaller one is largest where they cross, or at
    # an end. No arm of an island is dominated by one of the other: each objective is at most 0.5 on the one and at
    # least 0.1 + 0.8 (1 - 0.4) = 0.58 on the other.

    def gaps(self, points: Floats) -> Floats:
        """The larger of what the two islands offer, each where the two advantages cross."""
        own, best = self.means(points), np.zeros(len(points))
        for heights in ((HIGH, LOW), (LOW, HIGH)):
            first = FLOOR + heights[0] - own[:, 0]
            second = FLOOR + heights[1] * (1.0 - SLOPE) - own[:, 1]
            u = np.clip((first - second) / (SLOPE * (HIGH + LOW)), 0.0, 1.0)
            smaller = np.minimum(first - SLOPE * heights[0] * u, second + SLOPE * heights[1] * u)
            best = np.maximum(best, smaller)
        return np.where(self.are_optimal(points), 0.0, best)

    def are_optimal(self, points: Floats) -> Bools:
        """Between the peaks of an island."""
        return np.asarray((np.abs(points[:, 1:] - self._middles(points)) <= HALF).any(axis=1))

    def front_intervals(self, points: Floats) -> list[list[tuple[float, float]]]:
        """From peak to peak on each island."""
        return [[(middle - HALF, middle + HALF) for middle in both] for both in self._middles(points).tolist()]

    def front_pieces(self, points: Floats) -> tuple[Ints, Floats]:
        """Two for each point."""
        middles = self._middles(points).ravel()
        return 2 * np.arange(len(points) + 1), np.column_stack([middles - HALF, middles + HALF])

    def bin_of(self, points: Floats, arms: Ints) -> Ints:
        """Six equal parts of the Pareto set, three on each island."""
        along = np.clip(points[:, 1:] - self._middles(points) + HALF, 0.0, 2.0 * HALF).sum(axis=1)
        bins = np.clip((along / (4.0 * HALF) * BINS).astype(np.int64), 0, BINS - 1)
        return np.where(self.are_optimal(points), bins, -1)
