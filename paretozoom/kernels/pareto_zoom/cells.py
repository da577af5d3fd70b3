"""Cells: how levels divide contexts and arms.

A level has one more bit of a coordinate of contexts, of arms, or of both than the one before. Its cells of arms are
numbered through.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.settings import settings
from paretozoom.kernels.pareto_zoom.sites import digits_of_arm


@inlined
def mix(key: int, value: int) -> int:
    """A key with one more number in it."""
    key = (key ^ (value + 0x1E3779B97F4A7C15)) * 0x3F58476D1CE4E5B9
    key = (key ^ (key >> 29)) * 0x14D049BB133111EB
    return key ^ (key >> 32)


@inlined
def between(kind: int, cells: int, coordinate: float) -> tuple[int, int, float]:
    """The two cells between whose centres a coordinate lies, and the share of the second."""
    position = coordinate * cells - 0.5
    below = math.floor(position)
    low, high = int(below), int(below) + 1
    if kind == PERIODIC:
        return low & (cells - 1), high & (cells - 1), position - below
    return max(low, 0), min(high, cells - 1), position - below


@part
def arm_cell(f: Floats, i: Ints, level: int, digits: Ints, arm: int) -> int:
    """The cell of arms, at a level, that digits or a finite arm belong to."""
    if arm >= 0:
        return m.cell_of_arm(f, i)[level, arm]
    cell, depth, bits = 0, m.depth(f, i), m.bits(f, i)
    for j in range(i[m.CONTEXT], i[m.COORDINATES]):
        cell = (cell << depth[level, j]) | (digits[j] >> (bits[j] - depth[level, j]))
    return cell


@part
def context_key(f: Floats, i: Ints, level: int, digits: Ints, moved: int, place: int) -> int:
    """The key of the block, at a level, of the cell of contexts that digits belong to.

    With one coordinate moved to another place, unless that is -1.
    """
    key, depth, bits = mix(0, level), m.depth(f, i), m.bits(f, i)
    for j in range(i[m.CONTEXT]):
        if depth[level, j] > 0:
            key = mix(key, place if j == moved else digits[j] >> (bits[j] - depth[level, j]))
    return key


@inlined
def place_of(kind: int, bits: int, own: int, coordinate: float) -> int:
    whole = int(coordinate) if kind == CATEGORICAL else min(int(coordinate * (1 << bits)), (1 << bits) - 1)
    return (whole & ((1 << bits) - 1)) >> (bits - own)


@part
def arm_corners(f: Floats, i: Ints, level: int, arms: Floats, rows: int, numbers: Ints, weights: Floats) -> int:
    """List the cells of arms around each of the first rows of arms at a level, with weights; returns how many each has.

    Those of all arms come first, then the next ones of all.
    """
    kinds, bits, depth, context = m.kinds(f, i), m.bits(f, i), m.depth(f, i), i[m.CONTEXT]
    mixed, corners, most_mixed = 0, 1, int(settings(f).most_mixed)
    numbers[:rows] = 0
    weights[:rows] = 1.0
    for j in range(i[m.FINER]):
        own, kind, read = depth[level, context + j], kinds[context + j], bits[context + j]
        if own == 0:
            continue
        interpolated, wide = kind != CATEGORICAL and mixed < most_mixed, corners * rows
        for first in range(0, wide, rows):
            for row in range(rows):
                near = first + row
                cell = numbers[near] << own
                if interpolated:
                    low, high, share = between(kind, 1 << own, arms[row, j])
                    numbers[near], numbers[wide + near] = cell | low, cell | high
                    weights[wide + near] = weights[near] * share
                    weights[near] *= 1.0 - share
                else:
                    numbers[near] = cell | place_of(kind, read, own, arms[row, j])
        if interpolated:
            mixed, corners = mixed + 1, 2 * corners
    return corners


@part
def write_levels(f: Floats, i: Ints, chosen: Ints, cell_of_arm: Ints) -> None:
    """Write splits, depths and cells of arms of all levels: rows of splits inside and outside, cells, depths."""
    start, own = 0, m.cell_of_arm(f, i)
    for level in range(len(chosen)):
        m.inner(f, i)[level], m.outer(f, i)[level] = chosen[level, 0], chosen[level, 1]
        m.arm_cells(f, i)[level], m.first_number(f, i)[level] = chosen[level, 2], start
        m.depth(f, i)[level, :] = chosen[level, 3:]
        for arm in range(i[m.ARMS]):
            own[level, arm] = cell_of_arm[level, arm]
        if level > 0:
            _write_parents(f, i, level, start)
        start += chosen[level, 2]


@part
def _write_parents(f: Floats, i: Ints, level: int, start: int) -> None:
    """Write of each cell of arms of a level the one it is in at the level before, and the next one to that."""
    split, cells, depth = m.inner(f, i)[level], m.arm_cells(f, i)[level], m.depth(f, i)
    parents, besides, own = m.parent(f, i), m.beside(f, i), m.cell_of_arm(f, i)
    for cell in range(cells):
        parents[start + cell] = besides[start + cell] = cell
    if i[m.ARMS] > 0:
        for arm in range(i[m.ARMS]):
            parents[start + own[level, arm]] = besides[start + own[level, arm]] = own[level - 1, arm]
    elif split >= 0:
        lower = 0
        for j in range(split + 1, i[m.COORDINATES]):
            lower += depth[level, j]
        bits, kind = depth[level, split], m.kinds(f, i)[split]
        last = (1 << (bits - 1)) - 1
        for cell in range(cells):
            rest, place, above = cell & ((1 << lower) - 1), (cell >> lower) & ((1 << bits) - 1), cell >> (lower + bits)
            parent = place >> 1
            beside = parent + (1 if place & 1 else -1)
            if kind == PERIODIC:
                beside = beside & last
            elif kind == CATEGORICAL or beside < 0 or beside > last:
                beside = parent
            above = above << (bits - 1)
            parents[start + cell] = ((above | parent) << lower) | rest
            besides[start + cell] = ((above | beside) << lower) | rest


@kernel
def number_arms(f: Floats, i: Ints, chosen: Ints) -> Ints:
    """Number the cells of finite arms at all levels (rows as in `write_levels`), in the order of the arms."""
    arms, coordinates = i[m.ARMS], i[m.COORDINATES]
    numbered = np.zeros((len(chosen), arms), np.int64)
    digits, bits = np.zeros((arms, coordinates), np.int64), m.bits(f, i)
    for arm in range(arms):
        digits_of_arm(f, i, arm, digits[arm])
    group, groups = np.zeros(arms, np.int64), 1
    for level in range(1, len(chosen)):
        for j in range(i[m.CONTEXT], coordinates):
            for depth in range(chosen[level - 1, 3 + j], chosen[level, 3 + j]):
                groups = regroup(group, groups, halves(digits, bits, j, depth))
        numbered[level] = group
        if arms > 0:
            chosen[level, 2] = groups
    return numbered


@part
def halves(digits: Ints, bits: Ints, j: int, depth: int) -> Ints:
    """In which half of its cell, at some depth of a coordinate, each row of digits lies."""
    half, below = np.empty(len(digits), np.int64), bits[j] - depth - 1
    for row in range(len(digits)):
        half[row] = (digits[row, j] >> below) & 1
    return half


@kernel
def regroup(group: Ints, groups: int, half: Ints) -> int:
    """Divide groups by halves, numbered through in order; returns how many there are now."""
    names = np.full((groups, 2), -1, np.int64)
    found = 0
    for k in range(len(group)):
        name = names[group[k], half[k]]
        if name < 0:
            names[group[k], half[k]] = name = found
            found += 1
        group[k] = name
    return found
