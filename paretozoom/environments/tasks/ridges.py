"""Smooth ridges along a wave."""

from __future__ import annotations

import math

from paretozoom.environments.shapes.unimodal import Unimodal
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Objective, Real

APART = 0.08  # each peak from the crest between them
WIDTH = 0.15


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    crest = 0.5 + 0.3 * math.sin(2.0 * math.pi * point[0])
    below = (point[1] - crest + APART) / WIDTH
    above = (point[1] - crest - APART) / WIDTH
    out[0] = 0.9 * math.exp(-below * below) + 0.05
    out[1] = 0.9 * math.exp(-above * above) + 0.05


@kernel
def _peaks(world: Floats, point: Floats, out: Floats) -> None:
    crest = 0.5 + 0.3 * math.sin(2.0 * math.pi * point[0])
    out[0], out[1] = crest - APART, crest + APART


class SmoothRidges(Unimodal):
    """One number as context, one as arm, two smooth and narrow ridges that wind through them.

    mu_i = 0.9 exp(-((y - a(x) +- 0.08) / 0.15)^2) + 0.05 with a(x) = 0.5 + 0.3 sin(2 pi x), Bernoulli rewards; far
    steeper than Assumption 1 allows. The Pareto set is [a(x) - 0.08, a(x) + 0.08]: between the peaks one objective
    falls while the other rises, outside both fall.

    >>> [(round(low, 9), round(high, 9)) for low, high in SmoothRidges().front([0.0])]
    [(0.42, 0.58)]
    """

    name = "smooth-ridges"
    mean_kernel = _mean
    peaks_kernel = _peaks

    def __init__(self) -> None:
        super().__init__(
            Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("first"), Objective("second")])
        )
