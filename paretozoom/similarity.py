"""The metric D on encoded context-arm pairs, of diameter at most 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paretozoom.dimensions import Floats, Ints
from paretozoom.kernels.kinds import CATEGORICAL, PERIODIC
from paretozoom.problem import Problem


class Similarity(NamedTuple):
    """The Euclidean distance of encoded points, divided by the root of their number of coordinates.

    With one real context and one real arm this is the D of the paper's Appendix D.

    >>> from paretozoom.dimensions import Objective, Real
    >>> task = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])
    >>> float(Similarity.of(task).distances(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]]))[0, 0])
    1.0
    """

    kinds: Ints  # (dim,)

    @classmethod
    def of(cls, problem: Problem) -> Similarity:
        """The similarity a problem has when nothing else is said."""
        return cls(problem.encoding.kinds)

    def distances(self, a: Floats, b: Floats) -> Floats:
        """All distances between the points a (n, dim) and b (m, dim): (n, m)."""
        return self.between(a[:, None, :], b[None, :, :])

    def between(self, a: Floats, b: Floats) -> Floats:
        """The distances between the points of two arrays (..., dim) of matching shapes."""
        total = np.zeros(np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))
        for j, kind in enumerate(self.kinds):
            gap = np.abs(a[..., j] - b[..., j])
            if kind == PERIODIC:
                gap = 2.0 * np.minimum(gap, 1.0 - gap)
            elif kind == CATEGORICAL:
                gap = (gap != 0).astype(float)
            total += gap * gap
        return np.asarray(np.sqrt(total / len(self.kinds)))
