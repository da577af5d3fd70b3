"""RandomizedUCB (Dudik et al., 2011), one decision at a time.

There is a constraint for each rule; the paper has one for every distribution over the rules, so this is a relaxation.
The convex programme is solved by a barrier: from weights that keep every constraint with room to spare, weight moves
from the rule of steepest ascent to that of steepest descent.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.arms.table import table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.rules.classes import (
    arms_at_sites,
    begins_epoch,
    class_of,
    draw_rule,
    mark_best,
    share_of_sites,
    shortfalls,
    tell,
)
from paretozoom.kernels.rules.descent import invert_mix, solve, spreads

__all__ = ["ask", "enter", "room", "tell"]

# own constants: delta, the confidence

STAGES = 6  # of the barrier, each four times as steep as the one before
STEPS = 100  # at most, in a stage
HALVINGS = 40
TOLERANCE = 0.1  # of sqrt(K C_t / t), by which the objective may be off


@kernel
def doubt(t: int, rules: int, delta: float) -> float:
    """C_t = 2 log(N t / delta).

    >>> round(doubt(1000, 100, 0.05), 7)
    29.0173155
    """
    return 2.0 * math.log(rules * t / delta)


@kernel
def smoothing_of(t: int, arms: int, rules: int, delta: float, confidence: float) -> float:
    """The least probability mu_t of an arm: sqrt(C_t / (2 K t)), at most 1 / (2 K).

    >>> round(smoothing_of(1000, 10, 100, 0.05, 1.0), 7)
    0.0380902
    """
    return min(1.0 / (2 * arms), confidence * math.sqrt(doubt(t, rules, delta) / (2.0 * arms * t)))


@kernel
def _height(
    weights: Floats, short: Floats, most: Floats, arms: Ints, share: Floats, count: int, mu: float, steep: float
) -> float:
    """What the barrier method makes small: steep * regret - sum log(1 - V / most); infinite outside."""
    spread, height = np.empty(len(weights)), 0.0
    spreads(arms, share, invert_mix(arms, weights, count, mu), spread)
    for rule in range(len(weights)):
        room_left = 1.0 - spread[rule] / most[rule]
        if room_left <= 0.0:
            return math.inf
        height += steep * weights[rule] * short[rule] - math.log(room_left)
    return height


@kernel
def _slopes(
    weights: Floats, short: Floats, most: Floats, arms: Ints, share: Floats, count: int, mu: float, steep: float
) -> Floats:
    """(rules,) The derivative of the height by each weight."""
    sites, rules = arms.shape
    spread, inverse = np.empty(rules), invert_mix(arms, weights, count, mu)
    spreads(arms, share, inverse, spread)
    slopes, pull = steep * short, np.zeros(count)
    for site in range(sites):
        if share[site] == 0.0:
            continue
        pull[:] = 0.0
        for rule in range(rules):
            pull[arms[site, rule]] += 1.0 / (most[rule] - spread[rule])
        for arm in range(count):
            pull[arm] *= share[site] * (1.0 - count * mu) * inverse[site, arm] ** 2
        for rule in range(rules):
            slopes[rule] -= pull[arms[site, rule]]
    return slopes


@kernel
def _extremes(weights: Floats, slopes: Floats) -> tuple[int, int, float]:
    """The rule to give weight to, the one to take it from, and by how much the height is off at most."""
    up, down, mean = 0, -1, 0.0
    for rule in range(len(weights)):
        mean += weights[rule] * slopes[rule]
        if slopes[rule] < slopes[up]:
            up = rule
        if weights[rule] > 0.0 and (down < 0 or slopes[rule] > slopes[down]):
            down = rule
    return up, down, mean - slopes[up]


@kernel
def improve(
    weights: Floats, short: Floats, most: Floats, arms: Ints, share: Floats, count: int, mu: float, tolerance: float
) -> int:
    """Lower sum P short under V <= most, from weights with V < most, to about `tolerance`; returns the steps.

    >>> weights, arms = np.array([0.5, 0.5]), np.array([[0, 1]])
    >>> _ = improve(weights, np.array([0.0, 0.4]), np.array([8.0, 8.0]), arms, np.ones(1), 2, 0.01, 1e-3)
    >>> bool(abs(weights[1] - 0.115 / 0.98) < 0.003), round(float(weights.sum()), 9)
    (True, 1.0)
    """
    rules, steps, step = len(weights), 0, 1.0
    for stage in range(STAGES):
        steep = 2.0 * rules / tolerance / 4.0 ** (STAGES - 1 - stage)
        height = _height(weights, short, most, arms, share, count, mu, steep)
        for _ in range(STEPS):
            up, down, off = _extremes(weights, _slopes(weights, short, most, arms, share, count, mu, steep))
            if off <= 0.1 * rules:
                break
            step = min(weights[down], 4.0 * step)
            given, taken, better = weights[up], weights[down], False
            for _ in range(HALVINGS):
                weights[up], weights[down] = given + step, taken - step
                now = _height(weights, short, most, arms, share, count, mu, steep)
                if now < height:
                    height, better = now, True
                    break
                step /= 2.0
            if not better:
                weights[up], weights[down] = given, taken
                break
            steps += 1
    return steps


@kernel
def enter(f: Floats, i: Ints, number: int) -> None:
    """At the decisions 1, 2, 4, ..., solve for the weights of the rules from what was told so far."""
    at = table(i)
    cl = class_of(f, at)
    if not begins_epoch(i, cl, number):
        return
    t, delta, confidence = i[cl.entered], f[cl.own], f[cl.own + 1]
    mu, unsure = smoothing_of(t, at.arms, cl.rules, delta, confidence), doubt(t, cl.rules, delta)
    best = mark_best(f, i, at, cl)
    short = shortfalls(f, i, at, cl, best, t)
    share = share_of_sites(i, cl)
    f[cl.solved : cl.solved + cl.rules] = 0.0
    solve(f, i, at, cl, best, np.zeros(cl.rules), share, mu)
    most = np.maximum(4.0 * at.arms, t * short**2 / (180.0 * unsure))
    tolerance = TOLERANCE * math.sqrt(at.arms * unsure / t)
    weights = f[cl.weights : cl.weights + cl.rules]
    improve(weights, short, most, arms_at_sites(f, at, cl), share, at.arms, mu, tolerance)


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, arm and probability)."""
    enter(f, i, number)
    return draw_rule(f, i, number, point, allowed)
