"""Trees over the arms, as HOO grows them: cells that are halved, nodes that are added, draws within a cell.

The state is that of `table.py`; what is learned are trees, one per context cell. The arms form a box: a side per
coordinate, or one side with the numbers of the arms if these can be listed. A cell is a part of the box, a continuous
side from low to high, a discrete one from its value number low to before number high. It is halved along its longest
side; a node is known by its credit: the number of its context cell if it is a root, else that of its parent and side.
"""

from __future__ import annotations

from typing import NamedTuple

from paretozoom.kernels.arms.table import KEY0, KEY1, LISTED, PLAY_STREAM, Table
from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.core.philox import uniforms

# constants: twice the logarithm of the horizon times the confidence squared, nu1, rho
NUMERATOR, NU, RHO = range(3)

# ints: this header, scratch for marks, then the nodes
SIZE, CAPACITY, COPIES, VECTORS, DEPTH = range(5)
TREE_HEADER = 5
PARENT, CHILDREN, PLAYS, KEPT, NODE = 0, 1, 3, 4, 5  # a node's ints; KEPT is how many vectors B has

# floats: scratch for two lists of vectors and their volumes, then the nodes; a node's floats are LEAN, the probability
# of going left where both ways are feasible, then the sums of its rewards, then B, vector by vector
LEAN, SUMS = 0, 1

PIECE_STREAM = PLAY_STREAM - 1  # of the feasible box; the ways at forks use streams from 0 on
SHORTEST_SIDE = 2.0**-30  # continuous sides below this are not halved


class Tree(NamedTuple):
    """Where the parts of the trees begin, in f and in i."""

    copies: int
    vectors: int  # at most so many in B
    lists: int  # scratch in f: two lists of 2 * vectors vectors
    volumes: int  # scratch in f: (2 * vectors,)
    marks: int  # scratch in i: (4 * vectors,)
    floats: int  # the nodes' floats
    float_width: int
    ints: int  # the nodes' ints


@kernel
def tree(i: Ints, at: Table) -> Tree:
    """Read off where the trees are."""
    vectors, marks = i[at.ints + VECTORS], at.ints + TREE_HEADER
    volumes = at.floats + 4 * vectors * at.learned
    width = SUMS + (1 + vectors) * at.learned
    copies = i[at.ints + COPIES]
    return Tree(copies, vectors, at.floats, volumes, marks, volumes + 2 * vectors, width, marks + 4 * vectors)


@kernel
def tree_sizes(vectors: int, learned: int, capacity: int) -> tuple[int, int]:
    """How many floats and ints trees with room for some nodes need."""
    floats = (4 * learned + 2) * vectors + capacity * (SUMS + (1 + vectors) * learned)
    return floats, TREE_HEADER + 4 * vectors + capacity * NODE


@inlined
def node_int(in_tree: Tree, node: int, field: int) -> int:
    """Where in i a field of a node is."""
    return in_tree.ints + node * NODE + field


@inlined
def node_float(in_tree: Tree, node: int, field: int) -> int:
    """Where in f a field of a node is."""
    return in_tree.floats + node * in_tree.float_width + field


@kernel
def sides_of(i: Ints, at: Table) -> int:
    """How many sides the box of all arms has."""
    return 1 if i[LISTED] == 1 else at.dim - at.context


@inlined
def values_of(i: Ints, at: Table, side: int) -> int:
    """How many values a side has; 0 if it is continuous."""
    return at.arms if i[LISTED] == 1 else abs(i[at.values + at.context + side])


@kernel
def whole(i: Ints, at: Table, cell: Floats) -> None:
    """Write the cell of all arms: lows, then highs."""
    sides = len(cell) // 2
    for side in range(sides):
        cell[side] = 0.0
        cell[sides + side] = max(1.0, float(values_of(i, at, side)))


@kernel
def longest_side(i: Ints, at: Table, cell: Floats) -> int:
    """The side along which a cell is halved, the first of the longest ones; -1 if it cannot be halved."""
    longest, most, sides = -1, 0.0, len(cell) // 2
    for side in range(sides):
        length, values = cell[sides + side] - cell[side], values_of(i, at, side)
        if values > 0:
            length = length / values if length > 1.0 else 0.0
        elif length < SHORTEST_SIDE:
            length = 0.0
        if length > most:
            longest, most = side, length
    return longest


@kernel
def middle(i: Ints, at: Table, cell: Floats, side: int) -> float:
    """Where a side is halved."""
    low, high = cell[side], cell[len(cell) // 2 + side]
    return 0.5 * (low + high) if values_of(i, at, side) == 0 else float(int(low + high) // 2)


@inlined
def place_of(i: Ints, at: Table, side: int, coordinate: float) -> float:
    """The number of the value that an encoded coordinate of a discrete side has."""
    if i[at.kinds + at.context + side] == CATEGORICAL:
        return coordinate
    return float(round(coordinate * (i[at.values + at.context + side] - 1)))


@kernel
def piece_size(i: Ints, at: Table, cell: Floats, allowed: Floats, row: int) -> float:
    """The size of what a cell shares with a row of feasible arms, or of the cell if all are feasible.

    Sizes multiply the lengths of continuous sides and the numbers of values of discrete ones.
    """
    size, sides = 1.0, len(cell) // 2
    for side in range(sides):
        low, high = cell[side], cell[sides + side]
        if len(allowed) > 0:
            if i[LISTED] == 1:
                return 1.0 if low <= allowed[row, 0] < high else 0.0
            if values_of(i, at, side) > 0:
                if not low <= place_of(i, at, side, allowed[row, side]) < high:
                    return 0.0
                continue
            low, high = max(low, allowed[row, side]), min(high, allowed[row, sides + side])
        size *= max(0.0, high - low)
    return size


@kernel
def cell_size(i: Ints, at: Table, cell: Floats, allowed: Floats) -> float:
    """The size of the feasible part of a cell."""
    total = 0.0
    for row in range(max(1, len(allowed))):
        total += piece_size(i, at, cell, allowed, row)
    return total


@kernel
def half_is_feasible(i: Ints, at: Table, cell: Floats, side: int, upper: bool, allowed: Floats) -> bool:
    """Whether a half of a cell holds feasible arms."""
    if len(allowed) == 0:
        return True
    end = side if upper else len(cell) // 2 + side
    kept = cell[end]
    cell[end] = middle(i, at, cell, side)
    size = cell_size(i, at, cell, allowed)
    cell[end] = kept
    return size > 0.0


@part
def draw_in_cell(
    f: Floats, i: Ints, at: Table, number: int, point: Floats, cell: Floats, allowed: Floats
) -> tuple[int, float]:
    """Draw uniformly from the feasible part of a cell, writing it to `point`; returns finite arm and density."""
    total, chosen, sides = cell_size(i, at, cell, allowed), 0, len(cell) // 2
    left = uniforms(i[KEY0], i[KEY1], number, PIECE_STREAM)[0] * total
    for row in range(len(allowed)):
        size = piece_size(i, at, cell, allowed, row)
        if size > 0.0:
            chosen = row
            if left < size:
                break
            left -= size
    if i[LISTED] == 1:
        draw = uniforms(i[KEY0], i[KEY1], number, PLAY_STREAM)[0]
        arm = int(allowed[chosen, 0]) if len(allowed) > 0 else int(cell[0]) + int(draw * total)
        for j in range(at.dim - at.context):
            point[at.context + j] = f[at.arm + arm * (at.dim - at.context) + j]
        return arm, 1.0 / total
    for side in range(sides):
        draw = uniforms(i[KEY0], i[KEY1], number, PLAY_STREAM + side // 4)[side % 4]
        low, high, values = cell[side], cell[sides + side], i[at.values + at.context + side]
        if values != 0:
            place = low + int(draw * (high - low))
            place = place / (values - 1) if values > 0 else place
            point[at.context + side] = allowed[chosen, side] if len(allowed) > 0 else place
            continue
        if len(allowed) > 0:
            low, high = max(low, allowed[chosen, side]), min(high, allowed[chosen, sides + side])
        point[at.context + side] = low + (high - low) * draw
    return -1, 1.0 / total
