"""Directions: sums of the functions of a context along which rewards of finite arms change most.

Where a form of all functions for each arm would be too large, c holds such sums. They are found from rewards: what the
rewards of an arm, and each function of its contexts, have in common, are coefficients of one sum; of those of all arms
and objectives the leading singular vectors are taken. Rewards that were told of late are kept, so that whatever is
summed of c can be summed anew.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.pareto_zoom import memory as m

ROUNDS = 8  # of the power method: what singular vectors further down add has fallen by the 16th power of their share


@part
def add_up(f: Floats, i: Ints, raw: Floats, c: Floats) -> None:
    """Write the sums c of the functions of a context."""
    for k in range(len(c)):
        line, total = m.direction(f, i)[k], 0.0
        for j in range(len(raw)):
            total += line[j] * raw[j]
        c[k] = total


@part
def keep(f: Floats, i: Ints, arm: int, reward: Floats) -> None:
    """Keep a reward of an arm and the functions of its context; if there is no room, the newer half of the others."""
    if i[m.PAST] == i[m.PAST_ROOM]:
        keep_newer_half(f, i)
    last = i[m.PAST]
    m.past_raw(f, i)[last] = m.form_raw(f, i)
    m.past_reward(f, i)[last] = reward
    m.past_arm(f, i)[last] = arm
    i[m.PAST] = last + 1


@part
def keep_newer_half(f: Floats, i: Ints) -> None:
    """Keep the newer half of what is kept."""
    left = i[m.PAST] // 2
    first = i[m.PAST] - left
    raw, rewards, arms = m.past_raw(f, i), m.past_reward(f, i), m.past_arm(f, i)
    for k in range(left):
        raw[k] = raw[first + k]
        rewards[k] = rewards[first + k]
        arms[k] = arms[first + k]
    i[m.PAST] = left


@kernel
def leading(rows: Floats, vectors: Floats) -> None:
    """Write the leading right singular vectors of some rows, orthonormal; 0 where there are no more.

    >>> vectors = np.zeros((2, 3))
    >>> leading(np.array([[0.0, 3.0, 0.0], [1.0, 0.0, 0.0]]), vectors)
    >>> np.abs(vectors).round(6).tolist()
    [[0.0, 1.0, 0.0], [1.0, 0.0, 0.0]]
    """
    q, products = len(vectors), np.empty((len(vectors), len(rows)))
    for k in range(q):
        for row in range(len(rows)):
            products[k, row] = math.cos((k + 1) * (row + 1))  # begins anywhere
    for _ in range(ROUNDS):
        for k in range(q):
            vectors[k] = 0.0
            for row in range(len(rows)):
                vectors[k] += products[k, row] * rows[row]
        _orthonormalise(vectors)
        for k in range(q):
            for row in range(len(rows)):
                total = 0.0
                for j in range(rows.shape[1]):
                    total += vectors[k, j] * rows[row, j]
                products[k, row] = total


@part
def _orthonormalise(vectors: Floats) -> None:
    """Make vectors orthonormal, one after the other; 0 what those before span."""
    for k in range(len(vectors)):
        before = np.sum(vectors[k] ** 2)
        for _ in range(2):
            for other in range(k):
                vectors[k] -= np.sum(vectors[k] * vectors[other]) * vectors[other]
        left = np.sum(vectors[k] ** 2)
        vectors[k] *= 1.0 / math.sqrt(left) if left > 1e-20 * before else 0.0


@kernel
def find(f: Floats, i: Ints) -> None:
    """Find directions from all that is kept; along each, contexts have mean 0 and variance 1."""
    past, d, arms, p = i[m.PAST], i[m.OBJECTIVES], i[m.FORMS], i[m.FORM_FUNCTIONS]
    raw, rewards, arm = m.past_raw(f, i)[:past], m.past_reward(f, i), m.past_arm(f, i)
    count, total, square = np.zeros((d, arms)), np.zeros((d, arms)), np.zeros((d, arms))
    for k in range(past):
        for o in range(d):
            if not math.isnan(rewards[k, o]):
                count[o, arm[k]] += 1.0
                total[o, arm[k]] += rewards[k, o]
                square[o, arm[k]] += rewards[k, o] ** 2
    common = np.zeros((d * arms, p))
    for o in range(d):
        own = np.maximum(count[o], 1.0)
        spread = np.sum(square[o] - total[o] * total[o] / own) / max(1.0, count[o].sum())
        for k in range(past):
            if not math.isnan(rewards[k, o]) and spread > 0.0:
                above = rewards[k, o] - total[o, arm[k]] / own[arm[k]]
                common[o * arms + arm[k]] += above / math.sqrt(spread * own[arm[k]]) * raw[k]
    common[:, 0] = 0.0  # the constant is in c anyway
    direction = m.direction(f, i)
    leading(common, direction[1:])
    direction[0] = 0.0
    direction[0, 0] = 1.0
    for k in range(1, len(direction)):
        along, squares = 0.0, 0.0
        for row in range(past):
            here = np.sum(direction[k] * raw[row])
            along += here / past
            squares += here * here / past
        variance = squares - along * along
        if variance > 1e-20 * squares:
            direction[k, 0] = -along
            direction[k] *= 1.0 / math.sqrt(variance)
        else:
            direction[k] = 0.0
