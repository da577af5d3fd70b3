"""Encoded coordinates: draws of them, the gaps between them, and the norms that make distances of gaps.

The *part* of some coordinates in a p-norm is the sum, or the maximum, of what their gaps contribute; parts of
different coordinates add up to that of all, and the distance follows from it.
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import inlined, kernel
from paretozoom.kernels.core.kinds import LINEAR, NORM_ONE, NORM_TWO, PERIODIC


@kernel
def draw_coordinate(values: int, u: float) -> float:
    """A uniform draw of one encoded coordinate: any number in [0, 1), one of m spaced values, or of -m categories."""
    if values == 0:
        return u
    chosen = float(int(u * abs(values)))
    return chosen / (values - 1) if values > 0 else chosen


@inlined
def gap_of(kind: int, a: float, b: float) -> float:
    """How far apart two encoded coordinates are, at most 1."""
    gap = abs(a - b)
    if kind == LINEAR:
        return gap
    if kind == PERIODIC:
        return 2.0 * min(gap, 1.0 - gap)
    return 0.0 if gap == 0.0 else 1.0


@inlined
def add_gap(norm: int, part: float, factor: float, gap: float) -> float:
    """A part with one more coordinate in it."""
    if norm == NORM_TWO:
        return part + factor * (gap * gap)
    if norm == NORM_ONE:
        return part + factor * gap
    return max(part, factor * gap)


@inlined
def length_of(norm: int, part: float) -> float:
    """The distance whose part in all coordinates is known, before it is cut off at 1."""
    return math.sqrt(part) if norm == NORM_TWO else part


@inlined
def part_within(norm: int, length: float) -> float:
    """The part of a distance."""
    return length * length if norm == NORM_TWO else length
