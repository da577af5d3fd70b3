"""The in-round Pareto filter: exact comparisons, equal vectors all stay."""

from __future__ import annotations

import math

from paretozoom.kernels.jit import Floats, Ints, inlined, kernel

FEW = 64  # pairs of numbers that are all compared with all


@inlined
def _compare(f: Floats, a: int, b: int, d: int) -> tuple[bool, bool]:
    """Whether the d numbers at f[a] are greater somewhere than those at f[b], and whether they are less somewhere."""
    greater, less = False, False
    for o in range(d):
        greater |= f[a + o] > f[b + o]
        less |= f[a + o] < f[b + o]
    return greater, less


@kernel
def mark_front(f: Floats, vectors: int, d: int, i: Ints, marks: int, rows: int, front: int) -> None:
    """Write 1 to i[marks...] where one of `rows` vectors of d numbers at f[vectors] is not dominated, else 0.

    >>> import numpy as np
    >>> marks = np.zeros(6, np.int64)
    >>> mark_front(np.array([0.0, 1.0, 1.0, 0.0, 0.0, 0.0]), 0, 2, marks, 0, 3, 3)
    >>> marks[:3].tolist()
    [1, 1, 0]
    """
    if d == 2 and rows <= FEW:
        _mark_few_pairs(f[vectors : vectors + 2 * rows], i[marks : marks + rows])
        return
    if d == 2:
        _mark_pairs(f, vectors, i, marks, rows, front)
        return
    # A vector that is dominated is dominated by one on the front, and what was on the front of the vectors so far and
    # is not any more is dominated by the new one: so each vector meets the front alone, kept in i[front...].
    # The one of largest sum is met first of all: it dominates most of what is dominated.
    strongest, most = 0, -math.inf
    for row in range(rows):
        total = 0.0
        for o in range(d):
            total += f[vectors + row * d + o]
        if total > most:
            strongest, most = row, total
    size = 0
    for row in range(rows):
        greater, less = _compare(f, vectors + row * d, vectors + strongest * d, d)
        dominated, kept = less and not greater, 0
        for k in range(size):
            if dominated:
                break
            other = i[front + k]
            greater, less = _compare(f, vectors + row * d, vectors + other * d, d)
            if greater and not less:
                i[marks + other] = 0
            else:
                i[front + kept] = other
                kept += 1
            dominated = less and not greater
        i[marks + row] = not dominated
        if not dominated:
            i[front + kept] = row
            size = kept + 1


@inlined
def _comes_before(f: Floats, a: int, b: int) -> bool:
    """Whether the pair at f[a] has the larger first number than that at f[b] or, if these are equal, second number."""
    return f[a] > f[b] or (f[a] == f[b] and f[a + 1] > f[b + 1])


@kernel
def _mark_few_pairs(pairs: Floats, marks: Ints) -> None:
    """`mark_front` for a few pairs of numbers: all against all, several at a time and without a branch."""
    for row in range(len(marks)):
        a, b = pairs[2 * row], pairs[2 * row + 1]
        dominators = 0
        for other in range(len(marks)):
            c, d = pairs[2 * other], pairs[2 * other + 1]
            dominators += (c >= a) & (d >= b) & ((c > a) | (d > b))
        marks[row] = dominators == 0


@kernel
def _mark_pairs(f: Floats, vectors: int, i: Ints, marks: int, rows: int, front: int) -> None:
    """`mark_front` for pairs of numbers: by falling first number, the second must rise."""
    for row in range(rows):
        i[front + row] = row
    gap = 1
    while gap < rows // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, rows):
            row, place = i[front + k], k
            while place >= gap and _comes_before(f, vectors + 2 * row, vectors + 2 * i[front + place - gap]):
                i[front + place] = i[front + place - gap]
                place -= gap
            i[front + place] = row
        gap //= 3
    last = -1
    for k in range(rows):
        row = i[front + k]
        here, there = vectors + 2 * row, vectors + 2 * last
        kept = last < 0 or f[here + 1] > f[there + 1] or (f[here + 1] == f[there + 1] and f[here] == f[there])
        i[marks + row] = kept
        last = row if kept else last
