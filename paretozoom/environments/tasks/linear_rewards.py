"""Rewards that are linear in joint features of context and arm."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.environments.base import Task
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Objective, Real
from paretozoom.similarity import Similarity

MATCH, SHARE = 0.18, 0.1  # what a fitting arm earns in both objectives, and what the objectives divide
PLACES = {"late": (1.0, 0.0), "early": (0.0, 1.0), "always": (0.4, 0.4), "never": (0.0, 0.0)}
SPLITS = (0.0, 0.5, 1.0)


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    x, late, early, split = point[0], point[1], point[2], point[3]
    fits = MATCH * (x * late + (1.0 - x) * early)
    out[0] = fits + SHARE * split
    out[1] = fits + SHARE * (1.0 - split)


class LinearRewards(Task):
    """Twelve arms with three features, one number as context: home of LinUCB and SupLinUCB.

    Both objectives pay 0.18 (x late + (1 - x) early), and divide 0.1 between them as the arm's third feature, the
    split, says. So the front is the three arms that fit the context best, and the gap of another arm is by how much
    it fits worse. The means are linear in (1, x, y, x y) / sqrt(8), y the arm's features; these have a norm of at
    most 1, and so have their coefficients `theta`, as SupLinUCB wants.

    >>> task = LinearRewards()
    >>> task.front([0.2]), round(task.gap([0.2], "late, 0.5"), 6)
    (['early, 0', 'early, 0.5', 'early, 1'], 0.108)
    >>> np.linalg.norm(task.theta, axis=1).round(3).tolist()
    [0.926, 0.968]
    """

    name = "linear-rewards"
    mean_kernel = _mean

    def __init__(self) -> None:
        arms = {f"{name}, {split:g}": (*place, split) for name, place in PLACES.items() for split in SPLITS}
        problem = Problem(
            context=[Real("x")],
            arm=Finite(list(arms), features=list(arms.values())),
            objectives=[Objective("first"), Objective("second")],
        )
        super().__init__(problem)

    @property
    def theta(self) -> Floats:
        """The coefficients of the joint features, a row per objective."""
        first = [0.0, 0.0, 0.0, MATCH, SHARE, MATCH, -MATCH, 0.0]
        second = [SHARE, 0.0, 0.0, MATCH, -SHARE, MATCH, -MATCH, 0.0]
        return math.sqrt(8.0) * np.array([first, second])

    @staticmethod
    def features(points: Floats) -> Floats:
        """The joint features (1, x, y, x y) / sqrt(8) of encoded points.

        >>> (np.sqrt(8) * LinearRewards.features(np.array([[0.5, 1.0, 0.0, 0.5]]))).round(9).tolist()
        [[1.0, 0.5, 1.0, 0.0, 0.5, 0.5, 0.0, 0.25]]
        """
        x, y = points[:, :1], points[:, 1:]
        return np.hstack([np.ones_like(x), x, y, x * y]) / math.sqrt(8.0)

    @property
    def similarity(self) -> Similarity:
        """|mu - mu'| <= 0.18 (|x - x'| + |late - late'| + |early - early'|) + 0.1 |split - split'|, term by term."""
        weights = [MATCH, MATCH, MATCH, SHARE]
        return Similarity.of(self.problem, norm=1, weights=weights, scale=sum(weights))
