"""Pareto Contextual Zooming, Algorithm 1 of the paper, one decision at a time."""

from __future__ import annotations

import math

from paretozoom.kernels.balls import KEY0, KEY1, enter, layout, room
from paretozoom.kernels.jit import Floats, Ints, kernel
from paretozoom.kernels.pareto import mark_front
from paretozoom.kernels.philox import uniforms
from paretozoom.kernels.zooming import (
    credit_reward,
    draw_arm,
    find_owners,
    look,
    marked_place,
    split,
    teachable,
)

__all__ = ["ask", "room", "tell"]


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, ball)."""
    enter(f, i, number)
    at = layout(i)
    levels, relevant = look(f, i, at, point)  # line 7
    mark_front(f, at.indices, at.learned, i, at.chosen, relevant)  # line 8
    u, v, _, _ = uniforms(i[KEY0], i[KEY1], number, 0)
    arm, density = draw_arm(f, i, at, point, levels, relevant, u)  # line 9
    owners = find_owners(f, i, at, point, levels, relevant, arm)
    place = marked_place(i, at, relevant, 2, int(v * owners))  # line 10
    return arm, density, i[at.relevant + place]


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, ball: int, reward: Floats, status: int) -> int:
    """Learn from the entries of `reward` that are not NaN; returns the decision's new status. Needs room for a ball."""
    at = layout(i)
    if teachable(i, number):
        status = split(f, i, at, ball, point, status)  # lines 11-15
        for o in range(len(reward)):
            if not math.isnan(reward[o]):
                credit_reward(f, i, at, ball, o, reward[o])  # line 16
    return status
