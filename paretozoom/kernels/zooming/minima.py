"""The minimum in every ball's index, min over all balls B' of (pre-index of B' + D(B', B)), kept up to date.

A reward changes one pre-index, and few minima with it: those it now gives, and those it gave. With few balls a table of
distances tells which (`pairs`). With many, the tree of balls is gone down, leaving out whole subtrees that a bound
shows to be untouched. A ball's descendants lie within twice its radius.
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.zooming.balls import MOST_PAIRED, SIZE, SLACK, Layout
from paretozoom.kernels.zooming.distances import apart_from, stand_at
from paretozoom.kernels.zooming.pairs import (
    fill_table,
    find_in_table,
    lower_in_table,
    minimum_of,
    pair_up,
    raise_in_table,
)


@part
def _find_in_tree(f: Floats, i: Ints, at: Layout, ball: int, o: int) -> None:
    pre, least = at.pre + o * at.capacity, at.least + o * at.capacity
    best, nearest = f[pre + ball], ball
    stand_at(f, at, ball)
    i[at.near] = 0
    apart = apart_from(f, i, at, 0, ball)
    if f[pre] + apart < best:
        best, nearest = f[pre] + apart, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        child = i[at.child + i[at.near + waiting]]
        while child >= 0:
            if f[least + child] < best:
                apart = apart_from(f, i, at, child, ball)
                if f[pre + child] + apart < best:
                    best, nearest = f[pre + child] + apart, child
                if f[least + child] + (apart - 2.0 * f[at.radius + child]) <= best + SLACK:
                    i[at.near + waiting] = child
                    waiting += 1
            child = i[at.sibling + child]
    f[at.minimum + o * at.capacity + ball] = best
    i[at.nearest + o * at.capacity + ball] = nearest


@part
def _keep_least(f: Floats, i: Ints, at: Layout, ball: int, o: int) -> None:
    """After a pre-index changed, correct the least pre-index of the ball and its ancestors."""
    least, pre = at.least + o * at.capacity, at.pre + o * at.capacity
    while ball >= 0:
        value = f[pre + ball]
        child = i[at.child + ball]
        while child >= 0:
            value = min(value, f[least + child])
            child = i[at.sibling + child]
        if value == f[least + ball]:
            return
        f[least + ball] = value
        ball = i[at.parent + ball]


@part
def _raise_highest(f: Floats, i: Ints, at: Layout, ball: int, o: int) -> None:
    """After a minimum rose, let the ancestors know."""
    highest = at.highest + o * at.capacity
    value = f[at.minimum + o * at.capacity + ball]
    while ball >= 0 and f[highest + ball] < value:
        f[highest + ball] = value
        ball = i[at.parent + ball]


@inlined
def settle(f: Floats, i: Ints, at: Layout, changed: int, o: int, before: float) -> None:
    """Correct all minima in one objective after the pre-index of one ball changed from `before`."""
    now = f[at.pre + o * at.capacity + changed]
    if now == before:
        return
    if at.capacity > MOST_PAIRED:
        _keep_least(f, i, at, changed, o)
        _settle_tree(f, i, at, changed, o, now, min(now, before))
    elif now < before:
        lower_in_table(f, i, at, changed, o, before)
    else:
        raise_in_table(f, i, at, changed, o)


@inlined
def _settle_one(f: Floats, i: Ints, at: Layout, ball: int, changed: int, value: float, o: int) -> bool:
    """Correct one ball's minimum, given what the changed ball now offers it; False if it must be sought anew."""
    entry = o * at.capacity + ball
    if value < f[at.minimum + entry] or (i[at.nearest + entry] == changed and value == f[at.minimum + entry]):
        f[at.minimum + entry] = value
        i[at.nearest + entry] = changed
        return True
    return i[at.nearest + entry] != changed


@part
def _settle_tree(f: Floats, i: Ints, at: Layout, changed: int, o: int, now: float, lower: float) -> None:
    """`settle` by way of the tree; `lower` is the smaller of the two pre-indices.

    A ball's minimum can change only if `lower` + its distance does not exceed it. The subtrees where that may be are
    listed from the front of `relevant`; those whose bound is to be tightened wait in the same list, so that parents
    come before children and are corrected after them.
    """
    highest = at.highest + o * at.capacity
    minimum = at.minimum + o * at.capacity
    i[at.relevant] = 0
    listed, k = 1, 0
    while k < listed:
        ball = i[at.relevant + k]
        k += 1
        stand_at(f, at, changed)
        apart = apart_from(f, i, at, ball, changed)
        was = f[minimum + ball]
        if lower + apart <= was and not _settle_one(f, i, at, ball, changed, now + apart, o):
            _find_in_tree(f, i, at, ball, o)
            if f[minimum + ball] > was:
                _raise_highest(f, i, at, ball, o)
            stand_at(f, at, changed)
        child = i[at.child + ball]
        while child >= 0:
            if lower <= f[highest + child] + SLACK:
                apart = apart_from(f, i, at, child, changed)
                if lower + (apart - 2.0 * f[at.radius + child]) <= f[highest + child] + SLACK:
                    i[at.relevant + listed] = child
                    listed += 1
            child = i[at.sibling + child]
    while k > 0:
        k -= 1
        _tighten(f, i, at, i[at.relevant + k], o)


@part
def _tighten(f: Floats, i: Ints, at: Layout, ball: int, o: int) -> None:
    """Recompute the bound on the minima of a ball and its descendants from those of its children."""
    highest = at.highest + o * at.capacity
    value = f[at.minimum + o * at.capacity + ball]
    child = i[at.child + ball]
    while child >= 0:
        value = max(value, f[highest + child])
        child = i[at.sibling + child]
    f[highest + ball] = value


@kernel
def rebuild(f: Floats, i: Ints, at: Layout) -> None:
    """Compute every minimum and every bound from the pre-indices."""
    n = i[SIZE]
    if at.capacity <= MOST_PAIRED:
        fill_table(f, i, at)
        return
    for o in range(at.learned):
        _rebuild_least(f, i, at, o)
        for ball in range(n):
            _find_in_tree(f, i, at, ball, o)
        for k in range(n):
            _tighten(f, i, at, n - 1 - k, o)


@part
def _rebuild_least(f: Floats, i: Ints, at: Layout, o: int) -> None:
    least, pre, n = at.least + o * at.capacity, at.pre + o * at.capacity, i[SIZE]
    for k in range(n):  # children are newer than their parents
        ball = n - 1 - k
        f[least + ball] = f[pre + ball]
        child = i[at.child + ball]
        while child >= 0:
            f[least + ball] = min(f[least + ball], f[least + child])
            child = i[at.sibling + child]


@part
def welcome(f: Floats, i: Ints, at: Layout, ball: int) -> None:
    """Give the newest ball, which has no children yet, its minima, and the others what it offers them."""
    if at.capacity <= MOST_PAIRED:
        pair_up(f, i, at, ball)
    for o in range(at.learned):
        if at.capacity <= MOST_PAIRED:
            f[at.heard + o * at.capacity + ball] = math.inf
            find_in_table(f, i, at, ball, o)
        else:
            f[at.least + o * at.capacity + ball] = math.inf
            f[at.highest + o * at.capacity + ball] = -math.inf
            _find_in_tree(f, i, at, ball, o)
            _raise_highest(f, i, at, ball, o)
        settle(f, i, at, ball, o, math.inf)


@kernel
def compute_indices(f: Floats, i: Ints, at: Layout, relevant: int) -> None:
    """g_B = r(B) + the minimum, per objective, for relevant balls."""
    for o in range(at.learned):
        shift, indices = o * at.capacity, at.indices + o * relevant
        for place in range(relevant):
            ball = i[at.relevant + place]
            f[indices + place] = f[at.radius + ball] + minimum_of(f, i, at, ball, shift)
