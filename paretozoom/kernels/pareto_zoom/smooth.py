"""Smooth estimate: a Gaussian process, in as many terms as can be afforded.

Rewards at two places are expected to be alike by exp(-(distance / scale)^2 / 2) along each coordinate. Of a term that
means a variance, and the terms of largest variance are used. The scales are those that make the rewards likeliest; a
few steps towards them are taken from fit to fit.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR, PERIODIC
from paretozoom.kernels.core.ordering import order_of
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.functions import (
    POLYNOMIALS,
    stand_at,
    sum_at,
    sum_at_arms,
    tabulate,
    term_at,
    turn_of,
)
from paretozoom.kernels.pareto_zoom.settings import settings
from paretozoom.kernels.pareto_zoom.trend import UNKNOWN, add_to_sums, learn_at_once, likelihood, solve, sums_of

NEVER = 1e9  # e-foldings: of what is not for smooth estimates
DEAREST = 50.0  # e-foldings: exp(-50) is nothing. Terms of which less is expected are not used, or as if it were that


# Predict.


@part
def predict(f: Floats, i: Ints, o: int, rows: int, out: Floats) -> None:
    """Write means of an objective where the functions stand: at a context and the first rows of arms."""
    sum_at_arms(f, i, m.smooth_factors(f, i), i[m.SMOOTH_TERMS], m.smooth(f, i)[o], rows, out)


@part
def predict_at(f: Floats, i: Ints, o: int) -> float:
    """The mean of an objective where the functions stand."""
    return sum_at(f, i, m.smooth_factors(f, i), i[m.SMOOTH_TERMS], m.smooth(f, i)[o])


# Learn.


@part
def learn(f: Floats, i: Ints, reward: Floats) -> None:
    """Learn a reward where the functions stand, as long as each is learned at once."""
    n, factors, value = i[m.SMOOTH_TERMS], m.smooth_factors(f, i), m.value(f, i)
    at_once, keeps = i[m.TOLD] < settings(f).last_learned_at_once, i[m.SMOOTH_SUMS] > 0
    if n == 0 or not (at_once or keeps):
        return
    terms, gain = np.empty(n), np.empty(n)
    for t in range(n):
        terms[t] = term_at(value, factors, t)
    for o in range(len(reward)):
        if math.isnan(reward[o]):
            continue
        if keeps:
            add_to_sums(m.smooth_gram(f, i)[o], m.smooth_right(f, i)[o], terms, reward[o])
            m.smooth_square(f, i)[o] += reward[o] * reward[o]
        if at_once:
            learn_at_once(m.smooth(f, i)[o], m.smooth_covariance(f, i)[o], terms, gain, reward[o])


# Refit.


@part
def _unlike(f: Floats, i: Ints, k: int, scale: int) -> float:
    """How much less is expected of function k than of the constant, in e-foldings."""
    functions, kinds = m.functions(f, i), m.kinds(f, i)
    j, which = functions[k, 0], functions[k, 1]
    kind = kinds[j] if j < len(kinds) else LINEAR
    if kind == CATEGORICAL:
        return 2.0 ** (scale - settings(f).centre_scale)
    if kind == PERIODIC:
        turn = 2.0 * math.pi * (which // 2 + 1)
    elif which >= POLYNOMIALS:
        turn = turn_of(settings(f).margin) * (which - POLYNOMIALS + 1)
    else:
        return NEVER
    return 0.5 * turn * turn * 2.0 ** (scale - 10)  # the spectrum of the process: (turn * length)^2 / 2


@kernel
def choose_terms(f: Floats, i: Ints) -> None:
    """Write the factors of the terms of which most is expected, by the smallest scale of all objectives."""
    count, room, functions, scale = i[m.FUNCTIONS], i[m.SMOOTH_ROOM], m.functions(f, i), m.scale(f, i)
    cost, coordinate = np.zeros(count), np.full(count, -1)
    for k in range(1, count):
        coordinate[k] = functions[k, 0]
        cost[k] = _unlike(f, i, k, scale[:, functions[k, 0]].min())
    order = order_of(cost)
    most, low, limit, high = 64 * room, 0.0, 1.0, math.inf
    three, price, found = np.zeros((most, 3), np.int64), np.zeros(most), 0
    for _ in range(60):  # the limit is sought at which terms are enough, but not too many to be ordered
        found = _list_terms(order, cost, coordinate, limit, three, price)
        if found == most and high - low > 1e-9 * limit:
            high, limit = limit, 0.5 * (low + limit)
        elif found < room and high == math.inf and limit < DEAREST:
            low, limit = limit, min(DEAREST, 1.25 * limit)
        elif found < room and high < math.inf and high - low > 1e-9 * high:
            low, limit = limit, 0.5 * (limit + high)
        else:
            break
    cheapest = order_of(price[:found])
    i[m.SMOOTH_TERMS] = min(found, room)
    factors = m.smooth_factors(f, i)
    for t in range(i[m.SMOOTH_TERMS]):
        factors[t, :] = three[cheapest[t]]


@part
def _list_terms(order: Ints, cost: Floats, coordinate: Ints, limit: float, three: Ints, price: Floats) -> int:
    """List the products of functions of different coordinates that cost no more than a limit; returns how many."""
    count, most, found = len(order), len(price), 0
    for a in range(count):
        first = order[a]
        if cost[first] > limit:
            break
        for b in range(a + (first != 0), count):
            second = order[b]
            two = cost[first] + cost[second]
            if two > limit:
                break
            if second != 0 and coordinate[second] == coordinate[first]:
                continue
            for c in range(b + (second != 0), count):
                third = order[c]
                if two + cost[third] > limit or found == most:
                    break
                if third != 0 and (coordinate[third] == coordinate[first] or coordinate[third] == coordinate[second]):
                    continue
                low, high = min(first, second, third), max(first, second, third)
                three[found, 0], three[found, 1], three[found, 2] = low, first + second + third - low - high, high
                price[found] = two + cost[third]
                found += 1
    return found


@part
def _expect(f: Floats, i: Ints, o: int, boldness: float, variance: Floats) -> float:
    """Write the variances of terms, relative to the noise; returns how likely scales and signal are (a logarithm)."""
    s, functions, factors, scale = settings(f), m.functions(f, i), m.smooth_factors(f, i), m.scale(f, i)[o]
    unlike, likely = np.zeros(i[m.FUNCTIONS]), -0.5 * (m.signal(f, i)[o] / s.signal_spread) ** 2
    for j in range(len(scale)):
        likely -= 0.5 * ((scale[j] - s.centre_scale) / s.scale_spread) ** 2
    for k in range(1, len(unlike)):
        unlike[k] = _unlike(f, i, k, scale[functions[k, 0]])
    total = 0.0
    for t in range(len(variance)):
        variance[t] = math.exp(-min(DEAREST, unlike[factors[t, 0]] + unlike[factors[t, 1]] + unlike[factors[t, 2]]))
        total += variance[t]
    for t in range(len(variance)):
        variance[t] *= boldness * 2.0 ** m.signal(f, i)[o] / total
    variance[0] = UNKNOWN
    return likely


@part
def _judge(f: Floats, i: Ints, o: int, gram: Floats, right: Floats, square: float, count: float) -> float:
    """How likely the rewards are by the scales and the signal of an objective, and these beforehand."""
    variance = np.empty(len(right))
    likely = _expect(f, i, o, 1.0, variance)
    return likely + likelihood(gram, right, square, count, variance)


@part
def _search(f: Floats, i: Ints, o: int, gram: Floats, right: Floats, square: float, count: float) -> None:
    """Take some steps towards the scales and the signal that make the rewards likeliest."""
    s, scale, signal = settings(f), m.scale(f, i)[o], m.signal(f, i)
    first, last = int(s.centre_scale - s.scale_spread), int(s.centre_scale + s.scale_spread)
    likely, best = _judge(f, i, o, gram, right, square, count), scale.copy()
    for start in range(max(0, first), min(m.MOST_POWER, last) + 1, 2):
        scale[:] = start
        value = _judge(f, i, o, gram, right, square, count)
        if value > likely:
            likely = value
            best[:] = start
    scale[:] = best
    whats, unmoved = len(scale) + 2, 0  # the signal, all scales, each scale
    for turn in range(int(s.sweeps) * whats):
        what = turn % whats - 2
        unmoved += 1
        for step in (1, -1):
            _step(scale, signal, o, what, step)
            if scale.min() >= 0 and max(scale.max(), abs(signal[o])) <= m.MOST_POWER:
                value = _judge(f, i, o, gram, right, square, count)
                if value > likely:
                    likely, unmoved = value, 0
                    break
            _step(scale, signal, o, what, -step)
        if unmoved == whats:  # all that would follow was tried
            break


@part
def _step(scale: Ints, signal: Ints, o: int, what: int, step: int) -> None:
    """Change the signal (-2), all scales (-1), or the scale of a coordinate."""
    if what == -2:
        signal[o] += step
    elif what == -1:
        scale[:] += step
    else:
        scale[what] += step


@part
def _sum_anew(f: Floats, i: Ints) -> None:
    """Sum all that is kept of the past, with the terms of now."""
    n, value, factors = i[m.SMOOTH_TERMS], m.value(f, i), m.smooth_factors(f, i)
    terms, rewards, squares = np.empty(n), m.past_reward(f, i), m.smooth_square(f, i)
    m.smooth_gram(f, i)[:] = 0.0
    m.smooth_right(f, i)[:] = 0.0
    squares[:] = 0.0
    for k in range(i[m.PAST]):
        stand_at(f, i, m.past_point(f, i)[k])
        for t in range(n):
            terms[t] = term_at(value, factors, t)
        for o in range(i[m.OBJECTIVES]):
            if m.past_told(f, i)[k, o] == 1:
                add_to_sums(m.smooth_gram(f, i)[o], m.smooth_right(f, i)[o], terms, rewards[k, o])
                squares[o] += rewards[k, o] * rewards[k, o]


@kernel
def refit(f: Floats, i: Ints, digits: Ints, site_arms: Ints, early: bool, forgets: bool) -> None:
    """Fit the smooth estimate of all objectives; scales are sought and terms chosen as long as it is early."""
    s = settings(f)
    searches = forgets or (early and i[m.TOLD] >= i[m.SEARCHED] * (1.0 + s.late_growth))
    if searches:
        i[m.SEARCHED] = i[m.TOLD]
    if early:  # with other terms, what is said of places that were hardly played may change at once
        choose_terms(f, i)
    n, keeps = i[m.SMOOTH_TERMS], i[m.SMOOTH_SUMS] > 0
    gram, right, variance = np.empty((n, n)), np.empty(n), np.empty(n)
    if keeps and early:
        _sum_anew(f, i)
    table = np.empty((0 if keeps else len(digits), n))
    tabulate(f, i, digits[: len(table)], site_arms, m.smooth_factors(f, i), table)
    for o in range(i[m.OBJECTIVES]):
        if keeps:
            gram[:], right[:] = m.smooth_gram(f, i)[o, :n, :n], m.smooth_right(f, i)[o, :n]
            count, square = gram[0, 0], m.smooth_square(f, i)[o]  # the first term is 1
        else:
            count, square = sums_of(f, i, o, 0, table, gram, right)
        if count > 0.0 and searches:
            _search(f, i, o, gram, right, square, count)
        _expect(f, i, o, s.signal_boldness, variance)
        solve(gram, right, variance, m.smooth(f, i)[o], m.smooth_covariance(f, i)[o])
