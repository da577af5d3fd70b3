"""Outliers: rewards of unbounded objectives that are far from what was predicted, and are brought nearer.

How far is judged by how far rewards usually are. The limit grows with the rewards, so that means are unbiased in the
long run. Where most rewards are the same, as the 0 of those who buy nothing, what is far is what counts: it stays.
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Floats, Ints, part
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.settings import settings

COUNT, AWAY, SAME = range(3)  # what is summed: rewards, how far they were (limited), how many were as the first


@part
def bring_near(f: Floats, i: Ints, reward: Floats, residual: Floats, variance: Floats) -> None:
    """Bring rewards nearer that are too far from what was predicted; the residuals say how far they are.

    Where not much was known, as the variance of what was predicted says, that is no surprise.
    """
    s, unbounded, noise = settings(f), m.unbounded(f, i), m.noise(f, i)
    for o in range(len(reward)):
        if unbounded[o] == 0 or math.isnan(reward[o]):
            continue
        usual = m.usual(f, i)[o]
        usual[SAME] += reward[o] == 0.0  # the first reward was subtracted
        if math.isnan(residual[o]):
            continue
        away, n = abs(residual[o]), usual[COUNT]
        if n >= s.first_rewards and usual[SAME] < 0.5 * n:
            limit = usual[AWAY] / n * max(s.outlier, n**0.25)
            if away > limit and variance[o] <= s.drift_known * noise[o]:
                reward[o] -= math.copysign(away - limit, residual[o])
                away = limit
        usual[COUNT] += 1.0
        usual[AWAY] += away
