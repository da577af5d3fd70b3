"""Ridges that travel: what was learned long ago is wrong now."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.environments.shapes.unimodal import Unimodal
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Objective, Real

APART = 0.08  # each peak from the crest between them
WIDTH = 0.15
PERIOD = 200_000  # rounds until the ridges are where they were


@kernel
def _move(world: Floats, number: int, now: Floats) -> None:
    now[0] = number / PERIOD


@kernel
def _peaks(world: Floats, point: Floats, out: Floats) -> None:
    crest = 0.5 + 0.3 * math.sin(2.0 * math.pi * (point[0] + world[0]))
    out[0], out[1] = crest - APART, crest + APART


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    _peaks(world, point, out)
    for o in range(2):
        away = (point[1] - out[o]) / WIDTH
        out[o] = 0.05 + 0.9 * math.exp(-away * away)


class DriftingRidges(Unimodal):
    """The smooth ridges, whose wave travels along the context, once round in 200,000 rounds.

    The crest of round n is 0.5 + 0.3 sin(2 pi (x + n / 200000)): a round moves the Pareto set by at most 1e-5, 10,000
    rounds by half its width or more where the wave is steep. `at(n)` has the truth of round n.

    >>> task = DriftingRidges()
    >>> task.gap([0.0], [0.5]), round(task.at(50_000).gap([0.0], [0.5]), 3)
    (0.0, 0.623)
    """

    name = "drifting-ridges"
    mean_kernel = _mean
    peaks_kernel = _peaks
    move_kernel = _move

    def __init__(self) -> None:
        super().__init__(
            Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("first"), Objective("second")]),
            world=np.zeros(1),
        )
