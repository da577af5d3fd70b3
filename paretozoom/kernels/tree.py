"""The tree of balls: who is whose child, and which balls a context can reach.

A child's centre lies in its parent's ball and its radius is at most half as large, so all descendants of a ball of
radius r lie within 2r of its centre. For contexts a tighter bound is kept, `limit`.
"""

from __future__ import annotations

from paretozoom.kernels.balls import MOST_PAIRED, NORM, SIZE, SLACK, Layout
from paretozoom.kernels.distances import add_gap, gap_of, length_of, part_of, part_within
from paretozoom.kernels.jit import Floats, Ints, inlined, kernel
from paretozoom.kernels.kinds import MATRIX


@kernel
def adopt(f: Floats, i: Ints, at: Layout, ball: int) -> None:
    """Make the newest ball a child of its parent, among its siblings by falling arm, and let its ancestors reach it."""
    i[at.child + ball] = -1
    i[at.sibling + ball] = -1
    parent = i[at.parent + ball]
    if parent >= 0:
        arm = at.centre + at.context * at.capacity
        before, after = -1, i[at.child + parent]
        while after >= 0 and f[arm + after] > f[arm + ball]:
            before, after = after, i[at.sibling + after]
        i[at.sibling + ball] = after
        if before < 0:
            i[at.child + parent] = ball
        else:
            i[at.sibling + before] = ball
    if i[NORM] < MATRIX:
        _extend_limits(f, i, at, ball)
    if at.capacity <= MOST_PAIRED:
        enlist(f, i, at, ball)


@kernel
def enlist(f: Floats, i: Ints, at: Layout, ball: int) -> None:
    """Put a ball among the older ones by falling radius, then by falling arm."""
    arm = at.centre + at.context * at.capacity
    place = ball
    while place > 0:
        other = i[at.order + place - 1]
        smaller = f[at.radius + other] < f[at.radius + ball]
        if not smaller and (f[at.radius + other] > f[at.radius + ball] or f[arm + other] >= f[arm + ball]):
            break
        i[at.order + place] = other
        place -= 1
    i[at.order + place] = ball


@kernel
def _extend_limits(f: Floats, i: Ints, at: Layout, ball: int) -> None:
    """Let the limits of a ball and of its ancestors take in the ball."""
    norm, radius = i[NORM], f[at.radius + ball]
    f[at.limit + ball] = part_within(norm, radius) * (1.0 + SLACK)
    for j in range(at.dim):
        f[at.here + j] = f[at.centre + j * at.capacity + ball]
    ancestor = i[at.parent + ball]
    while ancestor >= 0:
        away = length_of(norm, part_of(f, i, at, ancestor, 0, at.context, f, at.here))
        needed = part_within(norm, away + radius) * (1.0 + SLACK)
        f[at.limit + ancestor] = max(f[at.limit + ancestor], needed)
        ancestor = i[at.parent + ancestor]


@kernel
def find_near(f: Floats, i: Ints, at: Layout, point: Floats) -> int:
    """List the balls that the context reaches, and maybe a few others, by falling radius; returns how many.

    Writes the context part of each listed ball. For p-norms only.
    """
    return _scan(f, i, at, point) if at.capacity <= MOST_PAIRED else _descend(f, i, at, point)


@inlined
def _scan(f: Floats, i: Ints, at: Layout, point: Floats) -> int:
    """`find_near` with few balls: all are looked at, several at a time."""
    n, norm = i[SIZE], i[NORM]
    part = f[at.context_part : at.context_part + n]
    part[:] = 0.0
    for j in range(at.context):
        kind, factor, coordinate = i[at.kinds + j], f[at.factors + j], point[j]
        centre = f[at.centre + j * at.capacity : at.centre + j * at.capacity + n]
        for ball in range(n):
            part[ball] = add_gap(norm, part[ball], factor, gap_of(kind, centre[ball], coordinate))
    reached, radius = i[at.chosen : at.chosen + n], f[at.radius : at.radius + n]
    for ball in range(n):
        reached[ball] = part[ball] <= part_within(norm, radius[ball]) * (1.0 + SLACK)
    reached[0] = 1  # the root contains everything by definition
    order, listed, near = i[at.order : at.order + n], i[at.near : at.near + n], 0
    for ball in order:  # listed in any case, kept if reached: a branch would be guessed wrong too often
        listed[near] = ball
        near += reached[ball]
    return near


@inlined
def _descend(f: Floats, i: Ints, at: Layout, point: Floats) -> int:
    """`find_near` with many balls: those that are reached, or have a descendant that is, level by level."""
    i[at.near] = 0
    f[at.context_part] = part_of(f, i, at, 0, 0, at.context, point, 0)
    near, k = 1, 0
    while k < near:
        child = i[at.child + i[at.near + k]]
        while child >= 0:
            part = part_of(f, i, at, child, 0, at.context, point, 0)
            f[at.context_part + child] = part
            i[at.near + near] = child
            near += part <= f[at.limit + child]
            child = i[at.sibling + child]
        k += 1
    for k in range(1, near):  # children come after parents, half as large: as a rule nothing is left to sort
        ball, place = i[at.near + k], k
        while f[at.radius + i[at.near + place - 1]] < f[at.radius + ball]:
            i[at.near + place] = i[at.near + place - 1]
            place -= 1
        i[at.near + place] = ball
    return near


@inlined
def list_owner(i: Ints, at: Layout, found: int, place: int) -> int:
    """Put a chosen relevant ball among the first `found` of the list in `near`, once, in order of creation."""
    if i[at.chosen + place] == 0:
        return found
    ball = i[at.relevant + place]
    k = found
    while k > 0 and i[at.near + k - 1] >= ball:
        if i[at.near + k - 1] == ball:
            return found
        k -= 1
    for later in range(found, k, -1):
        i[at.near + later] = i[at.near + later - 1]
    i[at.near + k] = ball
    return found + 1
