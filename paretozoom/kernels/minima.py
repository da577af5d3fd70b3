"""The minimum in every ball's index, min over all balls B' of (pre-index of B' + D(B', B)), kept up to date.

A reward changes one pre-index, and few minima with it: those it now gives, and those it gave. With few balls all are
looked at, through a table of distances, and a bound on the second smallest sum tells most of the time that a minimum
which rose is still the minimum. With many, the tree of balls is gone down, leaving out whole subtrees that a bound
shows to be untouched. A ball's descendants lie within twice its radius.
"""

from __future__ import annotations

import math

from paretozoom.kernels.balls import MOST_PAIRED, NORM, SIZE, SLACK, Layout
from paretozoom.kernels.distances import distance
from paretozoom.kernels.jit import Floats, Ints, inlined, kernel
from paretozoom.kernels.kinds import MATRIX


@kernel
def _stand_at(f: Floats, at: Layout, ball: int) -> None:
    """Put a centre into `here`."""
    for j in range(at.dim):
        f[at.here + j] = f[at.centre + j * at.capacity + ball]


@inlined
def _apart(f: Floats, i: Ints, at: Layout, ball: int, here: int) -> float:
    """D between the centres of a ball and of the one whose centre is in `here`.

    A matrix or a function may round differently the other way round: of these the older ball always comes first.
    """
    if i[NORM] < MATRIX:
        return distance(f, i, at, ball, f, at.here, 0)
    if ball == here:
        return 0.0
    older, newer = min(ball, here), max(ball, here)
    _stand_at(f, at, newer)
    apart = distance(f, i, at, older, f, at.here, i[at.pair + newer] if i[NORM] == MATRIX else 0)
    _stand_at(f, at, here)
    return apart


@kernel
def pair_up(f: Floats, i: Ints, at: Layout, ball: int) -> None:
    """Keep the distances between one ball and all others."""
    _stand_at(f, at, ball)
    for other in range(i[SIZE]):
        apart = _apart(f, i, at, other, ball)
        f[at.pairs + ball * at.capacity + other] = apart
        f[at.pairs + other * at.capacity + ball] = apart


@kernel
def find_minimum(f: Floats, i: Ints, at: Layout, ball: int, o: int) -> None:
    """Compute the minimum of one ball in one objective from scratch."""
    if at.capacity <= MOST_PAIRED:
        _find_in_table(f, i, at, ball, o)
    else:
        _find_in_tree(f, i, at, ball, o)


@inlined
def _find_in_table(f: Floats, i: Ints, at: Layout, ball: int, o: int) -> None:
    pre, row = at.pre + o * at.capacity, at.pairs + ball * at.capacity
    best, second, nearest = f[pre + ball], math.inf, ball
    for other in range(i[SIZE]):
        value = f[pre + other] + f[row + other]
        if value < best:
            best, second, nearest = value, best, other
        elif value < second and other != ball:
            second = value
    f[at.minimum + o * at.capacity + ball] = best
    f[at.second + o * at.capacity + ball] = second
    i[at.nearest + o * at.capacity + ball] = nearest


@kernel
def _find_in_tree(f: Floats, i: Ints, at: Layout, ball: int, o: int) -> None:
    pre, least = at.pre + o * at.capacity, at.least + o * at.capacity
    best, nearest = f[pre + ball], ball
    _stand_at(f, at, ball)
    i[at.near] = 0
    apart = _apart(f, i, at, 0, ball)
    if f[pre] + apart < best:
        best, nearest = f[pre] + apart, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        child = i[at.child + i[at.near + waiting]]
        while child >= 0:
            if f[least + child] < best:
                apart = _apart(f, i, at, child, ball)
                if f[pre + child] + apart < best:
                    best, nearest = f[pre + child] + apart, child
                if f[least + child] + (apart - 2.0 * f[at.radius + child]) <= best + SLACK:
                    i[at.near + waiting] = child
                    waiting += 1
            child = i[at.sibling + child]
    f[at.minimum + o * at.capacity + ball] = best
    i[at.nearest + o * at.capacity + ball] = nearest


@kernel
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


@kernel
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
        _offer(f, i, at, changed, o, now)
    else:
        _withdraw(f, i, at, changed, o, now)


@kernel
def _offer(f: Floats, i: Ints, at: Layout, changed: int, o: int, now: float) -> None:
    """Let every ball know, through the table, that a pre-index fell."""
    n, row = i[SIZE], at.pairs + changed * at.capacity
    apart = f[row : row + n]
    minimum = f[at.minimum + o * at.capacity : at.minimum + o * at.capacity + n]
    second = f[at.second + o * at.capacity : at.second + o * at.capacity + n]
    nearest = i[at.nearest + o * at.capacity : at.nearest + o * at.capacity + n]
    for ball in range(n):  # without branches, so that it runs on several balls at once
        value, least, next_least, giver = now + apart[ball], minimum[ball], second[ball], nearest[ball]
        others = least if value < least else (value if value < next_least else next_least)
        second[ball] = next_least if giver == changed else others
        nearest[ball] = changed if value < least else giver
        minimum[ball] = value if value < least else least


@kernel
def _withdraw(f: Floats, i: Ints, at: Layout, changed: int, o: int, now: float) -> None:
    """Let every ball know, through the table, that a pre-index rose."""
    row, shift = at.pairs + changed * at.capacity, o * at.capacity
    for ball in range(i[SIZE]):
        if i[at.nearest + shift + ball] == changed:
            value = now + f[row + ball]
            if value <= f[at.second + shift + ball]:
                f[at.minimum + shift + ball] = value
            else:
                _find_in_table(f, i, at, ball, o)


@inlined
def _settle_one(f: Floats, i: Ints, at: Layout, ball: int, changed: int, value: float, o: int) -> bool:
    """Correct one ball's minimum, given what the changed ball now offers it; False if it must be sought anew."""
    entry = o * at.capacity + ball
    if value < f[at.minimum + entry] or (i[at.nearest + entry] == changed and value == f[at.minimum + entry]):
        f[at.minimum + entry] = value
        i[at.nearest + entry] = changed
        return True
    return i[at.nearest + entry] != changed


@kernel
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
        _stand_at(f, at, changed)
        apart = _apart(f, i, at, ball, changed)
        was = f[minimum + ball]
        if lower + apart <= was and not _settle_one(f, i, at, ball, changed, now + apart, o):
            _find_in_tree(f, i, at, ball, o)
            if f[minimum + ball] > was:
                _raise_highest(f, i, at, ball, o)
            _stand_at(f, at, changed)
        child = i[at.child + ball]
        while child >= 0:
            if lower <= f[highest + child] + SLACK:
                apart = _apart(f, i, at, child, changed)
                if lower + (apart - 2.0 * f[at.radius + child]) <= f[highest + child] + SLACK:
                    i[at.relevant + listed] = child
                    listed += 1
            child = i[at.sibling + child]
    while k > 0:
        k -= 1
        _tighten(f, i, at, i[at.relevant + k], o)


@kernel
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
        for ball in range(n):
            pair_up(f, i, at, ball)
    for o in range(at.learned):
        if at.capacity > MOST_PAIRED:
            _rebuild_least(f, i, at, o)
        for ball in range(n):
            find_minimum(f, i, at, ball, o)
        if at.capacity > MOST_PAIRED:
            for k in range(n):
                _tighten(f, i, at, n - 1 - k, o)


@kernel
def _rebuild_least(f: Floats, i: Ints, at: Layout, o: int) -> None:
    least, pre, n = at.least + o * at.capacity, at.pre + o * at.capacity, i[SIZE]
    for k in range(n):  # children are newer than their parents
        ball = n - 1 - k
        f[least + ball] = f[pre + ball]
        child = i[at.child + ball]
        while child >= 0:
            f[least + ball] = min(f[least + ball], f[least + child])
            child = i[at.sibling + child]


@kernel
def welcome(f: Floats, i: Ints, at: Layout, ball: int) -> None:
    """Give the newest ball, which has no children yet, its minima, and the others what it offers them."""
    if at.capacity <= MOST_PAIRED:
        pair_up(f, i, at, ball)
    for o in range(at.learned):
        if at.capacity > MOST_PAIRED:
            f[at.least + o * at.capacity + ball] = math.inf
            f[at.highest + o * at.capacity + ball] = -math.inf
        find_minimum(f, i, at, ball, o)
        if at.capacity > MOST_PAIRED:
            _raise_highest(f, i, at, ball, o)
        settle(f, i, at, ball, o, math.inf)


@kernel
def compute_indices(f: Floats, i: Ints, at: Layout, relevant: int) -> None:
    """g_B = r(B) + the minimum, per objective, for relevant balls."""
    for place in range(relevant):
        ball = i[at.relevant + place]
        for o in range(at.learned):
            minimum = f[at.minimum + o * at.capacity + ball]
            f[at.indices + o * relevant + place] = f[at.radius + ball] + minimum
