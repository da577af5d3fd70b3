"""What tasks share whose arm is one number, and each of whose objectives rises to one peak and falls behind it."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import ClassVar

import numpy as np

from paretozoom.dimensions import Floats, Ints
from paretozoom.environments.base import BINS, Bools, Task
from paretozoom.kernels.fuse import fuse

# The smaller of functions that rise and then fall does so too, so its top is where golden sections end; 60 of them
# leave 3e-13 of the Pareto set's width.
GOLDEN = """
RATIO = 0.6180339887498949


@kernel
def least(now, point, arm, own, scale, other):
    point[len(point) - 1] = arm
    mean(now, point, other)
    smallest = np.inf
    for o in range(len(other)):
        smallest = min(smallest, (other[o] - own[o]) / scale[o])
    return smallest


@kernel
def ends(world, numbers, points, objectives, out):
    now, tops = world.copy(), np.empty(objectives)
    for k in range(len(points)):
        move(world, numbers[min(k, len(numbers) - 1)], now)
        peaks(now, points[k], tops)
        out[k, 0], out[k, 1] = tops.min(), tops.max()


@kernel
def gaps(world, numbers, points, between, scale, out):
    now, point = world.copy(), np.empty(points.shape[1])
    own, other = np.empty(len(scale)), np.empty(len(scale))
    for k in range(len(points)):
        low, high = between[k]
        out[k] = 0.0
        if low <= points[k, -1] <= high:
            continue
        move(world, numbers[min(k, len(numbers) - 1)], now)
        point[:] = points[k]
        mean(now, point, own)
        left, right = high - RATIO * (high - low), low + RATIO * (high - low)
        at_left = least(now, point, left, own, scale, other)
        at_right = least(now, point, right, own, scale, other)
        for _ in range(60):
            if at_left > at_right:
                high, right, at_right = right, left, at_left
                left = high - RATIO * (high - low)
                at_left = least(now, point, left, own, scale, other)
            else:
                low, left, at_left = left, right, at_right
                right = low + RATIO * (high - low)
                at_right = least(now, point, right, own, scale, other)
        best = max(least(now, point, low, own, scale, other), least(now, point, high, own, scale, other))
        out[k] = max(0.0, max(best, max(at_left, at_right)))
"""


class Unimodal(Task):
    """Each objective strictly rises with the arm up to its peak and strictly falls from there; truth follows.

    The Pareto set is the interval from the lowest peak to the highest: between them one objective falls when the arm
    grows, another when it shrinks; outside all fall with the distance. A subclass gives `peaks_kernel(world, point,
    out)`, which writes the peak of each objective in a point's context; all of them in [0, 1].

    >>> from paretozoom.environments import SmoothRidges
    >>> issubclass(SmoothRidges, Unimodal)
    True
    """

    peaks_kernel: ClassVar[Callable[..., None]]
    gap_error = 1e-12

    @property
    def _golden(self) -> ModuleType:
        kind = type(self)
        return fuse(GOLDEN, mean=kind.mean_kernel, peaks=kind.peaks_kernel, move=kind.move_kernel)

    def ends(self, points: Floats) -> Floats:
        """The lowest and the highest peak in each point's context: (n, 2)."""
        out = np.empty((len(points), 2))
        numbers = self.numbers_for(len(points))
        self._golden.ends(self.world, numbers, np.ascontiguousarray(points), len(self.problem.objectives), out)
        return out

    def gaps(self, points: Floats) -> Floats:
        """The largest smallest advantage of a Pareto optimal arm, by golden sections."""
        out = np.empty(len(points))
        numbers, between = self.numbers_for(len(points)), self.ends(points)
        self._golden.gaps(self.world, numbers, np.ascontiguousarray(points), between, self.gap_scale, out)
        return out

    def are_optimal(self, points: Floats) -> Bools:
        """Between the outermost peaks."""
        low, high = self.ends(points).T
        return np.asarray((points[:, -1] >= low) & (points[:, -1] <= high))

    def front_intervals(self, points: Floats) -> list[list[tuple[float, float]]]:
        """From the lowest to the highest peak."""
        return [[(low, high)] for low, high in self.ends(points).tolist()]

    def front_pieces(self, points: Floats) -> tuple[Ints, Floats]:
        """One for each point."""
        return np.arange(len(points) + 1), self.ends(points)

    def bin_of(self, points: Floats, arms: Ints) -> Ints:
        """Six equal parts of the Pareto set."""
        low, high = self.ends(points).T
        inside = (points[:, -1] >= low) & (points[:, -1] <= high)
        bins = np.clip(((points[:, -1] - low) / (high - low) * BINS).astype(np.int64), 0, BINS - 1)
        return np.where(inside, bins, -1)
