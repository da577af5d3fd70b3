"""Draws that are even along the front in the space of objectives."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.core.ordering import order_of


@kernel
def weigh_front(vectors: Floats, marks: Ints) -> Floats:
    """How much of the front each marked vector (d, n) stands for; 0 for the others.

    Objectives are divided by their range on the front. In the order of a pair's first number a vector stands for half
    of the way to the next one on each side; with more objectives, for a ball that reaches to the nearest one. Equal
    vectors share what one of them would stand for.

    >>> weigh_front(np.array([[0.0, 1.0, 0.5, 0.0], [1.0, 0.0, 0.9, 0.0]]), np.array([1, 1, 1, 0])).round(2).tolist()
    [0.25, 0.51, 0.77, 0.0]
    """
    d, marked, front = len(vectors), 0, np.empty(len(marks), np.int64)
    for k in range(len(marks)):
        front[marked] = k
        marked += marks[k]
    front = front[:marked]
    scaled, weights = np.zeros((marked, d)), np.zeros(marked)
    for o in range(d):
        low, high = math.inf, -math.inf
        for k in range(marked):
            low, high = min(low, vectors[o, front[k]]), max(high, vectors[o, front[k]])
        if high > low:
            for k in range(marked):
                scaled[k, o] = vectors[o, front[k]] / (high - low)
    if d == 2:
        order = order_of(scaled[:, 0].copy())
        for k in range(1, len(front)):
            step = _apart(scaled[order[k]], scaled[order[k - 1]]) / 2.0
            weights[order[k]] += step
            weights[order[k - 1]] += step
        _share(scaled, order, weights)
    elif d > 2 and len(front) > 1:
        for k in range(len(front)):
            nearest, alike = math.inf, 0
            for other in range(len(front)):
                apart = _apart(scaled[k], scaled[other])
                alike += apart == 0.0
                nearest = min(nearest, apart if apart > 0.0 else math.inf)
            weights[k] = nearest ** (d - 1) / alike if nearest < math.inf else 0.0
    if weights.sum() == 0.0:
        weights[:] = 1.0
    spread = np.zeros(len(marks))
    for k in range(len(front)):
        spread[front[k]] = weights[k]
    return spread


@kernel
def _share(scaled: Floats, order: Ints, weights: Floats) -> None:
    """Divide the weight of equal places, which follow each other in an order, evenly among them."""
    first = 0
    while first < len(order):
        end, total = first, 0.0
        while end < len(order) and _apart(scaled[order[first]], scaled[order[end]]) == 0.0:
            total += weights[order[end]]
            end += 1
        for k in range(first, end):
            weights[order[k]] = total / (end - first)
        first = end


@kernel
def _apart(a: Floats, b: Floats) -> float:
    """The distance of two places."""
    square = 0.0
    for o in range(len(a)):
        square += (a[o] - b[o]) ** 2
    return math.sqrt(square)


@kernel
def draw_by_weight(weights: Floats, u: float) -> int:
    """Who is below a share u of all weight."""
    target, last = u * weights.sum(), 0
    for k in range(len(weights)):
        if weights[k] > 0.0:
            last = k
            if target < weights[k]:
                break
            target -= weights[k]
    return last
