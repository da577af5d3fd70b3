"""Three objectives of unequal height and width along one number."""

from __future__ import annotations

import math

from paretozoom.environments.shapes.unimodal import Unimodal
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Objective, Real

SHIFTS = (-0.12, 0.02, 0.12)  # of the peaks from the crest
HEIGHTS = (0.9, 0.5, 0.8)
WIDTHS = (0.1, 0.2, 0.15)


@kernel
def _peaks(world: Floats, point: Floats, out: Floats) -> None:
    crest = 0.5 + 0.33 * math.cos(3.0 * math.pi * point[0])
    for o in range(3):
        out[o] = crest + SHIFTS[o]


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    _peaks(world, point, out)
    for o in range(3):
        away = (point[1] - out[o]) / WIDTHS[o]
        out[o] = 0.05 + HEIGHTS[o] * math.exp(-away * away)


class ThreePeaks(Unimodal):
    """One number as context, one as arm, three objectives: a narrow and high, a wide and low, a middling ridge.

    The crest 0.5 + 0.33 cos(3 pi x) goes up and down one and a half times; the peaks are 0.12 below, 0.02 above and
    0.12 above it, 0.95, 0.55 and 0.85 high.

    >>> [(round(low, 9), round(high, 9)) for low, high in ThreePeaks().front([0.5])]
    [(0.38, 0.62)]
    """

    name = "three-peaks"
    mean_kernel = _mean
    peaks_kernel = _peaks

    def __init__(self) -> None:
        super().__init__(
            Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective(f"r{k + 1}") for k in range(3)])
        )
