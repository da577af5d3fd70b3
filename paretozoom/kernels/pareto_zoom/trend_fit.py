"""How the trend is fitted to the rewards, and when it is given up.

Terms are expected to be of a size, relative to the noise, that makes the rewards likely; a step from size to size is
taken from fit to fit. What the trend misses is shared by all rewards of a *place*, a rather large cell, so many rewards
of one place count little more than one if it misses much. A trend that misses too much is not used.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.matrices import factorise, substitute
from paretozoom.kernels.pareto_zoom.functions import stand_at_base
from paretozoom.kernels.pareto_zoom.pyramid import BASE_ROOM, BASES, PLACE_BITS, TERMS, TOLD, USES_TREND, Pyramid
from paretozoom.kernels.pareto_zoom.splits import halves, regroup
from paretozoom.kernels.pareto_zoom.trend import term_at, trend_at

LAST_FIT = 8192  # rewards until which the trend is fitted anew whenever levels are made anew; later, after forgetting
SIZES = 12  # of terms, relative to the noise: powers of 2, the first is 2**-6
UNKNOWN = 1e6  # the square of the size of the constant, the first term
PRIOR_NOISE = 16.0  # rewards that the variance of all of them is worth when the noise is measured
LEAST_NOISE = 1e-12  # of the mean square of rewards: below are rounding errors
SURE = 8.0  # pairs of rewards at a place from which on what the trend misses there counts by half
MOST_MISSED = 0.5  # of what the trend explains, for it to be used
MOST_FOUND = 0.4  # rewards per place times what is missed, relative to the noise: beyond, levels find it themselves


@kernel
def _solve(gram: Floats, right: Floats, square: float, count: float, size: int, out: Floats) -> float:
    """Write what the trend has of each term; returns how likely the rewards are (a logarithm, but for a constant).

    `gram` and `right` are the sums of products of terms, and of terms with rewards; `square` that of squared rewards.
    """
    a, y, likely = gram.copy(), right.copy(), 0.0
    for k in range(len(right)):
        expected = UNKNOWN if k == 0 else 4.0 ** (size - 6)
        a[k, k] += 1.0 / expected
        likely -= 0.5 * math.log(expected)
    half, explained = factorise(a, y)
    substitute(a, y, out)
    return likely - half - 0.5 * count * math.log(max(square - explained, 1e-12 * square, 1e-300) / count)


@part
def find_places(i: Ints, at: Pyramid, digits: Ints, place: Ints) -> int:
    """Number the places that bases are at; returns how many there are."""
    coordinates, places = at.context + at.finer, 1
    half = np.zeros(len(digits), np.int64)
    for j in range(coordinates):
        for depth in range(min(max(1, PLACE_BITS // coordinates), i[at.bits + j])):
            halves(i, at, digits, j, depth, half)
            places = regroup(place, places, half)
    return places


@part
def count_rewards(i: Ints, at: Pyramid, place: Ints, o: int, rewards: Floats) -> None:
    """Write how many rewards of an objective there are at each place."""
    rewards[:] = 0.0
    for base in range(len(place)):
        rewards[place[base]] += i[at.base_count + o * i[BASE_ROOM] + base]


@part
def tabulate(f: Floats, i: Ints, at: Pyramid, digits: Ints, base_arm: Ints, factors: int, terms: int) -> Floats:
    """The terms (columns) whose factors are named from i[factors] on, at all bases."""
    bases, middle = i[BASES], np.empty(at.dim)
    table = np.empty((bases, terms))
    for base in range(bases):
        stand_at_base(f, i, at, digits[base], base_arm[base], middle)
        for t in range(terms):
            table[base, t] = term_at(f, i, at, factors + 3 * t)
    return table


@part
def _fit_one(f: Floats, i: Ints, at: Pyramid, table: Floats, place: Ints, rewards: Floats, o: int) -> None:
    """Fit the trend of an objective; `rewards` are how many there are at each place."""
    bases, terms = table.shape
    gram, right, square, count = np.zeros((terms, terms)), np.zeros(terms), 0.0, 0.0
    for base in range(bases):
        entry = o * i[BASE_ROOM] + base
        share = 1.0 / (1.0 + f[at.missed + o] * rewards[place[base]])
        weight, total, row = share * i[at.base_count + entry], share * f[at.base_sum + entry], table[base]
        square += share * f[at.base_square + entry]
        count += weight
        if weight > 0.0:
            for t in range(terms):
                right[t] += total * row[t]
                weighed = weight * row[t]
                for other in range(t, terms):
                    gram[t, other] += weighed * row[other]
    if count == 0.0:
        f[at.trend + o * terms : at.trend + (o + 1) * terms] = 0.0
        return
    best, trial, likely, now = np.zeros(terms), np.zeros(terms), -math.inf, i[at.expected + o]
    for size in range(max(0, now - 1), min(SIZES, now + 2)):
        value = _solve(gram, right, square, count, size, trial)
        if value > likely:
            likely, i[at.expected + o] = value, size
            best[:] = trial
    f[at.trend + o * terms : at.trend + (o + 1) * terms] = best


@part
def judge(
    f: Floats, i: Ints, at: Pyramid, table: Floats, place: Ints, rewards: Floats, o: int, sizes: Floats
) -> tuple[float, float]:
    """The variances that terms of some sizes miss and explain of an objective, relative to the noise."""
    bases, terms = table.shape
    above, squares, said = np.zeros(len(rewards)), np.zeros(len(rewards)), np.zeros(len(rewards))
    count, total, square = 0.0, 0.0, 0.0
    for base in range(bases):
        entry, trend, p = o * i[BASE_ROOM] + base, 0.0, place[base]
        for t in range(terms):
            trend += sizes[t] * table[base, t]
        here, summed, squared = i[at.base_count + entry], f[at.base_sum + entry], f[at.base_square + entry]
        above[p] += summed - here * trend
        squares[p] += squared - trend * (2.0 * summed - here * trend)
        said[p] += here * trend
        count, total, square = count + here, total + summed, square + squared
    if count == 0.0:
        return 0.0, 0.0
    overall = total / count
    variance = max(0.0, square / count - overall * overall)
    noise, free = PRIOR_NOISE * variance, PRIOR_NOISE
    weights, missed, mean, explained = 1.0, 0.0, 0.0, 0.0
    for p in range(len(rewards)):
        n = rewards[p]
        if n > 1.0:
            weight = (n - 1.0) / (n - 1.0 + SURE)
            weights += weight
            missed += weight * (above[p] * above[p] - squares[p]) / (n * (n - 1.0))
            apart = said[p] / n - overall  # so that what was told first, which rewards are counted from, plays no part
            mean += weight * apart
            explained += weight * (apart * apart)
            noise += squares[p] - above[p] * above[p] / n
            free += n - 1.0
    noise, mean = max(noise / free, LEAST_NOISE * square / count, 1e-300), mean / weights
    # As if there were one place more, a standard deviation of rewards away from their mean on one side or the other.
    prior = variance * (weights - 1.0) / (weights * weights)
    return max(0.0, missed / weights) / noise, (explained / weights - mean * mean + prior) / noise


@inlined
def fit_trend(f: Floats, i: Ints, at: Pyramid, digits: Ints, base_arm: Ints) -> None:
    """Fit the trend of all objectives to the bases, and decide whether to use it."""
    bases, terms = i[BASES], i[TERMS]
    table, place = tabulate(f, i, at, digits, base_arm, at.factor, terms), np.zeros(bases, np.int64)
    rewards = np.zeros(find_places(i, at, digits, place))
    missed, explained = 0.0, 0.0
    for o in range(at.learned):
        count_rewards(i, at, place, o, rewards)
        _fit_one(f, i, at, table, place, rewards, o)
        sizes = f[at.trend + o * terms : at.trend + (o + 1) * terms]
        f[at.missed + o], variance = judge(f, i, at, table, place, rewards, o, sizes)
        missed, explained = missed + f[at.missed + o], explained + variance
    found = i[TOLD] / len(rewards) * missed / at.learned
    i[USES_TREND] = 1 if missed < MOST_MISSED * explained and found < MOST_FOUND else 0


@kernel
def rest_of(f: Floats, i: Ints, at: Pyramid, digits: Ints, base_arm: Ints) -> tuple[Floats, Floats]:
    """Sums of the bases' rewards, and of their squares, less the trend: (objectives, base room) each."""
    room, d = i[BASE_ROOM], at.learned
    totals = f[at.base_sum : at.base_sum + d * room].reshape((d, room))
    squares = f[at.base_square : at.base_square + d * room].reshape((d, room))
    if i[USES_TREND] == 1:
        totals, squares = totals.copy(), squares.copy()
        middle = np.empty(at.dim)
        for base in range(i[BASES]):
            stand_at_base(f, i, at, digits[base], base_arm[base], middle)
            for o in range(at.learned):
                trend, count, total = trend_at(f, i, at, o), i[at.base_count + o * room + base], totals[o, base]
                totals[o, base] = total - count * trend
                squares[o, base] = max(0.0, squares[o, base] - trend * (2.0 * total - count * trend))
    return totals, squares
