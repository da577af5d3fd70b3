"""How a pyramid is made anew from its bases, whenever the rewards have grown by a share: at little cost per reward."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.pareto_zoom.forget import forget_half
from paretozoom.kernels.pareto_zoom.pyramid import (
    ARMS,
    BASE_ROOM,
    BASES,
    BLOCK_ROOM,
    BLOCKS,
    CELL_ROOM,
    DUE,
    FORGETS,
    HEADER,
    LEVELS,
    MOST_LEVELS,
    NEXT,
    NUMBERED,
    SMOOTH_TERMS,
    STATISTICS,
    TOLD,
    USED,
    USES_TREND,
    Pyramid,
    add_to_cell,
    allocate,
    arm_cell,
    block_of,
    context_key,
    count_by_arm,
    digits_of,
    digits_of_arm,
    find_block,
    find_slot,
    pyramid,
    rows_of,
)
from paretozoom.kernels.pareto_zoom.refine import correct, due_after, expect
from paretozoom.kernels.pareto_zoom.roughness import measure_noise, measure_roughness
from paretozoom.kernels.pareto_zoom.smooth_fit import LAST_FIT as LAST_SMOOTH_FIT
from paretozoom.kernels.pareto_zoom.smooth_fit import fit_smooth, give_up_smooth
from paretozoom.kernels.pareto_zoom.splits import choose_splits, halves, regroup, spread_of
from paretozoom.kernels.pareto_zoom.trend_fit import LAST_FIT, fit_trend, rest_of

EARLY = 1000  # rewards until which levels are made anew every fifth more of them, later every half more


@part
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


@inlined
def rebuild(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """Copies of the arrays with new splits, blocks, noise and roughness. Forgets first, and fits the trend, in both."""
    old, forgets = pyramid(i), i[FORGETS] == 1
    rest_changes = forgets
    if forgets:
        forget_half(f, i, old)
    bases, coordinates = i[BASES], old.context + old.finer
    digits, base_arm = np.zeros((bases, coordinates), np.int64), np.zeros(bases, np.int64)
    i[old.arm_told : old.inner] = 0
    for base in range(bases):
        base_arm[base] = digits_of(f, i, old, i[old.base_key + base], digits[base])
        if old.arms > 0:
            count_by_arm(i, old, base, digits[base], base_arm[base])
    if forgets or i[TOLD] <= LAST_FIT:
        used = i[USES_TREND] == 1
        fit_trend(f, i, old, digits, base_arm)
        rest_changes = rest_changes or used or i[USES_TREND] == 1
    is_early = forgets or i[TOLD] <= LAST_SMOOTH_FIT
    if not is_early:
        give_up_smooth(f, i, old)
    if is_early or (i[SMOOTH_TERMS] > 0 and i[USES_TREND] == 1):
        fit_smooth(f, i, old, digits, base_arm, forgets)
    totals, squares = rest_of(f, i, old, digits, base_arm)
    head = i[:HEADER].copy()
    cell_of_arm = np.zeros((MOST_LEVELS, i[ARMS]), np.int64)
    chosen = choose_splits(f, i, old, digits, totals, squares, head)
    levels = head[LEVELS]
    number_arms(f, i, old, chosen[:levels], cell_of_arm)
    head[NUMBERED] = chosen[:levels, 2].sum()
    head[BLOCKS] = head[USED] = 0
    worst = old.learned * STATISTICS * head[NUMBERED]
    visited = _count_blocks(i, old, digits, chosen, levels)
    head[BLOCK_ROOM] = 64
    while head[BLOCK_ROOM] < 2 * (visited.sum() + levels):
        head[BLOCK_ROOM] *= 2
    head[CELL_ROOM] = worst
    for level in range(levels):
        head[CELL_ROOM] += 2 * visited[level] * old.learned * STATISTICS * chosen[level, 2]
    head[NEXT] = head[TOLD] + max(4, head[TOLD] // (5 if head[TOLD] < EARLY else 2))
    while head[BASE_ROOM] < bases * (head[NEXT] / max(1, head[TOLD])):  # as many as there will be if they go on so
        head[BASE_ROOM] *= 2
    more_f, more_i = allocate(head)
    new = pyramid(more_i)
    copy_bases(f, i, old, more_f, more_i, new)
    write_levels(more_i, new, chosen, levels, cell_of_arm)
    same = 0 if rest_changes else _same_levels(i, old, chosen, levels)
    begins = np.zeros(levels + 1, np.int64)
    for level in range(levels):
        if level < same:
            _keep_blocks(f, i, old, more_f, more_i, new, level, digits)
        else:
            _fill_blocks(more_f, more_i, new, level, digits, base_arm, totals, squares)
        begins[level + 1] = more_i[BLOCKS]
    _estimate(more_f, more_i, new, digits, begins, totals, squares)
    return more_f, more_i


@part
def _count_blocks(i: Ints, at: Pyramid, digits: Ints, chosen: Ints, levels: int) -> Ints:
    """How many cells of contexts were visited at each level."""
    visited = np.ones(levels, np.int64)
    group, groups, half = np.zeros(len(digits), np.int64), 1, np.zeros(len(digits), np.int64)
    depth = np.zeros(at.context, np.int64)
    for level in range(1, levels):
        for j in range(at.context):
            while depth[j] < chosen[level, 3 + j]:
                halves(i, at, digits, j, depth[j], half)
                groups = regroup(group, groups, half)
                depth[j] += 1
        visited[level] = groups
    return visited


@kernel
def write_levels(i: Ints, at: Pyramid, chosen: Ints, levels: int, cell_of_arm: Ints) -> None:
    """Write splits, depths and the cells of arms of all levels."""
    coordinates, start = at.context + at.finer, 0
    for level in range(levels):
        i[at.inner + level], i[at.outer + level] = chosen[level, 0], chosen[level, 1]
        i[at.arm_cells + level] = chosen[level, 2]
        i[at.table + level] = start
        for j in range(coordinates):
            i[at.depth + level * coordinates + j] = chosen[level, 3 + j]
        for arm in range(at.arms):
            i[at.cell_of_arm + level * at.arms + arm] = cell_of_arm[level, arm]
        if level > 0:
            _write_arm_cells(i, at, level, start)
        start += chosen[level, 2]


@part
def _write_arm_cells(i: Ints, at: Pyramid, level: int, start: int) -> None:
    """Write of each cell of arms of a level the one it is in at the level before, and the next one to that."""
    split, cells = i[at.inner + level], i[at.arm_cells + level]
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


@part
def _same_levels(i: Ints, at: Pyramid, chosen: Ints, levels: int) -> int:
    """How many of the first levels are as they were."""
    coordinates, same = at.context + at.finer, 0
    while same < min(levels, i[LEVELS]):
        if i[at.inner + same] != chosen[same, 0] or i[at.outer + same] != chosen[same, 1]:
            break
        if i[at.arm_cells + same] != chosen[same, 2]:
            break
        depth = at.depth + same * coordinates
        if (i[depth : depth + coordinates] != chosen[same, 3:]).any():
            break
        same += 1
    return same


@part
def _keep_blocks(
    f: Floats, i: Ints, old: Pyramid, more_f: Floats, more_i: Ints, new: Pyramid, level: int, digits: Ints
) -> None:
    """Take over the blocks of a level that is as it was."""
    size = old.learned * STATISTICS * i[old.arm_cells + level]
    for number in range(i[BLOCKS]):
        if i[old.block_level + number] == level:
            base = i[old.block_base + number]
            there = block_of(more_i, new, level, digits[base], base)
            more_i[new.block_told + there] = i[old.block_told + number]
            start, end = old.block + i[old.block_start + number], new.block + more_i[new.block_start + there]
            more_f[end : end + size] = f[start : start + size]


@part
def _fill_blocks(
    f: Floats, i: Ints, at: Pyramid, level: int, digits: Ints, base_arm: Ints, totals: Floats, squares: Floats
) -> None:
    """Sum the bases in the blocks of a level."""
    cells = i[at.arm_cells + level]
    for base in range(len(digits)):
        number, most = block_of(i, at, level, digits[base], base), 0
        cell = arm_cell(i, at, level, digits[base], base_arm[base])
        for o in range(at.learned):
            count, start = i[at.base_count + o * i[BASE_ROOM] + base], rows_of(i, at, number, cells, o) + cell
            add_to_cell(f, start, cells, count, totals[o, base], squares[o, base])
            most = max(most, count)
        i[at.block_told + number] += most


@part
def _estimate(f: Floats, i: Ints, at: Pyramid, digits: Ints, begins: Ints, totals: Floats, squares: Floats) -> None:
    """Estimate noise, roughness and rewards of all levels, whose first blocks are given."""
    levels = len(begins) - 1
    spread = np.array([spread_of(i, at, o, totals, squares) for o in range(at.learned)])
    for o in range(at.learned):
        f[at.noise + o] = measure_noise(f, i, at, levels - 1, begins[levels - 1], begins[levels], o, spread[o])
    for level in range(levels):
        first, end = begins[level], begins[level + 1]
        if level > 0:
            for number in range(first, end):
                expect(f, i, at, level, number, digits[i[at.block_base + number]])
            for o in range(at.learned):
                rough = measure_roughness(f, i, at, level, first, end, o, spread[o])
                f[at.roughness + level * at.learned + o] = rough
        for number in range(first, end):
            correct(f, i, at, level, number)
    i[DUE] = due_after(i[TOLD])


@kernel
def restore(f: Floats, i: Ints, levels: Ints, by_block: Ints, statistics: Floats) -> bool:
    """Fill in what follows from bases and levels, and the blocks with their statistics. Needs room for all of it.

    Rows of `by_block`: keys, levels, bases, rewards told, and when estimates are made anew. Returns whether the blocks
    are those that the bases lie in, no more and no less.
    """
    at, blocks = pyramid(i), by_block.shape[1]
    for base in range(i[BASES]):
        place = find_slot(i, at.base_slot, 2 * i[BASE_ROOM], at.base_key, i[at.base_key + base])
        i[at.base_slot + place] = base + 1
    cell_of_arm = np.zeros((MOST_LEVELS, i[ARMS]), np.int64)
    number_arms(f, i, at, levels, cell_of_arm)
    write_levels(i, at, levels, i[LEVELS], cell_of_arm)
    digits, met = np.zeros(at.context + at.finer, np.int64), np.zeros(blocks, np.int64)
    for block in range(blocks):
        key, level, base = by_block[0, block], by_block[1, block], by_block[2, block]
        digits_of(f, i, at, i[at.base_key + base], digits)
        number = block_of(i, at, level, digits, base)
        if number != block or i[at.block_key + number] != key:
            return False
    i[at.block_told : at.block_told + blocks] = by_block[3]
    i[at.block_due : at.block_due + blocks] = by_block[4]
    f[at.block : at.block + len(statistics)] = statistics
    i[at.arm_told : at.inner] = 0
    for base in range(i[BASES]):
        arm = digits_of(f, i, at, i[at.base_key + base], digits)
        if at.arms > 0:
            count_by_arm(i, at, base, digits, arm)
        for level in range(i[LEVELS]):
            block = find_block(i, at, context_key(i, at, level, digits, -1, 0))
            if block < 0:
                return False
            met[block] = 1
    return met.sum() == blocks


@kernel
def number_arms(f: Floats, i: Ints, at: Pyramid, levels: Ints, cell_of_arm: Ints) -> None:
    """Number the cells of finite arms at all levels (rows: see `choose_splits`), in the order of the arms."""
    digits, depth = np.zeros((at.arms, at.context + at.finer), np.int64), np.zeros(at.context + at.finer, np.int64)
    for arm in range(at.arms):
        digits_of_arm(f, i, at, arm, digits[arm])
    group, groups, half = np.zeros(at.arms, np.int64), 1, np.zeros(at.arms, np.int64)
    for level in range(1, len(levels)):
        for j in range(at.context, at.context + at.finer):
            while depth[j] < levels[level, 3 + j]:
                halves(i, at, digits, j, depth[j], half)
                groups = regroup(group, groups, half)
                depth[j] += 1
        cell_of_arm[level] = group
        if at.arms > 0:
            levels[level, 2] = groups
