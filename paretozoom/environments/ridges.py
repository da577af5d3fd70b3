"""Smooth ridges along a wave: a task whose truth is sought on a grid."""

from __future__ import annotations

import math

from paretozoom.dimensions import Floats, Objective, Real
from paretozoom.environments.base import Task
from paretozoom.kernels.jit import kernel
from paretozoom.problem import Problem


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    crest = 0.5 + 0.3 * math.sin(2.0 * math.pi * point[0])
    for o in range(2):
        offset = (point[1] - crest + (0.08 if o == 0 else -0.08)) / 0.15
        out[o] = 0.9 * math.exp(-offset * offset) + 0.05


class SmoothRidges(Task):
    """mu_i = 0.9 exp(-((y - a(x) +- 0.08) / 0.15)^2) + 0.05 with a(x) = 0.5 + 0.3 sin(2 pi x), Bernoulli rewards.

    Far steeper than Assumption 1 allows; gap and front come from a grid of 2001 arms.

    >>> SmoothRidges().front([0.0])
    [(0.42, 0.58)]
    """

    name = "smooth-ridges"
    mean_kernel = _mean

    def __init__(self) -> None:
        super().__init__(
            Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("first"), Objective("second")])
        )
