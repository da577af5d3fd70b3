"""Trend: a quadratic of contexts and arms over the whole space.

Its terms are normal beforehand, with mean 0 and, but for the constant, one variance relative to the noise. Of a few
variances the one that makes the rewards likeliest is kept, moving by one step from fit to fit.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.matrices import factorise, invert, substitute, sum_products
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.functions import sum_at, sum_at_arms, tabulate, term_at
from paretozoom.kernels.pareto_zoom.settings import settings

LARGEST = 1e140  # mean of a term: squares must not overflow
UNKNOWN = 1e4  # variance of the constant, the first term: nothing is known of it


@part
def predict(f: Floats, i: Ints, o: int, rows: int, out: Floats) -> None:
    """Write means of an objective where the functions stand: at a context and the first rows of arms."""
    sum_at_arms(f, i, m.trend_factors(f, i), i[m.TREND_TERMS], m.trend(f, i)[o], rows, out)


@part
def predict_at(f: Floats, i: Ints, o: int) -> float:
    """The mean of an objective where the functions stand."""
    return sum_at(f, i, m.trend_factors(f, i), i[m.TREND_TERMS], m.trend(f, i)[o])


@part
def sums_of(f: Floats, i: Ints, o: int, first: int, table: Floats, gram: Floats, right: Floats) -> tuple[float, float]:
    """Write the sums of products of terms, and of terms with rewards; returns how many rewards, and their squares.

    The rows of the table are those of the sites from the first one on. Of an objective with as many rewards everywhere
    as the one before it, products are those.
    """
    counts, totals, squares = m.site_count(f, i), m.site_total(f, i), m.site_square(f, i)
    count, square, alike = 0.0, 0.0, o > 0
    right[:] = 0.0
    for site in range(first, first + len(table)):
        count += counts[o, site]
        square += squares[o, site]
        alike = alike and counts[o, site] == counts[o - 1, site]
        row, total = table[site - first], totals[o, site]
        for t in range(len(right)):
            right[t] += total * row[t]
    if not alike:
        sum_products(table, counts[o, first:], gram)
    return count, square


@kernel
def likelihood(gram: Floats, right: Floats, square: float, count: float, variance: Floats) -> float:
    """How likely rewards are (a logarithm, but for a constant) if terms have such variances beside the noise."""
    a, y, likely = gram.copy(), right.copy(), 0.0
    for t in range(len(y)):
        a[t, t] += 1.0 / variance[t]
        likely -= 0.5 * math.log(variance[t])
    half, known = factorise(a, y)
    return likely - half - 0.5 * count * math.log(max(square - known, 1e-12 * square, 1e-300) / count)


@kernel
def solve(gram: Floats, right: Floats, variance: Floats, mean: Floats, covariance: Floats) -> None:
    """Write the posterior of how much there is of each term, relative to the noise."""
    a, y, n = gram.copy(), right.copy(), len(right)
    for t in range(n):
        a[t, t] += 1.0 / variance[t]
    factorise(a, y)
    substitute(a, y, mean[:n])
    inverse = np.empty((n, n))
    invert(a, inverse)
    covariance[:n, :n] = inverse


@part
def learns(f: Floats, i: Ints) -> bool:
    """Whether rewards are still added to the sums: some more than the last fit will need."""
    s = settings(f)
    return i[m.TOLD] <= s.last_trend_fit * (1.0 + s.late_growth)


@part
def learn(f: Floats, i: Ints, reward: Floats) -> None:
    """Add a reward where the functions stand to the sums of the trend; until some rewards it is learned at once."""
    n, s, factors, value, terms = i[m.TREND_ROOM], settings(f), m.trend_factors(f, i), m.value(f, i), m.term(f, i)
    if not learns(f, i):
        return
    for t in range(n):
        terms[t] = term_at(value, factors, t)
    for o in range(len(reward)):
        if math.isnan(reward[o]):
            continue
        add_to_sums(m.trend_gram(f, i)[o], m.trend_right(f, i)[o], terms[:n], reward[o])
        m.trend_square(f, i)[o] += reward[o] * reward[o]
        if i[m.TREND_TERMS] > 0 and i[m.TOLD] < s.last_learned_at_once:
            learn_at_once(m.trend(f, i)[o], m.trend_covariance(f, i)[o], terms, m.term_gain(f, i), reward[o])


@part
def add_to_sums(gram: Floats, right: Floats, terms: Floats, reward: float) -> None:
    """Add a reward of some terms to sums of products, above the diagonal, and of terms times rewards."""
    n = len(terms)
    for t in range(n):
        sums, times = gram[t], terms[t]
        right[t] += times * reward
        for c in range(t, n):
            sums[c] += times * terms[c]


@part
def learn_at_once(mean: Floats, covariance: Floats, terms: Floats, gain: Floats, reward: float) -> None:
    """Take a reward of some terms into a posterior."""
    n, predicted, below = len(terms), 0.0, 1.0
    gain[:n] = 0.0
    for t in range(n):
        predicted += mean[t] * terms[t]
        row, times = covariance[t], terms[t]
        for c in range(n):
            gain[c] += times * row[c]
    for t in range(n):
        below += gain[t] * terms[t]
    if below < 0.5:  # nothing that was learned comes to that but rounding; the next fit mends it
        return
    for t in range(n):
        row, step = covariance[t], gain[t] / below
        mean[t] = min(LARGEST, max(-LARGEST, mean[t] + step * (reward - predicted)))
        for c in range(n):
            row[c] -= step * gain[c]


@part
def _sum_newest(f: Floats, i: Ints, digits: Ints, site_arms: Ints) -> None:
    """Make the sums anew, of the newest sites: the old ones are of a world that is gone."""
    n, first = i[m.TREND_ROOM], max(0, len(digits) - int(settings(f).last_trend_fit))
    table, gram, right = np.empty((len(digits) - first, n)), np.empty((n, n)), np.empty(n)
    tabulate(f, i, digits[first:], site_arms[first:], m.trend_factors(f, i), table)
    for o in range(i[m.OBJECTIVES]):
        m.trend_square(f, i)[o] = sums_of(f, i, o, first, table, gram, right)[1]
        m.trend_gram(f, i)[o] = gram
        m.trend_right(f, i)[o] = right


@kernel
def refit(f: Floats, i: Ints, digits: Ints, site_arms: Ints, forgets: bool, lacks: bool) -> None:
    """Fit the trend of all objectives; `lacks` says that sums lack what was told last."""
    n, s = i[m.TREND_ROOM], settings(f)
    if forgets and lacks:
        _sum_newest(f, i, digits, site_arms)
    elif forgets:
        m.trend_gram(f, i)[:] *= 0.5
        m.trend_right(f, i)[:] *= 0.5
        m.trend_square(f, i)[:] *= 0.5
    elif n > s.most_terms and i[m.TOLD] < i[m.TREND_FITTED] * (1.0 + s.late_growth):
        return
    i[m.TREND_TERMS], i[m.TREND_FITTED], variance = n, i[m.TOLD], np.empty(n)
    for o in range(i[m.OBJECTIVES]):
        gram, right = m.trend_gram(f, i)[o], m.trend_right(f, i)[o]
        count, square = gram[0, 0], m.trend_square(f, i)[o]  # the first term is 1
        if count == 0.0:
            continue
        best, likely, now = -1, -math.inf, m.trend_size(f, i)[o]
        for size in range(max(int(-s.sizes), now - 1), min(int(s.sizes), now + 1) + 1):
            variance[:] = 4.0**size
            variance[0] = UNKNOWN
            value = likelihood(gram, right, square, count, variance)
            if value > likely:
                best, likely = size, value
        m.trend_size(f, i)[o] = best
        variance[:] = 4.0**best
        variance[0] = UNKNOWN
        solve(gram, right, variance, m.trend(f, i)[o], m.trend_covariance(f, i)[o])
