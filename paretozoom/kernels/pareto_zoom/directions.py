"""Directions: sums of the functions of a context along which rewards change most.

Smooth estimates of many contexts have a few of them as further coordinates, the axes; where a form of all functions
for each arm would be too large, c holds such sums. They are found from rewards: what the rewards, times a function of
arms, have in common with each function of contexts, are coefficients of one sum; of those of all functions of arms and
objectives the leading singular vectors are taken. Rewards that were told of late are kept, so that whatever is summed
along directions can be summed anew.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.matrices import factorise, substitute, sum_products
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.functions import stand_at
from paretozoom.kernels.pareto_zoom.settings import settings

ROUNDS = 8  # of the power method: what singular vectors further down add has fallen by the 16th power of their share


@part
def keep(f: Floats, i: Ints, point: Floats, arm: int, reward: Floats) -> None:
    """Keep a reward and where it was told; if there is no room, the newer half of the others."""
    if i[m.PAST] == i[m.PAST_ROOM]:
        keep_newer_half(f, i)
    last = i[m.PAST]
    m.past_point(f, i)[last] = point
    for o in range(len(reward)):
        is_told = not math.isnan(reward[o])
        m.past_told(f, i)[last, o] = is_told
        m.past_reward(f, i)[last, o] = reward[o] if is_told else 0.0
    m.past_arm(f, i)[last] = arm
    i[m.PAST] = last + 1


@part
def keep_newer_half(f: Floats, i: Ints) -> None:
    """Keep the newer half of what is kept."""
    left = i[m.PAST] // 2
    first = i[m.PAST] - left
    points, arms, rewards, told = m.past_point(f, i), m.past_arm(f, i), m.past_reward(f, i), m.past_told(f, i)
    for k in range(left):
        points[k] = points[first + k]
        rewards[k] = rewards[first + k]
        told[k] = told[first + k]
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


@part
def _in_common(rewards: Floats, all_told: Ints, beside: Floats, above: Floats) -> Floats:
    """What functions of contexts have in common with rewards: a row for each objective and function of arms.

    `above` has functions of contexts less their means, `beside` those of arms: what these alone say is taken away.
    """
    (n, d), (count, p) = rewards.shape, (beside.shape[1], above.shape[1])
    rows, off, told = np.zeros((d * count, p)), np.zeros(n), np.zeros(n, np.int64)
    gram, right, alone = np.empty((count, count)), np.empty(count), np.empty(count)
    for o in range(d):
        right[:] = 0.0
        for k in range(n):
            told[k] = all_told[k, o]
            if told[k] == 1:
                right += rewards[k, o] * beside[k]
        sum_products(beside, told, gram)
        squares, spread = np.diag(gram).copy(), 0.0
        for a in range(count):
            gram[a, a] += 1.0
        factorise(gram, right)
        substitute(gram, right, alone)
        for k in range(n):
            off[k] = rewards[k, o] - np.sum(alone * beside[k]) if told[k] == 1 else 0.0
            spread += off[k] * off[k]
        unit2 = spread / max(1, told.sum())
        for a in range(count if spread > 0.0 else 0):
            unit = math.sqrt(unit2 * max(squares[a], 1e-300))
            for k in range(n):
                times = off[k] * beside[k, a] / unit
                if times != 0.0:
                    rows[o * count + a] += times * above[k]
    return rows


@part
def _whiten(above: Floats, rows: Floats) -> Floats:
    """Divide rows by a root of the covariance of functions, U of U'U, which is returned; a little is added to it."""
    n, p = above.shape
    root, nothing = np.empty((p, p)), np.zeros(p)
    sum_products(above, np.ones(n, np.int64), root)
    for c in range(p):
        root[c, c] += p / n * root[c, c] + 1e-300
    factorise(root, nothing)
    for row in range(len(rows)):
        line = rows[row]
        for r in range(p):
            line[r] /= root[r, r]
            for c in range(r + 1, p):
                line[c] -= root[r, c] * line[r]
    return root


@kernel
def find(f: Floats, i: Ints) -> None:
    """Find directions from all that is kept; along each, contexts have mean 0 and variance 1."""
    n, p, labels = i[m.PAST], i[m.SIMPLE] - 1, i[m.ARE_LABELS] == 1
    above, beside = np.empty((n, p)), np.zeros((n, i[m.ARMS] if labels else i[m.SIMPLE_OF_ARMS]))
    value, which = m.value(f, i), m.simple_of_arms(f, i)
    for k in range(n):
        stand_at(f, i, m.past_point(f, i)[k])
        above[k] = m.raw(f, i)[1:]
        if labels:
            beside[k, m.past_arm(f, i)[k]] = 1.0
        else:
            for a in range(len(which)):
                beside[k, a] = value[which[a]]
    means = np.empty(p)
    for c in range(p):
        means[c] = above[:, c].sum() / n
        above[:, c] -= means[c]
    rows = _in_common(m.past_reward(f, i)[:n], m.past_told(f, i), beside, above)
    axis, direction, whitens = m.axis(f, i), m.direction(f, i), p < settings(f).most_terms
    root = _whiten(above, rows) if whitens else np.empty((0, 0))
    found = np.empty((max(len(axis), i[m.FORM_TERMS] - 1 if i[m.WIDE] > 0 else 0), p))
    leading(rows, found)
    for k in range(len(found)):
        if whitens:
            substitute(root, found[k].copy(), found[k])
        square = 0.0
        for row in range(n):
            square += np.sum(found[k] * above[row]) ** 2
        found[k] *= math.sqrt(n / square) if square > 1e-20 * n * np.sum(found[k] ** 2) else 0.0
    for k in range(len(axis)):
        axis[k, 1:] = found[k]
        axis[k, 0] = -np.sum(found[k] * means)
    if i[m.WIDE] > 0:
        direction[:] = 0.0
        direction[0, 0] = 1.0
        for k in range(1, len(direction)):
            direction[k, 1:] = found[k - 1]
            direction[k, 0] = -np.sum(found[k - 1] * means)
