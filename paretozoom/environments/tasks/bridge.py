"""A town on two banks of a river with one bridge: a similarity that only a function can give."""

from __future__ import annotations

import numpy as np

from paretozoom.environments.shapes.cones import TOP, Cones, corner_area, two_objectives
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Real
from paretozoom.similarity import Similarity

RIVER = 0.5  # it runs from south to north; what lies west of it is on the west bank
BRIDGE = 0.6  # how far north the bridge is
WIDE, HIGH = 0.45, 0.55  # how far west or east, and how far south of the bridge, the route of a procession reaches
LEG = WIDE + HIGH  # it comes from the south-west, crosses the bridge and leaves to the south-east
LENGTH = 0.4  # of the procession, from the tail to the head
MARCH = 2.0 * LEG - LENGTH  # how far it walks while the context goes from 0 to 1
SLOPE = 0.4
FARTHEST = 2.0 * (RIVER + BRIDGE) + MARCH  # between any two points


@kernel
def walk(east: float, north: float, to_east: float, to_north: float) -> float:
    """The shortest way along streets, which run east and north, and from bank to bank over the bridge.

    >>> walk(0.4, 0.6, 0.4, 0.5), round(walk(0.4, 0.6, 0.6, 0.6), 9), round(walk(0.4, 0.1, 0.6, 0.1), 9)
    (0.09999999999999998, 0.2, 1.2)
    """
    if (east < RIVER) == (to_east < RIVER):
        return abs(east - to_east) + abs(north - to_north)
    return abs(east - RIVER) + abs(north - BRIDGE) + abs(to_east - RIVER) + abs(to_north - BRIDGE)


@kernel
def distance(a: Floats, b: Floats) -> float:
    """How far apart two points (time, east, north) are, as a share of the farthest: by walking and by waiting.

    >>> round(distance(np.array([0.0, 0.4, 0.1]), np.array([0.0, 0.6, 0.1])) * FARTHEST, 9)
    1.2
    """
    return float((walk(a[1], a[2], b[1], b[2]) + MARCH * abs(a[0] - b[0])) / FARTHEST)


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    for o in range(2):
        from_bridge = MARCH * point[0] + LENGTH * o - LEG
        east = RIVER + WIDE * from_bridge / LEG
        north = BRIDGE - HIGH * abs(from_bridge) / LEG
        out[o] = TOP - SLOPE * walk(point[1], point[2], east, north)


class Bridge(Cones):
    """Where to put up a stall in a town with a river, while a procession walks through it: mu_i = 0.9 - 0.4 walk_i.

    The context is the time, the arm a place (east, north). The objectives want to be near the tail and near the head
    of the procession; the Pareto set is the places between the two, on one bank or on both. Places on the two
    banks are as far apart as the way over the bridge: near the river no norm of the coordinates tells, however scaled.
    Under `task.similarity`, which is `distance` times a scale, Assumption 1 holds.

    >>> task = Bridge()
    >>> task.optimal([0.1], [0.2, 0.2]), round(task.gap([0.1], [0.45, 0.1]), 3), round(task.gap([0.1], [0.55, 0.1]), 3)
    (True, 0.074, 0.396)
    >>> task.lipschitz(similarity=task.similarity) <= 1 + 1e-9
    True
    """

    name = "bridge"
    mean_kernel = _mean
    slope = SLOPE

    def __init__(self, spread: float | None = None) -> None:
        """`spread`: Gaussian noise of that standard deviation instead of Bernoulli rewards."""
        problem = Problem(context=[Real("time")], arm=[Real("east"), Real("north")], objectives=two_objectives(spread))
        super().__init__(problem, spread=spread)

    @property
    def similarity(self) -> Similarity:
        """The function `distance`, scaled to how fast the means change."""
        return Similarity.of(self.problem, function=distance, scale=SLOPE * FARTHEST)

    def _apart(self, points: Floats) -> Floats:
        return np.full(len(points), LENGTH)

    def _share_below(self, points: Floats) -> Floats:
        """What is farther from the tail: of the box of places before the bridge, and of the one behind it."""
        away = (TOP - self.means(points)[:, 0]) / SLOPE
        before = np.clip(LEG - MARCH * points[:, 0], 0.0, LENGTH)  # the part of the procession before the bridge
        nearer = total = np.zeros(len(points))
        for reach, part in ((away, before), (away - before, LENGTH - before)):
            wide, high = part * WIDE / LEG, part * HIGH / LEG
            nearer = nearer + corner_area(reach, wide, high)
            total = total + wide * high
        return np.asarray(1.0 - nearer / total)
