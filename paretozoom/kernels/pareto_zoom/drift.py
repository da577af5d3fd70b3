"""Drift: when rewards contradict what was learned before, half of it is forgotten.

Of two rewards that follow each other at a *place*, a rather large cell, the product of their residuals is on average
the squared error of the predictions. If that is much larger than standard errors say, the world has changed.
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Floats, Ints, part
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.settings import settings

PAIRS, PRODUCTS, SQUARES, EXPECTED = range(4)  # what is summed: pairs, products, their squares, what they should be
LARGEST = 1e60  # product that is summed: squares must not overflow


@part
def watch(f: Floats, i: Ints, digits: Ints, residual: Floats, variance: Floats) -> None:
    """Take in the residuals of a reward, and their squared standard errors; NaN where nothing was predicted."""
    s, bits, noise, last, watched = settings(f), m.bits(f, i), m.noise(f, i), m.last(f, i), m.watched(f, i)
    place, each = 0, max(1, int(s.most_bits) // i[m.COORDINATES])
    for j in range(i[m.COORDINATES]):
        depth = min(each, bits[j])
        place = (place << depth) | (digits[j] >> (bits[j] - depth))
    place = place & (len(last) - 1)
    pairs, product, expected = 0, 0.0, 0.0
    for o in range(len(residual)):
        # New ground is no change.
        if not math.isnan(residual[o]) and variance[o] <= s.drift_known * noise[o]:
            before = last[place, o]
            last[place, o] = residual[o]
            if before != 0.0:
                pairs += 1
                product += residual[o] * before / noise[o]
                expected += variance[o] / noise[o]
    if pairs > 0:
        product = max(-LARGEST, min(LARGEST, product))
        watched[PAIRS] += 1.0
        watched[PRODUCTS] += product
        watched[SQUARES] += product * product
        watched[EXPECTED] += min(LARGEST, expected)


@part
def conclude(f: Floats, i: Ints) -> None:
    """If enough was watched, decide whether the next refit, then due, forgets half."""
    s, watched = settings(f), m.watched(f, i)
    if watched[PAIRS] >= s.least_pairs:
        products = watched[PRODUCTS]
        is_sure = products > s.drift_errors * math.sqrt(watched[SQUARES])
        if is_sure and products > s.drift_times * watched[EXPECTED]:
            i[m.FORGETS], i[m.NEXT] = 1, i[m.TOLD]
        watched[:] = 0.0
