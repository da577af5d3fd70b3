"""Which coordinates a pyramid halves: those that tell most of the rewards, judged where all others are known well."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.pareto_zoom.pyramid import (
    BASE_ROOM,
    BASES,
    LEVELS,
    MOST_DEPTH,
    MOST_FINE,
    MOST_LEVELS,
    TOLD,
    Pyramid,
    digit_of_arm,
)

LEAST_CELLS = 1024  # that a level may have; later as many as rewards
PRIOR_GAIN = 0.2  # what a split is expected to tell of the variance of rewards, before the rewards tell
PRIOR_PAIRS = 10.0  # and how many rewards that is worth
WELL_KNOWN = 8  # rewards for each cell of the other coordinates when a split is judged
MOST_JUDGED = 16384  # bases that splits are judged by
BITS_JUDGED = 4  # of a coordinate: what further bits tell follows from what these tell
ALIKE = 6.0  # gains that differ by less are as good as equal: a bit more changes them fourfold


@part
def spread_of(i: Ints, at: Pyramid, o: int, totals: Floats, squares: Floats) -> float:
    """The variance of all rewards in one objective, given sums of the bases and of squares; 1 if there are none."""
    count, total, square = 0, 0.0, 0.0
    for base in range(i[BASES]):
        count += i[at.base_count + o * i[BASE_ROOM] + base]
        total += totals[o, base]
        square += squares[o, base]
    return max(square / count - (total / count) ** 2, 1e-300) if count > 0 else 1.0


@part
def telling_bits(i: Ints, at: Pyramid, j: int) -> int:
    """The bits of a coordinate that tell its values apart: of a number with few values, fewer than it is read in."""
    bits, most = i[at.bits + j], 1
    if j == at.dim or i[at.values + j] <= 0:
        return bits
    while (1 << most) < i[at.values + j]:
        most += 1
    return min(bits, most)


@part
def halves(i: Ints, at: Pyramid, digits: Ints, j: int, depth: int, half: Ints) -> None:
    """In which half of its cell, at some depth of a coordinate, each base lies."""
    below = i[at.bits + j] - depth - 1
    for base in range(len(digits)):
        half[base] = (digits[base, j] >> below) & 1


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


@kernel
def _divides(group: Ints, groups: int, half: Ints) -> bool:
    """Whether some group has both halves."""
    seen = np.full(groups, -1, np.int64)
    for k in range(len(group)):
        if seen[group[k]] < 0:
            seen[group[k]] = half[k]
        elif seen[group[k]] != half[k]:
            return True
    return False


@part
def _gain(
    f: Floats,
    i: Ints,
    at: Pyramid,
    bases: Ints,
    sums: Floats,
    group: Ints,
    groups: int,
    half: Ints,
    spread: Floats,
) -> float:
    """What halving all groups of bases tells: how far the means of halves are from each other, less what noise adds.

    In shares of the variance of rewards, summed over objectives.
    """
    gain = 0.0
    for o in range(at.learned):
        counts, totals = np.zeros((groups, 2)), np.zeros((groups, 2))
        for k in range(len(bases)):
            counts[group[k], half[k]] += i[at.base_count + o * i[BASE_ROOM] + bases[k]]
            totals[group[k], half[k]] += sums[o, bases[k]]
        weights, told, pairs = PRIOR_PAIRS, PRIOR_PAIRS * PRIOR_GAIN, 0
        for g in range(groups):
            if counts[g, 0] > 0 and counts[g, 1] > 0:
                apart = totals[g, 0] / counts[g, 0] - totals[g, 1] / counts[g, 1]
                noise = f[at.noise + o] * (1.0 / counts[g, 0] + 1.0 / counts[g, 1])
                weight = counts[g, 0] * counts[g, 1] / (counts[g, 0] + counts[g, 1])
                weights += weight
                pairs += 1
                told += weight * (apart * apart - noise) / (4.0 * spread[o])
        error = f[at.noise + o] * math.sqrt(2.0 * pairs) / (4.0 * spread[o])
        gain += (told - error) / weights
    return gain


@part
def _measure_gains(f: Floats, i: Ints, at: Pyramid, digits: Ints, totals: Floats, squares: Floats) -> Floats:
    """What each bit of each coordinate tells, where all others are known well; of many bases, by a sample."""
    step, coordinates = 1 + len(digits) // MOST_JUDGED, at.context + at.finer
    bases, rewards = np.arange(0, len(digits), step), i[TOLD] // step
    digits = digits[bases]
    gains = np.zeros((coordinates, MOST_DEPTH))
    spread = np.array([spread_of(i, at, o, totals, squares) for o in range(at.learned)])
    known, others = 0, max(1, coordinates - 1)  # bits of each other coordinate
    while (known + 1) * others < 60 and (1 << ((known + 1) * others)) * WELL_KNOWN <= rewards:
        known += 1
    half = np.zeros(len(bases), np.int64)
    for j in range(coordinates):
        group, groups = np.zeros(len(bases), np.int64), 1
        for other in range(coordinates):
            if other != j:
                for depth in range(min(known, i[at.bits + other])):
                    halves(i, at, digits, other, depth, half)
                    groups = regroup(group, groups, half)
        for depth in range(min(telling_bits(i, at, j), BITS_JUDGED)):
            halves(i, at, digits, j, depth, half)
            gains[j, 0] = max(gains[j, 0], _gain(f, i, at, bases, totals, group, groups, half, spread))
            groups = regroup(group, groups, half)
        for depth in range(1, i[at.bits + j]):
            gains[j, depth] = gains[j, depth - 1] / 4.0
    return gains


@part
def _best(
    i: Ints, at: Pyramid, digits: Ints, gains: Floats, depth: Ints, group: Ints, groups: int, first: int, end: int
) -> int:
    """The coordinate among some whose next bit tells most, or -1. Bits that tell no two bases apart are passed over.

    What was passed over is added to `depth`.
    """
    best, half = -1, np.zeros(len(digits), np.int64)
    for j in range(first, end):
        bits = telling_bits(i, at, j)
        while depth[j] < bits and (at.arms > 0 or j < at.context):
            halves(i, at, digits, j, depth[j], half)
            if _divides(group, groups, half):
                break
            depth[j] += 1
        if depth[j] < bits and (best < 0 or gains[j, depth[j]] > gains[best, depth[best]]):
            best = j
    return best


@kernel
def choose_splits(f: Floats, i: Ints, at: Pyramid, digits: Ints, totals: Floats, squares: Floats, head: Ints) -> Ints:
    """Choose the coordinates that tell most, level by level; writes how many levels there are.

    A level halves cells of contexts, of arms, or both if both tell about as much. Ends when cells are as many as
    rewards allow. Row k of the result: the coordinates of arms and of contexts that level k halves, or -1, its cells of
    arms, the depths.
    """
    bases, coordinates = i[BASES], at.context + at.finer
    chosen = np.zeros((MOST_LEVELS, coordinates + 3), np.int64)
    depth, gains = np.zeros(coordinates, np.int64), _measure_gains(f, i, at, digits, totals, squares)
    group, contexts, arms = np.zeros(bases, np.int64), np.zeros(bases, np.int64), np.zeros(at.arms, np.int64)
    half, arm_half = np.zeros(bases, np.int64), np.zeros(at.arms, np.int64)
    groups = visited = arm_cells = levels = 1
    chosen[0, 0], chosen[0, 1], chosen[0, 2] = -1, -1, 1
    while levels < MOST_LEVELS:
        outer = _best(i, at, digits, gains, depth, group, groups, 0, at.context)
        # Bits that are passed over still part arms that were never played: they count with the next bit that is taken.
        passed, parted, parts = depth.copy(), arms.copy(), arm_cells
        inner = _best(i, at, digits, gains, passed, group, groups, at.context, coordinates)
        if inner >= 0:
            for bit in range(depth[inner], passed[inner] + 1):
                for arm in range(at.arms):
                    arm_half[arm] = digit_of_arm(f, i, at, arm, inner) >> (i[at.bits + inner] - bit - 1) & 1
                parts = regroup(parted, parts, arm_half) if at.arms > 0 else 2 * parts
            if parts > i[MOST_FINE]:
                inner = -1
        if outer >= 0 and inner >= 0:
            both = gains[outer, depth[outer]], gains[inner, passed[inner]]
            if both[0] * ALIKE < both[1]:
                outer = -1
            elif both[1] * ALIKE < both[0]:
                inner = -1
        if outer < 0 and inner < 0:
            break
        if outer >= 0:
            halves(i, at, digits, outer, depth[outer], half)
            visited = regroup(contexts, visited, half)
            groups = regroup(group, groups, half)
            depth[outer] += 1
        if inner >= 0:
            halves(i, at, digits, inner, passed[inner], half)
            groups = regroup(group, groups, half)
            arms, arm_cells, depth[inner] = parted, parts, passed[inner] + 1
        if visited * arm_cells > max(LEAST_CELLS, i[TOLD]):
            break
        chosen[levels, 0], chosen[levels, 1], chosen[levels, 2] = inner, outer, arm_cells
        chosen[levels, 3:] = depth
        levels += 1
    head[LEVELS] = levels
    return chosen
