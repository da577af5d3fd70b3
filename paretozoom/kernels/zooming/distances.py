"""The similarity distance D between centres and points: p-norms of the coordinates' gaps, a matrix, or a function."""

from __future__ import annotations

from paretozoom.kernels.core.coordinates import add_gap, gap_of, length_of
from paretozoom.kernels.core.functions import call_function
from paretozoom.kernels.core.jit import Floats, Ints, inlined, part
from paretozoom.kernels.core.kinds import MATRIX
from paretozoom.kernels.zooming import balls
from paretozoom.kernels.zooming.balls import NORM, PAIRS, SCALE, Layout

_FUNCTION = balls.FUNCTION


@inlined
def part_of(f: Floats, i: Ints, at: Layout, ball: int, first: int, end: int, point: Floats, start: int) -> float:
    """The part that coordinates [first, end) have in the distance of a centre and point[start...]."""
    norm, part = i[NORM], 0.0
    for j in range(first, end):
        gap = gap_of(i[at.kinds + j], f[at.centre + j * at.capacity + ball], point[start + j])
        part = add_gap(norm, part, f[at.factors + j], gap)
    return part


@part
def _given(f: Floats, i: Ints, at: Layout, ball: int, point: Floats, start: int, pair: int) -> float:
    """The distance of a centre from a point, by the matrix or the user's function."""
    if i[NORM] == MATRIX:
        return min(1.0, f[SCALE] * f[at.matrix + i[at.pair + ball] * i[PAIRS] + pair])
    for j in range(at.dim):
        f[at.there + j] = f[at.centre + j * at.capacity + ball]
    mine, theirs = f.ctypes.data + 8 * at.there, point.ctypes.data + 8 * start
    return min(1.0, f[SCALE] * call_function(i[_FUNCTION], mine, theirs, at.dim))  # type: ignore[call-arg]


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
