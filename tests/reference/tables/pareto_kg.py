"""Pareto knowledge gradient (Yahyaa, Drugan and Manderick, 2014), from the paper."""

from __future__ import annotations

import math
from typing import Any

from paretozoom import Problem
from tests.reference.tables.ucb1 import Averages


def worth(mean: float, other: float, deviation: float, plays: int) -> float:
    """The knowledge gradient of an arm."""
    error = deviation / math.sqrt(plays)
    z = -abs((mean - other) / error)
    below, height = math.erfc(-z / math.sqrt(2)) / 2, math.exp(-z * z / 2) / math.sqrt(2 * math.pi)
    return error * (z * below + height)


class ParetoKG(Averages):
    """Standard deviations are those of the rewards kept."""

    def __init__(
        self, problem: Problem, *, horizon: int, first_plays: int, confidence: float = 1.0, **given: Any
    ) -> None:
        super().__init__(problem, **given)
        self.horizon, self.first_plays, self.confidence = horizon, first_plays, confidence

    def pick(self, cell: int, listed: list[int], number: int) -> tuple[int, float]:
        """Uniform on the front of the indices."""
        rows = [cell * len(self.arms) + arm for arm in listed]
        if any(self.plays(row) < self.first_plays for row in rows):
            few = [arm for arm, row in zip(listed, rows, strict=True) if self.plays(row) < self.first_plays]
            return self.uniform_on(few)
        means = [self.mean(row) for row in rows]
        vectors = [[self.index(rows, means, k, o, number) for o in range(self.learned)] for k in range(len(rows))]
        return self.uniform_on(self.front_of(listed, vectors))

    def index(self, rows: list[int], means: list[list[float]], k: int, o: int, number: int) -> float:
        """The mean and what is added to it."""
        if len(rows) == 1:
            return means[k][o]
        other = max(mean[o] for j, mean in enumerate(means) if j != k)
        gained = worth(means[k][o], other, self.deviation(rows[k], o), self.plays(rows[k]))
        factor = self.confidence * max(self.horizon - number, 0) / self.cells * len(self.arms) * self.learned
        return means[k][o] + factor * gained

    def deviation(self, row: int, o: int) -> float:
        """The standard deviation of the rewards, at least a thousandth."""
        mean, kept = self.mean(row)[o], self.rewards[row]
        return max(math.sqrt(math.fsum((r[o] - mean) ** 2 for r in kept) / (len(kept) - 1)), 1e-3)
