"""Four numbers as context, two of which matter, and only together."""

from __future__ import annotations

import math

from paretozoom.environments.shapes.unimodal import Unimodal
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Objective, Real

APART = 0.08  # each peak from the crest between them
WIDTH = 0.14


@kernel
def _peaks(world: Floats, point: Floats, out: Floats) -> None:
    first, second = point[0], point[2]
    crest = 0.1 + 0.8 * (first + second - 2.0 * first * second)
    out[0], out[1] = crest - APART, crest + APART


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    _peaks(world, point, out)
    for o in range(2):
        away = (point[4] - out[o]) / WIDTH
        out[o] = 0.05 + 0.9 * math.exp(-away * away)


class TwoOfFour(Unimodal):
    """Contexts of four numbers, arms of one; what is best depends on x1 and x3, on neither alone.

    The crest is 0.1 + 0.8 (x1 + x3 - 2 x1 x3), low where both are small or both large; averaged over one of them, the
    other changes nothing. x2 and x4 change nothing at all. mu_i = 0.05 + 0.9 exp(-((y - crest +- 0.08) / 0.14)^2).

    >>> task = TwoOfFour()
    >>> [(round(low, 9), round(high, 9)) for low, high in task.front([0.0, 0.3, 0.5, 0.9])]
    [(0.42, 0.58)]
    """

    name = "two-of-four"
    mean_kernel = _mean
    peaks_kernel = _peaks

    def __init__(self) -> None:
        super().__init__(
            Problem(
                context=[Real(f"x{k + 1}") for k in range(4)],
                arm=[Real("y")],
                objectives=[Objective("first"), Objective("second")],
            )
        )
