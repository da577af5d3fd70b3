"""Blocks: the cells of arms above one cell of contexts that was visited, found by a hash table."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.core.memory import lend_rows
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.cells import arm_cell, between, context_key, mix, place_of, write_levels
from paretozoom.kernels.pareto_zoom.settings import settings
from paretozoom.kernels.pareto_zoom.sites import find_slot, list_digits


@part
def find_block(f: Floats, i: Ints, key: int) -> int:
    """The number of the block of a key, or -1."""
    slots = m.block_slot(f, i)
    return slots[find_slot(slots, m.block_key(f, i), key)] - 1


@part
def block_of(f: Floats, i: Ints, level: int, digits: Ints, site: int) -> int:
    """The number of the block of a site's digits at a level; made if it is not there. Needs room for it."""
    key, slots, keys = context_key(f, i, level, digits, -1, 0), m.block_slot(f, i), m.block_key(f, i)
    place = find_slot(slots, keys, key)
    number = slots[place] - 1
    if number < 0:
        number = i[m.BLOCKS]
        i[m.BLOCKS] = number + 1
        slots[place] = number + 1
        keys[number] = key
        m.block_level(f, i)[number] = level
        m.block_start(f, i)[number] = i[m.USED]
        m.block_site(f, i)[number] = site
        i[m.USED] += i[m.OBJECTIVES] * m.STATISTICS * m.arm_cells(f, i)[level]
    return number


@inlined
def statistics(f: Floats, i: Ints, number: int, cells: int, o: int) -> Any:
    """The statistics (m.STATISTICS, cells of arms) of a block in one objective."""
    start = m.block_start(f, i)[number] + o * m.STATISTICS * cells
    return lend_rows(m.cells(f, i), start, m.STATISTICS, cells)


@part
def context_corners(f: Floats, i: Ints, level: int, point: Floats, numbers: Ints, weights: Floats) -> tuple[int, float]:
    """List the blocks around a context at a level, with their weights; returns how many there are, and all weight."""
    kinds, bits, depth = m.kinds(f, i), m.bits(f, i), m.depth(f, i)
    corners, mixed, most_mixed = 1, 0, int(settings(f).most_mixed)
    numbers[0], weights[0] = mix(0, level), 1.0
    for j in range(i[m.CONTEXT]):
        own = depth[level, j]
        if own == 0:
            continue
        if kinds[j] == CATEGORICAL or mixed == most_mixed:
            place = place_of(kinds[j], bits[j], own, point[j])
            for k in range(corners):
                numbers[k] = mix(numbers[k], place)
            continue
        mixed += 1
        low, high, share = between(kinds[j], 1 << own, point[j])
        for k in range(corners):
            numbers[corners + k] = mix(numbers[k], high)
            weights[corners + k] = weights[k] * share
            numbers[k] = mix(numbers[k], low)
            weights[k] *= 1.0 - share
        corners *= 2
    visited, weight = 0, 0.0
    for k in range(corners):
        number = find_block(f, i, numbers[k])
        if number >= 0:
            numbers[visited], weights[visited] = number, weights[k]
            weight += weights[k]
            visited += 1
    return visited, weight


@part
def find_beside(f: Floats, i: Ints, level: int, digits: Ints) -> tuple[int, float]:
    """The block of the level before that lies next to some digits, -1 if there is none, and its share."""
    j, kinds, depth = m.outer(f, i)[level], m.kinds(f, i), m.depth(f, i)
    if j < 0 or kinds[j] == CATEGORICAL:
        return -1, 0.0
    bits, before = depth[level, j], depth[level - 1, j]
    place = digits[j] >> (m.bits(f, i)[j] - bits)
    low, high, share = between(kinds[j], 1 << before, (place + 0.5) / (1 << bits))
    own = place >> (bits - before)
    beside = low if own == high else high
    if own == beside:
        return -1, 0.0
    return find_block(f, i, context_key(f, i, level - 1, digits, j, beside)), share if own == low else 1.0 - share


@kernel
def seen(f: Floats, i: Ints, digits: Ints, arm: int) -> Ints:
    """How many rewards of each objective are in the finest cell that digits lie in and that was visited."""
    counts, level, number = np.zeros(i[m.OBJECTIVES], np.int64), i[m.LEVELS], -1
    while level > 0 and number < 0:
        level -= 1
        number = find_block(f, i, context_key(f, i, level, digits, -1, 0))
    if number >= 0:
        for o in range(len(counts)):
            known = statistics(f, i, number, m.arm_cells(f, i)[level], o)
            counts[o] = int(known[m.COUNT_, arm_cell(f, i, level, digits, arm)])
    return counts


@part
def same_levels(f: Floats, i: Ints, chosen: Ints) -> int:
    """How many of the first levels are as they were."""
    same = 0
    while same < min(len(chosen), i[m.LEVELS]):
        if m.inner(f, i)[same] != chosen[same, 0] or m.outer(f, i)[same] != chosen[same, 1]:
            break
        if m.arm_cells(f, i)[same] != chosen[same, 2] or (m.depth(f, i)[same] != chosen[same, 3:]).any():
            break
        same += 1
    return same


@part
def keep_blocks(f: Floats, i: Ints, more_f: Floats, more_i: Ints, level: int, digits: Ints) -> None:
    """Take over the blocks of a level that is as it was."""
    levels, sites, starts = m.block_level(f, i), m.block_site(f, i), m.block_start(f, i)
    size = i[m.OBJECTIVES] * m.STATISTICS * m.arm_cells(f, i)[level]
    for number in range(i[m.BLOCKS]):
        if levels[number] == level:
            there = block_of(more_f, more_i, level, digits[sites[number]], sites[number])
            m.block_told(more_f, more_i)[there] = m.block_told(f, i)[number]
            start, end = starts[number], m.block_start(more_f, more_i)[there]
            m.cells(more_f, more_i)[end : end + size] = m.cells(f, i)[start : start + size]


@part
def fill_blocks(f: Floats, i: Ints, level: int, digits: Ints, site_arms: Ints) -> None:
    """Sum the sites in the blocks of a level."""
    counts, totals, squares = m.site_count(f, i), m.site_total(f, i), m.site_square(f, i)
    cells, told = m.arm_cells(f, i)[level], m.block_told(f, i)
    for site in range(len(digits)):
        number, most = block_of(f, i, level, digits[site], site), 0
        cell = arm_cell(f, i, level, digits[site], site_arms[site])
        for o in range(i[m.OBJECTIVES]):
            known = statistics(f, i, number, cells, o)
            known[m.COUNT_, cell] += counts[o, site]
            known[m.TOTAL_, cell] += totals[o, site]
            known[m.SQUARE_, cell] += squares[o, site]
            most = max(most, counts[o, site])
        told[number] += most


@kernel
def restore(f: Floats, i: Ints, rows: Ints, cell_of_arm: Ints) -> bool:
    """Write what follows from sites, levels and the levels and sites of blocks.

    Returns whether the blocks, and their cells, are just those that the sites lie in.
    """
    blocks, used, wanted, owners = i[m.BLOCKS], i[m.USED], m.block_level(f, i).copy(), m.block_site(f, i).copy()
    write_levels(f, i, rows, cell_of_arm)
    digits = list_digits(f, i)[0]
    i[m.BLOCKS], i[m.USED] = 0, 0
    for block in range(blocks):
        if block_of(f, i, wanted[block], digits[owners[block]], owners[block]) != block or i[m.USED] > used:
            i[m.BLOCKS], i[m.USED] = blocks, used
            return False
    met = np.zeros(blocks, np.int64)
    for site in range(len(digits)):
        for level in range(len(rows)):
            block = find_block(f, i, context_key(f, i, level, digits[site], -1, 0))
            if block < 0:
                return False
            met[block] = 1
    return i[m.USED] == used and met.sum() == blocks
