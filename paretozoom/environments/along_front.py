"""Where on the front of its context an arm is, in objective space: how much of the front comes before it.

Each objective is divided by its range over the context's front, so that units and scales do not matter; an objective
that is constant there counts nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from paretozoom.dimensions import Floats
from paretozoom.kernels.fuse import fuse

if TYPE_CHECKING:
    from paretozoom.environments.base import Task

STEPS = (
    60  # in which the front of a context is measured: halves to sixths, where kinks may be, are whole numbers of them
)
FEWEST_STEPS = 4  # on each of many pieces
TIE = 1e-12  # what differs by less, relatively, differs by rounding

LENGTH = """
@kernel
def between(a, b, unit):
    total = 0.0
    for o in range(len(unit)):
        total += ((b[o] - a[o]) * unit[o]) ** 2
    return math.sqrt(total)


@kernel
def shares(world, numbers, points, offsets, intervals, steps, fewest, tie, own, out):
    now, point = world.copy(), np.empty(points.shape[1])
    low, unit = np.empty(own.shape[1]), np.empty(own.shape[1])
    most = 0
    for k in range(len(points)):
        most = max(most, offsets[k + 1] - offsets[k])
    vectors = np.empty((steps + (fewest + 1) * most, own.shape[1]))
    for k in range(len(points)):
        move(world, numbers[min(k, len(numbers) - 1)], now)
        pieces = intervals[offsets[k] : offsets[k + 1]]
        arm = points[k, -1]
        parts = max(fewest, steps // max(1, len(pieces)))
        point[:] = points[k]
        for piece in range(len(pieces)):
            start, end = pieces[piece]
            for j in range(parts + 1):
                point[-1] = start + (end - start) * j / parts
                mean(now, point, vectors[piece * (parts + 1) + j])
        rows = len(pieces) * (parts + 1)
        for o in range(len(unit)):
            least, largest = own[k, o], own[k, o]
            for row in range(rows):
                least, largest = min(least, vectors[row, o]), max(largest, vectors[row, o])
            constant = largest - least <= tie * max(abs(least), abs(largest))
            unit[o] = 0.0 if constant else 1.0 / (largest - least)
        below, total = 0.0, 0.0
        for piece in range(len(pieces)):
            start, end = pieces[piece]
            for j in range(parts):
                row = piece * (parts + 1) + j
                length = between(vectors[row], vectors[row + 1], unit)
                total += length
                if arm >= start + (end - start) * (j + 1) / parts:
                    below += length
                elif arm > start + (end - start) * j / parts:
                    below += between(vectors[row], own[k], unit)
        out[k] = below / total if total > 0.0 else np.nan
"""


def shares_of_length(task: Task, points: Floats) -> Floats:
    """How much of the length of each context's front is below a Pareto optimal arm on the line of arms.

    Lengths are those of the curve that the means draw in objective space while the arm runs through the intervals of
    the Pareto set; a jump from piece to piece has none. NaN where the front is a single vector.

    >>> from paretozoom.environments import ConvexFront
    >>> points = np.array([[0.5, 0.03], [0.5, 0.0925], [0.5, 0.155], [0.5, 0.28]])
    >>> shares_of_length(ConvexFront(), points).round(3).tolist()
    [0.0, 0.297, 0.5, 1.0]
    """
    if not len(points):
        return np.zeros(0)
    offsets, intervals = task.front_pieces(points)
    points, numbers, out = np.ascontiguousarray(points), task.numbers_for(len(points)), np.empty(len(points))
    module = fuse(LENGTH, mean=type(task).mean_kernel, move=type(task).move_kernel)
    own = task.means(points)
    module.shares(task.world, numbers, points, offsets, intervals, STEPS, FEWEST_STEPS, TIE, own, out)
    return out


def shares_of_range(task: Task, points: Floats) -> Floats:
    """How much of the range of the first objective over each context's front is below a Pareto optimal arm.

    Where the first objective is constant, the first that is not; NaN where all are.

    >>> from paretozoom.environments import Boxes
    >>> shares_of_range(Boxes(), np.array([[0.5, 0.5, 0.5, 0.4, 0.4], [0.5, 0.5, 0.5, 0.5, 0.5]])).round(1).tolist()
    [1.0, 0.5]
    """
    own, shares = task.means(points), np.full(len(points), np.nan)
    for k, point in enumerate(points):
        vectors, best = task.front_of_grid(point, k)
        front = np.vstack([vectors[best], own[k]])  # an arm between those of the grid may be better than all of them
        low, high = front.min(axis=0), front.max(axis=0)
        varies = np.flatnonzero(high - low > TIE * np.maximum(np.abs(low), np.abs(high)))
        if len(varies):
            o = varies[0]
            shares[k] = (own[k, o] - low[o]) / (high[o] - low[o])
    return shares
