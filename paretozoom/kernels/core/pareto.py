"""The in-round Pareto filter: exact comparisons, equal vectors all stay."""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel

FEW = 64  # pairs of numbers that are all compared with all


@inlined
def _compare(f: Floats, vectors: int, rows: int, a: int, b: int, d: int) -> tuple[bool, bool]:
    """Whether vector a is greater somewhere than vector b, and whether it is less somewhere."""
    greater, less = False, False
    for o in range(d):
        greater |= f[vectors + o * rows + a] > f[vectors + o * rows + b]
        less |= f[vectors + o * rows + a] < f[vectors + o * rows + b]
    return greater, less


@kernel
def mark_front(f: Floats, vectors: int, d: int, i: Ints, marks: int, rows: int, front: int) -> None:
    """Write 1 to i[marks...] where one of `rows` vectors of d numbers is not dominated, else 0.

    The first numbers of all vectors are at f[vectors...], then come the second ones, and so on; i[front...] is scratch.

    >>> import numpy as np
    >>> marks = np.zeros(6, np.int64)
    >>> mark_front(np.array([0.0, 1.0, 0.0, 1.0, 0.0, 0.0]), 0, 2, marks, 0, 3, 3)
    >>> marks[:3].tolist()
    [1, 1, 0]
    """
    if d == 2 and rows <= FEW:
        first, second = f[vectors : vectors + rows], f[vectors + rows : vectors + 2 * rows]
        _mark_few_pairs(first, second, i[marks : marks + rows])
    elif d == 2:
        _mark_pairs(f, vectors, i, marks, rows, front)
    else:
        _mark_vectors(f, vectors, d, i, marks, rows, front)


@kernel
def _mark_few_pairs(first: Floats, second: Floats, marks: Ints) -> None:
    """`mark_front` for a few pairs of numbers: each that is not dominated so far meets all, several at a time.

    The one of largest sum comes first: it dominates most of what is dominated. Then come those beside it on a line of
    arms: they are on the front more often than what is far away, which is dominated before it is its turn.
    """
    rows, most, strongest = len(marks), -math.inf, 0
    marks[:] = 1
    for row in range(rows):
        total = first[row] + second[row]
        most = total if total > most else most
    for row in range(rows):
        strongest = row if first[row] + second[row] == most else strongest
    for row in range(strongest, rows):
        if marks[row] == 1:
            _dominate(first, second, row, marks)
    for row in range(strongest - 1, -1, -1):
        if marks[row] == 1:
            _dominate(first, second, row, marks)


@inlined
def _dominate(first: Floats, second: Floats, row: int, marks: Ints) -> None:
    """Write 0 to the marks of what a pair of numbers dominates."""
    a, b = first[row], second[row]
    for other in range(len(marks)):
        c, d = first[other], second[other]
        marks[other] &= 1 - ((a >= c) & (b >= d) & ((a > c) | (b > d)))


@inlined
def _comes_before(f: Floats, first: int, second: int, a: int, b: int) -> bool:
    """Whether pair a has the larger first number than pair b or, if these are equal, the larger second number."""
    return f[first + a] > f[first + b] or (f[first + a] == f[first + b] and f[second + a] > f[second + b])


@kernel
def _mark_pairs(f: Floats, first: int, i: Ints, marks: int, rows: int, front: int) -> None:
    """`mark_front` for pairs of numbers: by falling first number, the second must rise."""
    second = first + rows
    for row in range(rows):
        i[front + row] = row
    gap = 1
    while gap < rows // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for k in range(gap, rows):
            row, place = i[front + k], k
            while place >= gap and _comes_before(f, first, second, row, i[front + place - gap]):
                i[front + place] = i[front + place - gap]
                place -= gap
            i[front + place] = row
        gap //= 3
    last = i[front]
    for k in range(rows):
        row = i[front + k]
        equal = f[second + row] == f[second + last] and f[first + row] == f[first + last]
        i[marks + row] = equal or f[second + row] > f[second + last]
        last = row if i[marks + row] == 1 else last


@kernel
def _mark_vectors(f: Floats, vectors: int, d: int, i: Ints, marks: int, rows: int, front: int) -> None:
    """`mark_front` for any number of numbers.

    A vector that is dominated is dominated by one on the front, and what was on the front of the vectors so far and
    is not any more is dominated by the new one: so each vector meets the front alone, kept in i[front...]. The one of
    largest sum is met first of all: it dominates most of what is dominated.
    """
    strongest, most = 0, -math.inf
    for row in range(rows):
        total = 0.0
        for o in range(d):
            total += f[vectors + o * rows + row]
        if total > most:
            strongest, most = row, total
    size = 0
    for row in range(rows):
        greater, less = _compare(f, vectors, rows, row, strongest, d)
        dominated, kept = less and not greater, 0
        for k in range(size):
            if dominated:
                break
            other = i[front + k]
            greater, less = _compare(f, vectors, rows, row, other, d)
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
