"""Domains at one context when the arms can be listed: who owns which arm.

The list is that of finitely many arms, or the candidates of the round where arms are a continuum.
"""

from __future__ import annotations

import math

from paretozoom.kernels.core.coordinates import add_gap, gap_of, length_of
from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import FINITE, MATRIX
from paretozoom.kernels.zooming.balls import NORM, SIZE, SLACK, SPACE, Layout
from paretozoom.kernels.zooming.distances import context_number, distance, pair_of
from paretozoom.kernels.zooming.tree import find_near, list_owner


@inlined
def _reaches(f: Floats, i: Ints, at: Layout, ball: int, arms: Floats, start: int) -> bool:
    """Whether a ball contains the arm with coordinates arms[start...] at the surveyed context; for p-norms."""
    if ball == 0:  # the root contains everything by definition
        return True
    norm, part = i[NORM], f[at.context_part + ball]
    for j in range(at.context, at.dim):
        gap = gap_of(i[at.kinds + j], f[at.centre + j * at.capacity + ball], arms[start + j - at.context])
        part = add_gap(norm, part, f[at.factors + j], gap)
    return length_of(norm, part) <= f[at.radius + ball]


@kernel
def contains(f: Floats, i: Ints, at: Layout, ball: int, point: Floats) -> bool:
    """Whether a ball contains a point: D <= r."""
    return ball == 0 or distance(f, i, at, ball, point, 0, pair_of(f, i, at, point)) <= f[at.radius + ball]


@part
def _owns(f: Floats, i: Ints, at: Layout, ball: int, arm: int, point: Floats) -> bool:
    """Whether a relevant ball owns an arm of the list at the surveyed context."""
    if f[at.radius + ball] != f[at.arm_radius + arm]:
        return False
    if i[NORM] < MATRIX:
        return _reaches(f, i, at, ball, f, at.arm + arm * (at.dim - at.context))
    return ball == 0 or distance(f, i, at, ball, f, at.here, _stand(f, i, at, arm, point)) <= f[at.radius + ball]


@inlined
def _stand(f: Floats, i: Ints, at: Layout, arm: int, point: Floats) -> int:
    """Put the point's context and an arm of the list into `here`; returns the number of the pair."""
    coordinates = at.dim - at.context
    for j in range(at.context):
        f[at.here + j] = point[j]
    for j in range(coordinates):
        f[at.here + at.context + j] = f[at.arm + arm * coordinates + j]
    return context_number(i, at, point) * at.arms + arm if i[NORM] == MATRIX else 0


@inlined
def _list_free(f: Floats, i: Ints, at: Layout, listed: int, allowed: Floats) -> int:
    """List the arms to be owned; returns how many. Where arms are finitely many, `allowed` names some of them."""
    restricted = i[SPACE] == FINITE and len(allowed) > 0
    for arm in range(listed):
        i[at.arm_free + arm] = arm
        f[at.arm_radius + arm] = -1.0 if restricted else math.inf
    if not restricted:
        return listed
    for row in range(len(allowed)):
        i[at.arm_free + row] = int(allowed[row, 0])
        f[at.arm_radius + i[at.arm_free + row]] = math.inf
    return len(allowed)


@kernel
def survey(f: Floats, i: Ints, at: Layout, point: Floats, listed: int, allowed: Floats) -> int:
    """Find the radius that owns each listed arm, and the relevant balls; returns how many they are."""
    free = _list_free(f, i, at, listed, allowed)
    if i[NORM] >= MATRIX:
        return _survey_each(f, i, at, point, free)
    k = find_near(f, i, at, point) - 1
    relevant = 0
    while k >= 0 and free > 0:
        radius = f[at.radius + i[at.near + k]]
        while k >= 0 and f[at.radius + i[at.near + k]] == radius:
            ball = i[at.near + k]
            owns_one = False
            for place in range(free):
                arm = i[at.arm_free + place]
                if _reaches(f, i, at, ball, f, at.arm + arm * (at.dim - at.context)):
                    owns_one = True
                    f[at.arm_radius + arm] = radius
            if owns_one:
                i[at.relevant + relevant] = ball
                relevant += 1
            k -= 1
        kept = 0
        for place in range(free):
            arm = i[at.arm_free + place]
            if f[at.arm_radius + arm] == math.inf:
                i[at.arm_free + kept] = arm
                kept += 1
        free = kept
    return relevant


@part
def _survey_each(f: Floats, i: Ints, at: Layout, point: Floats, free: int) -> int:
    """`survey` for distances that know no contexts: each arm goes down the tree by itself."""
    for ball in range(i[SIZE]):
        i[at.chosen + ball] = 0
    for place in range(free):
        arm = i[at.arm_free + place]
        pair = _stand(f, i, at, arm, point)
        i[at.near], waiting, holders, smallest = 0, 1, 1, f[at.radius]
        i[at.relevant] = 0
        while waiting > 0:
            waiting -= 1
            child = i[at.child + i[at.near + waiting]]
            while child >= 0:
                radius = f[at.radius + child]
                apart = distance(f, i, at, child, f, at.here, pair)
                if apart <= 2.0 * radius * (1.0 + SLACK):
                    i[at.near + waiting] = child
                    waiting += 1
                if apart <= radius <= smallest:
                    holders = 0 if radius < smallest else holders
                    i[at.relevant + holders] = child
                    smallest, holders = radius, holders + 1
                child = i[at.sibling + child]
        f[at.arm_radius + arm] = smallest
        for k in range(holders):
            i[at.chosen + i[at.relevant + k]] = 1
    relevant = 0
    for ball in range(i[SIZE]):
        if i[at.chosen + ball] == 1:
            i[at.relevant + relevant] = ball
            relevant += 1
    return relevant


@kernel
def union(f: Floats, i: Ints, at: Layout, point: Floats, listed: int, relevant: int) -> int:
    """Mark with 1 the arms in the domains of the chosen balls; returns how many they are."""
    marked = 0
    for arm in range(listed):
        i[at.arm_chosen + arm] = 0
        for place in range(relevant):
            if i[at.chosen + place] != 0 and _owns(f, i, at, i[at.relevant + place], arm, point):
                i[at.arm_chosen + arm] = 1
                marked += 1
                break
    return marked


@part
def owners(f: Floats, i: Ints, at: Layout, point: Floats, relevant: int, arm: int) -> int:
    """List the chosen balls that own an arm, all of one radius, in order of creation; returns how many they are."""
    found = 0
    for place in range(relevant):
        if i[at.chosen + place] != 0 and _owns(f, i, at, i[at.relevant + place], arm, point):
            found = list_owner(i, at, found, place)
    return found
