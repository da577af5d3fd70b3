"""Greedy packings of many points, found with buckets so that only near neighbours are compared."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.coordinates import add_gap, gap_of, length_of
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR, NORM_TWO, PERIODIC

MOST_BUCKETS = 1 << 22


def buckets(points: Floats, kinds: Ints, norm: int, factors: Floats, r: float) -> Ints:
    """Into how many buckets `pack` may divide each coordinate so that points closer than r are neighbours.

    >>> buckets(np.zeros((1, 2)), np.array([LINEAR, PERIODIC]), NORM_TWO, np.array([0.5, 0.5]), 0.1).tolist()
    [7, 14]
    """
    cells = np.ones(len(kinds), np.int64)
    room = MOST_BUCKETS
    for j, kind in enumerate(kinds):
        # how far points closer than r can be apart in this coordinate, with room for rounding
        reach = r / (math.sqrt(factors[j]) if norm == NORM_TWO else factors[j]) * (1 + 1e-9)
        if kind == CATEGORICAL:
            wanted = int(points[:, j].max(initial=0)) + 1 if reach <= 1 else 1
            cells[j] = wanted if wanted <= room else 1
        else:
            cells[j] = max(1, int(min(room, (2 if kind == PERIODIC else 1) / reach)))
        room //= int(cells[j])
    return cells


@kernel
def _cell(kind: int, cells: int, coordinate: float) -> int:
    if cells == 1:
        return 0
    place = coordinate if kind == CATEGORICAL else coordinate * cells
    return min(max(int(place), 0), cells - 1)


@kernel
def _step(kinds: Ints, cells: Ints, centre: Ints, offset: Ints) -> bool:
    """Move `offset` to the next neighbour of a cell, each entry in -1, 0, 1; false after the last one."""
    for j in range(len(cells)):
        rigid = cells[j] == 1 or kinds[j] == CATEGORICAL  # such coordinates look into their own cell alone
        last = 0 if rigid or (kinds[j] == LINEAR and centre[j] == cells[j] - 1) else 1
        if offset[j] < last:
            offset[j] += 1
            return True
        offset[j] = 0 if rigid or (kinds[j] == LINEAR and centre[j] == 0) else -1
    return False


@kernel
def pack(points: Floats, kinds: Ints, norm: int, factors: Floats, cells: Ints, r: float, chosen: Ints) -> int:
    """Choose the points (n, dim), in their order, that are at least r from all chosen before; returns how many.

    Their numbers are written to `chosen`, which ends the search when full. `cells` is the number of buckets per
    coordinate: 1, or so few that points closer than r are in the same or in neighbouring buckets (for a
    category: in the same).

    >>> chosen = np.zeros(3, np.int64)
    >>> points = np.array([[0.0], [0.4], [0.5]])
    >>> pack(points, np.array([LINEAR]), NORM_TWO, np.array([1.0]), np.array([1]), 0.5, chosen), chosen.tolist()
    (2, [0, 2, 0])
    """
    dim = points.shape[1]
    newest = np.full(np.prod(cells), -1, np.int64)  # the point last chosen in a bucket
    older = np.empty(len(chosen), np.int64)  # the one chosen before it there
    centre, offset = np.zeros(dim, np.int64), np.zeros(dim, np.int64)
    size = 0
    for k in range(len(points)):
        if size == len(chosen):
            break
        home = 0
        for j in range(dim):
            centre[j] = _cell(kinds[j], cells[j], points[k, j])
            offset[j] = 1  # past the last neighbour: the first step goes round to the first one
            home = home * cells[j] + centre[j]
        _step(kinds, cells, centre, offset)
        free, more = True, True
        while free and more:
            bucket = 0
            for j in range(dim):
                near = centre[j] + offset[j]
                if kinds[j] == PERIODIC:
                    near = (near + cells[j]) % cells[j]
                bucket = bucket * cells[j] + near
            place = newest[bucket]
            while free and place >= 0:
                part = 0.0
                for j in range(dim):
                    gap = gap_of(kinds[j], points[k, j], points[chosen[place], j])
                    part = add_gap(norm, part, factors[j], gap)
                free = min(1.0, length_of(norm, part)) >= r
                place = older[place]
            more = _step(kinds, cells, centre, offset)
        if free:
            chosen[size], older[size], newest[home] = k, newest[home], size
            size += 1
    return size
