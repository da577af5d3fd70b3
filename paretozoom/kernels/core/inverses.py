"""Inverses of symmetric matrices that grow by outer products, in flat arrays."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.core.jit import Floats, inlined, kernel


@kernel
def dot(f: Floats, a: int, b: int, size: int) -> float:
    """The product of two vectors at f[a...] and f[b...]."""
    total = 0.0
    for k in range(size):
        total += f[a + k] * f[b + k]
    return total


@kernel
def form(f: Floats, matrix: int, x: int, size: int) -> float:
    """x'Ax, and 0 where rounding would make it negative.

    >>> form(np.array([2.0, 1.0, 1.0, 2.0, 1.0, -1.0]), 0, 4, 2)
    2.0
    """
    total = 0.0
    for a in range(size):
        total += f[x + a] * dot(f, matrix + a * size, x, size)
    return max(total, 0.0)


@inlined
def inner(x: Floats, y: Floats) -> float:
    """The sum of products of two vectors."""
    total = 0.0
    for k in range(len(x)):
        total += x[k] * y[k]
    return total


@kernel
def multiply(f: Floats, start: int, x: Floats, out: Floats) -> None:
    """Write M x, of the symmetric matrix at f[start...]; zeros of x cost nothing."""
    n = len(x)
    out[:] = 0.0
    for r in range(n):
        if x[r] != 0.0:
            row = f[start + r * n : start + (r + 1) * n]
            for c in range(n):
                out[c] += x[r] * row[c]


@kernel
def times(f: Floats, matrix: int, x: int, out: int, size: int) -> None:
    """`multiply` an x that is at f[x...] itself, to f[out...]."""
    multiply(f, matrix, f[x : x + size], f[out : out + size])


@kernel
def raise_inverse(f: Floats, start: int, d: int, x: Floats, solved: Floats) -> float:
    """Turn the inverse (d, d) of A at f[start...] into that of A + xx'; returns x'A^-1x, and A^-1x in `solved`.

    A is symmetric; by Sherman and Morrison.

    >>> f = np.eye(2).ravel()
    >>> raise_inverse(f, 0, 2, np.array([1.0, 0.5]), np.empty(2))
    1.25
    >>> np.allclose(np.linalg.inv(f.reshape(2, 2)), [[2, 0.5], [0.5, 1.25]])
    True
    """
    multiply(f, start, x, solved)
    variance = inner(x, solved)
    for r in range(d):
        if solved[r] != 0.0:
            row = f[start + r * d : start + (r + 1) * d]
            for c in range(d):
                row[c] -= solved[r] * solved[c] / (1.0 + variance)
    return variance


@kernel
def add_outer(f: Floats, inverse: int, x: int, size: int) -> None:
    """`raise_inverse` by an x that is at f[x...] itself.

    >>> f = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    >>> add_outer(f, 0, 4, 2)
    >>> np.allclose(f[:4].reshape(2, 2) @ [[2.0, 1.0], [1.0, 2.0]], np.eye(2))
    True
    """
    raise_inverse(f, inverse, size, f[x : x + size], np.empty(size))


@kernel
def invert(f: Floats, matrix: int, size: int) -> None:
    """Invert a symmetric, positive definite matrix in place (Gauss and Jordan).

    >>> f = np.array([2.0, 1.0, 1.0, 2.0])
    >>> invert(f, 0, 2)
    >>> np.allclose(f, [2 / 3, -1 / 3, -1 / 3, 2 / 3])
    True
    """
    for p in range(size):
        pivot = 1.0 / f[matrix + p * size + p]
        f[matrix + p * size + p] = 1.0
        for b in range(size):
            f[matrix + p * size + b] *= pivot
        for a in range(size):
            if a != p:
                factor = f[matrix + a * size + p]
                f[matrix + a * size + p] = 0.0
                for b in range(size):
                    f[matrix + a * size + b] -= factor * f[matrix + p * size + b]
    for a in range(size):
        for b in range(a):
            f[matrix + b * size + a] = f[matrix + a * size + b]
