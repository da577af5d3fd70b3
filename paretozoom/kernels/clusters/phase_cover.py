"""Covers that follow a phase: into what contexts and arms are divided, and which arm of a cover is where.

The state is that of `table.py`. A coordinate is divided into equal parts, of which the middles are played; categories
and labels are never merged.
"""

from __future__ import annotations

import math

from paretozoom.kernels.arms.table import LISTED, Table
from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part

# ints: this header. LABELS is 1 if the arms are labels; COVER is how many arms the phase has, PARTS into how many a
# dimension is divided; SIZE and CAPACITY are for what is learned.
PHASE, SIZE, CAPACITY, LABELS, COVER, PARTS = range(6)
COVER_HEADER = 6


@kernel
def phase_of(number: int) -> int:
    """The phase of a decision; phase i lasts 2^i decisions.

    >>> [phase_of(n) for n in (0, 1, 2, 3, 6, 7, 99_999)]
    [0, 1, 1, 2, 2, 3, 16]
    """
    phase, left = 0, (number + 1) // 2
    while left > 0:
        phase, left = phase + 1, left // 2
    return phase


@kernel
def parts_in(phase: int, dimensions: float) -> int:
    """Into how many parts a phase divides a dimension: as many as eps = 2^(-phase / (a + b + 2)) asks for.

    >>> parts_in(0, 4.0), parts_in(4, 4.0), parts_in(5, 4.0), parts_in(16, 4.0)
    (1, 2, 3, 16)
    """
    return math.ceil(2.0 ** (phase / dimensions) - 1e-9)


@part
def parts_of(i: Ints, at: Table, j: int, parts: int) -> int:
    """Into how many parts coordinate j is divided."""
    values = i[at.values + j]
    return parts if values == 0 else min(values, parts) if values > 0 else -values


@part
def arms_in(i: Ints, at: Table, parts: int) -> int:
    """How many arms cover all."""
    if i[at.ints + LABELS] == 1:
        return at.arms
    arms = 1
    for j in range(at.context, at.dim):
        arms *= parts_of(i, at, j, parts)
    return arms


@inlined
def _middle(i: Ints, at: Table, j: int, part: int, parts: int) -> float:
    """The encoded coordinate in the middle of a part."""
    values = i[at.values + j]
    if values == 0:
        return (part + 0.5) / parts
    if values < 0:
        return float(part)
    return ((part * values // parts + (part + 1) * values // parts - 1) // 2) / (values - 1)


@kernel
def write_arm(f: Floats, i: Ints, at: Table, arm: int, point: Floats) -> int:
    """Write an arm of the cover to the point; returns its number among the problem's arms, -1 if these are endless."""
    coordinates = at.dim - at.context
    if i[at.ints + LABELS] == 1:
        for j in range(coordinates):
            point[at.context + j] = f[at.arm + arm * coordinates + j]
        return arm
    for j in range(at.dim - 1, at.context - 1, -1):
        parts = parts_of(i, at, j, i[at.ints + PARTS])
        point[j] = _middle(i, at, j, arm % parts, parts)
        arm //= parts
    return _number_of(i, at, point)


@part
def _number_of(i: Ints, at: Table, point: Floats) -> int:
    """The number of an arm that has values in all coordinates, as the problem lists them; -1 if it lists none."""
    if i[LISTED] == 0:
        return -1
    number = 0
    for j in range(at.context, at.dim):
        values = i[at.values + j]
        place = point[j] if values < 0 else point[j] * (values - 1)
        number = number * abs(values) + round(place)
    return number


@part
def arm_near(i: Ints, at: Table, point: Floats) -> int:
    """The arm of the cover in whose part the arm of a point lies."""
    arm = 0
    for j in range(at.context, at.dim):
        values, parts = i[at.values + j], parts_of(i, at, j, i[at.ints + PARTS])
        if values > 0:
            part = ((round(point[j] * (values - 1)) + 1) * parts - 1) // values
        else:
            part = min(int(point[j] * parts), parts - 1) if values == 0 else int(point[j])
        arm = arm * parts + part
    return arm


@kernel
def list_cover(f: Floats, i: Ints, at: Table, point: Floats, allowed: Floats, listed: Ints) -> int:
    """List the feasible arms of the cover; returns how many they are. The arm in `point` is overwritten."""
    if len(allowed) > 0 and i[at.ints + LABELS] == 1:
        for row in range(len(allowed)):
            listed[row] = int(allowed[row, 0])
        return len(allowed)
    found, coordinates = 0, at.dim - at.context
    for arm in range(i[at.ints + COVER]):
        feasible = len(allowed) == 0
        number = write_arm(f, i, at, arm, point) if not feasible else -1
        for row in range(len(allowed)):
            if i[LISTED] == 1:
                feasible = number == int(allowed[row, 0])
            else:
                feasible = True
                for j in range(coordinates):
                    place = point[at.context + j]
                    feasible = feasible and allowed[row, j] <= place <= allowed[row, coordinates + j]
            if feasible:
                break
        if feasible:
            listed[found] = arm
            found += 1
    return found
