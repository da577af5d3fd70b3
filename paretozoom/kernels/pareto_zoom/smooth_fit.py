"""How the smooth estimate is fitted: a Gaussian process, in as many terms as can be afforded.

Rewards at two places are expected to be alike by exp(-(distance / scale)^2 / 2) along each coordinate. Of a term that
means a variance, and the terms of largest variance are used. The scales are those that make the rewards likeliest; a
few steps towards them are taken with each fit.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, inlined, part
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.core.matrices import factorise, invert, substitute, sum_products
from paretozoom.kernels.core.ordering import order_of
from paretozoom.kernels.pareto_zoom.functions import POLYNOMIALS, TURN
from paretozoom.kernels.pareto_zoom.pyramid import (
    BASE_ROOM,
    BASES,
    COMPARISONS,
    FUNCTIONS,
    SEARCHED,
    SMOOTH_ROOM,
    SMOOTH_TERMS,
    TOLD,
    Pyramid,
)
from paretozoom.kernels.pareto_zoom.smooth import APART, COMPARED, EXPLAINED, GAIN, LAST_TAUGHT, WEIGHED, share_of
from paretozoom.kernels.pareto_zoom.trend_fit import UNKNOWN, count_rewards, find_places, judge, tabulate

FIRST_FIT = 16  # rewards
LAST_FIT = 4096  # rewards until which scales are sought, and it is fitted if there is no trend; later, after forgetting
SCALES = 21  # powers of the root of 2, the first is 2**-5
CENTRE = 7  # the scale that is expected, about a third
SPREAD = 4.0  # steps by which others are
MOST_SIGNAL = 20  # of all terms, relative to the noise: powers of 2
SIGNAL_SPREAD = 6.0
STARTS = 3, 12, 2  # scales, the same for all coordinates, that are tried each time
SWEEPS = 2
BOLDNESS = 4.0  # terms are expected to be so much larger when rewards are learned: see `roughness`
MEMORY = 0.7  # of what was compared before a fit
LEAST_SHARE = 0.1  # that the smooth estimate goes on with after its last fit
NEVER = 1e9  # e-foldings: of what is not for smooth estimates


@part
def _unlike(i: Ints, at: Pyramid, k: int, scale: int) -> float:
    """How much less is expected of function k than of the constant, in e-foldings."""
    j, which = i[at.function + 2 * k], i[at.function + 2 * k + 1]
    if i[at.kinds + j] == CATEGORICAL:
        return 2.0 ** (scale - CENTRE)
    if i[at.kinds + j] == PERIODIC:
        turn = 2.0 * math.pi * (which // 2 + 1)
    elif which >= POLYNOMIALS:
        turn = TURN * (which - POLYNOMIALS + 1)
    else:
        return NEVER
    return 0.5 * turn * turn * 2.0 ** (scale - 10)  # the spectrum of the process


@part
def choose_terms(i: Ints, at: Pyramid) -> None:
    """Write the factors of the terms of which most is expected, by the smallest scale of all objectives."""
    functions, room = i[FUNCTIONS], i[SMOOTH_ROOM]
    cost, coordinate = np.zeros(functions), np.full(functions, -1)
    for k in range(1, functions):
        j = coordinate[k] = i[at.function + 2 * k]
        least = SCALES
        for o in range(at.learned):
            least = min(least, i[at.scale + o * at.dim + j])
        cost[k] = _unlike(i, at, k, least)
    order = order_of(cost)
    most, limit, found = 64 * room, 1.0, 0  # of pairs alone there may be 8,000
    three, price = np.zeros((most, 3), np.int64), np.zeros(most)
    while found < room and limit < 300.0:
        found = 0
        for a in range(functions):
            first = order[a]
            if cost[first] > limit:
                break
            for b in range(a + (first != 0), functions):
                second = order[b]
                two = cost[first] + cost[second]
                if two > limit:
                    break
                if second != 0 and coordinate[second] == coordinate[first]:
                    continue
                for c in range(b + (second != 0), functions):
                    third = order[c]
                    if two + cost[third] > limit or found == most:
                        break
                    if third != 0 and (coordinate[third] in (coordinate[first], coordinate[second])):
                        continue
                    three[found, 0], three[found, 1], three[found, 2] = first, second, third
                    price[found] = two + cost[third]
                    found += 1
        limit *= 1.25
    cheapest = order_of(price[:found])
    i[SMOOTH_TERMS] = min(found, room)
    for t in range(i[SMOOTH_TERMS]):
        first, second, third = three[cheapest[t]]
        low, high, factors = min(first, second, third), max(first, second, third), at.smooth_factor + 3 * t
        i[factors], i[factors + 1], i[factors + 2] = low, first + second + third - low - high, high


@inlined
def _square(value: float) -> float:
    return value * value


@part
def _expect(i: Ints, at: Pyramid, o: int, variance: Floats) -> float:
    """Write the variances of terms, relative to the noise; returns how likely scales and signal are (a logarithm)."""
    unlike, likely = np.zeros(i[FUNCTIONS]), -0.5 * _square(i[at.signal + o] / SIGNAL_SPREAD)
    scale = i[at.scale + o * at.dim :][: at.dim]
    for j in range(at.dim):
        likely -= 0.5 * _square((scale[j] - CENTRE) / SPREAD)
    for k in range(1, i[FUNCTIONS]):
        unlike[k] = _unlike(i, at, k, scale[i[at.function + 2 * k]])
    total = 0.0
    for t in range(len(variance)):
        factor = at.smooth_factor + 3 * t
        variance[t] = math.exp(-min(50.0, unlike[i[factor]] + unlike[i[factor + 1]] + unlike[i[factor + 2]]))
        total += variance[t]
    signal = 2.0 ** i[at.signal + o] / total
    for t in range(len(variance)):
        variance[t] *= signal
    variance[0] = UNKNOWN
    return likely


@part
def _likely(i: Ints, at: Pyramid, o: int, gram: Floats, right: Floats, square: float, count: float) -> float:
    """How likely the rewards are (a logarithm, but for a constant) by the scales and the signal of an objective."""
    n = len(right)
    a, y, variance = gram.copy(), right.copy(), np.empty(n)
    likely = _expect(i, at, o, variance)
    for k in range(n):
        a[k, k] += 1.0 / variance[k]
        likely -= 0.5 * math.log(variance[k])
    half, explained = factorise(a, y)
    return likely - half - 0.5 * count * math.log(max(square - explained, 1e-12 * square, 1e-300) / count)


@part
def _step(i: Ints, at: Pyramid, o: int, what: int, step: int) -> None:
    """Change the scale of a coordinate, of all (-1), or the signal (-2)."""
    if what == -2:
        i[at.signal + o] += step
    for j in range(at.dim):
        if what in (-1, j):
            i[at.scale + o * at.dim + j] += step


@part
def _search(i: Ints, at: Pyramid, o: int, gram: Floats, right: Floats, square: float, count: float) -> None:
    """Take some steps towards the scales and the signal that make the rewards likeliest."""
    scale = i[at.scale + o * at.dim :][: at.dim]
    likely, best = _likely(i, at, o, gram, right, square, count), scale.copy()
    for start in range(STARTS[0], STARTS[1], STARTS[2]):
        scale[:] = start
        value = _likely(i, at, o, gram, right, square, count)
        if value > likely:
            likely = value
            best[:] = start
    scale[:] = best
    whats, unmoved = at.dim + 2, 0
    for turn in range(SWEEPS * whats):
        what = turn % whats - 2
        unmoved += 1
        for step in (1, -1):
            _step(i, at, o, what, step)
            if scale.min() >= 0 and scale.max() < SCALES and abs(i[at.signal + o]) <= MOST_SIGNAL:
                value = _likely(i, at, o, gram, right, square, count)
                if value > likely:
                    likely, unmoved = value, 0
                    break
            _step(i, at, o, what, -step)
        if unmoved == whats:  # all that would follow was tried
            break


@part
def _learn(f: Floats, i: Ints, at: Pyramid, o: int, gram: Floats, right: Floats) -> None:
    """Write how much of each term there is, and the inverse that one more reward needs."""
    n, room = len(right), i[SMOOTH_ROOM]
    a, y, variance = gram.copy(), right.copy(), np.empty(n)
    _expect(i, at, o, variance)
    for k in range(n):
        a[k, k] += 1.0 / (variance[k] if k == 0 else BOLDNESS * variance[k])
    factorise(a, y)
    substitute(a, y, f[at.smooth + o * room :][:n])
    if i[TOLD] < LAST_TAUGHT:
        invert(a, f[at.inverse + o * room * room :][: n * n].reshape((n, n)))


@part
def _is_counted_alike(i: Ints, at: Pyramid, o: int) -> bool:
    """Whether an objective has as many rewards everywhere as the one before it."""
    here, before = at.base_count + o * i[BASE_ROOM], at.base_count + (o - 1) * i[BASE_ROOM]
    return o > 0 and (i[here : here + i[BASES]] == i[before : before + i[BASES]]).all()


@inlined
def fit_smooth(f: Floats, i: Ints, at: Pyramid, digits: Ints, base_arm: Ints, forgets: bool) -> None:
    """Fit the smooth estimate of all objectives, if there are enough rewards."""
    if i[TOLD] < FIRST_FIT or i[SMOOTH_ROOM] == 0:
        return
    is_early = forgets or i[TOLD] <= LAST_FIT
    searches = forgets or (is_early and i[TOLD] >= i[SEARCHED] + i[SEARCHED] // 2)
    if searches:
        i[SEARCHED] = i[TOLD]
    if is_early:  # with other terms, what is said of places that were hardly played may change at once
        choose_terms(i, at)
    bases, n, place = i[BASES], i[SMOOTH_TERMS], np.zeros(i[BASES], np.int64)
    table = tabulate(f, i, at, digits, base_arm, at.smooth_factor, n)
    rewards, gram, right = np.zeros(find_places(i, at, digits, place)), np.empty((n, n)), np.empty(n)
    for o in range(at.learned):
        square, count = 0.0, 0.0
        right[:] = 0.0
        for base in range(bases):
            entry = o * i[BASE_ROOM] + base
            count += i[at.base_count + entry]
            square += f[at.base_square + entry]
            for t in range(n):
                right[t] += f[at.base_sum + entry] * table[base, t]
        if not _is_counted_alike(i, at, o):
            sum_products(table, i[at.base_count + o * i[BASE_ROOM] :], gram)
        if count > 0.0 and searches:
            _search(i, at, o, gram, right, square, count)
        _learn(f, i, at, o, gram, right)
        count_rewards(i, at, place, o, rewards)
        sizes, compared = f[at.smooth + o * i[SMOOTH_ROOM] :][:n], at.compared + o * COMPARISONS
        f[compared + EXPLAINED] = judge(f, i, at, table, place, rewards, o, sizes)[1]
        f[compared + GAIN] *= MEMORY
        f[compared + WEIGHED] *= MEMORY
        f[compared + APART] *= MEMORY
        f[compared + COMPARED] *= MEMORY


@part
def give_up_smooth(f: Floats, i: Ints, at: Pyramid) -> None:
    """Do without the smooth estimate if levels say the same; from then on they are taken to be off ever less."""
    if i[SMOOTH_TERMS] == 0:
        for o in range(at.learned):
            f[at.compared + o * COMPARISONS + APART] *= MEMORY
        return
    for o in range(at.learned):
        if share_of(f, i, at, o) >= LEAST_SHARE:
            return
    i[SMOOTH_TERMS] = 0
