"""Factors, inverses and sums of products, bit for bit as they are with one row after the other."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom.kernels.core.matrices import factorise, invert, sum_products
from tests.reference.smooth import factorised, inverted

SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 32]


@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n: int) -> None:
    rng = np.random.default_rng(n)
    gram = np.atleast_2d(np.cov(rng.normal(size=(n, 40))))
    right, variances = rng.normal(size=n), [0.5] * n
    upper, y, half, square = factorised(gram, right, variances)
    whole = gram + 2 * np.eye(n)
    assert np.allclose(upper.T @ upper, whole)
    assert half == pytest.approx(np.linalg.slogdet(whole)[1] / 2)
    assert square == pytest.approx(right @ np.linalg.solve(whole, right))
    again, solved = whole.copy(), right.copy()
    assert factorise(again, solved) == (half, square)
    assert np.array_equal(np.triu(again), upper)
    assert np.array_equal(solved, y)


@pytest.mark.parametrize("n", SIZES)
def test_inverse(n: int) -> None:
    rng = np.random.default_rng(n)
    whole = rng.normal(size=(n, n + 5))
    whole = whole @ whole.T
    upper = np.linalg.cholesky(whole).T.copy()
    found = np.full((n, n), np.nan)
    invert(upper, found)
    assert np.array_equal(found, inverted(upper))
    assert np.array_equal(found, found.T)
    assert found @ whole == pytest.approx(np.eye(n), abs=1e-6)


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 6, 9])
def test_sums_of_products(rows: int) -> None:
    rng = np.random.default_rng(rows)
    table, counts = rng.normal(size=(rows, 5)), rng.integers(0, 4, rows)
    expected, found = np.zeros((5, 5)), np.full((5, 5), np.nan)
    for row, count in zip(table, counts, strict=True):
        expected += (count * row)[:, None] * row
    sum_products(table, counts, found)
    assert np.array_equal(np.triu(found), np.triu(expected))
