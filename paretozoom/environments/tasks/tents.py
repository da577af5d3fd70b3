"""A family of tasks that satisfy Assumption 1: tents of one slope over moving peaks."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.environments.base import BINS, Bools, Task
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Ints, Objective, Real, number_of
from paretozoom.records import Refused

TOP = 0.9  # the mean at a peak
FIRST_PEAK = 0.15  # of the first objective at context 0
TILT = 0.4  # by how much the peaks move while the context goes from 0 to 1


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    # world: slope, top, tilt, then the peak of each objective at context 0
    for o in range(len(out)):
        peak = world[3 + o] + world[2] * point[0]
        out[o] = world[1] - world[0] * abs(point[1] - peak)


class Tents(Task):
    """One number as context, one as arm, rewards that fall evenly from peaks that move with the context.

    mu_i = 0.9 - slope * |y - peak_i(x)|. All slopes are equal, so the Pareto set is the interval between the
    outermost peaks, and the gap is the slope times the distance to it. With `arms` the arm is one of that many, evenly
    spaced. The default slope is the steepest that keeps Assumption 1 under the problem's own similarity.

    >>> task = Tents(objectives=2)
    >>> task.lipschitz() <= 1, round(task.gap([0.0], [1.0]), 3)
    (True, 0.427)
    >>> Tents(arms=11).front([0.03])
    ['y0.2', 'y0.3', 'y0.4']
    """

    name = "tents"
    mean_kernel = _mean

    def __init__(
        self,
        objectives: int = 2,
        arms: int | None = None,
        width: float = 0.2,
        slope: float | None = None,
        spread: float | None = None,
    ) -> None:
        """`spread`: Gaussian noise of that standard deviation instead of Bernoulli rewards."""
        for field, value in (("objectives", objectives), ("arms", arms)):
            if value is not None and (isinstance(value, bool) or not isinstance(value, (int, np.integer))):
                raise Refused(f"{field}: {value!r} is not an integer")
        for field, given in (("width", width), ("slope", slope), ("spread", spread)):
            if given is not None and number_of(given, field) < 0:
                raise Refused(f"{field}: {given!r} is negative")
        if objectives < 1:
            raise Refused(f"objectives: {objectives!r} is not a positive number of objectives")
        if arms is not None and arms < 2:
            raise Refused(f"arms: {arms!r} is not at least 2")
        if FIRST_PEAK + width + TILT > 1.0:
            raise Refused(
                f"width: {width!r} moves the last peak out of [0, 1], expected at most {1 - FIRST_PEAK - TILT:g}"
            )
        steepest = 1.0 / math.sqrt(2.0 * (1.0 + TILT**2))
        slope = steepest if slope is None else slope
        farthest = max(1.0 - FIRST_PEAK, FIRST_PEAK + width + TILT)
        if slope * farthest > TOP:
            raise Refused(f"slope: {slope!r} makes some means negative, expected at most {TOP / farthest:g}")
        self.peaks = np.linspace(FIRST_PEAK, FIRST_PEAK + width, objectives)
        self.slope = float(slope)
        grid = None if arms is None else np.arange(arms) / (arms - 1)
        problem = Problem(
            context=[Real("x")],
            arm=[Real("y")]
            if grid is None
            else Finite([f"y{v:.4g}" for v in grid], features=[[float(v)] for v in grid]),
            objectives=[Objective(f"r{k + 1}", bounded=spread is None) for k in range(objectives)],
        )
        super().__init__(
            problem,
            world=np.concatenate([[self.slope, TOP, TILT], self.peaks]),
            noise="bernoulli" if spread is None else "gaussian",
            spread=spread or 0.0,
        )

    @property
    def gap_error(self) -> float:
        """0: exact."""
        return 0.0

    def _ends(self, points: Floats) -> tuple[Floats, Floats]:
        shift = TILT * points[:, 0]
        return self.peaks[0] + shift, self.peaks[-1] + shift

    def gaps(self, points: Floats) -> Floats:
        """The slope times the distance to the Pareto set; over a finite set of arms by enumeration."""
        if len(self.problem.encoding.arms):
            return super().gaps(points)
        low, high = self._ends(points)
        return np.asarray(self.slope * np.maximum(0.0, np.maximum(low - points[:, 1], points[:, 1] - high)))

    def are_optimal(self, points: Floats) -> Bools:
        """Between the outermost peaks; over a finite set of arms by enumeration."""
        if len(self.problem.encoding.arms):
            return super().are_optimal(points)
        low, high = self._ends(points)
        return np.asarray((points[:, 1] >= low) & (points[:, 1] <= high))

    def front_intervals(self, points: Floats) -> list[list[tuple[float, float]]]:
        """From the lowest to the highest peak."""
        low, high = self._ends(points)
        return [[(float(a), float(b))] for a, b in zip(low, high, strict=True)]

    def bin_of(self, points: Floats, arms: Ints) -> Ints:
        """Six equal parts of the Pareto set, or the finite arm."""
        if len(self.problem.encoding.arms):
            return super().bin_of(points, arms)
        low, high = self._ends(points)
        place = (points[:, 1] - low) / np.maximum(high - low, 1e-300)
        bins = np.clip((place * BINS).astype(np.int64), 0, BINS - 1)
        return np.where(self.are_optimal(points), bins, -1)
