"""What a tree over the arms holds for optimal: the told cells at the ends of the ways it may go next."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from paretozoom.kernels.arms import table
from paretozoom.kernels.trees import hoo_sets, hoo_tree
from paretozoom.policies.fronts import Piece, described, learned_numbers, on_front
from paretozoom.problem.dimensions import Finite, Floats, Real

if TYPE_CHECKING:
    from paretozoom.policies.trees.trees import ArmTrees

Arm = tuple[Any, Any, Any]  # low, high, finite arm, as a Piece has them


def front_of(policy: ArmTrees, root: int, allowed: Floats, believed: bool) -> list[Piece]:
    """The pieces of a tree, ordered by their cells."""
    ends = sorted(_ends(policy, root, allowed), key=lambda end: end[1].tolist())
    if believed:
        means = policy.nodes.mean[[node for node, _ in ends]].reshape(len(ends), policy.learned)
        ends = [end for end, best in zip(ends, on_front(means), strict=True) if best]
    return [Piece(*arm, *_about(policy, node)) for node, cell in ends for arm in _arms(policy, cell, allowed)]


def _ends(policy: ArmTrees, root: int, allowed: Floats) -> Iterator[tuple[int, Floats]]:
    """The last told node, and its cell, on each way of positive probability."""
    floats, ints = policy._views(policy._floats, policy._ints)
    i = policy._ints
    at = table.table(i)
    first = np.empty(2 * hoo_tree.sides_of(i, at))
    hoo_tree.whole(i, at, first)
    waiting = [(root, 0, first)] if ints[root, hoo_tree.PLAYS] > 0 else []
    while waiting:
        node, depth, cell = waiting.pop()
        side = hoo_tree.longest_side(i, at, cell) if depth < policy.depth else -1
        ways = [k for k in (0, 1) if side >= 0 and hoo_tree.half_is_feasible(i, at, cell, side, bool(k), allowed)]
        if len(ways) == 2:
            lean = floats[node, hoo_tree.LEAN]
            ways = [k for k in ways if (lean > 0 if k == 0 else lean < 1)]
        children = [int(ints[node, hoo_tree.CHILDREN + k]) for k in ways]
        if not children or min(children) < 0:
            yield node, cell
        for k, child in zip(ways, children, strict=True):
            if child >= 0:
                half = cell.copy()
                half[side if k == 1 else len(cell) // 2 + side] = hoo_tree.middle(i, at, cell, side)
                waiting.append((child, depth + 1, half))


def _arms(policy: ArmTrees, cell: Floats, allowed: Floats) -> Iterator[Arm]:
    """The feasible arms of a cell: one by one if they are listed, else as intervals or boxes."""
    problem, i = policy.problem, policy._ints
    at = table.table(i)
    point = np.zeros(problem.dim)
    if len(problem.encoding.arms):
        numbers = allowed[:, 0].astype(int).tolist() if len(allowed) else range(len(problem.encoding.arms))
        for number in numbers:
            if cell[0] <= number < cell[1]:
                point[at.context :] = problem.encoding.arms[number]
                yield None, None, problem.decode_arm(number, point)
        return
    assert not isinstance(problem.arm, Finite)
    sides, values = len(cell) // 2, problem.encoding.values[at.context :].tolist()
    for row in range(max(1, len(allowed))):
        if hoo_tree.piece_size(i, at, cell, allowed, row) == 0:
            continue
        corners = [point.copy(), point.copy()]
        for j, v in enumerate(values):
            for k, corner in enumerate(corners):
                place = cell[j] if k == 0 else cell[sides + j] - (v != 0)
                encoded = place / (v - 1) if v > 0 else place
                if len(allowed):
                    limit = allowed[row, k * sides + j]
                    encoded = limit if v != 0 else max(encoded, limit) if k == 0 else min(encoded, limit)
                corner[at.context + j] = encoded
        low, high = (problem.decode_arm(-1, corner) for corner in corners)
        if len(problem.arm) == 1 and isinstance(problem.arm[0], Real):
            yield low[problem.arm[0].name], high[problem.arm[0].name], None
        else:
            yield low, high, None


def _about(policy: ArmTrees, node: int) -> tuple[dict[str, Any], ...]:
    """(index, mean, uncertainty, count) of a node, by objective and in the user's units."""
    plays, mean = int(policy.nodes.plays[node]), policy.nodes.mean[node].tolist()
    numerator, nu, rho = policy.constants
    bias = nu * rho ** int(policy.nodes.depth[node])
    index = [hoo_sets.upper_bound(m, plays, numerator, bias) for m in mean]
    learned = learned_numbers(policy.problem, policy.weights)
    return described(learned, index=index, mean=mean, width=math.sqrt(numerator / plays), count=plays)
