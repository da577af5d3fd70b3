"""Noise that is not the same everywhere, and noise with heavy tails."""

from __future__ import annotations

import math

from paretozoom.environments.shapes.unimodal import Unimodal
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Objective, Real

APART = 0.09  # each peak from the crest between them
WIDTH = 0.16
QUIET, LOUD = 0.05, 0.85


@kernel
def _peaks(world: Floats, point: Floats, out: Floats) -> None:
    crest = 0.5 + 0.35 * math.cos(2.0 * math.pi * point[0])
    out[0], out[1] = crest - APART, crest + APART


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    _peaks(world, point, out)
    for o in range(2):
        away = (point[1] - out[o]) / WIDTH
        out[o] = 0.05 + 0.9 / (1.0 + away * away)


@kernel
def _spreads(world: Floats, point: Floats, spreads: Floats) -> None:
    spreads[0] = QUIET + (LOUD - QUIET) * point[0] * point[0]
    spreads[1] = QUIET + (LOUD - QUIET) * abs(2.0 * point[1] - 1.0)


def _problem() -> Problem:
    return Problem(
        context=[Real("x")],
        arm=[Real("y")],
        objectives=[Objective("first", bounded=False), Objective("second", bounded=False)],
    )


class LoudAndQuiet(Unimodal):
    """Gaussian noise that depends on context and arm, over two ridges with long slopes.

    The spread of the first objective is 0.05 + 0.8 x^2, that of the second 0.05 + 0.8 |2 y - 1|. Means are
    mu_i = 0.05 + 0.9 / (1 + ((y - crest +- 0.09) / 0.16)^2), the crest is 0.5 + 0.35 cos(2 pi x).

    >>> task = LoudAndQuiet()
    >>> task.noise_scale, round(task.gap([0.5], [0.9]), 3)
    (0.85, 0.643)
    """

    name = "loud-and-quiet"
    mean_kernel = _mean
    peaks_kernel = _peaks
    spread_kernel = _spreads

    def __init__(self) -> None:
        super().__init__(_problem(), noise="gaussian", spread=LOUD)


class HeavyTails(Unimodal):
    """The ridges of `LoudAndQuiet` under Student's noise with 3 degrees of freedom, standard deviation 0.6.

    It has no fourth moment: in 10^5 rounds, rewards fifteen spreads from their mean are to be expected.

    >>> HeavyTails().noise_scale
    inf
    """

    name = "heavy-tails"
    mean_kernel = _mean
    peaks_kernel = _peaks

    def __init__(self) -> None:
        super().__init__(_problem(), noise="student", spread=0.6)
