"""Domains at one context when the arm is an interval: exact arithmetic on slices.

A ball cuts the line of arms above a context in its *slice*. Going through the radii from the smallest, the
gaps that smaller levels left shrink by a level's *cells*; a ball's domain is its slice within the cells of its own
level. What is not allowed is no gap. Parts shorter than SLIVER are left out everywhere.
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import NORM_MAX, NORM_TWO, PERIODIC
from paretozoom.kernels.zooming.balls import NORM, Layout
from paretozoom.kernels.zooming.tree import find_near, list_owner

SLIVER = 1e-12


@inlined
def _half_width(f: Floats, i: Ints, at: Layout, ball: int, inverse: float) -> float:
    """How far a ball reaches from its centre along the arm, above the surveyed context; negative if it does not."""
    radius, part = f[at.radius + ball], f[at.context_part + ball]
    if i[NORM] == NORM_TWO:
        reach = radius * radius - part
        return math.sqrt(reach * inverse) if reach >= 0.0 else -1.0
    if i[NORM] == NORM_MAX:
        return radius * inverse if part <= radius else -1.0
    return (radius - part) * inverse if radius >= part else -1.0


@inlined
def slice_of(f: Floats, i: Ints, at: Layout, ball: int, inverse: float) -> tuple[float, float, float, float]:
    """The slice of a ball above the surveyed context, given one over the factor of the arm.

    Up to two intervals, as a periodic arm can wrap; an interval with low > high is none.
    """
    if ball == 0:  # the root contains everything by definition
        return 0.0, 1.0, 1.0, 0.0
    half = _half_width(f, i, at, ball, inverse)
    if half < 0.0:
        return 1.0, 0.0, 1.0, 0.0
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
    low, high, low2, high2 = slice_of(f, i, at, ball, 1.0 / f[at.factors + at.context])
    return low <= arm <= high or low2 <= arm <= high2


@inlined
def _first_gap(f: Floats, low_ends: int, high_ends: int, gaps: int, low: float) -> int:
    """The first of the ascending intervals that ends above `low`."""
    first, end = 0, gaps
    while end - first > 8:
        middle = (first + end) // 2
        if f[high_ends + middle] > low:
            end = middle + 1
        else:
            first = middle + 1
    while first < end and f[high_ends + first] <= low:
        first += 1
    return first


@inlined
def _meets_gap(f: Floats, at: Layout, gaps: int, low: float, high: float) -> bool:
    """Whether an interval has a part in a gap that is no sliver."""
    k = _first_gap(f, at.gap_low, at.gap_high, gaps, low) if gaps > 1 else 0
    while k < gaps and f[at.gap_low + k] < high:
        if min(high, f[at.gap_high + k]) - max(low, f[at.gap_low + k]) >= SLIVER:
            return True
        k += 1
    return False


@inlined
def _fill(f: Floats, at: Layout, left: int, low: float, high: float) -> int:
    """Take a closed interval out of what is left of the gaps, in the spare intervals; returns their new number."""
    last = left - 1
    begins_last = last >= 0 and low <= f[at.spare_low + last] and high < f[at.spare_high + last]
    if begins_last and (last == 0 or f[at.spare_high + last - 1] <= low):  # as a rule: slices come by rising middle
        f[at.spare_low + last] = max(f[at.spare_low + last], high)
        return left
    first = _first_gap(f, at.spare_low, at.spare_high, left, low)
    end = first
    while end < left and f[at.spare_low + end] < high:
        end += 1
    if first == end:
        return left
    before, after = f[at.spare_low + first], f[at.spare_high + end - 1]
    kept = (before < low) + (high < after)
    shift = kept - (end - first)
    if shift > 0:
        for k in range(left - 1, end - 1, -1):
            f[at.spare_low + k + shift], f[at.spare_high + k + shift] = f[at.spare_low + k], f[at.spare_high + k]
    elif shift < 0:
        for k in range(end, left):
            f[at.spare_low + k + shift], f[at.spare_high + k + shift] = f[at.spare_low + k], f[at.spare_high + k]
    if before < low:
        f[at.spare_low + first], f[at.spare_high + first] = before, low
        first += 1
    if high < after:
        f[at.spare_low + first], f[at.spare_high + first] = high, after
    return left + shift


@inlined
def _cells_of_level(f: Floats, at: Layout, cells: int, gaps: int, left: int) -> int:
    """Append the cells of one level, the gaps before it less what is left of them; returns the new number of cells.

    What is left become the gaps.
    """
    k = 0
    for gap in range(gaps):
        low, high = f[at.gap_low + gap], f[at.gap_high + gap]
        while k < left and f[at.spare_low + k] < high:
            if low < f[at.spare_low + k]:
                f[at.cell_low + cells], f[at.cell_high + cells] = low, f[at.spare_low + k]
                cells += 1
            low = f[at.spare_high + k]
            k += 1
        if low < high:
            f[at.cell_low + cells], f[at.cell_high + cells] = low, high
            cells += 1
    for k in range(left):
        f[at.gap_low + k], f[at.gap_high + k] = f[at.spare_low + k], f[at.spare_high + k]
    return cells


@inlined
def _open_gaps(f: Floats, at: Layout, allowed: Floats) -> int:
    """Begin with all arms uncovered, or with the allowed intervals; returns the number of gaps."""
    f[at.gap_low], f[at.gap_high] = 0.0, 1.0
    for k in range(len(allowed)):
        f[at.gap_low + k], f[at.gap_high + k] = allowed[k, 0], allowed[k, 1]
    return max(1, len(allowed))


@kernel
def survey(f: Floats, i: Ints, at: Layout, point: Floats, allowed: Floats) -> tuple[int, int]:
    """Find slices, cells and relevant balls above the point's context; returns how many levels and relevant balls."""
    near = find_near(f, i, at, point) - 1
    slices = levels = cells = relevant = 0
    gaps = _open_gaps(f, at, allowed)
    inverse = 1.0 / f[at.factors + at.context]
    while near >= 0 and gaps > 0:
        radius = f[at.radius + i[at.near + near]]
        i[at.level_slice + levels] = slices
        i[at.level_cell + levels] = cells
        for k in range(gaps):
            f[at.spare_low + k], f[at.spare_high + k] = f[at.gap_low + k], f[at.gap_high + k]
        left = gaps
        while near >= 0 and f[at.radius + i[at.near + near]] == radius:
            ball, is_new = i[at.near + near], 1
            low, high, low2, high2 = slice_of(f, i, at, ball, inverse)
            while low <= high:
                if _meets_gap(f, at, gaps, low, high):
                    f[at.slice_low + slices], f[at.slice_high + slices] = low, high
                    i[at.relevant + relevant] = ball
                    relevant, is_new = relevant + is_new, 0
                    i[at.slice_place + slices] = relevant - 1
                    slices += 1
                left = _fill(f, at, left, low, high)
                low, high, low2, high2 = low2, high2, 1.0, 0.0
            near -= 1
        cells = _cells_of_level(f, at, cells, gaps, left)
        gaps = left
        levels += 1
    i[at.level_slice + levels] = slices
    i[at.level_cell + levels] = cells
    return levels, relevant


@inlined
def _swap(f: Floats, i: Ints, at: Layout, a: int, b: int) -> None:
    """Exchange two slices."""
    f[at.slice_low + a], f[at.slice_low + b] = f[at.slice_low + b], f[at.slice_low + a]
    f[at.slice_high + a], f[at.slice_high + b] = f[at.slice_high + b], f[at.slice_high + a]
    i[at.slice_place + a], i[at.slice_place + b] = i[at.slice_place + b], i[at.slice_place + a]


@inlined
def _chosen_first(f: Floats, i: Ints, at: Layout, level: int) -> int:
    """Put the chosen slices of a level first, by low end; returns where they end."""
    first = end = i[at.level_slice + level]
    for k in range(first, i[at.level_slice + level + 1]):
        if i[at.chosen + i[at.slice_place + k]] != 0:
            _swap(f, i, at, k, end)
            end += 1
    gap = 1
    while gap < (end - first) // 16:
        gap = 3 * gap + 1
    while gap > 0:  # Shell's sort; siblings are kept by arm, so there is little to do
        for k in range(first + gap, end):
            place = k
            while place >= first + gap and f[at.slice_low + place - gap] > f[at.slice_low + place]:
                _swap(f, i, at, place - gap, place)
                place -= gap
        gap //= 3
    return end


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
    first, end = i[at.level_slice + level], _chosen_first(f, i, at, level)
    pieces = 0
    for cell in range(i[at.level_cell + level], i[at.level_cell + level + 1]):
        while first < end and f[at.slice_high + first] <= f[at.cell_low + cell]:
            first += 1
        k = first
        while k < end and f[at.slice_low + k] < f[at.cell_high + cell]:
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


@part
def walk(f: Floats, i: Ints, at: Layout, pieces: int, distance: float) -> float:
    """The arm reached after walking `distance` through the maximal intervals."""
    for k in range(pieces - 1):
        length = f[at.cover_high + k] - f[at.cover_low + k]
        if distance < length:
            return f[at.cover_low + k] + distance
        distance -= length
    return min(f[at.cover_low + pieces - 1] + distance, f[at.cover_high + pieces - 1])


@part
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
                if high - low >= SLIVER and low <= arm <= high:
                    found = list_owner(i, at, found, i[at.slice_place + k])
        if found > 0:
            break
    return found
