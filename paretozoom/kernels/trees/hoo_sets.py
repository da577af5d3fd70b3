"""What a node of HOO promises: U from its own rewards, B from its children as well, a set of vectors (MO-HOO).

B holds the elementwise minima of U and of the vectors that no other dominates in the children's sets, again without
dominated ones. With one number to learn it is HOO's B = min(U, max(B of left, B of right)).
"""

from __future__ import annotations

import math

from paretozoom.kernels.arms.table import Table
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.pareto import mark_front
from paretozoom.kernels.trees.hoo_tree import (
    CHILDREN,
    KEPT,
    LEAN,
    NU,
    NUMERATOR,
    PLAYS,
    RHO,
    SUMS,
    Tree,
    node_float,
    node_int,
)


@kernel
def upper_bound(mean: float, plays: int, numerator: float, bias: float) -> float:
    """U of a node: mean + sqrt(2 log n / N) + nu1 rho^h, where `numerator` is 2 log n and `bias` the last term.

    >>> round(upper_bound(0.5, 10, 2 * math.log(100), 0.25), 7)
    1.7097052
    """
    return mean + math.sqrt(numerator / plays) + bias


@kernel
def refresh(f: Floats, i: Ints, at: Table, in_tree: Tree, node: int, depth: int) -> None:
    """Compute B of a node that was played, and which way to go there, from its rewards and its children."""
    left, right = i[node_int(in_tree, node, CHILDREN)], i[node_int(in_tree, node, CHILDREN + 1)]
    sums, plays, d = node_float(in_tree, node, SUMS), i[node_int(in_tree, node, PLAYS)], at.learned
    bound, bias = sums + d, f[at.constants + NU] * f[at.constants + RHO] ** depth
    for o in range(d):  # U, which is all of B as long as a child is infinitely promising
        f[bound + o] = upper_bound(f[sums + o] / plays, plays, f[at.constants + NUMERATOR], bias)
    i[node_int(in_tree, node, KEPT)] = 1
    if left < 0 or right < 0:
        f[node_float(in_tree, node, LEAN)] = 0.5 if left == right else 1.0 if left < 0 else 0.0
        return
    rows = _gather(f, i, at, in_tree, left, right)
    mark_front(f, in_tree.lists, d, i, in_tree.marks, rows, in_tree.marks + 2 * in_tree.vectors)
    of_left, both, kept = _drop_shared(f, i, d, in_tree, rows, i[node_int(in_tree, left, KEPT)])
    f[node_float(in_tree, node, LEAN)] = (of_left - 0.5 * both) / kept
    clipped, k = in_tree.lists + 2 * in_tree.vectors * d, 0
    for row in range(rows):
        if i[in_tree.marks + row] == 1:
            for o in range(d):
                f[clipped + o * kept + k] = min(f[bound + o], f[in_tree.lists + o * rows + row])
            k += 1
    mark_front(f, clipped, d, i, in_tree.marks, kept, in_tree.marks + 2 * in_tree.vectors)
    _drop_repeated(f, i, d, clipped, in_tree.marks, kept)
    _drop_least(f, i, d, clipped, in_tree, kept)
    k = 0
    for row in range(kept):
        if i[in_tree.marks + row] == 1:
            for o in range(d):
                f[bound + k * d + o] = f[clipped + o * kept + row]
            k += 1
    i[node_int(in_tree, node, KEPT)] = k


@part
def _gather(f: Floats, i: Ints, at: Table, in_tree: Tree, left: int, right: int) -> int:
    """List the vectors of both children as `mark_front` reads them, those of the left first; returns how many."""
    of_left, d = i[node_int(in_tree, left, KEPT)], at.learned
    rows = of_left + i[node_int(in_tree, right, KEPT)]
    for row in range(rows):
        child, k = (left, row) if row < of_left else (right, row - of_left)
        for o in range(d):
            f[in_tree.lists + o * rows + row] = f[node_float(in_tree, child, SUMS + d + k * d + o)]
    return rows


@kernel
def _are_equal(f: Floats, d: int, vectors: int, rows: int, a: int, b: int) -> bool:
    equal = True
    for o in range(d):
        equal = equal and f[vectors + o * rows + a] == f[vectors + o * rows + b]
    return equal


@part
def _drop_shared(f: Floats, i: Ints, d: int, in_tree: Tree, rows: int, of_left: int) -> tuple[int, int, int]:
    """Unmark vectors of the right that the left has too; returns marked ones of the left, shared ones, and all."""
    on_left, both, kept = 0, 0, 0
    for row in range(rows):
        if i[in_tree.marks + row] == 0:
            continue
        kept += 1
        if row < of_left:
            on_left += 1
            continue
        for other in range(of_left):
            if i[in_tree.marks + other] == 1 and _are_equal(f, d, in_tree.lists, rows, row, other):
                i[in_tree.marks + row] = 0
                both += 1
                kept -= 1
                break
    return on_left, both, kept


@kernel
def _drop_repeated(f: Floats, i: Ints, d: int, vectors: int, marks: int, rows: int) -> None:
    """Unmark vectors that came before."""
    for row in range(rows):
        for other in range(row):
            if i[marks + row] == 1 and i[marks + other] == 1 and _are_equal(f, d, vectors, rows, row, other):
                i[marks + row] = 0


@kernel
def _contribution(f: Floats, i: Ints, d: int, vectors: int, marks: int, rows: int, row: int) -> float:
    """How much volume above the origin a vector adds: exact for two numbers, else what the nearest one leaves of it."""
    first, second = max(0.0, f[vectors + row]), max(0.0, f[vectors + (d - 1) * rows + row])
    beside, below, least = 0.0, 0.0, math.inf
    for other in range(rows):
        if i[marks + other] == 0 or other == row:
            continue
        if d == 2:
            if f[vectors + other] < first:
                beside = max(beside, f[vectors + other])
            if f[vectors + rows + other] < second:
                below = max(below, f[vectors + rows + other])
            continue
        whole, shared = 1.0, 1.0
        for o in range(d):
            mine = max(0.0, f[vectors + o * rows + row])
            whole *= mine
            shared *= max(0.0, min(mine, f[vectors + o * rows + other]))
        least = min(least, whole - shared)
    return (first - beside) * (second - below) if d == 2 else least


@part
def _drop_least(f: Floats, i: Ints, d: int, vectors: int, in_tree: Tree, rows: int) -> None:
    """Unmark those that contribute least, of equals the last ones, until B has room for the rest."""
    marks, marked = in_tree.marks, 0
    for row in range(rows):
        marked += i[marks + row]
    if marked <= in_tree.vectors:
        return
    for row in range(rows):
        if i[marks + row] == 1:
            f[in_tree.volumes + row] = _contribution(f, i, d, vectors, marks, rows, row)
    while marked > in_tree.vectors:
        weakest = -1
        for row in range(rows):
            if i[marks + row] == 1 and (weakest < 0 or f[in_tree.volumes + row] <= f[in_tree.volumes + weakest]):
                weakest = row
        i[marks + weakest] = 0
        marked -= 1
