"""Factors, inverses and sums of products are those of numpy; sums to the last bit, with one row after the other."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom.kernels.core.matrices import factorise, invert, substitute, sum_products

SIZES = [1, 2, 3, 4, 5, 7, 8, 13, 32]


@pytest.mark.parametrize("n", SIZES)
def test_cholesky(n: int) -> None:
    rng = np.random.default_rng(n)
    whole = np.atleast_2d(np.cov(rng.normal(size=(n, 40)))) + 2 * np.eye(n)
    right = rng.normal(size=n)
    upper, solved = whole.copy(), right.copy()
    half, square = factorise(upper, solved)
    assert np.triu(upper) == pytest.approx(np.linalg.cholesky(whole).T)
    assert np.triu(upper).T @ solved == pytest.approx(right)
    assert half == pytest.approx(np.linalg.slogdet(whole)[1] / 2)
    assert square == pytest.approx(right @ np.linalg.solve(whole, right))
    found = np.empty(n)
    substitute(upper, solved, found)
    assert found == pytest.approx(np.linalg.solve(whole, right))


@pytest.mark.parametrize("n", SIZES)
def test_inverse(n: int) -> None:
    rng = np.random.default_rng(n)
    whole = rng.normal(size=(n, n + 5))
    whole = whole @ whole.T
    found = np.full((n, n), np.nan)
    invert(np.linalg.cholesky(whole).T.copy(), found)
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
