"""What is expected of polynomials if rewards are alike by distance."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paretozoom.kernels.smooth_fit import SCALES, UNLIKENESS, factorise
from tests.reference.smooth import factorised
from tests.reference.trend import polynomials

PLACES = (np.arange(600) + 0.5) / 600


@pytest.mark.parametrize("scale", range(0, SCALES, 4))
def test_the_variances_of_coefficients(scale: int) -> None:
    """The coefficient of a polynomial is its mean product with the process: summed here over a fine grid."""
    away = (PLACES[:, None] - PLACES) / 2 ** (0.5 * scale - 5)
    alike = np.exp(-(away**2) / 2)
    variances = []
    for degree in range(5):
        values = np.array([[1.0, *polynomials(4, 2 * place - 1)][degree] for place in PLACES]) / len(PLACES)
        variances.append(values @ alike @ values)
    for degree in range(5):
        expected = max(variances[degree], 1e-12) / variances[0]
        assert math.exp(-UNLIKENESS[scale, degree]) == pytest.approx(expected, rel=2e-3, abs=1e-5)


def test_long_scales_expect_little_of_high_degrees() -> None:
    assert (UNLIKENESS[:, 0] == 0).all()
    assert (np.diff(UNLIKENESS[:, 1]) > 0).all()
    assert (np.diff(UNLIKENESS[12, :6]) > 0).all()


def test_polynomials_are_orthonormal() -> None:
    places, weights = np.polynomial.legendre.leggauss(40)
    values = np.array([polynomials(12, u) for u in places]).T
    assert np.allclose(values * weights / 2 @ values.T, np.eye(12), atol=1e-12)


def test_cholesky() -> None:
    rng = np.random.default_rng(1)
    gram = np.cov(rng.normal(size=(7, 30)))
    right, variances = rng.normal(size=7), [0.5] * 7
    upper, y, half, square = factorised(gram, right, variances)
    whole = gram + 2 * np.eye(7)
    assert np.allclose(upper.T @ upper, whole)
    assert half == pytest.approx(np.linalg.slogdet(whole)[1] / 2)
    assert square == pytest.approx(right @ np.linalg.solve(whole, right))
    again, solved = whole.copy(), right.copy()
    assert factorise(again, solved) == (half, square)
    assert np.array_equal(np.triu(again), upper)
    assert np.array_equal(solved, y)
