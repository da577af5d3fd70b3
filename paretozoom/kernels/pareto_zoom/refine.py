"""What a pyramid makes of its rewards: an estimate for every cell, from the coarsest level down.

What is expected of a cell is what the level before says, interpolated at the cell's middle. The estimate is that plus a
share of the difference to the mean of the cell's own rewards: the share of the best linear estimate if what a level
adds has a variance (`roughness`) and rewards have one (`noise`).
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.pareto_zoom.pyramid import (
    BLOCKS,
    COUNT,
    DOUBT,
    DUE,
    ESTIMATE,
    LEVELS,
    MOST_FINE,
    MOST_MIXED,
    SQUARES,
    TOLD,
    TOTAL,
    Pyramid,
    context_key,
    digit,
    digits_of,
    find_block,
    mix,
    rows_of,
)

OWN, BESIDE = 0.75, 0.25  # the middle of a half lies so between the middles of its cell and of the next one
OWN_NOISE = 4.0  # so many rewards of usual noise are added to those of a cell when its noise is estimated
GROWTH = 16  # estimates are made anew when rewards have grown by one in so many
LEAST_WEIGHT = 0.5  # of the blocks around a context that were visited, for their level to be the one played by


@inlined
def between(kind: int, cells: int, coordinate: float) -> tuple[int, int, float]:
    """The two cells between whose centres a coordinate lies, and the share of the second."""
    position = coordinate * cells - 0.5
    below = math.floor(position)
    low, high = int(below), int(below) + 1
    if kind == PERIODIC:
        return low & (cells - 1), high & (cells - 1), position - below
    return max(low, 0), min(high, cells - 1), position - below


@inlined
def mean_of(count: float, total: float, square: float, noise: float) -> tuple[float, float]:
    """The mean of a cell's rewards and the variance of it, given the noise of rewards elsewhere."""
    count = count if count > 0.0 else 1.0
    mean = total / count
    spread = square - mean * total
    spread = spread if spread > 0.0 else 0.0
    return mean, (spread + OWN_NOISE * noise) / ((count + OWN_NOISE) * count)


@inlined
def due_after(told: int) -> int:
    """The number of rewards at which estimates made of so many are made anew."""
    return told + 1 + told // GROWTH


@part
def find_beside(i: Ints, at: Pyramid, level: int, digits: Ints) -> tuple[int, float]:
    """The block of the level before that lies next to some digits, -1 if there is none, and its share."""
    j, coordinates = i[at.outer + level], at.context + at.finer
    if j < 0 or i[at.kinds + j] == CATEGORICAL:
        return -1, 0.0
    bits, before = i[at.depth + level * coordinates + j], i[at.depth + (level - 1) * coordinates + j]
    place = digits[j] >> (i[at.bits + j] - bits)
    low, high, share = between(i[at.kinds + j], 1 << before, (place + 0.5) / (1 << bits))
    own = place >> (bits - before)
    beside = low if own == high else high
    if own == beside:
        return -1, 0.0
    return find_block(i, at, context_key(i, at, level - 1, digits, j, beside)), share if own == low else 1.0 - share


@part
def expect(f: Floats, i: Ints, at: Pyramid, level: int, number: int, digits: Ints) -> None:
    """Write to a block's estimates and doubts what the level before says of its cells."""
    parent = find_block(i, at, context_key(i, at, level - 1, digits, -1, 0))
    beside, share = find_beside(i, at, level, digits)
    before, cells, table = i[at.arm_cells + level - 1], i[at.arm_cells + level], i[at.table + level]
    parents, besides = i[at.parent + table :][:cells], i[at.beside + table :][:cells]
    for o in range(at.learned):
        for statistic in range(ESTIMATE, DOUBT + 1):
            here = rows_of(i, at, parent, before, o) + statistic * before
            old = f[here : here + before]
            if beside >= 0:
                there = rows_of(i, at, beside, before, o) + statistic * before
                other, mixed = f[there : there + before], f[at.row : at.row + before]
                for cell in range(before):
                    mixed[cell] = (1.0 - share) * old[cell] + share * other[cell]
                old = mixed
            start = rows_of(i, at, number, cells, o) + statistic * cells
            new = f[start : start + cells]
            if i[at.inner + level] < 0:
                new[:] = old
            else:
                for cell in range(cells):
                    new[cell] = OWN * old[parents[cell]] + BESIDE * old[besides[cell]]


@part
def _begin(f: Floats, i: Ints, at: Pyramid, number: int) -> None:
    """The mean of all rewards."""
    for o in range(at.learned):
        start, noise = rows_of(i, at, number, 1, o), f[at.noise + o]
        mean, error = mean_of(f[start + COUNT], f[start + TOTAL], f[start + SQUARES], noise)
        f[start + ESTIMATE], f[start + DOUBT] = mean, math.sqrt(error if f[start + COUNT] > 0.0 else noise)


@part
def correct(f: Floats, i: Ints, at: Pyramid, level: int, number: int) -> None:
    """Correct what was expected of a block's cells by their own rewards; of the whole space nothing is expected."""
    cells = i[at.arm_cells + level]
    i[at.block_due + number] = due_after(i[at.block_told + number])
    if level == 0:
        _begin(f, i, at, number)
        return
    for o in range(at.learned):
        start, noise = rows_of(i, at, number, cells, o), f[at.noise + o]
        rough = f[at.roughness + level * at.learned + o]
        counts = f[start + COUNT * cells :][:cells]
        totals = f[start + TOTAL * cells :][:cells]
        squares = f[start + SQUARES * cells :][:cells]
        estimates = f[start + ESTIMATE * cells :][:cells]
        doubts = f[start + DOUBT * cells :][:cells]
        # A loop without branches, so that several cells are done at once.
        for cell in range(cells):
            mean, error = mean_of(counts[cell], totals[cell], squares[cell], noise)
            share = rough / (rough + error) if counts[cell] > 0.0 else 0.0
            rest, variance = 1.0 - share, doubts[cell] * doubts[cell]
            both = error if error < variance else variance
            estimates[cell] += share * (mean - estimates[cell])
            variance = rest * rest * (variance + rough) + share * share * error + 2.0 * share * rest * both
            doubts[cell] = math.sqrt(variance)


@part
def refresh(f: Floats, i: Ints, at: Pyramid, level: int, number: int, digits: Ints) -> None:
    """Make a block's estimates anew; those of the level before are taken as they are."""
    if level > 0:
        expect(f, i, at, level, number, digits)
    correct(f, i, at, level, number)


@kernel
def refresh_all(f: Floats, i: Ints, at: Pyramid, digits: Ints) -> None:
    """Make the estimates of all blocks anew, level by level; `digits` is scratch."""
    for level in range(i[LEVELS]):
        for number in range(i[BLOCKS]):
            if i[at.block_level + number] == level:
                digits_of(f, i, at, i[at.base_key + i[at.block_base + number]], digits)
                refresh(f, i, at, level, number, digits)
    i[DUE] = due_after(i[TOLD])


@kernel
def find_corners(f: Floats, i: Ints, at: Pyramid, level: int, point: Floats) -> tuple[int, float]:
    """List the blocks around a context at a level, with their weights; returns how many there are, and all weight."""
    corners, mixed, depth = 1, 0, at.depth + level * (at.context + at.finer)
    i[at.corner], f[at.corner_weight] = mix(0, level), 1.0
    for j in range(at.context):
        bits = i[depth + j]
        if bits == 0:
            continue
        kind = i[at.kinds + j]
        if kind == CATEGORICAL or mixed == MOST_MIXED:
            place = digit(kind, i[at.bits + j], point[j]) >> (i[at.bits + j] - bits)
            for k in range(corners):
                i[at.corner + k] = mix(i[at.corner + k], place)
            continue
        mixed += 1
        low, high, share = between(kind, 1 << bits, point[j])
        for k in range(corners):
            i[at.corner + corners + k] = mix(i[at.corner + k], high)
            f[at.corner_weight + corners + k] = f[at.corner_weight + k] * share
            i[at.corner + k] = mix(i[at.corner + k], low)
            f[at.corner_weight + k] *= 1.0 - share
        corners *= 2
    visited, weight = 0, 0.0
    for k in range(corners):
        number = find_block(i, at, i[at.corner + k])
        if number >= 0:
            i[at.corner + visited], f[at.corner_weight + visited] = number, f[at.corner_weight + k]
            weight += f[at.corner_weight + k]
            visited += 1
    return visited, weight


@kernel
def refine(f: Floats, i: Ints, at: Pyramid, point: Floats, optimism: float) -> int:
    """Interpolate the indices of the finest level that knows a context; returns the level, -1 if none does.

    Those of objective o and the level's cells of arms are written from `row_of` on.
    """
    level, corners, weight = i[LEVELS], 0, 0.0
    while level > 0 and weight < LEAST_WEIGHT:
        level -= 1
        corners, weight = find_corners(f, i, at, level, point)
    if corners == 0:
        return -1
    cells = i[at.arm_cells + level]
    for o in range(at.learned):
        indices = f[row_of(i, at, o) :][:cells]
        indices[:] = 0.0
        for k in range(corners):
            share, start = f[at.corner_weight + k] / weight, rows_of(i, at, i[at.corner + k], cells, o)
            estimates, doubts = f[start + ESTIMATE * cells :][:cells], f[start + DOUBT * cells :][:cells]
            for cell in range(cells):
                indices[cell] += share * (estimates[cell] + optimism * doubts[cell])
    return level


@inlined
def row_of(i: Ints, at: Pyramid, o: int) -> int:
    """Where the indices of cells of arms at a context are written."""
    return at.row + o * i[MOST_FINE]


@kernel
def find_arm_corners(f: Floats, i: Ints, at: Pyramid, level: int, points: Floats) -> int:
    """List the cells of arms around each of some arms (rows) at a level, with their weights; returns how many.

    Those of all arms are at `at.corner`, then the next ones of all.
    """
    rows, mixed, corners, depth = len(points), 0, 1, at.depth + level * (at.context + at.finer)
    cells, weights = i[at.corner :], f[at.corner_weight :]
    cells[:rows] = 0
    weights[:rows] = 1.0
    for j in range(at.finer):
        bits = i[depth + at.context + j]
        if bits == 0:
            continue
        kind, read, wide = i[at.kinds + at.context + j], i[at.bits + at.context + j], corners * rows
        interpolated = kind != CATEGORICAL and mixed < MOST_MIXED
        for first in range(0, wide, rows):
            near, share_near = cells[first : first + rows], weights[first : first + rows]
            far, share_far = cells[wide + first :][:rows], weights[wide + first :][:rows]
            for row in range(rows):
                cell = near[row] << bits
                if interpolated:
                    low, high, share = between(kind, 1 << bits, points[row, j])
                    near[row], far[row] = cell | low, cell | high
                    share_far[row] = share_near[row] * share
                    share_near[row] *= 1.0 - share
                else:
                    near[row] = cell | (digit(kind, read, points[row, j]) >> (read - bits))
        if interpolated:
            mixed, corners = mixed + 1, 2 * corners
    return corners


@kernel
def values_at(f: Floats, i: Ints, at: Pyramid, rows: int, corners: int, values: int, out: Floats) -> None:
    """Interpolate one number per cell of arms, at f[values...], between the listed ones, for each row."""
    cells, weights = i[at.corner : at.corner + corners * rows], f[at.corner_weight : at.corner_weight + corners * rows]
    numbers = f[values : values + i[MOST_FINE]]
    for row in range(rows):
        out[row] = weights[row] * numbers[cells[row]]
    for first in range(rows, corners * rows, rows):
        for row in range(rows):
            out[row] += weights[first + row] * numbers[cells[first + row]]
