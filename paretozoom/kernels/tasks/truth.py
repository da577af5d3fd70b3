"""The truth about many points of any task: means, and gaps and optimal arms among those of a grid."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.core.calls import borrowed, call_context, call_means, call_move
from paretozoom.kernels.core.jit import Bools, Floats, Ints, kernel
from paretozoom.kernels.core.looping import Laws, loop

# `numbers` are the rounds of the points: one for each, or one for all.


@loop
def make_contexts(laws: Laws, world: Floats, values: Ints, draws: Floats, points: Floats) -> None:
    """Write the contexts that a task makes of rows of draws to the heads of `points`."""
    draws, points = borrowed(draws), borrowed(points)
    for k in range(len(points)):
        call_context(laws.context, world, values, draws[k], points[k])


@loop
def means(laws: Laws, world: Floats, numbers: Ints, points: Floats, out: Floats) -> None:
    """Write the mean rewards of each point."""
    points, out, now = borrowed(points), borrowed(out), world.copy()
    for k in range(len(points)):
        call_move(laws.move, world, numbers[min(k, len(numbers) - 1)], now)
        call_means(laws.mean, now, points[k], out[k])


@loop
def line(laws: Laws, world: Floats, number: int, point: Floats, context: int, grid: Floats, out: Floats) -> None:
    """Write the mean rewards of each arm of a grid in the context of one point, which is changed."""
    out, now = borrowed(out), world.copy()
    call_move(laws.move, world, number, now)
    for arm in range(len(grid)):
        point[context:] = grid[arm]
        call_means(laws.mean, now, point, out[arm])


@loop
def gaps(
    laws: Laws,
    world: Floats,
    numbers: Ints,
    points: Floats,
    context: int,
    grid: Floats,
    own: Floats,
    scale: Floats,
    out: Floats,
) -> None:
    """Write the gap of each point, whose means are `own`: the largest smallest advantage of an arm of the grid."""
    point, now, other = np.empty(points.shape[1]), world.copy(), np.empty(own.shape[1])
    for k in range(len(points)):
        call_move(laws.move, world, numbers[min(k, len(numbers) - 1)], now)
        point[:] = points[k]
        largest = 0.0
        for arm in range(len(grid)):
            point[context:] = grid[arm]
            call_means(laws.mean, now, point, other)
            largest = max(largest, advantage(other, own[k], scale))
        out[k] = largest


@kernel
def advantage(other: Floats, own: Floats, scale: Floats) -> float:
    """By how much one vector is ahead of another in every objective, in units of `scale`."""
    smallest = np.inf
    for o in range(len(other)):
        smallest = min(smallest, (other[o] - own[o]) / scale[o])
    return smallest


@loop
def optimal(
    laws: Laws, world: Floats, numbers: Ints, points: Floats, context: int, grid: Floats, own: Floats, out: Bools
) -> None:
    """Write whether no arm of the grid dominates each point, whose means are `own`."""
    point, now, other = np.empty(points.shape[1]), world.copy(), np.empty(own.shape[1])
    for k in range(len(points)):
        call_move(laws.move, world, numbers[min(k, len(numbers) - 1)], now)
        point[:] = points[k]
        out[k] = True
        for arm in range(len(grid)):
            point[context:] = grid[arm]
            call_means(laws.mean, now, point, other)
            less, more = False, False
            for o in range(len(other)):
                less = less or other[o] < own[k, o]
                more = more or other[o] > own[k, o]
            if more and not less:
                out[k] = False
                break
