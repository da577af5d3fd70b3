"""What simulated tasks share: contexts and rewards as pure functions of (key, round)."""

from __future__ import annotations

import math

from paretozoom.kernels.core.coordinates import draw_coordinate
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.core.philox import uniforms

# Streams of an environment's key: even ones draw contexts, odd ones rewards, four numbers each.
BERNOULLI, GAUSSIAN, STUDENT, EVEN = range(4)
FREEDOM = 3.0  # degrees of freedom of Student's t: the fewest whole number with a standard deviation
SETTLINGS = 8


@kernel
def draw_numbers(key0: int, key1: int, number: int, draws: Floats) -> None:
    """Fill `draws` with the uniform numbers that the context of a round is made of."""
    for start in range(0, len(draws), 4):
        four = uniforms(key0, key1, number, start // 2)
        for j in range(start, min(start + 4, len(draws))):
            draws[j] = four[j - start]


# What a task may replace by kernels of its own.


@kernel
def uniform_context(world: Floats, values: Ints, draws: Floats, point: Floats) -> None:
    """Write a context drawn uniformly to the head of `point`."""
    for j in range(len(draws)):
        point[j] = draw_coordinate(values[j], draws[j])


@kernel
def stand_still(world: Floats, number: int, now: Floats) -> None:
    """Leave the world as it is, whatever the round."""


@kernel
def same_spread(world: Floats, point: Floats, spreads: Floats) -> None:
    """Leave the spreads as they are, whatever the context and arm."""


@kernel
def draw_reward(key0: int, key1: int, number: int, noise: Ints, spreads: Floats, mean: Floats, reward: Floats) -> None:
    """Write a reward with the given means: Bernoulli, or with noise of standard deviation `spreads`.

    The noise is Gaussian, Student's t with 3 degrees of freedom (by the polar method of Bailey, 1994), or even.
    """
    if noise[0] == BERNOULLI:  # then all are: four objectives share a block of draws
        for start in range(0, len(mean), 4):
            four = uniforms(key0, key1, number, start // 2 + 1)
            for o in range(start, min(start + 4, len(mean))):
                reward[o] = 1.0 if four[o - start] < mean[o] else 0.0
        return
    for o in range(len(mean)):
        u, v, _, _ = uniforms(key0, key1, number, 2 * o + 1)
        if noise[o] == GAUSSIAN:
            reward[o] = mean[o] + spreads[o] * math.sqrt(-2.0 * math.log(1.0 - u)) * math.cos(2.0 * math.pi * v)
        elif noise[o] == STUDENT:
            far = math.sqrt((FREEDOM - 2.0) * ((1.0 - u) ** (-2.0 / FREEDOM) - 1.0))
            reward[o] = mean[o] + spreads[o] * far * math.cos(2.0 * math.pi * v)
        else:
            reward[o] = mean[o] + spreads[o] * math.sqrt(3.0) * (2.0 * u - 1.0)


@kernel
def settle(units: Floats, reward: Floats) -> None:
    """Move each scaled reward to the nearest that comes back from the user's units as it went.

    `units` has a row (sign, low or high, span) for each objective, none if the scaled rewards are the user's.
    """
    for o in range(len(units)):
        sign, start, span = units[o]
        for _ in range(SETTLINGS):
            there = start + sign * (reward[o] * span)
            back = sign * (there - start) / span
            if back == reward[o]:
                break
            reward[o] = back
