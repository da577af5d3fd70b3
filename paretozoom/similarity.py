"""The metric D on encoded context-arm pairs, of diameter at most 1."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paretozoom.dimensions import Floats, Ints, number_of
from paretozoom.kernels.kinds import CATEGORICAL, PERIODIC
from paretozoom.problem import Problem
from paretozoom.records import Refused


class Similarity(NamedTuple):
    """The Euclidean distance of encoded points over the root of their number of coordinates, times `scale`, at most 1.

    With one real context, one real arm and a scale of 1 this is the D of the paper's Appendix D. A scale of L makes
    Assumption 1 hold for expected rewards that change up to L times as fast as the distance without it.

    >>> from paretozoom import Objective, Real
    >>> task = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])
    >>> float(Similarity.of(task).distances(np.array([[0.0, 0.0]]), np.array([[1.0, 1.0]]))[0, 0])
    1.0
    """

    kinds: Ints  # (dim,)
    scale: float = 1.0

    @classmethod
    def of(cls, problem: Problem, scale: float = 1.0) -> Similarity:
        """The similarity of a problem."""
        number = number_of(scale, "similarity: scale")
        if number <= 0:
            raise Refused(f"similarity: scale {scale!r} is not positive")
        return cls(problem.encoding.kinds, number)

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
        return np.asarray(np.minimum(1.0, self.scale * np.sqrt(total / len(self.kinds))))
