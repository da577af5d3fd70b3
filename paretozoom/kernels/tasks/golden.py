"""The truth about tasks whose arm is one number, where each objective rises to one peak and falls behind it.

The smaller of functions that rise and then fall does so too, so its top is where golden sections end; 60 of them leave
3e-13 of the Pareto set's width.
"""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.core.calls import borrowed, call_means, call_move
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.core.looping import Laws, loop
from paretozoom.kernels.tasks.truth import advantage

RATIO = 0.6180339887498949
SECTIONS = 60


@loop
def ends(laws: Laws, peaks: int, world: Floats, numbers: Ints, points: Floats, objectives: int, out: Floats) -> None:
    """Write the lowest and the highest peak in the context of each point; `peaks` is a kernel's address."""
    points, now, tops = borrowed(points), world.copy(), np.empty(objectives)
    for k in range(len(points)):
        call_move(laws.move, world, numbers[min(k, len(numbers) - 1)], now)
        call_means(peaks, now, points[k], tops)
        out[k, 0], out[k, 1] = tops.min(), tops.max()


@loop
def gaps(laws: Laws, world: Floats, numbers: Ints, points: Floats, between: Floats, scale: Floats, out: Floats) -> None:
    """Write the gap of each point: the largest smallest advantage of an arm between the outermost peaks."""
    now, point = world.copy(), np.empty(points.shape[1])
    own, other = np.empty(len(scale)), np.empty(len(scale))
    for k in range(len(points)):
        low, high = between[k]
        out[k] = 0.0
        if low <= points[k, -1] <= high:
            continue
        call_move(laws.move, world, numbers[min(k, len(numbers) - 1)], now)
        point[:] = points[k]
        call_means(laws.mean, now, point, own)
        left, right = high - RATIO * (high - low), low + RATIO * (high - low)
        at_left = _advantage_of(laws, now, point, left, own, scale, other)
        at_right = _advantage_of(laws, now, point, right, own, scale, other)
        for _ in range(SECTIONS):
            if at_left > at_right:
                high, right, at_right = right, left, at_left
                left = high - RATIO * (high - low)
                at_left = _advantage_of(laws, now, point, left, own, scale, other)
            else:
                low, left, at_left = left, right, at_right
                right = low + RATIO * (high - low)
                at_right = _advantage_of(laws, now, point, right, own, scale, other)
        at_low = _advantage_of(laws, now, point, low, own, scale, other)
        at_high = _advantage_of(laws, now, point, high, own, scale, other)
        out[k] = max(0.0, max(max(at_low, at_high), max(at_left, at_right)))


@kernel
def _advantage_of(
    laws: Laws, now: Floats, point: Floats, arm: float, own: Floats, scale: Floats, other: Floats
) -> float:
    point[len(point) - 1] = arm
    call_means(laws.mean, now, point, other)
    return advantage(other, own, scale)
