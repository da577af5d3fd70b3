"""What tasks share whose two objectives fall with one slope along shortest ways from a peak each."""

from __future__ import annotations

import numpy as np

from paretozoom.environments.base import BINS, Bools, Task
from paretozoom.environments.shapes.grid import is_line
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints, Objective

TOP = 0.9  # the mean at a peak
# Ends of the front belong to it; 1e-12 forgives the rounding of sums of means.
GUARD = 1e-12


class Cones(Task):
    """mu_i = 0.9 - slope * d(arm, peak_i), where d is the length of a shortest way from arm to arm; exact truth.

    A subclass says how far apart the peaks are in each context, and how much of the Pareto set is below an arm.

    >>> from paretozoom.environments import Devices
    >>> issubclass(Devices, Cones)
    True
    """

    slope: float
    gap_error = 0.0

    def __init__(self, problem: Problem, *, spread: float | None, world: Floats | None = None) -> None:
        super().__init__(
            problem,
            world=world,
            noise="bernoulli" if spread is None else "gaussian",
            spread=0.0 if spread is None else spread,
        )

    def _apart(self, points: Floats) -> Floats:
        """The distance of the two peaks in each point's context."""
        raise NotImplementedError

    def _share_below(self, points: Floats) -> Floats:
        """The share of the Pareto set below each arm: along a line of arms, else in the first objective."""
        raise NotImplementedError

    # By the triangle inequality no arm has mu_1 + mu_2 > best = 2 * 0.9 - slope * d(peak_1, peak_2). The arms on a
    # shortest way from peak to peak have exactly that sum, and along it mu_1 - mu_2 takes every value that it has
    # anywhere. So one of them exceeds a given arm by (best - mu_1 - mu_2) / 2 in both objectives, and as the sum
    # cannot gain more than twice that, none exceeds it by more in both. An arm with the sum `best` is dominated by
    # none, as dominating it would take a greater sum.

    def _short_of_best(self, points: Floats) -> Floats:
        return np.asarray(2.0 * TOP - self.slope * self._apart(points) - self.means(points).sum(axis=1))

    def gaps(self, points: Floats) -> Floats:
        """(best - mu_1 - mu_2) / 2, where best is the largest sum of the two means."""
        return np.asarray(np.maximum(0.0, self._short_of_best(points) / 2.0))

    def are_optimal(self, points: Floats) -> Bools:
        """On a shortest way from peak to peak: mu_1 + mu_2 is as large as it can be."""
        return np.asarray(self._short_of_best(points) <= GUARD)

    def bin_of(self, points: Floats, arms: Ints) -> Ints:
        """Six equal parts of the Pareto set."""
        return self._sixths(points, self._share_below(points))

    def front_bin_of(self, points: Floats, arms: Ints) -> Ints:
        """Six equal parts of the straight line from (0.9, 0.9 - slope * apart) to (0.9 - slope * apart, 0.9)."""
        if is_line(self.problem):
            return self.bin_of(points, arms)  # which the arms between the peaks run through at an even pace
        lost = (TOP - self.means(points)[:, 0]) / (self.slope * self._apart(points))
        return self._sixths(points, 1.0 - lost)

    def _sixths(self, points: Floats, shares: Floats) -> Ints:
        bins = np.clip((shares * BINS).astype(np.int64), 0, BINS - 1)
        return np.where(self.are_optimal(points), bins, -1)


def two_objectives(spread: float | None) -> list[Objective]:
    """The objectives, bounded unless rewards are Gaussian.

    >>> [objective.name for objective in two_objectives(None)]
    ['first', 'second']
    """
    return [Objective("first", bounded=spread is None), Objective("second", bounded=spread is None)]


def corner_area(reach: Floats, wide: Floats, high: Floats) -> Floats:
    """The area of the part of a box `wide` x `high` whose points are within `reach` of one corner, along the sides.

    >>> corner_area(np.array([0.5, 1.0, 3.0]), np.array(1.0), np.array(1.0)).tolist()
    [0.125, 0.5, 1.0]
    """
    beyond = [np.maximum(0.0, reach - cut) ** 2 for cut in (0.0, wide, high, wide + high)]
    return np.asarray((beyond[0] - beyond[1] - beyond[2] + beyond[3]) / 2.0)
