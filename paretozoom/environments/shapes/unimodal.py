"""What tasks share whose arm is one number, and each of whose objectives rises to one peak and falls behind it."""

from __future__ import annotations

from collections.abc import Callable
from typing import ClassVar

import numpy as np

from paretozoom.environments.base import BINS, Bools, Task
from paretozoom.kernels.core.looping import laws_of, means_of
from paretozoom.kernels.tasks import golden
from paretozoom.problem.dimensions import Floats, Ints


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

    def ends(self, points: Floats) -> Floats:
        """The lowest and the highest peak in each point's context: (n, 2)."""
        out, kind = np.empty((len(points), 2)), type(self)
        points, numbers = np.require(points, float, ["C", "W"]), self.numbers_for(len(points))
        peaks, objectives = means_of(kind.peaks_kernel), len(self.problem.objectives)
        golden.ends(laws_of(kind), peaks, self.world, numbers, points, objectives, out)
        return out

    def gaps(self, points: Floats) -> Floats:
        """The largest smallest advantage of a Pareto optimal arm, by golden sections."""
        out = np.empty(len(points))
        numbers, between = self.numbers_for(len(points)), self.ends(points)
        points = np.ascontiguousarray(points)
        golden.gaps(laws_of(type(self)), self.world, numbers, points, between, self.gap_scale, out)
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
