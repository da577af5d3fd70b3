"""HOO (Bubeck, Munos, Stoltz, Szepesvari, 2011), truncated, and MO-HOO (Van Moffaert and others, 2014)."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.arms.table import FLOATS, HEADER, INTS, KEY0, KEY1, Table, cell_of, learned_number, table
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.philox import uniforms
from paretozoom.kernels.trees.hoo_sets import refresh
from paretozoom.kernels.trees.hoo_tree import (
    CAPACITY,
    CHILDREN,
    DEPTH,
    LEAN,
    PARENT,
    PLAYS,
    SIZE,
    SUMS,
    Tree,
    draw_in_cell,
    half_is_feasible,
    longest_side,
    middle,
    node_float,
    node_int,
    sides_of,
    tree,
    tree_sizes,
    whole,
)


@kernel
def descend(f: Floats, i: Ints, at: Table, number: int, root: int, cell: Floats, allowed: Floats) -> tuple[int, float]:
    """Go down from a root to what is played, writing its cell; returns its credit and the probability of the way.

    At every fork the more promising child is next; a child without feasible arms is never entered.
    """
    in_tree, sides = tree(i, at), len(cell) // 2
    node, credit, probability = root, root, 1.0
    whole(i, at, cell)
    if i[node_int(in_tree, root, PLAYS)] == 0:
        return credit, probability
    draws = (0.0, 0.0, 0.0, 0.0)
    for depth in range(i[at.ints + DEPTH]):
        if depth % 4 == 0:
            draws = uniforms(i[KEY0], i[KEY1], number, depth // 4)
        side = longest_side(i, at, cell)
        if side < 0:
            break
        lower = half_is_feasible(i, at, cell, side, False, allowed)
        upper = half_is_feasible(i, at, cell, side, True, allowed)
        if lower and upper:
            lean = f[node_float(in_tree, node, LEAN)]
            upper = draws[depth % 4] >= lean
            probability *= 1.0 - lean if upper else lean
        elif not lower and not upper:
            break
        cell[side if upper else sides + side] = middle(i, at, cell, side)
        credit = in_tree.copies + 2 * node + upper
        node = i[node_int(in_tree, node, CHILDREN + upper)]
        if node < 0:
            break
    return credit, probability


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, node)."""
    at = table(i)
    cell = np.empty(2 * sides_of(i, at))
    credit, probability = descend(f, i, at, number, cell_of(i, at, point), cell, allowed)
    finite, density = draw_in_cell(f, i, at, number, point, cell, allowed)
    return finite, probability * density, credit


@part
def node_of(i: Ints, in_tree: Tree, credit: int) -> int:
    """The node that a credit names; -1 if there is none yet."""
    if credit < in_tree.copies:
        return credit
    parent, upper = (credit - in_tree.copies) // 2, (credit - in_tree.copies) % 2
    return i[node_int(in_tree, parent, CHILDREN + upper)]


@kernel
def add_node(f: Floats, i: Ints, at: Table, in_tree: Tree, credit: int) -> int:
    """Append the node that a credit names, without rewards; the caller has made room."""
    node = i[at.ints + SIZE]
    i[at.ints + SIZE] = node + 1
    i[node_int(in_tree, node, PARENT)] = -1
    i[node_int(in_tree, node, CHILDREN)] = -1
    i[node_int(in_tree, node, CHILDREN + 1)] = -1
    i[node_int(in_tree, node, PLAYS)] = 0
    f[node_float(in_tree, node, LEAN)] = 0.5
    for o in range(at.learned):
        f[node_float(in_tree, node, SUMS + o)] = 0.0
    if credit >= in_tree.copies:
        parent, upper = (credit - in_tree.copies) // 2, (credit - in_tree.copies) % 2
        i[node_int(in_tree, node, PARENT)] = parent
        i[node_int(in_tree, parent, CHILDREN + upper)] = node
    return node


@part
def depth_of(i: Ints, in_tree: Tree, node: int) -> int:
    """How many forks lie above a node."""
    depth = 0
    while i[node_int(in_tree, node, PARENT)] >= 0:
        node = i[node_int(in_tree, node, PARENT)]
        depth += 1
    return depth


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Add a reward to a node, which may be new, and to all above it."""
    at = table(i)
    in_tree = tree(i, at)
    node = node_of(i, in_tree, credit)
    if node < 0:
        node = add_node(f, i, at, in_tree, credit)
    depth = depth_of(i, in_tree, node)
    while node >= 0:
        i[node_int(in_tree, node, PLAYS)] += 1
        for o in range(at.learned):
            f[node_float(in_tree, node, SUMS + o)] += learned_number(f, i, at, reward, o)
        refresh(f, i, at, in_tree, node, depth)
        node = i[node_int(in_tree, node, PARENT)]
        depth -= 1


@kernel
def room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """The same state with space for at least one more node: the arrays themselves, or copies twice as large."""
    at = table(i)
    if i[at.ints + SIZE] < i[at.ints + CAPACITY]:
        return f, i
    in_tree = tree(i, at)
    head = i[:HEADER].copy()
    head[FLOATS], head[INTS] = tree_sizes(in_tree.vectors, at.learned, 2 * i[at.ints + CAPACITY])
    new = table(head)
    more_f, more_i = np.zeros(new.all_floats), np.zeros(new.all_ints, np.int64)
    more_f[: at.indices], more_i[: at.listed] = f[: at.indices], i[: at.listed]
    more_i[:HEADER] = head
    more_i[at.ints + CAPACITY] *= 2
    return more_f, more_i


@kernel
def rebuild(f: Floats, i: Ints) -> None:
    """Compute what every node promises from rewards and children, after these were filled from outside."""
    at = table(i)
    in_tree = tree(i, at)
    for node in range(i[at.ints + SIZE] - 1, -1, -1):
        if i[node_int(in_tree, node, PLAYS)] > 0:
            refresh(f, i, at, in_tree, node, depth_of(i, in_tree, node))
