"""Where on the front of its context an arm is, in objective space: how much of the front comes before it.

Each objective is divided by its range over the context's front, so that units and scales do not matter; an objective
that is constant there counts nothing.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from paretozoom.kernels.core.jit import kernel
from paretozoom.problem.dimensions import Floats, Ints

if TYPE_CHECKING:
    from paretozoom.environments.base import Task

# In which the front of a context is measured: halves to sixths, where kinks may be, are whole numbers of them.
STEPS = 60
FEWEST_STEPS = 4  # on each of many pieces
TIE = 1e-12  # what differs by less, relatively, differs by rounding

AT_ONCE = 1_000  # points whose fronts are measured together


@kernel
def _walk(points: Floats, steps: Ints, offsets: Ints, intervals: Floats, stops: Floats) -> None:
    """Write where the front of each point's context is looked at: the ends of so many steps on all of its pieces."""
    row = 0
    for k in range(len(points)):
        for piece in range(offsets[k], offsets[k + 1]):
            start, end = intervals[piece]
            for j in range(steps[k] + 1):
                stops[row] = points[k]
                stops[row, -1] = start + (end - start) * j / steps[k]
                row += 1


@kernel
def _between(a: Floats, b: Floats, unit: Floats) -> float:
    total = 0.0
    for o in range(len(unit)):
        total += ((b[o] - a[o]) * unit[o]) ** 2
    return math.sqrt(total)


@kernel
def _shares(
    points: Floats, steps: Ints, offsets: Ints, intervals: Floats, vectors: Floats, own: Floats, out: Floats
) -> None:
    """What is below each point, by the means at the stops of its context's front and its own."""
    first, unit = 0, np.empty(own.shape[1])
    for k in range(len(points)):
        pieces, parts, arm = offsets[k + 1] - offsets[k], steps[k], points[k, -1]
        rows = pieces * (parts + 1)
        for o in range(len(unit)):
            least, largest = own[k, o], own[k, o]
            for row in range(first, first + rows):
                least, largest = min(least, vectors[row, o]), max(largest, vectors[row, o])
            constant = largest - least <= TIE * max(abs(least), abs(largest))
            unit[o] = 0.0 if constant else 1.0 / (largest - least)
        below, total = 0.0, 0.0
        for piece in range(pieces):
            start, end = intervals[offsets[k] + piece]
            for j in range(parts):
                row = first + piece * (parts + 1) + j
                length = _between(vectors[row], vectors[row + 1], unit)
                total += length
                if arm >= start + (end - start) * (j + 1) / parts:
                    below += length
                elif arm > start + (end - start) * j / parts:
                    below += _between(vectors[row], own[k], unit)
        out[k] = below / total if total > 0.0 else np.nan
        first += rows


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
    points, numbers, out = np.ascontiguousarray(points), task.numbers_for(len(points)), np.empty(len(points))
    offsets, intervals = task.front_pieces(points)
    own, pieces = task.means(points), np.diff(offsets)
    steps = np.maximum(FEWEST_STEPS, STEPS // np.maximum(1, pieces))
    stops = pieces * (steps + 1)
    for first in range(0, len(points), AT_ONCE):
        some, ends = slice(first, first + AT_ONCE), offsets[first : first + AT_ONCE + 1]
        looked_at = np.empty((stops[some].sum(), points.shape[1]))
        _walk(points[some], steps[some], ends, intervals, looked_at)
        there = task.at(numbers if len(numbers) == 1 else np.repeat(numbers[some], stops[some]))
        _shares(points[some], steps[some], ends, intervals, there.means(looked_at), own[some], out[some])
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
