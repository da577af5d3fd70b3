"""Contexts that crowd in a few places, most of all in one."""

from __future__ import annotations

import math

from paretozoom.environments.shapes.unimodal import Unimodal
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints, Objective, Real

# Four crowds: the share of contexts up to and with each, its middle, and how far it reaches. The rest are stragglers.
UP_TO = (0.4, 0.65, 0.75, 0.8)
EAST = (0.1, 0.62, 0.8, 0.35)
NORTH = (0.2, 0.15, 0.75, 0.9)
REACH = (0.08, 0.05, 0.1, 0.03)
APART = 0.08  # each peak from the crest between them
WIDTH = 0.15


@kernel
def _context(world: Floats, values: Ints, draws: Floats, point: Floats) -> None:
    for crowd in range(len(UP_TO)):
        if draws[0] < UP_TO[crowd]:
            # Cubes of even numbers: dense in the middle, thin at the rim.
            point[0] = EAST[crowd] + REACH[crowd] * (2.0 * draws[1] - 1.0) ** 3
            point[1] = NORTH[crowd] + REACH[crowd] * (2.0 * draws[2] - 1.0) ** 3
            return
    point[0], point[1] = draws[1] ** 2, draws[2] ** 3


@kernel
def _peaks(world: Floats, point: Floats, out: Floats) -> None:
    crest = 0.5 + 0.38 * math.sin(2.0 * math.pi * (point[0] + 0.5 * point[1]))
    out[0], out[1] = crest - APART, crest + APART


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    _peaks(world, point, out)
    for o in range(2):
        away = (point[2] - out[o]) / WIDTH
        out[o] = 0.05 + 0.9 * math.exp(-away * away)


class Crowds(Unimodal):
    """Contexts of two numbers, four fifths of them in four small crowds, the rest thinning out to the north-east.

    The crowds hold 40, 25, 10 and 5 % of the contexts. The crest 0.5 + 0.38 sin(2 pi (east + north / 2)) is high in the
    first and the third, low in the others; mu_i = 0.05 + 0.9 exp(-((y - crest +- 0.08) / 0.15)^2).

    >>> task = Crowds()
    >>> contexts = [task.observe() for _ in range(1000)]
    >>> sum(abs(c["east"] - 0.1) <= 0.08 and abs(c["north"] - 0.2) <= 0.08 for c in contexts)
    413
    """

    name = "crowds"
    mean_kernel = _mean
    peaks_kernel = _peaks
    context_kernel = _context
    context_draws = 3

    def __init__(self) -> None:
        super().__init__(
            Problem(
                context=[Real("east"), Real("north")],
                arm=[Real("y")],
                objectives=[Objective("first"), Objective("second")],
            )
        )
