"""Inverses of symmetric matrices that grow by outer products, in flat arrays."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.jit import Floats, kernel


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


@kernel
def times(f: Floats, matrix: int, x: int, out: int, size: int) -> None:
    """Write Ax to f[out...]."""
    for a in range(size):
        f[out + a] = dot(f, matrix + a * size, x, size)


@kernel
def add_outer(f: Floats, inverse: int, x: int, size: int) -> None:
    """Turn the inverse of a symmetric A into that of A + xx' (Sherman and Morrison).

    >>> f = np.array([1.0, 0.0, 0.0, 1.0, 1.0, 1.0])
    >>> add_outer(f, 0, 4, 2)
    >>> np.allclose(f[:4].reshape(2, 2) @ [[2.0, 1.0], [1.0, 2.0]], np.eye(2))
    True
    """
    image, scale = np.empty(size), 1.0
    for a in range(size):
        image[a] = dot(f, inverse + a * size, x, size)
        scale += f[x + a] * image[a]
    for a in range(size):
        for b in range(size):
            f[inverse + a * size + b] -= image[a] * image[b] / scale


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
