"""What is expected of functions if rewards are alike by distance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paretozoom import Objective, Problem, Real
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.policies.pareto_zoom.model import Smooth
from paretozoom.policies.pareto_zoom.space import Space

PROBLEM = Problem(context=[Real("x")], arm=[Real("y", periodic=True)], objectives=[Objective("a"), Objective("b")])
SETTINGS = Settings()
MARGIN = SETTINGS.margin
SMOOTH = Smooth(Space(PROBLEM, SETTINGS))
FUNCTIONS = SMOOTH.space.functions
COSINES = [k for k, (j, which) in enumerate(FUNCTIONS) if k > 0 and j == 0 and which > 1]


def _unlike(scale: int) -> list[float]:
    return SMOOTH.unlike(np.array([scale, scale])).tolist()


@pytest.mark.parametrize("scale", range(5))
def test_cosines_together_are_alike_by_distance(scale: int) -> None:
    """Enough of them, with the variances that are expected of them, are the process, away from their ends."""
    multiples = np.arange(1, 91)
    variances = np.exp(-_unlike(scale)[COSINES[0]] * multiples**2)
    places = np.linspace(0, 1, 41)
    turns = math.pi * (places + MARGIN) / (1 + 2 * MARGIN)
    waves = math.sqrt(2) * np.cos(np.outer(turns, multiples))
    alike = 1.0 + waves * variances @ waves.T
    expected = np.exp(-((places[:, None] - places) ** 2) / 2 ** (scale - 9))
    beyond = math.exp(-(MARGIN**2) / 2 ** (scale - 11))  # the ends reflect: as far as there and back
    assert alike / (0.5 + variances.sum()) == pytest.approx(expected, abs=1e-6 + 1.1 * beyond)
    own = SMOOTH.space.phi(np.column_stack([places, places]), np.array([(0, 0, k) for k in COSINES]))
    assert own == pytest.approx(waves[:, : len(COSINES)], abs=1e-12)


def test_fast_functions_and_long_scales_are_unlikely() -> None:
    table = np.array([[_unlike(scale)[k] for k in COSINES] for scale in range(21)])
    assert (np.diff(table, axis=0) > 0).all()
    assert (np.diff(table, axis=1) > 0).all()
    assert table[:, 2] == pytest.approx(9 * table[:, 0])
    around = [_unlike(7)[k] for k, (j, _) in enumerate(FUNCTIONS) if j == 1]
    assert around[0] == around[1] == pytest.approx(0.5 * (2 * math.pi * 2 ** (7 / 2 - 5)) ** 2)  # a whole turn
