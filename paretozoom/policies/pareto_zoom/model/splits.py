"""Splits: level by level, those coordinates are halved that explain most of the rewards."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.pareto_zoom.memory import MOST_LEVELS
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.kernels.pareto_zoom.splits import WELL_BITS
from paretozoom.policies.pareto_zoom.model.sites import Sites
from paretozoom.policies.pareto_zoom.model.space import Array, Space


def divide(group: Array, half: Array) -> Array:
    """Groups, numbered, divided by halves."""
    return np.unique(2 * group + half, return_inverse=True)[1]


def count(group: Array) -> int:
    """How many groups there are."""
    return int(group.max(initial=0)) + 1


def telling_bits(space: Space, j: int) -> int:
    """The bits that tell the values of a coordinate apart."""
    values = int(space.values[j])
    return min(int(space.bits[j]), max(1, (values - 1).bit_length())) if values > 0 else int(space.bits[j])


def gain_of(group: Array, half: Array, sites: Sites, own: Array, sigma2: Array, spread: Array, s: Settings) -> float:
    """What halving all groups explains, less what noise adds and a standard error, in shares of the variance."""
    gain, size = 0.0, 2 * count(group)
    for o in range(len(spread)):
        n = np.bincount(2 * group + half, sites.n[o, own], size).reshape(-1, 2)
        S = np.bincount(2 * group + half, sites.S[o, own], size).reshape(-1, 2)
        both = (n > 0).all(axis=1)
        n, S = n[both], S[both]
        weight, apart = n.prod(axis=1) / n.sum(axis=1), S[:, 0] / n[:, 0] - S[:, 1] / n[:, 1]
        told = weight @ apart**2 - sigma2[o] * (len(n) + math.sqrt(2 * len(n)))
        prior = s.prior_gain_rewards * s.prior_gain
        gain += (prior + told / (4 * spread[o])) / (s.prior_gain_rewards + weight.sum())
    return gain


def gains_of(space: Space, sites: Sites, sigma2: Array, told: int, s: Settings) -> Array:
    """What each bit (column) of each coordinate explains, where all others are known well."""
    step = 1 + len(sites.digits) // int(s.most_judged)
    own, others = np.arange(0, len(sites.digits), step), max(1, len(space.bits) - 1)
    digits, known = sites.digits[own], 0
    while (known + 1) * others < WELL_BITS and 2 ** ((known + 1) * others) * s.well_known <= told // step:
        known += 1
    gains = np.zeros((len(space.bits), 1 + max(space.bits)))
    for j in range(len(space.bits)):
        group = np.zeros(len(own), np.int64)
        for other in (k for k in range(len(space.bits)) if k != j):
            for depth in range(min(known, space.bits[other])):
                group = divide(group, space.halves(digits, other, depth))
        for depth in range(min(telling_bits(space, j), int(s.bits_judged))):
            half = space.halves(digits, j, depth)
            gains[j, 0] = max(gains[j, 0], gain_of(group, half, sites, own, sigma2, sites.variance(), s))
            group = divide(group, half)
        gains[j] = gains[j, 0] / 4.0 ** np.arange(gains.shape[1])
    return gains


def choose_splits(
    space: Space, sites: Sites, sigma2: Array, told: int, most_cells: int, s: Settings
) -> list[tuple[int, int, Array]]:
    """(coordinate of arms halved, or -1; of contexts, or -1; bits of all coordinates) of each level."""
    gains, digits, finite = gains_of(space, sites, sigma2, told, s), sites.digits, len(space.arms) > 0
    depth = np.zeros(len(space.bits), np.int64)
    chosen: list[tuple[int, int, Array]] = []
    group, contexts = np.zeros((2, len(digits)), np.int64)
    arms, cells, outer, inner = np.zeros(len(space.arms), np.int64), 1, -1, -1

    def best(first: int, end: int, depth: Array) -> int:
        """The coordinate whose next bit explains most. Bits that divide no group are passed over, in `depth`."""
        found = -1
        for j in range(first, end):
            while (finite or j < space.context) and depth[j] < telling_bits(space, j):
                if count(divide(group, space.halves(digits, j, depth[j]))) > count(group):
                    break
                depth[j] += 1
            if depth[j] < telling_bits(space, j) and (found < 0 or gains[j, depth[j]] > gains[found, depth[found]]):
                found = j
        return found

    while len(chosen) < MOST_LEVELS and count(contexts) * cells <= max(s.least_cells, told):
        chosen.append((inner, outer, depth.copy()))
        outer, passed = best(0, space.context, depth), depth.copy()
        inner = best(space.context, len(space.bits), passed)
        if inner >= 0:
            parted = arms
            for bit in range(depth[inner], passed[inner] + 1) if finite else ():
                parted = divide(parted, space.halves(space.digits_of_arms, inner, bit))
            parts = count(parted) if finite else 2 * cells
            inner = inner if parts <= most_cells else -1
        if outer < 0 and inner < 0:
            break
        if outer >= 0:
            half = space.halves(digits, outer, depth[outer])
            contexts, group = divide(contexts, half), divide(group, half)
            depth[outer] += 1
        if inner >= 0:
            group = divide(group, space.halves(digits, inner, passed[inner]))
            arms, cells, depth[inner] = parted, parts, passed[inner] + 1
    return chosen
