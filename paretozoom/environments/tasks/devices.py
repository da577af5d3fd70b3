"""A category and a number as context: what is best moves with the load, differently on each kind of device."""

from __future__ import annotations

import numpy as np

from paretozoom.environments.shapes.cones import TOP, Cones, two_objectives
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Categorical, Floats, Real
from paretozoom.similarity import Similarity

KINDS = ("phone", "tablet", "laptop", "screen")
IDLE = (0.05, 0.65, 0.35, 0.75)  # the first peak on each kind of device, without load
BUSY = (0.35, 0.25, 0.65, 0.55)  # ... and at full load
WIDTH = 0.15
SLOPE = 0.9
FARTHEST = 0.7  # between the peaks of two kinds under the same load
STEEPEST = 0.4  # how far a peak moves between no load and full load


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    kind = int(point[0])
    first = IDLE[kind] + (BUSY[kind] - IDLE[kind]) * point[1]
    out[0] = TOP - SLOPE * abs(point[2] - first)
    out[1] = TOP - SLOPE * abs(point[2] - first - WIDTH)


class Devices(Cones):
    """Contexts are a kind of device and its load, the arm is one number; mu_i = 0.9 - 0.9 |y - peak_i|.

    The first peak moves with the load, up on phones and laptops, down on tablets and screens; the second is 0.15
    above it, and the Pareto set between them. The task's similarity adds up weighted gaps; under it Assumption 1 holds.

    >>> task = Devices()
    >>> [(round(low, 9), round(high, 9)) for low, high in task.front(["phone", 0.5])]
    [(0.2, 0.35)]
    >>> task.lipschitz(similarity=task.similarity) <= 1 + 1e-9
    True
    """

    name = "devices"
    mean_kernel = _mean
    slope = SLOPE

    def __init__(self, spread: float | None = None) -> None:
        """`spread`: Gaussian noise of that standard deviation instead of Bernoulli rewards."""
        problem = Problem(
            context=[Categorical("kind", KINDS), Real("load")], arm=[Real("y")], objectives=two_objectives(spread)
        )
        super().__init__(problem, spread=spread)

    @property
    def similarity(self) -> Similarity:
        """|mu - mu'| <= 0.9 (|y - y'| + 0.4 |load - load'| + 0.7 if the kinds differ), term by term."""
        weights = {"kind": FARTHEST, "load": STEEPEST, "y": 1.0}
        return Similarity.of(self.problem, norm=1, weights=weights, scale=SLOPE * sum(weights.values()))

    def _first_peak(self, points: Floats) -> Floats:
        kind = points[:, 0].astype(np.int64)
        idle, busy = np.array(IDLE)[kind], np.array(BUSY)[kind]
        return np.asarray(idle + (busy - idle) * points[:, 1])

    def _apart(self, points: Floats) -> Floats:
        return np.full(len(points), WIDTH)

    def _share_below(self, points: Floats) -> Floats:
        return np.asarray((points[:, 2] - self._first_peak(points)) / WIDTH)

    def front_intervals(self, points: Floats) -> list[list[tuple[float, float]]]:
        """From peak to peak."""
        return [[(low, low + WIDTH)] for low in self._first_peak(points).tolist()]
