"""What simulated tasks share: contexts and rewards as pure functions of (key, round)."""

from __future__ import annotations

import math

from paretozoom.kernels.balls import draw_coordinate
from paretozoom.kernels.jit import Floats, Ints, kernel
from paretozoom.kernels.philox import uniforms

# Streams of an environment's key: even ones draw contexts, odd ones rewards, four numbers each.
BERNOULLI, GAUSSIAN = range(2)


@kernel
def draw_context(key0: int, key1: int, number: int, values: Ints, contexts: int, point: Floats) -> None:
    """Write a context drawn uniformly to the head of `point`."""
    for j in range(contexts):
        draws = uniforms(key0, key1, number, 2 * (j // 4))
        point[j] = draw_coordinate(values[j], draws[j % 4])


@kernel
def draw_reward(key0: int, key1: int, number: int, noise: int, spread: float, mean: Floats, reward: Floats) -> None:
    """Write a reward with the given means: Bernoulli, or Gaussian with standard deviation `spread`."""
    for o in range(len(mean)):
        if noise == BERNOULLI:
            u = uniforms(key0, key1, number, 2 * (o // 4) + 1)[o % 4]
            reward[o] = 1.0 if u < mean[o] else 0.0
        else:
            u, v, _, _ = uniforms(key0, key1, number, 2 * o + 1)
            reward[o] = mean[o] + spread * math.sqrt(-2.0 * math.log(1.0 - u)) * math.cos(2.0 * math.pi * v)
