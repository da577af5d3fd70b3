"""Five objectives over a plane of arms: the Pareto set is a pentagon that moves with the context."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.environments.base import BINS, Bools, Task
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints, Objective, Real

SIDES = 5
RADIUS = 0.12  # of the circle through the corners
TOP = 0.95  # the mean at a peak
FALL = 0.48
AREA = SIDES / 2.0 * RADIUS**2 * math.sin(2.0 * math.pi / SIDES)
# Sides belong to the Pareto set; 1e-12 forgives the rounding of coordinates.
GUARD = 1e-12


@kernel
def _corner(point: Floats, k: int) -> tuple[float, float]:
    """A corner of the pentagon in a point's context; the first points upwards."""
    angle = math.pi * (0.5 + 2.0 * k / SIDES)
    reach = 1.0 - 2.0 * RADIUS
    east = RADIUS + reach * point[0] * point[0] * (3.0 - 2.0 * point[0])
    north = RADIUS + reach * point[1] * point[1] * (3.0 - 2.0 * point[1])
    return east + RADIUS * math.cos(angle), north + RADIUS * math.sin(angle)


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    for o in range(SIDES):
        east, north = _corner(point, o)
        out[o] = TOP - FALL * ((point[2] - east) ** 2 + (point[3] - north) ** 2)


@kernel
def _outside(point: Floats) -> float:
    """The square of an arm's distance from the pentagon; 0 inside it."""
    nearest, inside = np.inf, True
    east, north = _corner(point, SIDES - 1)
    for k in range(SIDES):
        next_east, next_north = _corner(point, k)
        along, up = next_east - east, next_north - north
        x, y = point[2] - east, point[3] - north
        inside = inside and along * y - up * x >= -GUARD
        share = min(1.0, max(0.0, (x * along + y * up) / (along * along + up * up)))
        nearest = min(nearest, (x - share * along) ** 2 + (y - share * up) ** 2)
        east, north = next_east, next_north
    return 0.0 if inside else nearest


@kernel
def area_near_corner(reach: float) -> float:
    """The area of the part of the pentagon that is within `reach` of one of its corners.

    >>> round(area_near_corner(2 * RADIUS) / AREA, 9), round(area_near_corner(0.01) / (0.3 * math.pi * 0.01**2), 9)
    (1.0, 1.0)
    """
    # A fan of triangles from the corner, 36 of its 108 degrees each: seen from there, the k-th corner is in direction
    # 36 k degrees from the circle's tangent. What of a triangle is near is a sector, but for the directions in which
    # the side across comes first.
    total = 0.0
    for k in range(1, SIDES - 1):
        low, high = math.pi * k / SIDES, math.pi * (k + 1) / SIDES
        x1, y1 = 2.0 * RADIUS * math.sin(low) * math.cos(low), 2.0 * RADIUS * math.sin(low) ** 2
        x2, y2 = 2.0 * RADIUS * math.sin(high) * math.cos(high), 2.0 * RADIUS * math.sin(high) ** 2
        across = (x1 * y2 - x2 * y1) / math.hypot(x2 - x1, y2 - y1)
        foot = math.atan2(x1 - x2, y2 - y1)
        start, end = low - foot, high - foot
        cut = math.acos(across / reach) if reach > across else 0.0
        left, right = max(start, -cut), min(end, cut)
        if right > left:
            total += across * across * (math.tan(right) - math.tan(left)) / 2.0
            total += reach * reach * (end - start - (right - left)) / 2.0
        else:
            total += reach * reach * (end - start) / 2.0
    return total


@kernel
def _shortfalls(points: Floats, out: Floats) -> None:
    for k in range(len(points)):
        out[k] = FALL * _outside(points[k])


@kernel
def _bins(points: Floats, out: Ints) -> None:
    for k in range(len(points)):
        out[k] = -1
        if _outside(points[k]) == 0.0:
            east, north = _corner(points[k], 0)
            farther = 1.0 - area_near_corner(math.hypot(points[k, 2] - east, points[k, 3] - north)) / AREA
            out[k] = min(BINS - 1, max(0, int(BINS * farther)))


class Pentagon(Task):
    """Contexts of two numbers, arms of two, five objectives: mu_i = 0.95 - 0.48 |arm - corner_i|^2.

    The corners are those of a regular pentagon in a circle of radius 0.12, whose middle moves with the context: slowly
    near the rim of the plane, faster in between. The Pareto set is the pentagon, and the gap of an arm 0.48 times the
    square of its distance from it.

    >>> task = Pentagon()
    >>> task.optimal([0.5, 0.5], [0.5, 0.45]), round(task.gap([0.5, 0.5], [0.5, 1.0]), 4)
    (True, 0.0693)
    """

    name = "pentagon"
    mean_kernel = _mean
    gap_error = 1e-12

    def __init__(self) -> None:
        super().__init__(
            Problem(
                context=[Real("x1"), Real("x2")],
                arm=[Real("y1"), Real("y2")],
                objectives=[Objective(f"r{k + 1}") for k in range(SIDES)],
            )
        )

    # An arm y less a step v gains 2 v.(y - p) - |v|^2 on the peak p, in squares of distances. The least gain over all
    # corners is that over all p of the pentagon, and the largest least gain over all v the least over p of the largest
    # over v, which is |y - p|^2: the square of the distance to the nearest p. In the pentagon it is 0 for v = 0 alone,
    # so nothing dominates; outside, the nearest p itself does.

    def gaps(self, points: Floats) -> Floats:
        """0.48 times the square of the distance from the pentagon."""
        out = np.empty(len(points))
        _shortfalls(np.ascontiguousarray(points), out)
        return out

    def are_optimal(self, points: Floats) -> Bools:
        """In the pentagon."""
        return np.asarray(self.gaps(points) == 0.0)

    def bin_of(self, points: Floats, arms: Ints) -> Ints:
        """Six equal parts of the pentagon, by the distance from the first corner."""
        out = np.empty(len(points), np.int64)
        _bins(np.ascontiguousarray(points), out)
        return out

    def front_bin_of(self, points: Floats, arms: Ints) -> Ints:
        """Six equal parts of the range of the first objective, from the corners across to its own."""
        away = (TOP - self.means(points)[:, 0]) / FALL
        across = (2.0 * RADIUS * math.sin(2.0 * math.pi / SIDES)) ** 2
        bins = np.clip(((1.0 - away / across) * BINS).astype(np.int64), 0, BINS - 1)
        return np.where(self.are_optimal(points), bins, -1)
