"""Levels: means of ever smaller cells of contexts and arms, each a correction of the one before.

What is expected of a cell is what the level before says, interpolated at the cell's middle. The estimate is that plus a
share of the difference to the mean of the cell's own rewards: the share of the best linear estimate if what a level
adds has a variance (`roughness`) and rewards have one (`noise`).
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.memory import resized
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.blocks import (
    block_of,
    context_corners,
    fill_blocks,
    find_beside,
    find_block,
    keep_blocks,
    same_levels,
    statistics,
)
from paretozoom.kernels.pareto_zoom.cells import (
    arm_cell,
    arm_corners,
    context_key,
    number_arms,
    write_levels,
)
from paretozoom.kernels.pareto_zoom.settings import settings
from paretozoom.kernels.pareto_zoom.sites import digits_of, fill_slots, spread_of
from paretozoom.kernels.pareto_zoom.splits import choose_splits, count_contexts, measure_noise, measure_roughness

OWN, BESIDE = 0.75, 0.25  # the middle of a half lies so between the middles of its cell and of the next one


@inlined
def _mean_of(count: float, total: float, square: float, noise: float, prior: float) -> tuple[float, float]:
    """The mean of a cell's rewards and the variance of it, with a few rewards of the usual noise."""
    count = count if count > 0.0 else 1.0
    mean = total / count
    spread = square - mean * total
    spread = spread if spread > 0.0 else 0.0
    return mean, (spread + prior * noise) / ((count + prior) * count)


# Predict.


@part
def predict(
    f: Floats, i: Ints, point: Floats, arms: Floats, numbers: Ints, rows: int, mean: Floats, error: Floats
) -> bool:
    """Write means and standard errors of all objectives at the context in `point` and the first rows of arms.

    Of finite arms `numbers` says which they are. False if nothing was told there.
    """
    level, corners, weight = i[m.LEVELS], 0, 0.0
    own, around = m.block_weight(f, i), m.block_corner(f, i)
    least = settings(f).least_weight
    while level > 0 and weight < least:
        level -= 1
        corners, weight = context_corners(f, i, level, point, around, own)
    mean[:, :rows] = 0.0
    error[:, :rows] = 0.0
    if corners == 0:
        return False
    cells, beside, weights = m.arm_cells(f, i)[level], m.corner(f, i), m.corner_weight(f, i)
    if i[m.ARMS] > 0:
        near, cell_of_arm = 1, m.cell_of_arm(f, i)
        for row in range(rows):
            beside[row], weights[row] = cell_of_arm[level, numbers[row]], 1.0
    else:
        near = arm_corners(f, i, level, arms, rows, beside, weights)
    if near * rows < cells:
        _gather(f, i, around[:corners], own, weight, cells, near, rows, mean, error)
    else:
        _mix_and_gather(f, i, around[:corners], own, weight, cells, near, rows, mean, error)
    return True


@part
def _gather(
    f: Floats,
    i: Ints,
    around: Ints,
    own: Floats,
    weight: float,
    cells: int,
    near: int,
    rows: int,
    mean: Floats,
    error: Floats,
) -> None:
    """Add up the estimates of the cells around each of a few rows."""
    beside, weights = m.corner(f, i), m.corner_weight(f, i)
    for k in range(len(around)):
        for o in range(i[m.OBJECTIVES]):
            known = statistics(f, i, around[k], cells, o)
            for first in range(0, near * rows, rows):
                for row in range(rows):
                    cell, share = beside[first + row], own[k] / weight * weights[first + row]
                    mean[o, row] += share * known[m.MEAN_, cell]
                    error[o, row] += share * known[m.ERROR_, cell]


@part
def _mix_and_gather(
    f: Floats,
    i: Ints,
    around: Ints,
    own: Floats,
    weight: float,
    cells: int,
    near: int,
    rows: int,
    mean: Floats,
    error: Floats,
) -> None:
    """The same for many rows: the estimates of all cells are first mixed at the context."""
    beside, weights, mixed, doubt = m.corner(f, i), m.corner_weight(f, i), m.mixed_mean(f, i), m.mixed_error(f, i)
    for o in range(i[m.OBJECTIVES]):
        mixed[:cells] = 0.0
        doubt[:cells] = 0.0
        for k in range(len(around)):
            known, share = statistics(f, i, around[k], cells, o), own[k] / weight
            estimates, errors = known[m.MEAN_], known[m.ERROR_]
            for cell in range(cells):
                mixed[cell] += share * estimates[cell]
                doubt[cell] += share * errors[cell]
        means, errors = mean[o], error[o]
        for first in range(0, near * rows, rows):
            for row in range(rows):
                cell, share = beside[first + row], weights[first + row]
                means[row] += share * mixed[cell]
                errors[row] += share * doubt[cell]


# Learn.


@inlined
def due_after(f: Floats, told: int) -> int:
    """The number of rewards at which estimates made of so many are made anew."""
    return told + 1 + int(told * settings(f).refresh_growth)


@part
def learn(f: Floats, i: Ints, digits: Ints, arm: int, site: int, reward: Floats) -> None:
    """Add a reward to its cells, and correct the estimates of blocks whose rewards have grown by a share."""
    told, due, stale = m.block_told(f, i), m.block_due(f, i), False
    for level in range(i[m.LEVELS]):
        number, cell = block_of(f, i, level, digits, site), arm_cell(f, i, level, digits, arm)
        cells = m.arm_cells(f, i)[level]
        for o in range(len(reward)):
            if not math.isnan(reward[o]):
                known = statistics(f, i, number, cells, o)
                known[m.COUNT_, cell] += 1.0
                known[m.TOTAL_, cell] += reward[o]
                known[m.SQUARE_, cell] += reward[o] * reward[o]
        told[number] += 1
        stale = stale or told[number] >= due[number]
        if stale:
            if level > 0:
                _expect(f, i, level, number, digits)
            _correct(f, i, level, number)


@part
def correct_all(f: Floats, i: Ints, digits: Ints) -> None:
    """Make the estimates of all blocks anew, level by level; `digits` is scratch."""
    keys, levels, sites = m.site_key(f, i), m.block_level(f, i), m.block_site(f, i)
    for level in range(i[m.LEVELS]):
        for number in range(i[m.BLOCKS]):
            if levels[number] == level:
                if level > 0:
                    digits_of(f, i, keys[sites[number]], digits)
                    _expect(f, i, level, number, digits)
                _correct(f, i, level, number)
    i[m.DUE] = due_after(f, i[m.TOLD])


@part
def _expect(f: Floats, i: Ints, level: int, number: int, digits: Ints) -> None:
    """Write to a block's estimates and standard errors what the level before says of its cells."""
    above = find_block(f, i, context_key(f, i, level - 1, digits, -1, 0))
    beside, share = find_beside(f, i, level, digits)
    before, cells, first = m.arm_cells(f, i)[level - 1], m.arm_cells(f, i)[level], m.first_number(f, i)[level]
    parents, besides = m.parent(f, i)[first:], m.beside(f, i)[first:]
    mixed, halves_arms = m.mixed_mean(f, i), m.inner(f, i)[level] >= 0
    for o in range(i[m.OBJECTIVES]):
        here, new = statistics(f, i, above, before, o), statistics(f, i, number, cells, o)
        for statistic in range(m.MEAN_, m.ERROR_ + 1):
            old = here[statistic]
            if beside >= 0:
                other = statistics(f, i, beside, before, o)[statistic]
                for cell in range(before):
                    mixed[cell] = (1.0 - share) * old[cell] + share * other[cell]
                old = mixed
            out = new[statistic]
            for cell in range(cells):
                out[cell] = OWN * old[parents[cell]] + BESIDE * old[besides[cell]] if halves_arms else old[cell]


@part
def _correct(f: Floats, i: Ints, level: int, number: int) -> None:
    """Correct what was expected of a block's cells by their own rewards; of the whole space nothing is expected."""
    cells, bold, prior = m.arm_cells(f, i)[level], settings(f).boldness, settings(f).prior_rewards
    m.block_due(f, i)[number] = due_after(f, m.block_told(f, i)[number])
    for o in range(i[m.OBJECTIVES]):
        known, noise = statistics(f, i, number, cells, o), m.noise(f, i)[o]
        counts, totals, squares = known[m.COUNT_], known[m.TOTAL_], known[m.SQUARE_]
        means, errors = known[m.MEAN_], known[m.ERROR_]
        if level == 0:
            means[0], error = _mean_of(counts[0], totals[0], squares[0], noise, prior)
            errors[0] = math.sqrt(error if counts[0] > 0.0 else noise)
            continue
        rough = m.roughness(f, i)[level, o]
        # A loop without branches, so that several cells are done at once.
        for cell in range(cells):
            mean, error = _mean_of(counts[cell], totals[cell], squares[cell], noise, prior)
            share = bold * rough / (bold * rough + error) if counts[cell] > 0.0 else 0.0
            rest, variance = 1.0 - share, errors[cell] * errors[cell]
            both = error if error < variance else variance
            means[cell] += share * (mean - means[cell])
            variance = rest * rest * (variance + rough) + share * share * error + 2.0 * share * rest * both
            errors[cell] = math.sqrt(variance)


# Refit.


@kernel
def refit(f: Floats, i: Ints, digits: Ints, site_arms: Ints, changed: bool) -> tuple[Floats, Ints]:
    """Memory with new splits, blocks, noise and roughness; all sums are made anew if sites were `changed`."""
    chosen = choose_splits(f, i, digits)
    cell_of_arm, visited = number_arms(f, i, chosen), count_contexts(f, i, digits, chosen)
    same = 0 if changed else same_levels(f, i, chosen)
    head, levels = i[: m.HEADER].copy(), len(chosen)
    head[m.LEVELS], head[m.BLOCKS], head[m.USED] = levels, 0, 0
    head[m.NUMBERED] = chosen[:, 2].sum()
    room, size = 64, i[m.OBJECTIVES] * m.STATISTICS
    while room < 2 * (visited.sum() + levels):
        room *= 2
    head[m.BLOCK_ROOM], head[m.BLOCK_SLOTS] = room, 2 * room
    head[m.CELL_ROOM] = size * (head[m.NUMBERED] + 2 * (visited * chosen[:, 2]).sum())
    while head[m.SITE_ROOM] < i[m.SITES] * (i[m.NEXT] / max(1, i[m.TOLD])):  # as many as there will be if they go on so
        head[m.SITE_ROOM] *= 2
    head[m.SITE_SLOTS] = 2 * head[m.SITE_ROOM]
    more_f, more_i = resized(f, i, head, m.BLOCKS_TABLE)
    if head[m.SITE_ROOM] > i[m.SITE_ROOM]:
        fill_slots(m.site_slot(more_f, more_i), m.site_key(more_f, more_i), i[m.SITES])
    write_levels(more_f, more_i, chosen, cell_of_arm)
    begins = np.zeros(levels + 1, np.int64)
    for level in range(levels):
        if level < same:
            keep_blocks(f, i, more_f, more_i, level, digits)
        else:
            fill_blocks(more_f, more_i, level, digits, site_arms)
        begins[level + 1] = more_i[m.BLOCKS]
    _estimate(more_f, more_i, digits, begins)
    return more_f, more_i


@part
def _estimate(f: Floats, i: Ints, digits: Ints, begins: Ints) -> None:
    """Estimate noise, roughness and rewards of all levels, whose first blocks are given."""
    levels, d, sites = len(begins) - 1, i[m.OBJECTIVES], m.block_site(f, i)
    spread = np.empty(d)
    for o in range(d):
        spread[o] = spread_of(f, i, o)
        m.noise(f, i)[o] = measure_noise(f, i, levels - 1, begins[levels - 1], begins[levels], o, spread[o])
        m.explained(f, i)[o] = max(0.0, spread[o] / m.noise(f, i)[o] - 1.0)
    for level in range(levels):
        first, end = begins[level], begins[level + 1]
        if level > 0:
            for number in range(first, end):
                _expect(f, i, level, number, digits[sites[number]])
            for o in range(d):
                m.roughness(f, i)[level, o] = measure_roughness(f, i, level, first, end, o, spread[o])
        for number in range(first, end):
            _correct(f, i, level, number)
    i[m.DUE] = due_after(f, i[m.TOLD])
