"""Chooser: which candidates are played, by their means and standard errors alone.

The front of means, with a little optimism, but for what others all but dominate. Where estimates are off, a front of
them is too large: beyond its ends arms are almost as good in one objective, worse in the others, and of many some are
lifted by noise. How far they are off, standard errors say.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.memory import lend_row
from paretozoom.kernels.core.ordering import order_of
from paretozoom.kernels.core.pareto import mark_front
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.settings import settings


@part
def _add_optimism(f: Floats, i: Ints, rows: int) -> None:
    """Make means optimistic: where arms tell nothing of each other, an unlucky one must be tried again."""
    s, means, errors = settings(f), m.mean(f, i, rows), m.error(f, i, rows)
    for o in range(i[m.OBJECTIVES]):
        for row in range(rows):
            if i[m.ARE_LABELS] == 1:
                means[o, row] += s.lone_optimism * m.label_error(f, i)[o, row]
            else:
                means[o, row] += s.optimism * errors[o, row]


@part
def _mark_preferred(f: Floats, i: Ints, rows: int) -> None:
    """Mark the rows of the largest weighted sum of means, with optimism: one, unless several are equal."""
    times, marks, weights = settings(f).lone_optimism, m.front(f, i)[0], m.weights(f, i)
    means, errors = m.mean(f, i, rows), m.label_error(f, i) if i[m.ARE_LABELS] == 1 else m.error(f, i, rows)
    best = -math.inf
    for row in range(rows):
        total, square = 0.0, 0.0
        for o in range(len(weights)):
            error = weights[o] * errors[o, row]
            total += weights[o] * means[o, row]
            square += error * error
        total += times * math.sqrt(square)
        marks[row] = total >= best
        if total > best:
            best = total
            marks[:row] = 0


@kernel
def choose(f: Floats, i: Ints, rows: int) -> None:
    """Mark the first rows that are played with 1, the others with 0, in `front[0]`. Makes means optimistic first."""
    means, d, front = m.mean(f, i, rows), i[m.OBJECTIVES], m.front(f, i)
    if i[m.PREFERS] == 1:
        _mark_preferred(f, i, rows)
        return
    _add_optimism(f, i, rows)
    room = front.shape[1]
    mark_front(lend_row(means, 0, d * rows), 0, d, lend_row(front, 0, 2 * room), 0, rows, room)
    if d > 1 and rows > 1 and i[m.LEVELS] > 0:
        _drop_all_but_dominated(f, i, rows)


@part
def _drop_all_but_dominated(f: Floats, i: Ints, rows: int) -> None:
    """Take the mark from ends of the front beside which another one is hardly worse anywhere, and ahead in all.

    The unit is the standard error of an objective over the front.
    """
    s, means, errors = settings(f), m.mean(f, i, rows), m.error(f, i, rows)
    marks, front = m.front(f, i)[0], m.front(f, i)[1]
    d, units, ends, marked = i[m.OBJECTIVES], m.unit(f, i), m.end(f, i), 0
    for row in range(rows):
        front[marked] = row
        marked += marks[row]
    for o in range(d):
        square, best = 0.0, -math.inf
        for k in range(marked):
            square += errors[o, front[k]] * errors[o, front[k]]
            best = max(best, means[o, front[k]])
        units[o] = 1.0 / (s.worse * math.sqrt(max(square / marked, 1e-300)))
        ends[o] = units[o] * best - s.end * (d - 1) * (d - 1)
    for k in range(marked):
        end = _end_of(means, units, ends, front[k])
        if end < 0:
            continue
        own = units[end] * means[end, front[k]]
        for other in range(marked):
            # At an end hardly any is near enough: most need not be looked at in all objectives.
            is_near = other != k and own - units[end] * means[end, front[other]] <= 1.0
            if is_near and _takes_place(means, units, ends, front[other], front[k], s.ahead):
                marks[front[k]] = 0
                break


@inlined
def _end_of(means: Floats, units: Floats, ends: Floats, row: int) -> int:
    """An objective in which a candidate is an end of the front; -1 if none is."""
    found = -1
    for o in range(len(units)):
        found = o if units[o] * means[o, row] >= ends[o] else found
    return found


@inlined
def _takes_place(means: Floats, units: Floats, ends: Floats, one: int, other: int, least: float) -> bool:
    """Whether one candidate is hardly behind another in any objective, in one at an end, and ahead in all together.

    Of two, one at most takes the other's place; the one of largest sum stays.
    """
    ahead, is_at_end = 0.0, False
    for o in range(len(units)):
        theirs = units[o] * means[o, other]
        behind = theirs - units[o] * means[o, one]
        if behind > 1.0:
            return False
        ahead -= behind
        is_at_end = is_at_end or (behind > 0.0 and theirs >= ends[o])
    return is_at_end and ahead >= least


# Even play along the front, in the space of objectives.


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
