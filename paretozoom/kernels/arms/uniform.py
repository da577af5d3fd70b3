"""The policy that draws every arm uniformly: the floor that every other policy must clear."""

from __future__ import annotations

from paretozoom.kernels.core.coordinates import draw_coordinate
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.core.philox import uniforms

# i: this header, then the number of values of each coordinate as `draw_coordinate` reads it;
# f: the coordinates of the finite arms, row by row.
CONTEXT, DIM, ARMS, KEY0, KEY1 = range(5)
HEADER = 5


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an allowed arm uniformly, writing it to `point`; returns (finite arm, density, 0)."""
    context, dim, arms = i[CONTEXT], i[DIM], i[ARMS]
    draws = uniforms(i[KEY0], i[KEY1], number, 0)
    if arms > 0:
        choices = len(allowed) if len(allowed) > 0 else arms
        arm = int(draws[0] * choices)
        arm = int(allowed[arm, 0]) if len(allowed) > 0 else arm
        for j in range(dim - context):
            point[context + j] = f[arm * (dim - context) + j]
        return arm, 1.0 / choices, 0
    if len(allowed) > 0:
        return -1, _draw_in_boxes(i, number, point, allowed, draws[0]), 0
    density = 1.0
    for j in range(dim - context):
        if j > 0 and j % 4 == 0:
            draws = uniforms(i[KEY0], i[KEY1], number, j // 4)
        values = i[HEADER + context + j]
        point[context + j] = draw_coordinate(values, draws[j % 4])
        if values != 0:
            density /= abs(values)
    return -1, density, 0


@kernel
def _size(i: Ints, box: Floats) -> float:
    """The product of the lengths of a box's continuous coordinates."""
    size, coordinates = 1.0, len(box) // 2
    for j in range(coordinates):
        if i[HEADER + i[CONTEXT] + j] == 0:
            size *= box[coordinates + j] - box[j]
    return size


@kernel
def _draw_in_boxes(i: Ints, number: int, point: Floats, boxes: Floats, u: float) -> float:
    """Draw an arm uniformly from disjoint boxes, writing it to `point`; returns the density."""
    total = 0.0
    for box in range(len(boxes)):
        total += _size(i, boxes[box])
    left, chosen = u * total, 0
    while chosen < len(boxes) - 1 and left >= _size(i, boxes[chosen]):
        left -= _size(i, boxes[chosen])
        chosen += 1
    coordinates = i[DIM] - i[CONTEXT]
    for j in range(coordinates):
        low, high = boxes[chosen, j], boxes[chosen, coordinates + j]
        draw = uniforms(i[KEY0], i[KEY1], number, 1 + j // 4)[j % 4]
        point[i[CONTEXT] + j] = low + (high - low) * draw
    return 1.0 / total


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Learn nothing."""


@kernel
def room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """The same arrays: nothing grows."""
    return f, i
