"""Weights of rules that play every rule's arm often enough: coordinate descent (Agarwal et al., 2014)."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.arms.table import Table
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.rules.classes import Class, arms_at_sites

SLACK = 1e-9  # by which a constraint may be missed, against rounding
MOST_STEPS = 100_000  # far more than the 4 log(1 / (K mu)) / mu that are proved to suffice


@kernel
def invert_mix(arms: Ints, weights: Floats, count: int, smoothing: float) -> Floats:
    """(sites, arms) 1 / Q(a | x), where Q plays the arms of the rules of `weights`, smoothed."""
    sites, rules = arms.shape
    inverse = np.full((sites, count), smoothing)
    for rule in range(rules):
        if weights[rule] > 0.0:
            for site in range(sites):
                inverse[site, arms[site, rule]] += (1.0 - count * smoothing) * weights[rule]
    for site in range(sites):
        for arm in range(count):
            inverse[site, arm] = 1.0 / inverse[site, arm]
    return inverse


@kernel
def spreads(arms: Ints, share: Floats, inverse: Floats, out: Floats) -> None:
    """Write V of every rule: the mean over the sites of 1 / Q(its arm | x)."""
    out[:] = 0.0
    sites, rules = arms.shape
    for site in range(sites):
        if share[site] > 0.0:
            for rule in range(rules):
                out[rule] += share[site] * inverse[site, arms[site, rule]]


@kernel
def descend(weights: Floats, lenience: Floats, alive: Ints, arms: Ints, share: Floats, count: int, mu: float) -> int:
    """Change the weights until V <= 2 K + b for every rule in play and sum Q (2 K + b) <= 2 K; returns the steps.

    arms: (sites, rules) what each rule plays; share: (sites,) how frequent a site is; count: the number K of arms;
    lenience: (rules,) b. The step is taken at the rule that misses its constraint by most.

    >>> one = np.zeros((1, 1), np.int64)
    >>> weights = np.zeros(1)
    >>> descend(weights, np.zeros(1), np.ones(1, np.int64), one, np.ones(1), 2, 0.1), weights.round(9).tolist()
    (2, [0.244])
    """
    rules = len(weights)
    spread = np.empty(rules)
    for step in range(MOST_STEPS):
        total = 0.0
        for rule in range(rules):
            total += weights[rule] * (2.0 * count + lenience[rule])
        if total > 2.0 * count:
            weights *= 2.0 * count / total
        inverse = invert_mix(arms, weights, count, mu)
        spreads(arms, share, inverse, spread)
        worst, most = -1, SLACK
        for rule in range(rules):
            missed = spread[rule] - (2.0 * count + lenience[rule])
            if alive[rule] == 1 and missed > most:
                worst, most = rule, missed
        if worst < 0:
            return step
        squares = 0.0
        for site in range(len(share)):
            squares += share[site] * inverse[site, arms[site, worst]] ** 2
        weights[worst] += (spread[worst] + most) / (2.0 * (1.0 - count * mu) * squares)
    return MOST_STEPS


@kernel
def complete(weights: Floats, best: Ints) -> None:
    """Give what weights leave of 1 to the best rules, evenly.

    >>> weights = np.array([0.25, 0.25, 0.0])
    >>> complete(weights, np.array([1, 0, 1]))
    >>> weights.tolist()
    [0.5, 0.25, 0.25]
    """
    missing, ties = max(0.0, 1.0 - weights.sum()), best.sum()
    for rule in range(len(weights)):
        weights[rule] += missing * best[rule] / ties


@part
def solve(f: Floats, i: Ints, at: Table, cl: Class, best: Ints, lenience: Floats, share: Floats, mu: float) -> None:
    """Descend from the weights solved for before, and play these, completed by the best rules, with smoothing mu."""
    solved, weights = f[cl.solved : cl.solved + cl.rules], f[cl.weights : cl.weights + cl.rules]
    alive = i[cl.alive : cl.alive + cl.rules]
    descend(solved, lenience, alive, arms_at_sites(f, at, cl), share, at.arms, mu)
    weights[:] = solved
    complete(weights, best)
    f[cl.smoothing] = mu
