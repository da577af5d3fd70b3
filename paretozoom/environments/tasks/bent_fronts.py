"""Fronts that bend outwards and inwards: where weighted sums find everything, and where they find the ends alone."""

from __future__ import annotations

import math

from paretozoom.environments.shapes.unimodal import Unimodal
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Objective, Real

APART = 0.25  # the peaks
ROUND, SHARP = 0.3, 0.12  # how wide the ridges are


@kernel
def _switched_peaks(world: Floats, point: Floats, out: Floats) -> None:
    out[0] = 0.375 + 0.36 * math.tanh(6.0 * (point[0] - 0.5))
    out[1] = out[0] + APART


@kernel
def _domes(world: Floats, point: Floats, out: Floats) -> None:
    _switched_peaks(world, point, out)
    for o in range(2):
        away = (point[1] - out[o]) / ROUND
        out[o] = 0.05 + 0.9 * math.exp(-away * away)


@kernel
def _folded_peaks(world: Floats, point: Floats, out: Floats) -> None:
    out[0] = 0.03 + 0.69 * abs(2.0 * point[0] - 1.0)
    out[1] = out[0] + APART


@kernel
def _spikes(world: Floats, point: Floats, out: Floats) -> None:
    _folded_peaks(world, point, out)
    for o in range(2):
        out[o] = 0.05 + 0.9 * math.exp(-abs(point[1] - out[o]) / SHARP)


def _problem() -> Problem:
    return Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("first"), Objective("second")])


class ConcaveFront(Unimodal):
    """Two domes: a front that bulges outwards, and gaps that begin flat.

    mu_i = 0.05 + 0.9 exp(-((y - peak_i) / 0.3)^2); the first peak, 0.375 + 0.36 tanh(6 x - 3), switches sides while the
    context passes 0.5, and the second is 0.25 above it. Near the front gaps are small beside the noise of Bernoulli
    rewards.

    >>> task = ConcaveFront()
    >>> middle, end = sum(task.mean([0.5], [0.5]).values()), sum(task.mean([0.5], [0.375]).values())
    >>> round(middle, 3), round(end, 3)
    (1.613, 1.449)
    """

    name = "concave-front"
    mean_kernel = _domes
    peaks_kernel = _switched_peaks

    def __init__(self) -> None:
        super().__init__(_problem())


class ConvexFront(Unimodal):
    """Spikes whose product is constant between them: a front that bends inwards, which no weighted sum can spread over.

    mu_i = 0.05 + 0.9 exp(-|y - peak_i| / 0.12), where the first peak falls from 0.72 to 0.03 and climbs again while the
    context goes from 0 to 1, and the second is 0.25 above it.

    >>> task = ConvexFront()
    >>> middle, end = sum(task.mean([0.5], [0.155]).values()), sum(task.mean([0.5], [0.03]).values())
    >>> round(middle, 3), round(end, 3)
    (0.735, 1.112)
    """

    name = "convex-front"
    mean_kernel = _spikes
    peaks_kernel = _folded_peaks

    def __init__(self) -> None:
        super().__init__(_problem())
