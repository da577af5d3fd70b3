"""The in-round Pareto filter: exact comparisons, equal vectors all stay."""

from __future__ import annotations

from paretozoom.kernels.jit import Floats, Ints, kernel


@kernel
def dominates(f: Floats, a: int, b: int, d: int) -> bool:
    """Whether the d numbers at f[a] are at least those at f[b] everywhere, and greater somewhere."""
    greater = False
    for o in range(d):
        if f[a + o] < f[b + o]:
            return False
        if f[a + o] > f[b + o]:
            greater = True
    return greater


@kernel
def mark_front(f: Floats, vectors: int, d: int, i: Ints, marks: int, rows: int, front: int) -> None:
    """Write 1 to i[marks...] where one of `rows` vectors of d numbers at f[vectors] is not dominated, else 0.

    >>> import numpy as np
    >>> marks = np.zeros(6, np.int64)
    >>> mark_front(np.array([0.0, 1.0, 1.0, 0.0, 0.0, 0.0]), 0, 2, marks, 0, 3, 3)
    >>> marks[:3].tolist()
    [1, 1, 0]
    """
    # A vector that is dominated is dominated by one on the front, and what was on the front of the vectors so far and
    # is not any more is dominated by the new one: so each vector meets the front alone, kept in i[front...].
    size = 0
    for row in range(rows):
        i[marks + row] = 1
        kept = 0
        for k in range(size):
            other = i[front + k]
            if dominates(f, vectors + other * d, vectors + row * d, d):
                i[marks + row] = 0
                kept = size  # it dominates nothing then, so nothing has been dropped
                break
            if dominates(f, vectors + row * d, vectors + other * d, d):
                i[marks + other] = 0
            else:
                i[front + kept] = other
                kept += 1
        size = kept
        if i[marks + row] == 1:
            i[front + size] = row
            size += 1
