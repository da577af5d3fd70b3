"""The tree of balls: who is whose child, and which balls a context can reach.

A child's centre lies in its parent's ball and its radius is at most half as large, so all descendants of a ball of
radius r lie within 2r of its centre. For contexts a tighter bound is kept, `limit`.
"""

from __future__ import annotations

from paretozoom.kernels.core.coordinates import add_gap, gap_of, length_of, part_within
from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL, MATRIX
from paretozoom.kernels.zooming.balls import MOST_PAIRED, NORM, SLACK, STRIPS, Layout
from paretozoom.kernels.zooming.distances import part_of


@part
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
            _enlist(f, i, at, ball)


@inlined
def _strips(i: Ints, at: Layout) -> int:
    """Into how many strips the first coordinate of contexts is cut: only one if it has no order."""
    return STRIPS if at.context > 0 and i[at.kinds] != CATEGORICAL else 1


@inlined
def _is_within(norm: int, part: float, radius: float) -> bool:
    return part <= part_within(norm, radius) * (1.0 + SLACK)


@part
def _may_reach(f: Floats, i: Ints, at: Layout, ball: int, low: float, high: float) -> bool:
    """Whether a ball may be reached by a context whose first coordinate lies in a strip."""
    centre = f[at.centre + ball]
    if ball == 0 or low <= centre <= high:
        return True
    gap = min(gap_of(i[at.kinds], centre, low), gap_of(i[at.kinds], centre, high))
    return _is_within(i[NORM], add_gap(i[NORM], 0.0, f[at.factors], gap), f[at.radius + ball])


@part
def _enlist(f: Floats, i: Ints, at: Layout, ball: int) -> None:
    """Put a ball into the strips that may reach it, by falling radius, then by falling arm."""
    arm, radius = at.centre + at.context * at.capacity, at.radius
    strips = _strips(i, at)
    for strip in range(strips):
        if ball == 0:
            i[at.strip_size + strip] = 0
        if strips > 1 and not _may_reach(f, i, at, ball, strip / strips, (strip + 1) / strips):
            continue
        members, place = at.strip + strip * at.capacity, i[at.strip_size + strip]
        i[at.strip_size + strip] += 1
        while place > 0:
            other = i[members + place - 1]
            smaller = f[radius + other] < f[radius + ball]
            if not smaller and (f[radius + other] > f[radius + ball] or f[arm + other] >= f[arm + ball]):
                break
            i[members + place] = other
            place -= 1
        i[members + place] = ball


@part
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
    """`find_near` with few balls: all in the strip of the context are looked at."""
    strips = _strips(i, at)
    strip = min(int(point[0] * strips), strips - 1) if strips > 1 else 0
    norm, near = i[NORM], 0
    members = i[at.strip + strip * at.capacity : at.strip + strip * at.capacity + i[at.strip_size + strip]]
    part, radius, listed = f[at.context_part :], f[at.radius :], i[at.near :]
    for ball in members:
        part[ball] = 0.0
    for j in range(at.context):
        kind, factor, coordinate = i[at.kinds + j], f[at.factors + j], point[j]
        centre = f[at.centre + j * at.capacity :]
        for ball in members:
            part[ball] = add_gap(norm, part[ball], factor, gap_of(kind, centre[ball], coordinate))
    for ball in members:  # listed in any case, kept if reached: a branch would be guessed wrong too often
        listed[near] = ball
        near += _is_within(norm, part[ball], radius[ball]) | (ball == 0)  # the root contains everything by definition
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
