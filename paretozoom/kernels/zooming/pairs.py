"""The minima in the balls' indices while balls are few: through a table of the distances between all centres.

Of every ball's minimum it is kept who gives it, its *nearest*, and how far away that is: so a minimum follows its giver
without being touched. What else could change is kept from happening unnoticed by two bounds per ball,

    minimum of b  <=  second of b  <=  heard of c + D(c, b)    for every ball c but the nearest of b.

A pre-index that falls is of no concern to others while it stays above `heard`, and one that rises to those it gives the
minimum alone, which are still given it while it stays below their `second`.
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Floats, Ints, inlined, part
from paretozoom.kernels.zooming.balls import MOST_PAIRED, SIZE, SLACK, Layout
from paretozoom.kernels.zooming.distances import apart_from, stand_at

# So many falls of a pre-index like the last one go unheard, if that changes no minimum.
AHEAD = 16.0


@inlined
def minimum_of(f: Floats, i: Ints, at: Layout, ball: int, shift: int) -> float:
    """A ball's minimum in the objective whose numbers begin `shift` later."""
    if at.capacity <= MOST_PAIRED:
        return f[at.pre + shift + i[at.nearest + shift + ball]] + f[at.away + shift + ball]
    return f[at.minimum + shift + ball]


@part
def pair_up(f: Floats, i: Ints, at: Layout, ball: int) -> None:
    """Keep the distances between one ball and all others."""
    stand_at(f, at, ball)
    for other in range(i[SIZE]):
        apart = apart_from(f, i, at, other, ball)
        f[at.pairs + ball * at.capacity + other] = apart
        f[at.pairs + other * at.capacity + ball] = apart


@part
def fill_table(f: Floats, i: Ints, at: Layout) -> None:
    """Compute every distance and every minimum."""
    for ball in range(i[SIZE]):
        pair_up(f, i, at, ball)
    for o in range(at.learned):
        for ball in range(i[SIZE]):
            find_in_table(f, i, at, ball, o)
        f[at.heard + o * at.capacity : at.heard + o * at.capacity + i[SIZE]] = math.inf


@part
def find_in_table(f: Floats, i: Ints, at: Layout, ball: int, o: int) -> None:
    """Compute the minimum of one ball in one objective from scratch."""
    shift, row = o * at.capacity, at.pairs + ball * at.capacity
    best, second, nearest = f[at.pre + shift + ball], math.inf, ball
    for other in range(i[SIZE]):
        value = f[at.pre + shift + other] + f[row + other]
        if value < best:
            best, second, nearest = value, best, other
        elif value < second and other != ball:
            second = value
    f[at.away + shift + ball] = f[row + nearest]
    f[at.second + shift + ball] = second
    i[at.nearest + shift + ball] = nearest
    for other in range(i[SIZE]):
        f[at.heard + shift + other] = max(f[at.heard + shift + other], second - f[row + other])


@inlined
def lower_in_table(f: Floats, i: Ints, at: Layout, changed: int, o: int, before: float) -> None:
    """Correct the minima after a pre-index fell from `before`."""
    if f[at.pre + o * at.capacity + changed] <= f[at.heard + o * at.capacity + changed] + SLACK:
        _offer(f, i, at, changed, o, before)


@part
def _offer(f: Floats, i: Ints, at: Layout, changed: int, o: int, before: float) -> None:
    """Let a pre-index that fell give every minimum that it can, and find how far it may fall unheard."""
    n, shift, row = i[SIZE], o * at.capacity, at.pairs + changed * at.capacity
    now = f[at.pre + shift + changed]
    heard = now - AHEAD * (before - now)
    for ball in range(n):
        giver, least = i[at.nearest + shift + ball], minimum_of(f, i, at, ball, shift)
        if giver != changed:
            if now + f[row + ball] < least:
                i[at.nearest + shift + ball] = changed
                f[at.away + shift + ball] = f[row + ball]
                f[at.second + shift + ball] = min(f[at.second + shift + ball], least)
                f[at.heard + shift + giver] = math.inf
            else:
                heard = max(heard, least - f[row + ball])
    for ball in range(n):
        if i[at.nearest + shift + ball] != changed:
            f[at.second + shift + ball] = min(f[at.second + shift + ball], heard + f[row + ball])
    f[at.heard + shift + changed] = heard


@inlined
def raise_in_table(f: Floats, i: Ints, at: Layout, changed: int, o: int) -> None:
    """Correct the minima after a pre-index rose."""
    nearest, gives = i[at.nearest + o * at.capacity : at.nearest + o * at.capacity + i[SIZE]], 0
    for giver in nearest:  # without a branch, so that several are looked at together
        gives += giver == changed
    if gives > 0:
        _withdraw(f, i, at, changed, o)


@part
def _withdraw(f: Floats, i: Ints, at: Layout, changed: int, o: int) -> None:
    """Seek a minimum anew wherever a pre-index that rose may give it no more."""
    row, shift = at.pairs + changed * at.capacity, o * at.capacity
    now = f[at.pre + shift + changed]
    for ball in range(i[SIZE]):
        if i[at.nearest + shift + ball] == changed and now + f[row + ball] > f[at.second + shift + ball]:
            find_in_table(f, i, at, ball, o)
