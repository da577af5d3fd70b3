"""ParetoZoom: rewards that a trend all but explains."""

from __future__ import annotations

import math

import numpy as np

from paretozoom import Objective, ParetoZoom, Problem, Real
from paretozoom.environments.shapes.unimodal import Unimodal
from paretozoom.kernels.core.jit import Floats, kernel
from paretozoom.metrics.truth.of_rounds import gaps_of
from paretozoom.policies import Random
from paretozoom.policies.base import Policy
from paretozoom.simulation import simulate_in_chunks

ROUNDS, SEEDS = 8_000, range(4)


@kernel
def _peaks(world: Floats, point: Floats, out: Floats) -> None:
    out[0], out[1] = 0.2 + 0.2 * point[0], 0.6 + 0.3 * point[0]


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    _peaks(world, point, out)
    for o in range(2):
        away = (point[1] - out[o]) / (0.39 - 0.11 * o)
        out[o] = 0.05 + 0.9 * math.exp(-away * away)


class Domes(Unimodal):
    """Two broad domes. A quadratic misses a twentieth of what it explains, which is more than the gaps played."""

    name = "domes"
    mean_kernel = _mean
    peaks_kernel = _peaks

    def __init__(self) -> None:
        super().__init__(
            Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("first"), Objective("second")])
        )


def _gaps(kind: type[Policy], task: Domes) -> Floats:
    """The gaps of each seed's rounds."""
    return np.array(
        [
            np.concatenate(
                [gaps_of(task, rounds) for rounds in simulate_in_chunks(kind(task.problem), task, ROUNDS, seed=seed)]
            )
            for seed in SEEDS
        ]
    )


def test_what_a_trend_misses_is_learned_too() -> None:
    """Over 10 seeds, later gaps are 0.017 of random play's, with a standard error of 0.003 if there are four seeds.

    They were 0.11 when levels that stood on a trend outvoted the smooth estimate.
    """
    task = Domes()
    gaps, random = _gaps(ParetoZoom, task), _gaps(Random, task)
    assert gaps[:, 2_000:].mean() < 0.025 * random.mean()
