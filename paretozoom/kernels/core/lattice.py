"""Candidates that stand in for a continuum of arms: a rank-1 lattice in each box, under one random shift.

A box is a row: the lows of its arm coordinates, then the highs; its discrete coordinates are single values. A lattice
is a group modulo 1, so a candidate determines all others of its round, and with a uniform shift the density of a draw
is known exactly.
"""

from __future__ import annotations

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.kinds import MOST_CANDIDATES, MOST_PER_CELL
from paretozoom.kernels.core.philox import uniforms

# Of all multipliers, this one keeps the points of the lattice 1, a, a^2, ... far apart in 2, 3 and 4 dimensions.
KOROBOV = 123


@kernel
def points_per_cell(boxes: int, most: int) -> int:
    """A power of two: as many as wished for while candidates are not too many, less for more boxes.

    >>> [points_per_cell(boxes, 512) for boxes in (1, 4, 5, 2048)]
    [512, 512, 256, 1]
    """
    points = most
    while points > 1 and points * boxes > MOST_CANDIDATES:
        points //= 2
    return points


@part
def lay(key0: int, key1: int, number: int, values: Ints, boxes: Floats, most: int, arms: Floats) -> int:
    """Write the candidates of a decision to `arms`; returns how many they are.

    `values` has 0 for each continuous coordinate. A negative number stands for no decision's luck.
    """
    coordinates, points = len(values), points_per_cell(len(boxes), most)
    real, generator, step = 0, 1, 1.0 / points  # a power of two: nothing is lost
    for j in range(coordinates):
        shift = 0.0
        if values[j] == 0:
            one, two = (key0, key1) if number >= 0 else (0, 0)
            shift = uniforms(one, two, abs(number), 1 + real // 4)[real % 4]
        for box in range(len(boxes)):
            low, high = boxes[box, j], boxes[box, coordinates + j]
            for k in range(points):
                u = ((k * generator) & (points - 1)) * step + shift
                u = u - 1.0 if u >= 1.0 else u
                arms[box * points + k, j] = low + (high - low) * u
        if values[j] == 0:
            real, generator = real + 1, (generator * KOROBOV) % MOST_PER_CELL
    return len(boxes) * points


@part
def _size(values: Ints, box: Floats) -> float:
    """The size of a box: the product of its continuous coordinates' lengths."""
    size = 1.0
    for j in range(len(values)):
        if values[j] == 0:
            size *= box[len(values) + j] - box[j]
    return size


@part
def size_of(values: Ints, boxes: Floats, most: int, candidate: int) -> float:
    """The size of what a candidate stands for."""
    points = points_per_cell(len(boxes), most)
    return _size(values, boxes[candidate // points]) / points


@part
def _marked_in(marks: Ints, first: int, points: int) -> int:
    marked = 0
    for candidate in range(first, first + points):
        marked += marks[candidate]
    return marked


@part
def measure(values: Ints, boxes: Floats, most: int, marks: Ints) -> float:
    """The size of what the marked candidates stand for."""
    points, total = points_per_cell(len(boxes), most), 0.0
    for box in range(len(boxes)):
        total += _marked_in(marks, box * points, points) * _size(values, boxes[box]) / points
    return total


@part
def walk(marks: Ints, first: int, steps: int) -> int:
    """The place reached from `first` on after passing `steps` marked ones."""
    while marks[first] == 0 or steps > 0:
        steps -= marks[first]
        first += 1
    return first


@part
def draw(values: Ints, boxes: Floats, most: int, marks: Ints, target: float) -> int:
    """The marked candidate below which `target` of the marked size lies."""
    points, last, box = points_per_cell(len(boxes), most), len(boxes) - 1, 0
    while last > 0 and _marked_in(marks, last * points, points) == 0:
        last -= 1
    while box < last:
        weight = _marked_in(marks, box * points, points) * _size(values, boxes[box]) / points
        if weight > 0.0 and target < weight:
            break
        target -= weight
        box += 1
    marked = _marked_in(marks, box * points, points)
    steps = int(target / (_size(values, boxes[box]) / points))
    return walk(marks, box * points, min(steps, marked - 1))
