"""How a pyramid is made anew from its bases, whenever the rewards have grown by a share: at little cost per reward."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.jit import Floats, Ints, kernel
from paretozoom.kernels.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.pyramid import (
    ARMS,
    BASE_ROOM,
    BASES,
    BLOCK_ROOM,
    BLOCKS,
    CELL_ROOM,
    HEADER,
    LEVELS,
    MOST_LEVELS,
    NEXT,
    NUMBERED,
    STATISTICS,
    TOLD,
    USED,
    Pyramid,
    add_to_cell,
    arm_cell,
    block_of,
    context_key,
    digits_of,
    digits_of_arm,
    find_slot,
    pyramid,
    weigh,
)
from paretozoom.kernels.roughness import measure_noise, measure_roughness
from paretozoom.kernels.splits import choose_splits, halves, regroup, spread_of

EARLY = 1000  # rewards until which levels are made anew every fifth more of them, later every second


@kernel
def copy_bases(f: Floats, i: Ints, old: Pyramid, more_f: Floats, more_i: Ints, new: Pyramid) -> None:
    """Take over what does not depend on the splits."""
    more_f[: new.base_sum] = f[: old.base_sum]
    more_i[HEADER : new.parent] = i[HEADER : old.parent]
    n, room, more = i[BASES], i[BASE_ROOM], more_i[BASE_ROOM]
    more_i[new.base_key : new.base_key + n] = i[old.base_key : old.base_key + n]
    for o in range(old.learned):
        here, there = o * room, o * more
        counts, totals, squares = old.base_count + here, old.base_sum + here, old.base_square + here
        more_i[new.base_count + there : new.base_count + there + n] = i[counts : counts + n]
        more_f[new.base_sum + there : new.base_sum + there + n] = f[totals : totals + n]
        more_f[new.base_square + there : new.base_square + there + n] = f[squares : squares + n]
    for base in range(n):
        place = find_slot(more_i, new.base_slot, 2 * more, new.base_key, more_i[new.base_key + base])
        more_i[new.base_slot + place] = base + 1


@kernel
def rebuild(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """Copies of the arrays with new splits, blocks, noise and roughness."""
    old = pyramid(i)
    bases, coordinates = i[BASES], old.context + old.finer
    digits, base_arm = np.zeros((bases, coordinates), np.int64), np.zeros(bases, np.int64)
    for base in range(bases):
        base_arm[base] = digits_of(f, i, old, i[old.base_key + base], digits[base])
    head = i[:HEADER].copy()
    cell_of_arm = np.zeros((MOST_LEVELS, i[ARMS]), np.int64)
    chosen = choose_splits(f, i, old, digits, head)
    levels = head[LEVELS]
    number_arms(f, i, old, chosen[:levels], cell_of_arm)
    head[NUMBERED] = chosen[:levels, 1].sum()
    head[BLOCKS] = head[USED] = 0
    worst = old.learned * STATISTICS * head[NUMBERED]
    visited = _count_blocks(i, old, digits, chosen, levels)
    head[BLOCK_ROOM] = 64
    while head[BLOCK_ROOM] < 2 * (visited.sum() + levels):
        head[BLOCK_ROOM] *= 2
    head[CELL_ROOM] = worst
    for level in range(levels):
        head[CELL_ROOM] += 2 * visited[level] * old.learned * STATISTICS * chosen[level, 1]
    head[NEXT] = head[TOLD] + max(4, head[TOLD] // (5 if head[TOLD] < EARLY else 2))
    new = pyramid(head)
    more_f, more_i = np.zeros(new.floats), np.zeros(new.ints, np.int64)
    more_i[:HEADER] = head
    copy_bases(f, i, old, more_f, more_i, new)
    write_levels(more_i, new, chosen, levels, cell_of_arm)
    _fill_blocks(more_f, more_i, new, digits, base_arm, levels)
    return more_f, more_i


@kernel
def _count_blocks(i: Ints, at: Pyramid, digits: Ints, chosen: Ints, levels: int) -> Ints:
    """How many cells of contexts were visited at each level."""
    visited = np.ones(levels, np.int64)
    group, groups, half = np.zeros(len(digits), np.int64), 1, np.zeros(len(digits), np.int64)
    depth = np.zeros(at.context, np.int64)
    for level in range(1, levels):
        for j in range(at.context):
            while depth[j] < chosen[level, 2 + j]:
                for base in range(len(digits)):
                    half[base] = (digits[base, j] >> (i[at.bits + j] - depth[j] - 1)) & 1
                groups = regroup(group, groups, half)
                depth[j] += 1
        visited[level] = groups
    return visited


@kernel
def write_levels(i: Ints, at: Pyramid, chosen: Ints, levels: int, cell_of_arm: Ints) -> None:
    """Write splits, depths and the cells of arms of all levels."""
    coordinates, start = at.context + at.finer, 0
    for level in range(levels):
        i[at.split + level] = chosen[level, 0]
        i[at.arm_cells + level] = chosen[level, 1]
        i[at.table + level] = start
        for j in range(coordinates):
            i[at.depth + level * coordinates + j] = chosen[level, 2 + j]
        for arm in range(at.arms):
            i[at.cell_of_arm + level * at.arms + arm] = cell_of_arm[level, arm]
        if level > 0:
            _write_arm_cells(i, at, level, start)
        start += chosen[level, 1]


@kernel
def _write_arm_cells(i: Ints, at: Pyramid, level: int, start: int) -> None:
    """Write of each cell of arms of a level the one it is in at the level before, and the next one to that."""
    split, cells = i[at.split + level], i[at.arm_cells + level]
    for cell in range(cells):
        i[at.parent + start + cell] = i[at.beside + start + cell] = cell
    if at.arms > 0:
        for arm in range(at.arms):
            cell = i[at.cell_of_arm + level * at.arms + arm]
            parent = i[at.cell_of_arm + (level - 1) * at.arms + arm]
            i[at.parent + start + cell] = i[at.beside + start + cell] = parent
    elif split >= 0:
        depth, lower = at.depth + level * (at.context + at.finer), 0
        for j in range(split + 1, at.context + at.finer):
            lower += i[depth + j]
        bits, kind = i[depth + split], i[at.kinds + split]
        for cell in range(cells):
            rest, own, above = cell & ((1 << lower) - 1), (cell >> lower) & ((1 << bits) - 1), cell >> (lower + bits)
            parent = own >> 1
            beside = parent + (1 if own & 1 else -1)
            last = (1 << (bits - 1)) - 1
            if kind == PERIODIC:
                beside = beside & last
            elif kind == CATEGORICAL or beside < 0 or beside > last:
                beside = parent
            above = above << (bits - 1)
            i[at.parent + start + cell] = ((above | parent) << lower) | rest
            i[at.beside + start + cell] = ((above | beside) << lower) | rest


@kernel
def _fill_blocks(f: Floats, i: Ints, at: Pyramid, digits: Ints, base_arm: Ints, levels: int) -> None:
    """Sum the bases in the blocks of all levels, and estimate the noise and how rough the levels are."""
    begins = np.zeros(levels + 1, np.int64)  # the first block of each level
    for level in range(levels):
        begins[level] = i[BLOCKS]
        for base in range(len(digits)):
            start = block_of(i, at, level, digits[base])
            cell = arm_cell(i, at, level, digits[base], base_arm[base])
            for o in range(at.learned):
                entry = o * i[BASE_ROOM] + base
                count, total, square = i[at.base_count + entry], f[at.base_sum + entry], f[at.base_square + entry]
                add_to_cell(f, start, i[at.arm_cells + level], cell, o, count, total, square, 0.0)
    begins[levels] = i[BLOCKS]
    for o in range(at.learned):
        spread = spread_of(f, i, at, o)
        f[at.noise + o] = measure_noise(f, i, at, begins[levels - 1], i[at.arm_cells + levels - 1], o, spread)
    for level in range(levels):
        cells = i[at.arm_cells + level]
        for number in range(begins[level], begins[level + 1]):
            for o in range(at.learned):
                start = at.block + i[at.block_start + number] + o * STATISTICS * cells
                for cell in range(cells):
                    weigh(f, start + cell, cells, f[at.noise + o])
    measure_roughness(f, i, at, levels, digits, base_arm)


@kernel
def restore(f: Floats, i: Ints, levels: Ints, block_key: Ints, block_level: Ints, statistics: Floats) -> bool:
    """Fill in what follows from bases and levels, and the blocks with their statistics. Needs room for all of it.

    Returns whether the blocks are those that the bases lie in, no more and no less.
    """
    at = pyramid(i)
    for base in range(i[BASES]):
        place = find_slot(i, at.base_slot, 2 * i[BASE_ROOM], at.base_key, i[at.base_key + base])
        i[at.base_slot + place] = base + 1
    cell_of_arm = np.zeros((MOST_LEVELS, i[ARMS]), np.int64)
    number_arms(f, i, at, levels, cell_of_arm)
    write_levels(i, at, levels, i[LEVELS], cell_of_arm)
    for block in range(len(block_key)):
        level = block_level[block]
        place = find_slot(i, at.block_slot, 2 * i[BLOCK_ROOM], at.block_key, block_key[block])
        i[at.block_slot + place] = block + 1
        i[at.block_key + block], i[at.block_level + block], i[at.block_start + block] = block_key[block], level, i[USED]
        i[BLOCKS] = block + 1
        i[USED] += at.learned * STATISTICS * i[at.arm_cells + level]
    f[at.block : at.block + len(statistics)] = statistics
    digits, met, right = np.zeros(at.context + at.finer, np.int64), np.zeros(len(block_key), np.int64), True
    for base in range(i[BASES]):
        digits_of(f, i, at, i[at.base_key + base], digits)
        for level in range(i[LEVELS]):
            key = context_key(i, at, level, digits)
            block = i[at.block_slot + find_slot(i, at.block_slot, 2 * i[BLOCK_ROOM], at.block_key, key)] - 1
            right = right and block >= 0 and block_level[block] == level
            if right:
                met[block] = 1
    return right and met.sum() == len(met)


@kernel
def number_arms(f: Floats, i: Ints, at: Pyramid, levels: Ints, cell_of_arm: Ints) -> None:
    """Number the cells of finite arms at all levels (rows: split, cells, depths), in the order of the arms."""
    digits, depth = np.zeros((at.arms, at.context + at.finer), np.int64), np.zeros(at.context + at.finer, np.int64)
    for arm in range(at.arms):
        digits_of_arm(f, i, at, arm, digits[arm])
    group, groups, half = np.zeros(at.arms, np.int64), 1, np.zeros(at.arms, np.int64)
    for level in range(1, len(levels)):
        for j in range(at.context, at.context + at.finer):
            while depth[j] < levels[level, 2 + j]:
                halves(i, at, digits, j, depth[j], half)
                groups = regroup(group, groups, half)
                depth[j] += 1
        cell_of_arm[level] = group
        if at.arms > 0:
            levels[level, 1] = groups
