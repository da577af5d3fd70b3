"""The greedy packing, comparing every point with every chosen one."""

from __future__ import annotations

import math

from paretozoom.kernels.kinds import CATEGORICAL, PERIODIC


def distance(kinds: list[int], a: list[float], b: list[float]) -> float:
    """The root of the mean squared difference of the coordinates."""
    total = 0.0
    for kind, here, there in zip(kinds, a, b, strict=True):
        gap = abs(here - there)
        if kind == PERIODIC:
            gap = 2 * min(gap, 1 - gap)
        elif kind == CATEGORICAL:
            gap = float(here != there)
        total += gap * gap
    return math.sqrt(total / len(kinds))


def pack(points: list[list[float]], kinds: list[int], r: float, limit: int) -> list[int]:
    """The numbers of the points that are at least r from all chosen before."""
    chosen: list[int] = []
    for k, point in enumerate(points):
        if len(chosen) < limit and all(distance(kinds, point, points[c]) >= r for c in chosen):
            chosen.append(k)
    return chosen
