"""Candidates that stand in for a continuum of arms: a rank-1 lattice in each cell, under one random shift.

A cell is a box of arms; its discrete coordinates are single values. A lattice is a group modulo 1, so a candidate
determines all others of its round, and with a uniform shift the density of a draw is known exactly.
"""

from __future__ import annotations

from typing import Protocol

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import MOST_CANDIDATES, MOST_PER_CELL
from paretozoom.kernels.core.philox import uniforms


class Space(Protocol):
    """Where a memory has what candidates are laid in and written to."""

    @property
    def context(self) -> int: ...
    @property
    def dim(self) -> int: ...
    @property
    def values(self) -> int: ...
    @property
    def cells(self) -> int: ...
    @property
    def arm(self) -> int: ...
    @property
    def arm_chosen(self) -> int: ...


# Where any memory that candidates are laid in has its key, the number of its boxes, and candidates in each at most.
KEY0, KEY1, CELLS, PER_CELL = 10, 11, 16, 17
# Of all multipliers, this one keeps the points of the lattice 1, a, a^2, ... far apart in 2, 3 and 4 dimensions.
KOROBOV = 123


@kernel
def points_per_cell(cells: int, most: int) -> int:
    """A power of two: as many as wished for while candidates are not too many, less for more cells.

    >>> [points_per_cell(cells, 512) for cells in (1, 4, 5, 2048)]
    [512, 512, 256, 1]
    """
    points = most
    while points > 1 and points * cells > MOST_CANDIDATES:
        points //= 2
    return points


@inlined
def _edge(f: Floats, at: Space, allowed: Floats, cell: int, j: int) -> float:
    """Entry j of a cell: the lows of its arm coordinates, then the highs."""
    if len(allowed) > 0:
        return allowed[cell, j]
    return f[at.cells + cell * 2 * (at.dim - at.context) + j]


@inlined
def _cells(i: Ints, allowed: Floats) -> int:
    return len(allowed) if len(allowed) > 0 else i[CELLS]


@part
def lay(f: Floats, i: Ints, at: Space, number: int, allowed: Floats) -> int:
    """List the candidates of a decision; returns how many they are. A negative number stands for no decision's luck."""
    cells, coordinates = _cells(i, allowed), at.dim - at.context
    points = points_per_cell(cells, i[PER_CELL])
    real, generator, step = 0, 1, 1.0 / points  # a power of two: nothing is lost
    for j in range(coordinates):
        shift = 0.0
        if i[at.values + at.context + j] == 0:
            key0, key1 = (i[KEY0], i[KEY1]) if number >= 0 else (0, 0)
            shift = uniforms(key0, key1, abs(number), 1 + real // 4)[real % 4]
        for cell in range(cells):
            low, high = _edge(f, at, allowed, cell, j), _edge(f, at, allowed, cell, coordinates + j)
            for k in range(points):
                u = ((k * generator) & (points - 1)) * step + shift
                u = u - 1.0 if u >= 1.0 else u
                f[at.arm + (cell * points + k) * coordinates + j] = low + (high - low) * u
        if i[at.values + at.context + j] == 0:
            real, generator = real + 1, (generator * KOROBOV) % MOST_PER_CELL
    return cells * points


@part
def _size(f: Floats, i: Ints, at: Space, allowed: Floats, cell: int) -> float:
    """The size of a cell: the product of its continuous coordinates' lengths."""
    coordinates, size = at.dim - at.context, 1.0
    for j in range(coordinates):
        if i[at.values + at.context + j] == 0:
            size *= _edge(f, at, allowed, cell, coordinates + j) - _edge(f, at, allowed, cell, j)
    return size


@part
def size_of(f: Floats, i: Ints, at: Space, allowed: Floats, candidate: int) -> float:
    """The size of what a candidate stands for."""
    points = points_per_cell(_cells(i, allowed), i[PER_CELL])
    return _size(f, i, at, allowed, candidate // points) / points


@inlined
def _marked_in(i: Ints, at: Space, first: int, points: int) -> int:
    marked = 0
    for candidate in range(first, first + points):
        marked += i[at.arm_chosen + candidate]
    return marked


@kernel
def measure(f: Floats, i: Ints, at: Space, allowed: Floats) -> float:
    """The size of what the marked candidates stand for."""
    cells = _cells(i, allowed)
    points, total = points_per_cell(cells, i[PER_CELL]), 0.0
    for cell in range(cells):
        total += _marked_in(i, at, cell * points, points) * _size(f, i, at, allowed, cell) / points
    return total


@kernel
def walk(i: Ints, chosen: int, arm: int, steps: int) -> int:
    """The arm reached from `arm` on after passing `steps` arms that are marked at i[chosen...]."""
    while i[chosen + arm] == 0 or steps > 0:
        steps -= i[chosen + arm]
        arm += 1
    return arm


@kernel
def draw(f: Floats, i: Ints, at: Space, allowed: Floats, target: float) -> int:
    """The marked candidate below which `target` of the marked size lies."""
    cells = _cells(i, allowed)
    points, last, cell = points_per_cell(cells, i[PER_CELL]), cells - 1, 0
    while last > 0 and _marked_in(i, at, last * points, points) == 0:
        last -= 1
    while cell < last:
        weight = _marked_in(i, at, cell * points, points) * _size(f, i, at, allowed, cell) / points
        if weight > 0.0 and target < weight:
            break
        target -= weight
        cell += 1
    marked = _marked_in(i, at, cell * points, points)
    steps = int(target / (_size(f, i, at, allowed, cell) / points))
    return walk(i, at.arm_chosen, cell * points, min(steps, marked - 1))
