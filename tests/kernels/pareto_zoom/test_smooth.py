"""What is expected of functions if rewards are alike by distance; how much the smooth estimate counts."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.pareto_zoom.pyramid import TOLD, USES_TREND, pyramid
from paretozoom.kernels.pareto_zoom.smooth import share_of
from paretozoom.kernels.pareto_zoom.smooth_fit import SCALES
from tests.reference.pareto_zoom import ParetoZoom as ParetoZoomTwin
from tests.reference.trend import MARGIN, functions_of_number

PROBLEM = Problem(context=[Real("x")], arm=[Real("y", periodic=True)], objectives=[Objective("a"), Objective("b")])
TWIN, POLICY = ParetoZoomTwin(PROBLEM), ParetoZoom(PROBLEM)
COSINES = [k for k, (j, which) in enumerate(TWIN.functions) if k > 0 and j == 0 and which > 1]


@pytest.mark.parametrize("scale", range(5))
def test_cosines_together_are_alike_by_distance(scale: int) -> None:
    """Enough of them, with the variances that are expected of them, are the process, away from their ends."""
    number = 90
    slowest = TWIN.unlike(COSINES[0], scale)
    variances = np.exp([-slowest * k * k for k in range(1, number + 1)])
    places = np.linspace(0, 1, 41)
    waves = np.array([functions_of_number(number + 2, place)[2:] for place in places])
    alike = 1.0 + waves * variances @ waves.T
    expected = np.exp(-((places[:, None] - places) ** 2) / 2 ** (scale - 9))
    beyond = math.exp(-(MARGIN**2) / 2 ** (scale - 11))  # the ends reflect: as far as there and back
    assert alike / (0.5 + variances.sum()) == pytest.approx(expected, abs=1e-6 + 1.1 * beyond)


def test_fast_functions_and_long_scales_are_unlikely() -> None:
    table = np.array([[TWIN.unlike(k, scale) for k in COSINES] for scale in range(SCALES)])
    assert (np.diff(table, axis=0) > 0).all()
    assert (np.diff(table, axis=1) > 0).all()
    assert table[:, 2] == pytest.approx(9 * table[:, 0])
    around = [TWIN.unlike(k, 7) for k, (j, _) in enumerate(TWIN.functions) if j == 1]
    assert around[0] == around[1] == 0.5 * (2 * math.pi * 2 ** (7 / 2 - 5)) ** 2  # a whole turn, as a sine or cosine


def test_cosines_are_orthonormal_over_their_stretch() -> None:
    places = (np.arange(4_000) + 0.5) / 4_000 * (1 + 2 * MARGIN) - MARGIN
    waves = np.array([functions_of_number(14, place)[2:] for place in places])
    assert waves.T @ waves / len(places) == pytest.approx(np.eye(12), abs=1e-9)


positive = st.floats(0, 1e4)


@given(st.floats(-1e4, 1e4), positive, positive, positive, positive, st.integers(16, 10_000), st.booleans())
def test_share(
    gain: float, weighed: float, apart: float, count: float, explained: float, told: int, trend: bool
) -> None:
    compared = [gain, weighed, apart, count, explained]
    f, i = POLICY._floats.copy(), POLICY._ints.copy()
    at = pyramid(i)
    f[at.compared : at.compared + len(compared)] = compared
    i[TOLD], i[USES_TREND] = told, trend
    TWIN.compared[0], TWIN.told, TWIN.uses_trend = compared, told, trend
    assert share_of(f, i, at, 0) == TWIN.share(0)


def test_what_is_near_counts_less_but_not_beside_a_trend() -> None:
    """With two estimates whose difference is a hundredth of what there is to explain."""
    TWIN.compared[0] = [50.0, 50.0, 100.0, 1e4, 1.0]

    def share(told: int, trend: bool) -> float:
        TWIN.told, TWIN.uses_trend = told, trend
        return TWIN.share(0)

    assert share(4096, True) > 0.95
    assert [share(told, False) for told in (41, 410, 4096)] == pytest.approx([0.96, 0.5 * 0.96, 0.01 * 0.96], rel=0.05)
