"""What a pyramid makes of its rewards: estimates for all cells of arms at one context, from the coarsest level down.

A level's estimate is the one of the level before, interpolated along the split, plus a share of the difference to the
mean of the level's own cells, interpolated between cells of contexts. The share is that of the best linear estimate if
what a level adds has a variance (`roughness`) and rewards have one (`noise`).
"""

from __future__ import annotations

import math

from paretozoom.kernels.jit import Floats, Ints, inlined, kernel
from paretozoom.kernels.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.pyramid import (
    COUNT,
    DOUBT,
    LEVELS,
    MEAN,
    MOST_ARM_CELLS,
    MOST_MIXED,
    STATISTICS,
    Pyramid,
    digit,
    find_block,
    mix,
)

LEAST_WEIGHT = 0.05  # of the cells of contexts that were visited, for their mean to count
LEAST_SHARE = 0.1  # a level in which no cell has a larger one adds nothing worth its time


@inlined
def between(kind: int, cells: int, coordinate: float) -> tuple[int, int, float]:
    """The two cells between whose centres a coordinate lies, and the share of the second."""
    position = coordinate * cells - 0.5
    below = math.floor(position)
    low, high = int(below), int(below) + 1
    if kind == PERIODIC:
        return low & (cells - 1), high & (cells - 1), position - below
    return max(low, 0), min(high, cells - 1), position - below


@kernel
def find_corners(f: Floats, i: Ints, at: Pyramid, level: int, point: Floats) -> int:
    """List the blocks around a context at a level, with their weights; returns how many were visited."""
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
    visited = 0
    for k in range(corners):
        start = find_block(i, at, i[at.corner + k])
        if start >= 0:
            i[at.corner + visited], f[at.corner_weight + visited] = start, f[at.corner_weight + k]
            visited += 1
    return visited


@kernel
def _mix_blocks(f: Floats, i: Ints, at: Pyramid, corners: int, cells: int, o: int) -> None:
    """Sum weights, means and variances of means over the listed blocks, in one objective."""
    weights = f[at.mixed : at.mixed + cells]
    means = f[at.mixed + MOST_ARM_CELLS : at.mixed + MOST_ARM_CELLS + cells]
    doubts = f[at.mixed + 2 * MOST_ARM_CELLS : at.mixed + 2 * MOST_ARM_CELLS + cells]
    weights[:] = 0.0
    means[:] = 0.0
    doubts[:] = 0.0
    for k in range(corners):
        start, weight = i[at.corner + k] + o * STATISTICS * cells, f[at.corner_weight + k]
        count = f[start + COUNT * cells : start + (COUNT + 1) * cells]
        mean = f[start + MEAN * cells : start + (MEAN + 1) * cells]
        doubt = f[start + DOUBT * cells : start + (DOUBT + 1) * cells]
        # Here and below: short loops without branches, so that several cells are done at once.
        for cell in range(cells):
            weights[cell] += weight if count[cell] > 0.0 else 0.0
        for cell in range(cells):
            means[cell] += weight * mean[cell]
        for cell in range(cells):
            doubts[cell] += weight * weight * doubt[cell]


@inlined
def row_of(at: Pyramid, level: int, o: int) -> int:
    return ((level & 1) * at.learned + o) * MOST_ARM_CELLS


@kernel
def refine(f: Floats, i: Ints, at: Pyramid, point: Floats) -> int:
    """Estimate level after level until two in a row add little; returns the last, -1 if there is none.

    Estimates and variances of a level's cells of arms are at `at.estimate` and `at.variance`, from `row_of` on.
    """
    last, idle = -1, 0
    for level in range(i[LEVELS]):
        last = level
        idle = 0 if refine_level(f, i, at, level, point) > 0 else idle + 1
        if idle == 2:
            break
    return last


@kernel
def refine_level(f: Floats, i: Ints, at: Pyramid, level: int, point: Floats) -> int:
    """Estimate one level, the one before being estimated; returns how many cells make much of their own rewards."""
    corners, cells, shares = find_corners(f, i, at, level, point), i[at.arm_cells + level], 0
    for o in range(at.learned):
        _mix_blocks(f, i, at, corners, cells, o)
        if level == 0:
            _begin(f, at, o)
            shares += 1
        else:
            shares += _add_level(f, i, at, level, cells, o)
    return shares


@kernel
def _begin(f: Floats, at: Pyramid, o: int) -> None:
    """The mean of all rewards in one objective."""
    seen = f[at.mixed] > 0.0
    f[at.estimate + row_of(at, 0, o)] = f[at.mixed + MOST_ARM_CELLS] if seen else 0.0
    f[at.variance + row_of(at, 0, o)] = f[at.mixed + 2 * MOST_ARM_CELLS] if seen else f[at.noise + o]


@kernel
def _add_level(f: Floats, i: Ints, at: Pyramid, level: int, cells: int, o: int) -> int:
    """Estimate a level's cells of arms in one objective; returns how many make much of their own rewards."""
    rough = f[at.roughness + level * at.learned + o]
    weights = f[at.mixed : at.mixed + cells]
    means = f[at.mixed + MOST_ARM_CELLS : at.mixed + MOST_ARM_CELLS + cells]
    doubts = f[at.mixed + 2 * MOST_ARM_CELLS : at.mixed + 2 * MOST_ARM_CELLS + cells]
    for cell in range(cells):
        means[cell] /= weights[cell] if weights[cell] > LEAST_WEIGHT else 1.0
    for cell in range(cells):
        inverse = 1.0 / (weights[cell] if weights[cell] > LEAST_WEIGHT else 1.0)
        doubts[cell] *= inverse * inverse
    for cell in range(cells):
        weights[cell] = rough / (rough + doubts[cell]) if weights[cell] > LEAST_WEIGHT else 0.0
    shares = 0
    for cell in range(cells):
        shares += weights[cell] > LEAST_SHARE
    before, now = row_of(at, level - 1, o), row_of(at, level, o)
    old, old_doubt = f[at.estimate + before :][:cells], f[at.variance + before :][:cells]
    new, new_doubt = f[at.estimate + now :][:cells], f[at.variance + now :][:cells]
    if i[at.split + level] < 0:
        new[:] = old
        new_doubt[:] = old_doubt
    else:
        table = i[at.table + level]
        parents, besides = i[at.parent + table :][:cells], i[at.beside + table :][:cells]
        for cell in range(cells):
            new[cell] = 0.75 * old[parents[cell]] + 0.25 * old[besides[cell]]
        for cell in range(cells):
            new_doubt[cell] = 0.75 * old_doubt[parents[cell]] + 0.25 * old_doubt[besides[cell]]
    for cell in range(cells):
        new[cell] += weights[cell] * (means[cell] - new[cell])
    for cell in range(cells):
        share, noise, doubt = weights[cell], doubts[cell], new_doubt[cell]
        rest, both = 1.0 - share, noise if noise < doubt else doubt
        new_doubt[cell] = rest * rest * (doubt + rough) + share * share * noise + 2.0 * share * rest * both
    return shares


@kernel
def find_arm_corners(f: Floats, i: Ints, at: Pyramid, level: int, points: Floats) -> int:
    """List the cells of arms around each of some arms (rows) at a level, with their weights; returns how many.

    Those of all arms are at `at.corner`, then the next ones of all.
    """
    rows, mixed, corners, depth = len(points), 0, 1, at.depth + level * (at.context + at.finer)
    i[at.corner : at.corner + rows] = 0
    f[at.corner_weight : at.corner_weight + rows] = 1.0
    for j in range(at.finer):
        bits = i[depth + at.context + j]
        if bits == 0:
            continue
        kind, read = i[at.kinds + at.context + j], i[at.bits + at.context + j]
        if kind == CATEGORICAL or mixed == MOST_MIXED:
            for k in range(corners * rows):
                place = digit(kind, read, points[k % rows, j]) >> (read - bits)
                i[at.corner + k] = (i[at.corner + k] << bits) | place
            continue
        mixed += 1
        for k in range(corners * rows):
            low, high, share = between(kind, 1 << bits, points[k % rows, j])
            cell, weight = i[at.corner + k] << bits, f[at.corner_weight + k]
            i[at.corner + corners * rows + k] = cell | high
            f[at.corner_weight + corners * rows + k] = weight * share
            i[at.corner + k] = cell | low
            f[at.corner_weight + k] = weight * (1.0 - share)
        corners *= 2
    return corners


@kernel
def values_at(f: Floats, i: Ints, at: Pyramid, rows: int, corners: int, values: int, out: Floats) -> None:
    """Interpolate one number per cell of arms, at f[values...], between the listed ones, for each row."""
    cells, weights = i[at.corner : at.corner + corners * rows], f[at.corner_weight : at.corner_weight + corners * rows]
    numbers = f[values : values + MOST_ARM_CELLS]
    for row in range(rows):
        out[row] = weights[row] * numbers[cells[row]]
    for first in range(rows, corners * rows, rows):
        for row in range(rows):
            out[row] += weights[first + row] * numbers[cells[first + row]]
