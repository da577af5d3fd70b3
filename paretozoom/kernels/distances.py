"""The similarity distance D between centres and points: p-norms of the coordinates' gaps, a matrix, or a function.

The *part* of some coordinates in a p-norm is the sum, or the maximum, of what their gaps contribute; parts of
different coordinates add up to that of all, and the distance follows from it.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from paretozoom.kernels import balls
from paretozoom.kernels.balls import NORM, PAIRS, SCALE, Layout
from paretozoom.kernels.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.kinds import LINEAR, MATRIX, NORM_ONE, NORM_TWO, PERIODIC

_FUNCTION = balls.FUNCTION


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
def part_of(f: Floats, i: Ints, at: Layout, ball: int, first: int, end: int, point: Floats, start: int) -> float:
    """The part that coordinates [first, end) have in the distance of a centre and point[start...]."""
    norm, part = i[NORM], 0.0
    for j in range(first, end):
        gap = gap_of(i[at.kinds + j], f[at.centre + j * at.capacity + ball], point[start + j])
        part = add_gap(norm, part, f[at.factors + j], gap)
    return part


@inlined
def length_of(norm: int, part: float) -> float:
    """The distance whose part in all coordinates is known, before it is cut off at 1."""
    return math.sqrt(part) if norm == NORM_TWO else part


@inlined
def part_within(norm: int, length: float) -> float:
    """The part of a distance."""
    return length * length if norm == NORM_TWO else length


@intrinsic
def _call(typing: Any, address: Any, a: Any, b: Any, dim: Any) -> Any:
    """Call the compiled function at an address with the addresses of two points and their number of coordinates."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        function = ir.FunctionType(ir.DoubleType(), [word, word, word])
        return builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])

    return types.float64(types.int64, types.int64, types.int64, types.int64), generate


@kernel
def called_between(address: int, a: Floats, b: Floats) -> Floats:
    """What the compiled function at an address says of the rows of two arrays (n, dim)."""
    n, dim = a.shape
    found = np.empty(n)
    for k in range(n):
        row = 8 * dim * k
        found[k] = _call(address, a.ctypes.data + row, b.ctypes.data + row, dim)  # type: ignore[call-arg]
    return found


@part
def _given(f: Floats, i: Ints, at: Layout, ball: int, point: Floats, start: int, pair: int) -> float:
    """The distance of a centre from a point, by the matrix or the user's function."""
    if i[NORM] == MATRIX:
        return min(1.0, f[SCALE] * f[at.matrix + i[at.pair + ball] * i[PAIRS] + pair])
    for j in range(at.dim):
        f[at.there + j] = f[at.centre + j * at.capacity + ball]
    mine, theirs = f.ctypes.data + 8 * at.there, point.ctypes.data + 8 * start
    return min(1.0, f[SCALE] * _call(i[_FUNCTION], mine, theirs, at.dim))  # type: ignore[call-arg]


@inlined
def distance(f: Floats, i: Ints, at: Layout, ball: int, point: Floats, start: int, pair: int) -> float:
    """D between a centre and point[start...], whose number among all context-arm pairs is `pair`."""
    if i[NORM] >= MATRIX:
        return _given(f, i, at, ball, point, start, pair)
    return min(1.0, length_of(i[NORM], part_of(f, i, at, ball, 0, at.dim, point, start)))


@inlined
def stand_at(f: Floats, at: Layout, ball: int) -> None:
    """Put a centre into `here`."""
    for j in range(at.dim):
        f[at.here + j] = f[at.centre + j * at.capacity + ball]


@inlined
def apart_from(f: Floats, i: Ints, at: Layout, ball: int, here: int) -> float:
    """D between the centres of a ball and of the one whose centre is in `here`.

    A matrix or a function may round differently the other way round: of these the older ball always comes first.
    """
    if i[NORM] < MATRIX:
        return distance(f, i, at, ball, f, at.here, 0)
    if ball == here:
        return 0.0
    older, newer = min(ball, here), max(ball, here)
    stand_at(f, at, newer)
    apart = distance(f, i, at, older, f, at.here, i[at.pair + newer] if i[NORM] == MATRIX else 0)
    stand_at(f, at, here)
    return apart


@part
def context_number(i: Ints, at: Layout, point: Floats) -> int:
    """The number of a context among finitely many; the first coordinate counts most."""
    number = 0
    for j in range(at.context):
        values = i[at.values + j]
        place = int(point[j]) if values < 0 else int(point[j] * (values - 1) + 0.5)
        number = number * abs(values) + place
    return number


@part
def pair_of(f: Floats, i: Ints, at: Layout, point: Floats) -> int:
    """The number of a point among all context-arm pairs, if distances are given as a matrix."""
    if i[NORM] != MATRIX:
        return 0
    coordinates = at.dim - at.context
    for arm in range(at.arms):
        same = True
        for j in range(coordinates):
            same = same and f[at.arm + arm * coordinates + j] == point[at.context + j]
        if same:
            return context_number(i, at, point) * at.arms + arm
    return 0
