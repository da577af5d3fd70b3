"""Splits and variances: what levels are made with.

Coordinates are halved that explain most of the rewards, judged where all others are known well. Each level has a
roughness, the variance of what it adds; rewards have a noise.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.blocks import statistics
from paretozoom.kernels.pareto_zoom.cells import halves, regroup
from paretozoom.kernels.pareto_zoom.settings import settings
from paretozoom.kernels.pareto_zoom.sites import digits_of_arm, spread_of

WELL_BITS = 60  # of other coordinates together: a power of 2 of more overflows


@part
def telling_bits(f: Floats, i: Ints, j: int) -> int:
    """The bits of a coordinate that tell its values apart: of a number with few values, fewer than it is read in."""
    bits, most = m.bits(f, i)[j], 1
    if j == i[m.DIM] or m.values(f, i)[j] <= 0:
        return bits
    while (1 << most) < m.values(f, i)[j]:
        most += 1
    return min(bits, most)


@part
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
def _gain(f: Floats, i: Ints, sites: Ints, group: Ints, groups: int, half: Ints, spread: Floats) -> float:
    """What halving all groups of sites explains: how far means of halves are apart, less what noise adds.

    In shares of the variance of rewards, summed over objectives; less a standard error.
    """
    s, gain = settings(f), 0.0
    site_count, site_total, noise = m.site_count(f, i), m.site_total(f, i), m.noise(f, i)
    for o in range(i[m.OBJECTIVES]):
        counts, totals = np.zeros((groups, 2)), np.zeros((groups, 2))
        for k in range(len(sites)):
            counts[group[k], half[k]] += site_count[o, sites[k]]
            totals[group[k], half[k]] += site_total[o, sites[k]]
        weights, told, pairs = s.prior_gain_rewards, s.prior_gain_rewards * s.prior_gain, 0
        for g in range(groups):
            if counts[g, 0] > 0 and counts[g, 1] > 0:
                apart = totals[g, 0] / counts[g, 0] - totals[g, 1] / counts[g, 1]
                error = noise[o] * (1.0 / counts[g, 0] + 1.0 / counts[g, 1])
                weight = counts[g, 0] * counts[g, 1] / (counts[g, 0] + counts[g, 1])
                weights += weight
                pairs += 1
                told += weight * (apart * apart - error) / (4.0 * spread[o])
        gain += (told - noise[o] * math.sqrt(2.0 * pairs) / (4.0 * spread[o])) / weights
    return gain


@part
def _measure_gains(f: Floats, i: Ints, all_digits: Ints) -> Floats:
    """What each bit of each coordinate explains, where all others are known well; of many sites, by a sample."""
    s, coordinates, bits = settings(f), i[m.COORDINATES], m.bits(f, i)
    step = 1 + len(all_digits) // int(s.most_judged)
    sites, rewards = np.arange(0, len(all_digits), step), i[m.TOLD] // step
    digits = all_digits[sites]
    spread = np.empty(i[m.OBJECTIVES])
    for o in range(len(spread)):
        spread[o] = spread_of(f, i, o)
    known, others = 0, max(1, coordinates - 1)  # bits of each other coordinate
    while (known + 1) * others < WELL_BITS and (1 << ((known + 1) * others)) * s.well_known <= rewards:
        known += 1
    gains = np.zeros((coordinates, m.MOST_DEPTH))
    for j in range(coordinates):
        group, groups = np.zeros(len(sites), np.int64), 1
        for other in range(coordinates):
            if other != j:
                for depth in range(min(known, bits[other])):
                    groups = regroup(group, groups, halves(digits, bits, other, depth))
        for depth in range(min(telling_bits(f, i, j), int(s.bits_judged))):
            half = halves(digits, bits, j, depth)
            gains[j, 0] = max(gains[j, 0], _gain(f, i, sites, group, groups, half, spread))
            groups = regroup(group, groups, half)
        for depth in range(1, bits[j]):
            gains[j, depth] = gains[j, depth - 1] / 4.0
    return gains


@part
def _best(
    f: Floats, i: Ints, digits: Ints, gains: Floats, depth: Ints, group: Ints, groups: int, first: int, end: int
) -> int:
    """The coordinate among some whose next bit explains most, or -1.

    Bits that tell no two sites apart are passed over, which is added to `depth`.
    """
    best, bits = -1, m.bits(f, i)
    for j in range(first, end):
        telling = telling_bits(f, i, j)
        while depth[j] < telling and (i[m.ARMS] > 0 or j < i[m.CONTEXT]):
            if _divides(group, groups, halves(digits, bits, j, depth[j])):
                break
            depth[j] += 1
        if depth[j] < telling and (best < 0 or gains[j, depth[j]] > gains[best, depth[best]]):
            best = j
    return best


@kernel
def choose_splits(f: Floats, i: Ints, digits: Ints) -> Ints:
    """Choose the coordinates that explain most, level by level.

    A level halves cells of contexts and of arms, as long as both have bits left; if cells were then too many, those of
    contexts or of arms alone. Levels end when cells are as many as rewards allow. Row k of the result: the coordinates
    of arms and of contexts that level k halves, or -1, its cells of arms, the depths.
    """
    s, context, coordinates, arms = settings(f), i[m.CONTEXT], i[m.COORDINATES], i[m.ARMS]
    bits, gains = m.bits(f, i), _measure_gains(f, i, digits)
    chosen = np.zeros((m.MOST_LEVELS, coordinates + 3), np.int64)
    arm_digits = np.zeros((arms, coordinates), np.int64)
    for arm in range(arms):
        digits_of_arm(f, i, arm, arm_digits[arm])
    depth, group, groups = np.zeros(coordinates, np.int64), np.zeros(len(digits), np.int64), 1
    contexts, places = np.zeros(len(digits), np.int64), 1
    arm_group, arm_groups, levels = np.zeros(arms, np.int64), 1, 1
    chosen[0, 0], chosen[0, 1], chosen[0, 2] = -1, -1, 1
    most, half = max(s.least_cells, float(i[m.TOLD])), np.zeros(0, np.int64)
    while levels < m.MOST_LEVELS:
        outer = _best(f, i, digits, gains, depth, group, groups, 0, context)
        # Bits that are passed over still part arms that were never played: they count with the next bit that is taken.
        passed, parted, parts = depth.copy(), arm_group.copy(), arm_groups
        inner = _best(f, i, digits, gains, passed, group, groups, context, coordinates)
        if inner >= 0:
            for bit in range(depth[inner], passed[inner] + 1):
                parts = regroup(parted, parts, halves(arm_digits, bits, inner, bit)) if arms > 0 else 2 * parts
            if parts > i[m.MOST_CELLS]:
                inner = -1
        apart, others = contexts.copy(), places
        if outer >= 0:
            half = halves(digits, bits, outer, depth[outer])
            others = regroup(apart, places, half)
        if outer >= 0 and inner >= 0 and others * parts > most:  # then what explains more is halved alone
            if gains[outer, depth[outer]] < gains[inner, passed[inner]]:
                outer = -1
            else:
                inner = -1
        if outer < 0 and inner < 0:
            break
        if outer >= 0:
            contexts, places = apart, others
            groups = regroup(group, groups, half)
            depth[outer] += 1
        if inner >= 0:
            groups = regroup(group, groups, halves(digits, bits, inner, passed[inner]))
            arm_group, arm_groups, depth[inner] = parted, parts, passed[inner] + 1
        if places * arm_groups > most:
            break
        chosen[levels, 0], chosen[levels, 1], chosen[levels, 2] = inner, outer, arm_groups
        chosen[levels, 3:] = depth
        levels += 1
    return chosen[:levels]


@part
def count_contexts(f: Floats, i: Ints, digits: Ints, chosen: Ints) -> Ints:
    """How many cells of contexts were visited at each level; bits that are passed over may divide them too."""
    visited, group, groups = np.ones(len(chosen), np.int64), np.zeros(len(digits), np.int64), 1
    for level in range(1, len(chosen)):
        for j in range(i[m.CONTEXT]):
            for depth in range(chosen[level - 1, 3 + j], chosen[level, 3 + j]):
                groups = regroup(group, groups, halves(digits, m.bits(f, i), j, depth))
        visited[level] = groups
    return visited


@part
def measure_noise(f: Floats, i: Ints, level: int, first: int, end: int, o: int, spread: float) -> float:
    """The variance of rewards within the cells of a level, whose blocks are numbered from `first`."""
    free = settings(f).prior_rewards
    squares, cells = free * spread, m.arm_cells(f, i)[level]
    for number in range(first, end):
        known = statistics(f, i, number, cells, o)
        for cell in range(cells):
            count, total = known[m.COUNT_, cell], known[m.TOTAL_, cell]
            if count > 1.0:
                squares += max(0.0, known[m.SQUARE_, cell] - total * total / count)
                free += count - 1.0
    return max(squares / free, 1e-300)


@part
def measure_roughness(f: Floats, i: Ints, level: int, first: int, end: int, o: int, spread: float) -> float:
    """The variance of what a level adds to what was expected of its cells.

    The product of what two rewards of a cell have above what was expected, averaged over all pairs: noise of different
    rewards is independent, so it needs no correction for noise.
    """
    s, cells = settings(f), m.arm_cells(f, i)[level]
    prior = s.prior_fall * (spread if level == 1 else m.roughness(f, i)[level - 1, o])
    weights = s.prior_rewards
    products = weights * prior
    for number in range(first, end):
        known = statistics(f, i, number, cells, o)
        for cell in range(cells):
            count, total, expected = known[m.COUNT_, cell], known[m.TOTAL_, cell], known[m.MEAN_, cell]
            if count > 1.0:
                above = total - count * expected
                squares = known[m.SQUARE_, cell] - expected * (2.0 * total - count * expected)
                weight = count * min(1.0, (count - 1.0) / s.sure_pairs)
                weights += weight
                products += weight * (above * above - squares) / (count * (count - 1.0))
    return max(products / weights, s.least_roughness * prior)
