"""Domains at one context when the arms are finitely many: who owns which arm."""

from __future__ import annotations

import math

from paretozoom.kernels.balls import SCALE, Layout, find_near, list_owner, squared
from paretozoom.kernels.jit import Floats, Ints, kernel


@kernel
def contains(f: Floats, i: Ints, at: Layout, ball: int, arms: Floats, start: int) -> bool:
    """Whether a ball contains the arm with coordinates arms[start...] at the surveyed context: D <= r."""
    if ball == 0:  # the root contains everything by definition
        return True
    total = f[at.context_part + ball]
    for j in range(at.dim - at.context):
        column = at.context + j
        total += squared(i[at.kinds + column], f[at.centre + column * at.capacity + ball], arms[start + j])
    return f[SCALE] * math.sqrt(total / at.dim) <= f[at.radius + ball]


@kernel
def _owns(f: Floats, i: Ints, at: Layout, ball: int, arm: int) -> bool:
    return f[at.radius + ball] == f[at.arm_radius + arm] and contains(
        f, i, at, ball, f, at.arm + arm * (at.dim - at.context)
    )


@kernel
def survey(f: Floats, i: Ints, at: Layout, point: Floats) -> int:
    """Find the radius that owns each arm, and the relevant balls; returns how many they are."""
    near = find_near(f, i, at, point)
    for arm in range(at.arms):
        f[at.arm_radius + arm] = math.inf
    relevant, free, radius = 0, at.arms, 0.0
    for k in range(near):
        ball = i[at.near + near - 1 - k]
        if free == 0 and f[at.radius + ball] > radius:
            break
        radius = f[at.radius + ball]
        owns_one = False
        for arm in range(at.arms):
            owner = f[at.arm_radius + arm]
            if owner >= radius and contains(f, i, at, ball, f, at.arm + arm * (at.dim - at.context)):
                owns_one = True
                f[at.arm_radius + arm] = radius
                if owner > radius:
                    free -= 1
        if owns_one:
            i[at.relevant + relevant] = ball
            relevant += 1
    return relevant


@kernel
def union(f: Floats, i: Ints, at: Layout, relevant: int) -> int:
    """Mark with 1 the arms in the domains of the chosen balls; returns how many they are."""
    marked = 0
    for arm in range(at.arms):
        i[at.arm_chosen + arm] = 0
        for place in range(relevant):
            if i[at.chosen + place] != 0 and _owns(f, i, at, i[at.relevant + place], arm):
                i[at.arm_chosen + arm] = 1
                marked += 1
                break
    return marked


@kernel
def walk(i: Ints, at: Layout, steps: int) -> int:
    """The arm reached after passing `steps` marked arms."""
    arm = 0
    while i[at.arm_chosen + arm] == 0 or steps > 0:
        steps -= i[at.arm_chosen + arm]
        arm += 1
    return arm


@kernel
def owners(f: Floats, i: Ints, at: Layout, relevant: int, arm: int) -> int:
    """List the chosen balls that own an arm, all of one radius, in order of creation; returns how many they are."""
    found = 0
    for place in range(relevant):
        if i[at.chosen + place] != 0 and _owns(f, i, at, i[at.relevant + place], arm):
            found = list_owner(i, at, found, place)
    return found
