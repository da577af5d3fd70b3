"""Thompson sampling on a grid of context cells and arms: nine lines of NumPy, and what most packages lose to."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats
from peers.adapter import Cells, Rival, Settings, arms_of, chebyshev


class GridThompson(Rival):
    """Beta posteriors per cell, arm and objective; if rewards are unbounded, Gaussian ones with the spread seen."""

    package = "numpy"
    settings: ClassVar[Settings] = {
        "8 x 16": {"cells": 8, "line": 16},
        "16 x 32": {"cells": 16, "line": 32},
        "32 x 64": {"cells": 32, "line": 64},
    }
    speed = 20_000.0
    wants_raw = True

    def __init__(self, problem: Problem, horizon: int, seed: int, *, cells: int, line: int) -> None:
        super().__init__(problem, horizon, seed)
        self.arms = arms_of(problem, line)
        self.cells = Cells(problem, cells)
        self.beta = all(objective.bounded for objective in problem.objectives)
        self.count = np.zeros((self.cells.count, len(self.arms), 1))
        self.total = np.zeros((self.cells.count, len(self.arms), self.objectives))
        self.all = np.zeros((3, self.objectives))  # how many rewards, their sum, the sum of their squares

    def choose(self, context: Floats) -> int:
        """Draw the mean of every arm from its posterior, and pick among the draws."""
        cell = self.cells.find(context)
        count, total = self.count[cell], self.total[cell]
        if self.beta:
            return self.pick(self.rng.beta(1 + total, 1 + count - total))
        usual = self.all[1] / np.maximum(self.all[0], 1)
        spread = np.sqrt(np.maximum(self.all[2] / np.maximum(self.all[0], 1) - usual**2, 1e-12))
        return self.pick(self.rng.normal((usual + total) / (1 + count), spread / np.sqrt(1 + count)))

    def learn(self, context: Floats, arm: int | Floats, reward: Floats) -> None:
        """Count."""
        cell = self.cells.find(context)
        self.count[cell, arm] += 1
        self.total[cell, arm] += reward
        self.all += [np.ones_like(reward), reward, reward**2]

    def pick(self, drawn: Floats) -> int:
        """One of the arms, from the means drawn."""
        raise NotImplementedError


class ThompsonChebyshev(GridThompson):
    """... then the best arm under random Chebyshev weights."""

    name = "thompson-chebyshev"

    def pick(self, drawn: Floats) -> int:
        """Random Chebyshev."""
        return chebyshev(drawn, self.rng)


class ThompsonFront(GridThompson):
    """... then any arm that no other dominates, uniformly."""

    name = "thompson-front"

    def pick(self, drawn: Floats) -> int:
        """Uniform on the front of the draws."""
        beaten = np.ones((len(drawn), len(drawn)), np.bool_)
        for values in drawn.T:
            beaten &= values[:, None] < values
        return int(self.rng.choice(np.flatnonzero(~beaten.any(axis=1))))
