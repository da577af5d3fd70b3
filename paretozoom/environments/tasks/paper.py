"""The task of the paper's Appendix D: two moving ridges, a front of constant width between them."""

from __future__ import annotations

import numpy as np

from paretozoom.environments.base import BINS, Bools, Task
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints, Objective, Real

WIDTH = 0.2
# Ends of the front belong to it; 1e-12 forgives the rounding of y - y1.
GUARD = 1e-12


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    x, y = point[0], point[-1]
    y1 = 0.8 - 0.8 * x
    y2 = 1.0 - 0.8 * x
    out[0] = max(0.0, 1.0 - 5.0 * abs(y - y1))
    out[1] = max(0.0, 1.0 - 5.0 * (y2 - y)) if y <= y2 else max(0.0, 1.0 - (y - y2) / 4.0)


def _problem(*contexts: str) -> Problem:
    return Problem(
        context=[Real(name) for name in contexts],
        arm=[Real("y")],
        objectives=[Objective("first"), Objective("second")],
    )


class PaperTask(Task):
    """The paper's Appendix D: one number as context, one as arm, two objectives whose peaks move with the context.

    Bernoulli rewards; the Pareto set of x is [0.8 - 0.8x, 1 - 0.8x], and the gap has a closed form. The
    distance of the similarity understates how fast the means change, by a factor of 9.06.

    >>> task = PaperTask()
    >>> task.gap([0.5], [0.8]), [round(end, 9) for end in task.front([0.5])[0]]
    (0.025000000000000022, [0.4, 0.6])
    """

    name = "paper"
    mean_kernel = _mean
    gap_error = 0.0

    def __init__(self) -> None:
        super().__init__(_problem("x"))

    def gaps(self, points: Floats) -> Floats:
        """max(0, (1 - mu1 - mu2) / 2)."""
        return np.asarray(np.maximum(0.0, (1.0 - self.means(points).sum(axis=1)) / 2.0))

    def _along(self, points: Floats) -> Floats:
        """How far above the lower end of the front each arm is."""
        return np.asarray(points[:, -1] - (0.8 - 0.8 * points[:, 0]))

    def are_optimal(self, points: Floats) -> Bools:
        """y1(x) <= y <= y2(x)."""
        along = self._along(points)
        return np.asarray((along >= -GUARD) & (along <= WIDTH + GUARD))

    def front_intervals(self, points: Floats) -> list[list[tuple[float, float]]]:
        """[y1(x), y2(x)]."""
        return [[(0.8 - 0.8 * x, 1.0 - 0.8 * x)] for x in points[:, 0].tolist()]

    def bin_of(self, points: Floats, arms: Ints) -> Ints:
        """The paper's bins: [y1, y1 + 1/30], then (y1 + (i-1)/30, y1 + i/30]."""
        along = self._along(points)
        bins = np.clip(np.ceil((along - GUARD) * BINS / WIDTH).astype(np.int64) - 1, 0, BINS - 1)
        return np.where(self.are_optimal(points), bins, -1)

    def front_bin_of(self, points: Floats, arms: Ints) -> Ints:
        """The same: the front is the straight line mu1 + mu2 = 1, along which arms are spread evenly."""
        return self.bin_of(points, arms)


class PaddedPaperTask(PaperTask):
    """The paper's task with two further numbers in the context that change nothing.

    >>> task = PaddedPaperTask()
    >>> task.gap([0.5, 0.1, 0.9], [0.8]) == PaperTask().gap([0.5], [0.8])
    True
    """

    name = "paper-padded"

    def __init__(self) -> None:
        Task.__init__(self, _problem("x", "idle1", "idle2"))
