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
from paretozoom.kernels.pareto_zoom.functions import sum_at, sum_at_arms, tabulate, variance_of
from paretozoom.kernels.pareto_zoom.settings import settings

UNKNOWN = 1e6  # variance of the constant, the first term: nothing is known of it


@part
def predict(f: Floats, i: Ints, o: int, rows: int, out: Floats) -> None:
    """Write means of an objective where the functions stand: at a context and the first rows of arms."""
    sum_at_arms(f, i, m.trend_factors(f, i), i[m.TREND_TERMS], m.trend(f, i)[o], rows, out)


@part
def predict_at(f: Floats, i: Ints, o: int) -> float:
    """The mean of an objective where the functions stand."""
    return sum_at(f, i, m.trend_factors(f, i), i[m.TREND_TERMS], m.trend(f, i)[o])


@part
def variance_at(f: Floats, i: Ints, o: int) -> float:
    """The squared standard error of that."""
    covariance = m.trend_covariance(f, i)[o]
    return m.noise(f, i)[o] * variance_of(f, i, m.trend_factors(f, i), i[m.TREND_TERMS], covariance)


@part
def sums_of(f: Floats, i: Ints, o: int, table: Floats, gram: Floats, right: Floats) -> tuple[float, float]:
    """Write the sums of products of terms, and of terms with rewards; returns how many rewards, and their squares.

    Of an objective with as many rewards everywhere as the one before it, products are those.
    """
    counts, totals, squares = m.site_count(f, i), m.site_total(f, i), m.site_square(f, i)
    count, square, alike = 0.0, 0.0, o > 0
    right[:] = 0.0
    for site in range(len(table)):
        count += counts[o, site]
        square += squares[o, site]
        alike = alike and counts[o, site] == counts[o - 1, site]
        row, total = table[site], totals[o, site]
        for t in range(len(right)):
            right[t] += total * row[t]
    if not alike:
        sum_products(table, counts[o], gram)
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


@kernel
def refit(f: Floats, i: Ints, digits: Ints, site_arms: Ints) -> None:
    """Fit the trend of all objectives."""
    n, s = i[m.TREND_ROOM], settings(f)
    i[m.TREND_TERMS] = n
    table, gram, right, variance = np.empty((len(digits), n)), np.empty((n, n)), np.empty(n), np.empty(n)
    tabulate(f, i, digits, site_arms, m.trend_factors(f, i), table)
    for o in range(i[m.OBJECTIVES]):
        count, square = sums_of(f, i, o, table, gram, right)
        if count == 0.0:
            continue
        best, likely, now = -1, -math.inf, m.trend_size(f, i)[o]
        for size in range(max(-int(s.sizes), now - 1), min(int(s.sizes), now + 1) + 1):
            variance[:] = 4.0**size
            variance[0] = UNKNOWN
            value = likelihood(gram, right, square, count, variance)
            if value > likely:
                best, likely = size, value
        m.trend_size(f, i)[o] = best
        variance[:] = 4.0**best
        variance[0] = UNKNOWN
        solve(gram, right, variance, m.trend(f, i)[o], m.trend_covariance(f, i)[o])
