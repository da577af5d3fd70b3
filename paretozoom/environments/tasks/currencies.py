"""Objectives in units as different as they come in practice."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.environments.shapes.unimodal import Unimodal
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Objective, Real

SHIFTS = (-0.1, 0.1, 0.03)  # of the peaks from the crest
WIDTHS = (0.15, 0.12, 0.25)
# The score in its own units.
WORST, BEST, SPREAD = -40.0, 260.0, 60.0
LOW, SPAN = -100.0, 400.0  # the scale that the user expects


@kernel
def _peaks(world: Floats, point: Floats, out: Floats) -> None:
    crest = 0.14 + 0.72 * point[0] * (0.3 + 0.7 * point[1])
    for o in range(3):
        out[o] = crest + SHIFTS[o]


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    # world: where the scaled score is 0, and its unit
    _peaks(world, point, out)
    for o in range(3):
        away = (point[2] - out[o]) / WIDTHS[o]
        out[o] = math.exp(-away * away)
    out[0] = 0.2 + 0.6 * out[0]
    out[1] = 0.2 + 0.6 * out[1]
    out[2] = (WORST + (BEST - WORST) * out[2] - world[0]) / world[1]


class Currencies(Unimodal):
    """A margin from 0 to 1 cent, a cost from 0 to 5000 that is to be small, and a score that may be any number.

    Contexts are two numbers, the arm is one; the noise of margin and cost is even and bounded, that of the score
    Gaussian with a spread of 60. The user says that scores are -100 to 300 as a rule; with `scale_known=False` not even
    that is said, which most policies refuse.

    >>> {name: round(value, 2) for name, value in Currencies().mean([1.0, 1.0], [0.86]).items()}
    {'margin': 0.58, 'cost': 2501.94, 'score': 255.71}
    >>> Currencies().gap([1.0, 1.0], [0.3]) == Currencies(scale_known=False).gap([1.0, 1.0], [0.3])
    True
    """

    name = "currencies"
    mean_kernel = _mean
    peaks_kernel = _peaks

    def __init__(self, scale_known: bool = True) -> None:
        low, span = (LOW, SPAN) if scale_known else (0.0, 1.0)
        score = Objective("score", low=LOW, high=LOW + SPAN, bounded=False)
        super().__init__(
            Problem(
                context=[Real("demand"), Real("season")],
                arm=[Real("price")],
                objectives=[
                    Objective("margin"),
                    Objective("cost", goal="min", low=0, high=5000),
                    score if scale_known else Objective("score", low=None, high=None),
                ],
            ),
            world=np.array([low, span]),
            noise=["even", "even", "gaussian"],
            spread=[0.1, 0.1, SPREAD / span],
        )
        # Gaps are those of the scale that the user expects, whether it was said or not.
        self.gap_scale = np.array([1.0, 1.0, SPAN / span])
