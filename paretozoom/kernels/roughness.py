"""How rough the levels of a pyramid are, and how noisy the rewards."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.jit import Floats, Ints, kernel
from paretozoom.kernels.kinds import CATEGORICAL
from paretozoom.kernels.pyramid import (
    BASE_ROOM,
    BLOCKS,
    STATISTICS,
    Pyramid,
    arm_cell,
    block_of,
)
from paretozoom.kernels.refine import find_arm_corners, refine_level, row_of, values_at
from paretozoom.kernels.splits import spread_of

PRIOR_ROUGHNESS = 0.25  # of the first level, as a share of the variance of rewards
PRIOR_FALL = 0.25  # of the roughness from level to level
PRIOR_REWARDS = 2.0  # that these are worth
LEAST_ROUGHNESS = 0.01  # of what was expected
SURE = 16.0  # rewards from which on a cell's mean counts fully when roughness is measured
MOST_SAMPLED = 256  # bases that roughness is measured at


@kernel
def measure_noise(f: Floats, i: Ints, at: Pyramid, block: int, cells: int, o: int, spread: float) -> float:
    """The variance of rewards within the cells of the last level, whose blocks begin with `block`."""
    squares, free = 2.0 * spread, 2.0
    for number in range(block, i[BLOCKS]):
        start = at.block + i[at.block_start + number] + o * STATISTICS * cells
        for cell in range(start, start + cells):
            if f[cell] > 1.0:
                squares += max(0.0, f[cell + 2 * cells] - f[cell + cells] * f[cell + cells] / f[cell])
                free += f[cell] - 1.0
    return max(squares / free, 1e-300)


@kernel
def measure_roughness(f: Floats, i: Ints, at: Pyramid, levels: int, digits: Ints, base_arm: Ints) -> None:
    """Estimate the variance of what each level adds, from a sample of bases.

    What the level before leaves of a base's rewards and of the others in the same cell has that variance in common.
    """
    step = max(1, len(digits) // MOST_SAMPLED)
    sample = np.arange(len(digits) % step, len(digits), step)
    points = np.zeros((len(sample), at.dim))
    for k in range(len(sample)):
        _middle(i, at, digits[sample[k]], points[k])
    wide, d = i[at.arm_cells + levels - 1], at.learned
    known = np.zeros((len(sample), 2, d, wide))
    prior, weights, squares = np.empty(d), np.empty(d), np.empty(d)
    for level in range(levels):
        rough = at.roughness + level * d
        if level > 0:
            for o in range(d):
                above = PRIOR_ROUGHNESS * spread_of(f, i, at, o) if level == 1 else PRIOR_FALL * f[rough - d + o]
                prior[o], weights[o], squares[o] = above, PRIOR_REWARDS, PRIOR_REWARDS * above
            for k in range(len(sample)):
                _recall(f, at, level - 1, known[k], i[at.arm_cells + max(level - 1, 0)])
                _compare(f, i, at, level, sample[k], digits, base_arm[sample[k]], points[k], weights, squares)
            for o in range(d):
                f[rough + o] = max(squares[o] / weights[o], LEAST_ROUGHNESS * prior[o])
        for k in range(len(sample)):
            _recall(f, at, level - 1, known[k], i[at.arm_cells + max(level - 1, 0)])
            refine_level(f, i, at, level, points[k])
            _note(f, at, level, known[k], i[at.arm_cells + level])


@kernel
def _middle(i: Ints, at: Pyramid, digits: Ints, point: Floats) -> None:
    """Write the middle of a base: its context and, unless it is one of finitely many, its arm."""
    for j in range(at.context if at.arms > 0 else at.dim):
        point[j] = float(digits[j])
        if i[at.kinds + j] != CATEGORICAL:
            point[j] = (digits[j] + 0.5) / (1 << i[at.bits + j])


@kernel
def _recall(f: Floats, at: Pyramid, level: int, known: Floats, wide: int) -> None:
    """Put noted estimates and variances back to where `refine_level` looks for those of a level."""
    for o in range(at.learned):
        row = row_of(at, level, o)
        f[at.estimate + row : at.estimate + row + wide] = known[0, o, :wide]
        f[at.variance + row : at.variance + row + wide] = known[1, o, :wide]


@kernel
def _note(f: Floats, at: Pyramid, level: int, known: Floats, wide: int) -> None:
    """Note the estimates and variances of a level."""
    for o in range(at.learned):
        row = row_of(at, level, o)
        known[0, o, :wide] = f[at.estimate + row : at.estimate + row + wide]
        known[1, o, :wide] = f[at.variance + row : at.variance + row + wide]


@kernel
def _compare(
    f: Floats,
    i: Ints,
    at: Pyramid,
    level: int,
    base: int,
    digits: Ints,
    arm: int,
    point: Floats,
    weights: Floats,
    squares: Floats,
) -> None:
    """Add what a base and the others in its cell have in common that the level before does not know."""
    cells, table = i[at.arm_cells + level], i[at.table + level]
    corners = 1
    if arm >= 0:
        i[at.corner], f[at.corner_weight] = i[at.cell_of_arm + (level - 1) * at.arms + arm], 1.0
    else:
        corners = find_arm_corners(f, i, at, level - 1, point[at.context :].reshape((1, at.finer)))
    start, cell = block_of(i, at, level, digits[base]), arm_cell(i, at, level, digits[base], arm)
    parent, beside = i[at.parent + table + cell], i[at.beside + table + cell]
    expectation = f[at.indices : at.indices + 1]
    for o in range(at.learned):
        before, entry = row_of(at, level - 1, o), o * i[BASE_ROOM] + base
        own, here = i[at.base_count + entry], start + o * STATISTICS * cells + cell
        others = f[here] - own
        if own == 0 or others <= 0.0:
            continue
        expected = 0.75 * f[at.estimate + before + parent] + 0.25 * f[at.estimate + before + beside]
        rest = (f[here + cells] - f[at.base_sum + entry]) / others - expected
        values_at(f, i, at, 1, corners, at.estimate + before, expectation)
        left = f[at.base_sum + entry] / own - expectation[0]
        weight = own * min(1.0, others / SURE)
        weights[o] += weight
        squares[o] += weight * left * rest
