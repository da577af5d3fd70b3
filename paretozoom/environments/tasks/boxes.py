"""Three numbers as context, two as arm: the Pareto set is a box that moves over the arms."""

from __future__ import annotations

import numpy as np

from paretozoom.environments.shapes.cones import TOP, Cones, corner_area, two_objectives
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Real
from paretozoom.similarity import Similarity

SLOPE = 0.45
SIDE = 0.2  # of the box
LEADS, SHIFTS = 0.85, 0.15  # how much x1 moves the box along both coordinates, and x2 and x3 along one each


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    left = (1.0 - SIDE) * (LEADS * point[0] + SHIFTS * point[1])
    low = (1.0 - SIDE) * (LEADS * (1.0 - point[0]) + SHIFTS * point[2])
    out[0] = TOP - SLOPE * (abs(point[3] - left) + abs(point[4] - low))
    out[1] = TOP - SLOPE * (abs(point[3] - left - SIDE) + abs(point[4] - low - SIDE))


class Boxes(Cones):
    """Contexts of three numbers, arms of two; mu_i = 0.9 - 0.45 (|y1 - peak_i1| + |y2 - peak_i2|).

    The peaks are two opposite corners of a square box that moves with the context. Where distances are measured along
    the sides, every arm in the box is on a shortest way between the peaks: the box is the Pareto set, and the gap of
    another arm is 0.45 times its distance from the box. The task's similarity adds up the gaps of the coordinates,
    each with its own weight; under it Assumption 1 holds.

    >>> task = Boxes()
    >>> round(task.gap([0.0, 0.0, 0.5], [0.5, 0.5]), 6), task.optimal([0.5, 0.5, 0.5], [0.4, 0.5])
    (0.243, True)
    >>> task.lipschitz(similarity=task.similarity) <= 1 + 1e-9
    True
    """

    name = "boxes"
    mean_kernel = _mean
    slope = SLOPE

    def __init__(self, spread: float | None = None) -> None:
        """`spread`: Gaussian noise of that standard deviation instead of Bernoulli rewards."""
        problem = Problem(
            context=[Real("x1"), Real("x2"), Real("x3")],
            arm=[Real("y1"), Real("y2")],
            objectives=two_objectives(spread),
        )
        super().__init__(problem, spread=spread)

    @property
    def similarity(self) -> Similarity:
        """How fast the means change with each coordinate alone, added up."""
        reach = 1.0 - SIDE
        weights = {"x1": 2.0 * reach * LEADS, "x2": reach * SHIFTS, "x3": reach * SHIFTS, "y1": 1.0, "y2": 1.0}
        return Similarity.of(self.problem, norm=1, weights=weights, scale=SLOPE * sum(weights.values()))

    def _apart(self, points: Floats) -> Floats:
        return np.full(len(points), 2.0 * SIDE)

    def _share_below(self, points: Floats) -> Floats:
        """What is farther from the first peak."""
        away = (TOP - self.means(points)[:, 0]) / SLOPE
        return 1.0 - corner_area(away, np.array(SIDE), np.array(SIDE)) / SIDE**2
