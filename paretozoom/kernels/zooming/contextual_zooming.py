"""Contextual Zooming (Slivkins, 2014) on a weighted sum of the rewards."""

from __future__ import annotations

from paretozoom.kernels.core.jit import ZERO, Floats, Ints, kernel, part
from paretozoom.kernels.core.philox import uniforms
from paretozoom.kernels.zooming.balls import KEY0, KEY1, WEIGHTS, Layout, layout
from paretozoom.kernels.zooming.growth import credit_reward, enter, room
from paretozoom.kernels.zooming.zooming import (
    draw_arm,
    find_owners,
    finite_arm,
    look,
    measure,
    split,
    teachable,
)

__all__ = ["ask", "room", "tell"]


@kernel
def mark_best(f: Floats, i: Ints, at: Layout, relevant: int) -> tuple[float, int]:
    """Mark with 1 the relevant balls of largest index, the others with 0; returns it and how many are tied."""
    best = f[at.indices]
    for place in range(1, relevant):
        best = max(best, f[at.indices + place])
    tied = 0
    for place in range(relevant):
        i[at.chosen + place] = 1 if f[at.indices + place] == best else 0
        tied += i[at.chosen + place]
    return best, tied


@part
def _next_tied(f: Floats, i: Ints, at: Layout, relevant: int, best: float, after: int) -> int:
    """The place of the oldest ball with the index `best` among those newer than the ball `after`."""
    found = -1
    for place in range(relevant):
        ball = i[at.relevant + place]
        if f[at.indices + place] == best and ball > after and (found < 0 or ball < i[at.relevant + found]):
            found = place
    return found


@part
def _choose_only(i: Ints, at: Layout, relevant: int, only: int) -> None:
    for place in range(relevant):
        i[at.chosen + place] = 1 if place == only else 0


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an allowed arm for the context in `point`, writing it there; returns (finite arm, density, ball)."""
    enter(f, i, number)
    at = layout(i)
    extent, relevant = look(f, i, at, number, point, allowed)
    best, tied = mark_best(f, i, at, relevant)
    u, v, _, _ = uniforms(i[KEY0], i[KEY1], number, 0)
    drawn, after = -1, -1
    for _ in range(int(v * tied) + 1):
        drawn = _next_tied(f, i, at, relevant, best, after)
        after = i[at.relevant + drawn]
    _choose_only(i, at, relevant, drawn)
    arm, density = draw_arm(f, i, at, point, extent, relevant, allowed, u)
    if tied > 1:  # every tied ball could have given this arm
        density, after = 0.0, -1
        for _ in range(tied):
            place = _next_tied(f, i, at, relevant, best, after)
            after = i[at.relevant + place]
            _choose_only(i, at, relevant, place)
            size = measure(f, i, at, point, extent, relevant, allowed)
            if find_owners(f, i, at, point, extent, relevant, arm) > 0:
                density += 1.0 / (tied * size)
    return finite_arm(i, arm), density, i[at.relevant + drawn]


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, ball: int, reward: Floats, told: int) -> None:
    """Learn from a reward with every weighted objective in it. Needs room for a ball."""
    if teachable(i, number):
        at = layout(i)
        split(f, i, at, ball, point, ZERO)  # what a ball learns is one number, which comes whole
        scalar = 0.0
        for o in range(i[WEIGHTS]):
            if f[at.weights + o] > 0.0:
                scalar += f[at.weights + o] * reward[o]
        credit_reward(f, i, at, ball, ZERO, scalar)
