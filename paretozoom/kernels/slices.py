"""Domains at one context when the arm is an interval: exact arithmetic on slices.

A ball cuts the line of arms above a context in its *slice*. Going through the radii from the smallest, the
part of a level's slices that no smaller level covers falls into *cells*; a ball's domain is its slice within
the cells of its own level. Parts shorter than SLIVER are left out everywhere.
"""

from __future__ import annotations

import math

from paretozoom.kernels.balls import SIZE, Layout, measure_squares
from paretozoom.kernels.jit import Floats, Ints, kernel
from paretozoom.kernels.kinds import PERIODIC

SLIVER = 1e-12


@kernel
def slice_of(f: Floats, i: Ints, at: Layout, ball: int) -> tuple[float, float, float, float]:
    """The slice of a ball above the surveyed context.

    Up to two intervals, as a periodic arm can wrap; an interval with low > high is none.
    """
    if ball == 0:  # the root contains everything by definition
        return 0.0, 1.0, 1.0, 0.0
    reach = at.dim * f[at.radius + ball] * f[at.radius + ball] - f[at.context_part + ball]
    if reach < 0.0:
        return 1.0, 0.0, 1.0, 0.0
    half = math.sqrt(reach)
    middle = f[at.centre + at.context * at.capacity + ball]
    if i[at.kinds + at.context] == PERIODIC:
        half = half / 2.0
        if half >= 0.5:
            return 0.0, 1.0, 1.0, 0.0
        if middle - half < 0.0:
            return 0.0, middle + half, middle - half + 1.0, 1.0
        if middle + half > 1.0:
            return 0.0, middle + half - 1.0, middle - half, 1.0
    return max(0.0, middle - half), min(1.0, middle + half), 1.0, 0.0


@kernel
def contains(f: Floats, i: Ints, at: Layout, ball: int, arm: float) -> bool:
    """Whether a ball contains an arm above the surveyed context, by the endpoints of its slice."""
    low, high, low2, high2 = slice_of(f, i, at, ball)
    return low <= arm <= high or low2 <= arm <= high2


@kernel
def _put(f: Floats, i: Ints, at: Layout, first: int, slices: int, low: float, high: float, ball: int) -> int:
    """Insert a slice into those of its level, which begin at `first`, sorted by low end; returns the new length."""
    k = slices
    while k > first and f[at.slice_low + k - 1] > low:
        f[at.slice_low + k] = f[at.slice_low + k - 1]
        f[at.slice_high + k] = f[at.slice_high + k - 1]
        i[at.slice_ball + k] = i[at.slice_ball + k - 1]
        k -= 1
    f[at.slice_low + k] = low
    f[at.slice_high + k] = high
    i[at.slice_ball + k] = ball
    return slices + 1


@kernel
def _cut(f: Floats, i: Ints, at: Layout, low: float, high: float, cells: int, covers: int) -> int:
    """Append to the cells what the cover leaves of [low, high]; returns the new number of cells."""
    for k in range(covers):
        if f[at.cover_high + k] < low:
            continue
        if f[at.cover_low + k] > high:
            break
        if f[at.cover_low + k] > low:
            f[at.cell_low + cells] = low
            f[at.cell_high + cells] = f[at.cover_low + k]
            cells += 1
        low = f[at.cover_high + k]
    if low < high:
        f[at.cell_low + cells] = low
        f[at.cell_high + cells] = high
        cells += 1
    return cells


@kernel
def _widen(f: Floats, i: Ints, at: Layout, covers: int, first: int, end: int) -> int:
    """Merge the slices [first, end), sorted by low end, into the cover; returns its new length."""
    for k in range(covers):
        f[at.spare_low + k] = f[at.cover_low + k]
        f[at.spare_high + k] = f[at.cover_high + k]
    old, new, merged = 0, first, 0
    while old < covers or new < end:
        if new == end or (old < covers and f[at.spare_low + old] <= f[at.slice_low + new]):
            low, high = f[at.spare_low + old], f[at.spare_high + old]
            old += 1
        else:
            low, high = f[at.slice_low + new], f[at.slice_high + new]
            new += 1
        if merged > 0 and low <= f[at.cover_high + merged - 1]:
            f[at.cover_high + merged - 1] = max(f[at.cover_high + merged - 1], high)
        else:
            f[at.cover_low + merged] = low
            f[at.cover_high + merged] = high
            merged += 1
    return merged


@kernel
def _cells_of_level(f: Floats, i: Ints, at: Layout, cells: int, covers: int, first: int, end: int) -> int:
    """Append the cells of one level: the union of its slices less the cover; returns the new number of cells."""
    low, high = f[at.slice_low + first], f[at.slice_high + first]
    for k in range(first + 1, end):
        if f[at.slice_low + k] <= high:
            high = max(high, f[at.slice_high + k])
        else:
            cells = _cut(f, i, at, low, high, cells, covers)
            low, high = f[at.slice_low + k], f[at.slice_high + k]
    return _cut(f, i, at, low, high, cells, covers)


@kernel
def _place_of(f: Floats, i: Ints, at: Layout, ball: int, level_first: int, here: int, relevant: int) -> int:
    """The place of a ball in the relevant list, adding it if this is the first of its slices to matter."""
    for k in range(level_first, here if i[at.kinds + at.context] == PERIODIC else level_first):
        if i[at.slice_ball + k] == ball and i[at.slice_place + k] >= 0:
            return i[at.slice_place + k]
    i[at.relevant + relevant] = ball
    return relevant


@kernel
def survey(f: Floats, i: Ints, at: Layout, point: Floats) -> tuple[int, int]:
    """Find slices, cells and relevant balls above the point's context; returns how many levels and relevant balls."""
    n = i[SIZE]
    measure_squares(f, i, at, at.context, point, at.context_part)
    slices = levels = cells = covers = relevant = k = 0
    while k < n:
        radius = f[at.radius + i[at.order + k]]
        first = slices
        while k < n and f[at.radius + i[at.order + k]] == radius:
            ball = i[at.order + k]
            low, high, low2, high2 = slice_of(f, i, at, ball)
            if low <= high:
                slices = _put(f, i, at, first, slices, low, high, ball)
            if low2 <= high2:
                slices = _put(f, i, at, first, slices, low2, high2, ball)
            k += 1
        if slices == first:
            continue
        i[at.level_slice + levels] = first
        i[at.level_cell + levels] = cells
        cells = _cells_of_level(f, i, at, cells, covers, first, slices)
        relevant = _find_relevant(f, i, at, first, slices, i[at.level_cell + levels], cells, relevant)
        covers = _widen(f, i, at, covers, first, slices)
        levels += 1
        if f[at.cover_low] <= 0.0 and f[at.cover_high] >= 1.0:
            break
    i[at.level_slice + levels] = slices
    i[at.level_cell + levels] = cells
    return levels, relevant


@kernel
def _find_relevant(
    f: Floats, i: Ints, at: Layout, first: int, end: int, first_cell: int, end_cell: int, relevant: int
) -> int:
    """Add to the relevant balls those of a level whose slices meet its cells; returns their new number."""
    for k in range(first, end):
        i[at.slice_place + k] = -1
        for cell in range(first_cell, end_cell):
            low = max(f[at.slice_low + k], f[at.cell_low + cell])
            high = min(f[at.slice_high + k], f[at.cell_high + cell])
            if high - low >= SLIVER:
                place = _place_of(f, i, at, i[at.slice_ball + k], first, k, relevant)
                i[at.slice_place + k] = place
                relevant = max(relevant, place + 1)
                break
    return relevant


@kernel
def _insert_piece(f: Floats, at: Layout, pieces: int, low: float, high: float) -> int:
    """Put an interval among the pieces, sorted by low end; returns their new number."""
    k = pieces
    while k > 0 and f[at.spare_low + k - 1] > low:
        f[at.spare_low + k] = f[at.spare_low + k - 1]
        f[at.spare_high + k] = f[at.spare_high + k - 1]
        k -= 1
    f[at.spare_low + k] = low
    f[at.spare_high + k] = high
    return pieces + 1


@kernel
def _chosen_pieces(f: Floats, i: Ints, at: Layout, level: int, cell: int, pieces: int) -> int:
    """Add what the chosen slices of a level cover of one of its cells, merged; returns the new number of pieces.

    Merged pieces are disjoint and end where slices end, so there are at most two per slice; before merging there
    can be as many as slices times cells.
    """
    start, end = math.inf, -math.inf
    for k in range(i[at.level_slice + level], i[at.level_slice + level + 1]):
        if i[at.slice_place + k] < 0 or i[at.chosen + i[at.slice_place + k]] == 0:
            continue
        low = max(f[at.slice_low + k], f[at.cell_low + cell])
        high = min(f[at.slice_high + k], f[at.cell_high + cell])
        if high - low < SLIVER:
            continue
        if low <= end:
            end = max(end, high)
        else:
            if start <= end:
                pieces = _insert_piece(f, at, pieces, start, end)
            start, end = low, high
    if start <= end:
        pieces = _insert_piece(f, at, pieces, start, end)
    return pieces


@kernel
def union(f: Floats, i: Ints, at: Layout, levels: int) -> tuple[int, float]:
    """Write the maximal intervals of the chosen balls' domains, ascending, to the cover; returns number and length."""
    pieces = 0
    for level in range(levels):
        for cell in range(i[at.level_cell + level], i[at.level_cell + level + 1]):
            pieces = _chosen_pieces(f, i, at, level, cell, pieces)
    merged, length = 0, 0.0
    for k in range(pieces):
        if merged > 0 and f[at.spare_low + k] <= f[at.cover_high + merged - 1]:
            f[at.cover_high + merged - 1] = max(f[at.cover_high + merged - 1], f[at.spare_high + k])
        else:
            f[at.cover_low + merged] = f[at.spare_low + k]
            f[at.cover_high + merged] = f[at.spare_high + k]
            merged += 1
    for k in range(merged):
        length += f[at.cover_high + k] - f[at.cover_low + k]
    return merged, length


@kernel
def walk(f: Floats, i: Ints, at: Layout, pieces: int, distance: float) -> float:
    """The arm reached after walking `distance` through the maximal intervals."""
    for k in range(pieces - 1):
        length = f[at.cover_high + k] - f[at.cover_low + k]
        if distance < length:
            return f[at.cover_low + k] + distance
        distance -= length
    return min(f[at.cover_low + pieces - 1] + distance, f[at.cover_high + pieces - 1])


@kernel
def owners(f: Floats, i: Ints, at: Layout, levels: int, arm: float) -> int:
    """Mark with 2 the chosen balls that own an arm, all of one radius; returns how many they are."""
    found = 0
    for level in range(levels):
        for k in range(i[at.level_slice + level], i[at.level_slice + level + 1]):
            place = i[at.slice_place + k]
            if place < 0 or i[at.chosen + place] != 1:
                continue
            for cell in range(i[at.level_cell + level], i[at.level_cell + level + 1]):
                low = max(f[at.slice_low + k], f[at.cell_low + cell])
                high = min(f[at.slice_high + k], f[at.cell_high + cell])
                if high - low >= SLIVER and low <= arm <= high:
                    i[at.chosen + place] = 2
                    found += 1
                    break
        if found > 0:
            break
    return found
