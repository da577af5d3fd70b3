"""Contextual Zooming (Slivkins, 2014) on a weighted sum of the rewards."""

from __future__ import annotations

from paretozoom.kernels.balls import KEY0, KEY1, WEIGHTS, Layout, enter, layout, room
from paretozoom.kernels.jit import Floats, Ints, kernel
from paretozoom.kernels.philox import uniforms
from paretozoom.kernels.zooming import (
    credit_reward,
    draw_arm,
    find_owners,
    look,
    marked_place,
    measure,
    split,
    teachable,
)

__all__ = ["ask", "room", "tell"]


@kernel
def mark_best(f: Floats, i: Ints, at: Layout, relevant: int) -> int:
    """Mark with 1 the relevant balls of largest index, the others with 0; returns how many are tied."""
    best = f[at.indices]
    for place in range(1, relevant):
        best = max(best, f[at.indices + place])
    tied = 0
    for place in range(relevant):
        i[at.chosen + place] = 1 if f[at.indices + place] == best else 0
        tied += i[at.chosen + place]
    return tied


@kernel
def _choose_only(i: Ints, at: Layout, relevant: int, only: int) -> None:
    for place in range(relevant):
        i[at.chosen + place] = 1 if place == only else 0


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, ball)."""
    enter(f, i, number)
    at = layout(i)
    levels, relevant = look(f, i, at, point)
    tied = mark_best(f, i, at, relevant)
    u, v, _, _ = uniforms(i[KEY0], i[KEY1], number, 0)
    drawn = marked_place(i, at, relevant, 1, int(v * tied))
    _choose_only(i, at, relevant, drawn)
    arm, density = draw_arm(f, i, at, point, levels, relevant, u)
    if tied > 1:  # every tied ball could have given this arm
        best, density = f[at.indices + drawn], 0.0
        for place in range(relevant):
            if f[at.indices + place] == best:
                _choose_only(i, at, relevant, place)
                size = measure(f, i, at, levels, relevant)
                if find_owners(f, i, at, point, levels, relevant, arm) > 0:
                    density += 1.0 / (tied * size)
    return arm, density, i[at.relevant + drawn]


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, ball: int, reward: Floats, status: int) -> int:
    """Learn from a reward with every weighted objective in it; returns the new status. Needs room for a ball."""
    at = layout(i)
    if teachable(i, number):
        # What is learned is one number that comes whole: the bits for told objectives mean nothing to a ball.
        split(f, i, at, ball, point, 0)
        scalar = 0.0
        for o in range(i[WEIGHTS]):
            if f[at.weights + o] > 0.0:
                scalar += f[at.weights + o] * reward[o]
        credit_reward(f, i, at, ball, 0, scalar)
    return status
