"""Pareto Contextual Zooming, Algorithm 1 of the paper, one decision at a time."""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.core.pareto import mark_front
from paretozoom.kernels.core.philox import uniforms
from paretozoom.kernels.zooming.balls import KEY0, KEY1, layout
from paretozoom.kernels.zooming.growth import credit_reward, enter, room
from paretozoom.kernels.zooming.zooming import (
    draw_arm,
    find_owners,
    finite_arm,
    look,
    split,
    teachable,
)

__all__ = ["ask", "room", "tell"]


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an allowed arm for the context in `point`, writing it there; returns (finite arm, density, ball)."""
    enter(f, i, number)
    at = layout(i)
    extent, relevant = look(f, i, at, number, point, allowed)  # line 7
    mark_front(f, at.indices, at.learned, i, at.chosen, relevant, at.near)  # line 8
    u, v, _, _ = uniforms(i[KEY0], i[KEY1], number, 0)
    arm, density = draw_arm(f, i, at, point, extent, relevant, allowed, u)  # line 9
    owners = find_owners(f, i, at, point, extent, relevant, arm)
    return finite_arm(i, arm), density, i[at.near + int(v * owners)]  # line 10


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, ball: int, reward: Floats, told: int) -> None:
    """Learn from the entries of `reward` that are not NaN, after those that bits of `told` name. Needs room."""
    if teachable(i, number):
        at = layout(i)
        split(f, i, at, ball, point, told)  # lines 11-15
        for o in range(len(reward)):
            if not math.isnan(reward[o]):
                credit_reward(f, i, at, ball, o, reward[o])  # line 16
