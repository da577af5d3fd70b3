"""Domains at one context when the arm is an interval: exact arithmetic on slices.

A ball cuts the line of arms above a context in its *slice*. Going through the radii from the smallest, the
part of a level's slices that no smaller level covers falls into *cells*; a ball's domain is its slice within
the cells of its own level. Parts shorter than SLIVER are left out everywhere.
"""

from __future__ import annotations

import math

from paretozoom.kernels.balls import SCALE, Layout, find_near, list_owner
from paretozoom.kernels.jit import Floats, Ints, inlined, kernel
from paretozoom.kernels.kinds import PERIODIC

SLIVER = 1e-12


@inlined
def slice_of(f: Floats, i: Ints, at: Layout, ball: int) -> tuple[float, float, float, float]:
    """The slice of a ball above the surveyed context.

    Up to two intervals, as a periodic arm can wrap; an interval with low > high is none.
    """
    if ball == 0:  # the root contains everything by definition
        return 0.0, 1.0, 1.0, 0.0
    radius = f[at.radius + ball] / f[SCALE]
    reach = at.dim * radius * radius - f[at.context_part + ball]
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


@inlined
def _sort_slices(f: Floats, i: Ints, at: Layout, first: int, end: int) -> None:
    """Sort the slices [first, end) by low end: Shell's sort, which small and sorted lists hardly notice."""
    gap = 1
    while gap < (end - first) // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(first + gap, end):
            low, high, ball = f[at.slice_low + k], f[at.slice_high + k], i[at.slice_ball + k]
            place = k
            while place >= first + gap and f[at.slice_low + place - gap] > low:
                f[at.slice_low + place] = f[at.slice_low + place - gap]
                f[at.slice_high + place] = f[at.slice_high + place - gap]
                i[at.slice_ball + place] = i[at.slice_ball + place - gap]
                place -= gap
            f[at.slice_low + place], f[at.slice_high + place], i[at.slice_ball + place] = low, high, ball
        gap //= 3


@inlined
def _put(f: Floats, i: Ints, at: Layout, slices: int, low: float, high: float, ball: int) -> int:
    """Append a slice, if it is one; returns the new number of slices."""
    if low > high:
        return slices
    f[at.slice_low + slices] = low
    f[at.slice_high + slices] = high
    i[at.slice_ball + slices] = ball
    return slices + 1


@inlined
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


@inlined
def _cells_of_level(f: Floats, i: Ints, at: Layout, cells: int, covers: int, first: int, end: int) -> int:
    """Append the cells of one level: the union of its slices less the cover; returns the new number of cells."""
    cover, k = 0, first
    while k < end:
        low, high = f[at.slice_low + k], f[at.slice_high + k]
        k += 1
        while k < end and f[at.slice_low + k] <= high:
            high = max(high, f[at.slice_high + k])
            k += 1
        while cover < covers and f[at.cover_high + cover] < low:
            cover += 1
        while cover < covers and f[at.cover_low + cover] <= high:
            if f[at.cover_low + cover] > low:
                f[at.cell_low + cells] = low
                f[at.cell_high + cells] = f[at.cover_low + cover]
                cells += 1
            low = f[at.cover_high + cover]
            cover += 1
        if low < high:
            f[at.cell_low + cells] = low
            f[at.cell_high + cells] = high
            cells += 1
        elif cover > 0:  # this cover may reach beyond, into the next union
            cover -= 1
    return cells


@inlined
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
    k = find_near(f, i, at, point) - 1
    slices = levels = cells = covers = relevant = 0
    while k >= 0:
        radius = f[at.radius + i[at.near + k]]
        first = slices
        while k >= 0 and f[at.radius + i[at.near + k]] == radius:
            ball = i[at.near + k]
            low, high, low2, high2 = slice_of(f, i, at, ball)
            slices = _put(f, i, at, slices, low, high, ball)
            slices = _put(f, i, at, slices, low2, high2, ball)
            k -= 1
        if slices == first:
            continue
        _sort_slices(f, i, at, first, slices)
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


@inlined
def _find_relevant(
    f: Floats, i: Ints, at: Layout, first: int, end: int, first_cell: int, end_cell: int, relevant: int
) -> int:
    """Add to the relevant balls those of a level whose slices meet its cells; returns their new number."""
    for k in range(first, end):
        i[at.slice_place + k] = -1
        while first_cell < end_cell and f[at.cell_high + first_cell] <= f[at.slice_low + k]:
            first_cell += 1  # low ends rise, so the slices to come are past this cell too
        cell = first_cell
        while cell < end_cell and f[at.cell_low + cell] < f[at.slice_high + k]:
            low = max(f[at.slice_low + k], f[at.cell_low + cell])
            high = min(f[at.slice_high + k], f[at.cell_high + cell])
            if high - low >= SLIVER:
                place = _place_of(f, i, at, i[at.slice_ball + k], first, k, relevant)
                i[at.slice_place + k] = place
                relevant = max(relevant, place + 1)
                break
            cell += 1
    return relevant


@inlined
def _add_piece(f: Floats, at: Layout, pieces: int, low: float, high: float) -> int:
    """Append an interval to the pieces, or to the last of them if they touch; returns their new number."""
    if pieces > 0 and low <= f[at.spare_high + pieces - 1]:
        f[at.spare_high + pieces - 1] = max(f[at.spare_high + pieces - 1], high)
        return pieces
    f[at.spare_low + pieces] = low
    f[at.spare_high + pieces] = high
    return pieces + 1


@inlined
def _pieces_of_level(f: Floats, i: Ints, at: Layout, level: int) -> int:
    """List what the chosen slices of a level cover of its cells, merged and ascending; returns how many pieces."""
    first, end = i[at.level_slice + level], i[at.level_slice + level + 1]
    pieces = 0
    for cell in range(i[at.level_cell + level], i[at.level_cell + level + 1]):
        while first < end and f[at.slice_high + first] <= f[at.cell_low + cell]:
            first += 1
        k = first
        while k < end and f[at.slice_low + k] < f[at.cell_high + cell]:
            if i[at.slice_place + k] >= 0 and i[at.chosen + i[at.slice_place + k]] != 0:
                low = max(f[at.slice_low + k], f[at.cell_low + cell])
                high = min(f[at.slice_high + k], f[at.cell_high + cell])
                if high - low >= SLIVER:
                    pieces = _add_piece(f, at, pieces, low, high)
            k += 1
    return pieces


@kernel
def union(f: Floats, i: Ints, at: Layout, levels: int) -> tuple[int, float]:
    """Write the maximal intervals of the chosen balls' domains, ascending, to the cover; returns number and length."""
    covers = 0
    for level in range(levels):
        pieces = _pieces_of_level(f, i, at, level)
        # Merge from the back, where there is room.
        old, new, place = covers - 1, pieces - 1, covers + pieces - 1
        while new >= 0:
            if old >= 0 and f[at.cover_low + old] > f[at.spare_low + new]:
                f[at.cover_low + place], f[at.cover_high + place] = f[at.cover_low + old], f[at.cover_high + old]
                old -= 1
            else:
                f[at.cover_low + place], f[at.cover_high + place] = f[at.spare_low + new], f[at.spare_high + new]
                new -= 1
            place -= 1
        covers += pieces
    merged, length = 0, 0.0
    for k in range(covers):
        if merged > 0 and f[at.cover_low + k] <= f[at.cover_high + merged - 1]:
            f[at.cover_high + merged - 1] = max(f[at.cover_high + merged - 1], f[at.cover_high + k])
        else:
            f[at.cover_low + merged], f[at.cover_high + merged] = f[at.cover_low + k], f[at.cover_high + k]
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
    """List the chosen balls that own an arm, all of one radius, in order of creation; returns how many they are."""
    found = 0
    for level in range(levels):
        for cell in range(i[at.level_cell + level], i[at.level_cell + level + 1]):
            if not f[at.cell_low + cell] <= arm <= f[at.cell_high + cell]:
                continue
            for k in range(i[at.level_slice + level], i[at.level_slice + level + 1]):
                low = max(f[at.slice_low + k], f[at.cell_low + cell])
                high = min(f[at.slice_high + k], f[at.cell_high + cell])
                if i[at.slice_place + k] >= 0 and high - low >= SLIVER and low <= arm <= high:
                    found = list_owner(i, at, found, i[at.slice_place + k])
        if found > 0:
            break
    return found
