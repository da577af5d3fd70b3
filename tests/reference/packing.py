"""The greedy packing, comparing every point with every chosen one."""

from __future__ import annotations

import math

from paretozoom import Similarity
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC


def distance(similarity: Similarity, a: list[float], b: list[float]) -> float:
    """The weighted mean, root mean square or maximum of the gaps, scaled and cut at 1."""
    total = 0.0
    for kind, factor, here, there in zip(similarity.encoding.kinds, similarity.factors, a, b, strict=True):
        gap = abs(here - there)
        if kind == PERIODIC:
            gap = 2 * min(gap, 1 - gap)
        elif kind == CATEGORICAL:
            gap = float(here != there)
        if similarity.norm == math.inf:
            total = max(total, factor * gap)
        else:
            total += factor * (gap if similarity.norm == 1 else gap * gap)
    return min(1.0, math.sqrt(total) if similarity.norm == 2 else total)


def pack(points: list[list[float]], similarity: Similarity, r: float, limit: int) -> list[int]:
    """The numbers of the points that are at least r from all chosen before."""
    chosen: list[int] = []
    for k, point in enumerate(points):
        if len(chosen) < limit and all(distance(similarity, point, points[c]) >= r for c in chosen):
            chosen.append(k)
    return chosen
