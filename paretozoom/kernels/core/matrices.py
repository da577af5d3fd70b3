"""Cholesky's factors, what they solve, inverses and sums of products: what fits of trend and smooth estimate need.

Rows are added four at a time, one after the other: a fourth of the way to memory and back, and the same bits.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel


@kernel
def factorise(a: Floats, y: Floats) -> tuple[float, float]:
    """Replace the upper half of `a` by its Cholesky factor U, and y by what solves U'x = y.

    Returns half the logarithm of the determinant, and the square of the solution.

    >>> a, y = np.array([[4.0, 2.0], [2.0, 2.0]]), np.array([2.0, 3.0])
    >>> half, square = factorise(a, y)
    >>> a[0].tolist(), float(a[1, 1]), y.tolist(), square
    ([2.0, 1.0], 1.0, [1.0, 2.0], 5.0)
    """
    n, half, square = len(y), 0.0, 0.0
    for r in range(n):
        row, fours = a[r, r:], r - r % 4
        for k in range(r):
            y[r] -= a[k, r] * y[k]
        for k in range(0, fours, 4):
            one, two, three, four = a[k, r:], a[k + 1, r:], a[k + 2, r:], a[k + 3, r:]
            p, q, s, t = one[0], two[0], three[0], four[0]
            for c in range(n - r):  # from 0 on, so that several are done at once
                row[c] = row[c] - p * one[c] - q * two[c] - s * three[c] - t * four[c]
        for k in range(fours, r):
            one, p = a[k, r:], a[k, r]
            for c in range(n - r):
                row[c] -= p * one[c]
        pivot = math.sqrt(max(row[0], 1e-300))
        half += math.log(pivot)
        y[r] /= pivot
        square += y[r] * y[r]
        for c in range(n - r):
            row[c] /= pivot
    return half, square


@kernel
def substitute(a: Floats, y: Floats, out: Floats) -> None:
    """Write what solves Ux = y, given U in the upper half of `a`."""
    for k in range(len(y) - 1, -1, -1):
        total = y[k]
        for c in range(k + 1, len(y)):
            total -= a[k, c] * out[c]
        out[k] = total / a[k, k]


@kernel
def invert(a: Floats, out: Floats) -> None:
    """Write the inverse of U'U, given U in the upper half of `a`."""
    n = len(a)
    up, across = np.zeros((n, n)), np.zeros((n, n))  # the inverse of U, and that with rows and columns swapped
    for r in range(n - 1, -1, -1):
        row, pivot = up[r, r:], a[r, r]
        for k in range(r + 1, n):
            factor, rest, below = a[r, k], up[r, k:], up[k, k:]
            for c in range(n - k):
                rest[c] -= factor * below[c]
        row[0] = 1.0
        for c in range(n - r):
            row[c] /= pivot
            across[r + c, r] = row[c]
    out[:] = 0.0
    for r in range(n):
        row = out[r, r:]
        for c in range(r, n):
            factor, column = up[r, c], across[c, r:]
            for s in range(c + 1 - r):
                row[s] += factor * column[s]
        for s in range(r, n):
            out[s, r] = out[r, s]


@kernel
def sum_products(table: Floats, counts: Ints, out: Floats) -> None:
    """Write the sums of products of columns, each row counted so many times, above the diagonal."""
    n, rows = len(out), len(table)
    fours = rows - rows % 4
    out[:] = 0.0
    for k in range(0, fours, 4):
        one, two, three, four = table[k], table[k + 1], table[k + 2], table[k + 3]
        for r in range(n):
            sums, a, b, c, d = out[r, r:], one[r:], two[r:], three[r:], four[r:]
            p, q, s, t = counts[k] * a[0], counts[k + 1] * b[0], counts[k + 2] * c[0], counts[k + 3] * d[0]
            for j in range(n - r):
                sums[j] = sums[j] + p * a[j] + q * b[j] + s * c[j] + t * d[j]
    for k in range(fours, rows):
        one = table[k]
        for r in range(n):
            sums, a, p = out[r, r:], one[r:], counts[k] * one[r]
            for j in range(n - r):
                sums[j] += p * a[j]
