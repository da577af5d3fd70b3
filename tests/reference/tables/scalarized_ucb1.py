"""Scalarized UCB1 (Drugan and Nowe, 2013), from the paper."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from paretozoom import Problem
from tests.reference.tables.ucb1 import Averages


class ScalarizedUCB1(Averages):
    """Independent learners, one per weight vector, unless they share what is told."""

    def __init__(
        self, problem: Problem, *, weights: Sequence[Sequence[float]], chebyshev: bool, shared: bool, **given: Any
    ) -> None:
        super().__init__(problem, **given)
        self.functions, self.chebyshev, self.shared = weights, chebyshev, shared

    def credit(self, cell: int, arm: int, number: int) -> int:
        """The arm among those of the function that was drawn."""
        return self.row(cell, self.drawn(number), arm)

    def row(self, cell: int, function: int, arm: int) -> int:
        """By cell, then function, then arm."""
        table = cell if self.shared else cell * len(self.functions) + function
        return table * len(self.arms) + arm

    def drawn(self, number: int) -> int:
        """The function of a round."""
        return int(self.draws()[1] * len(self.functions))

    def pick(self, cell: int, listed: list[int], number: int) -> tuple[int, float]:
        """A best arm of the function drawn, and its probability over all functions."""
        best = [self.best(cell, function, listed) for function in range(len(self.functions))]
        arm, _ = self.uniform_on(best[self.drawn(number)])
        return arm, sum(1 / len(arms) for arms in best if arm in arms) / len(best)

    def best(self, cell: int, function: int, listed: list[int]) -> list[int]:
        """The arms of largest index for a function."""
        n = self.all_plays(self.row(cell, function, 0))
        indices = {}
        for arm in listed:
            plays = self.plays(self.row(cell, function, arm))
            more = math.sqrt(2 * math.log(n) / plays) if plays else math.inf
            indices[arm] = self.value(cell, function, arm) + more if plays else math.inf
        most = max(indices.values())
        return [arm for arm in listed if indices[arm] == most]

    def value(self, cell: int, function: int, arm: int) -> float:
        """What a function makes of the means of an arm."""
        weights, means = self.functions[function], self.mean(self.row(cell, function, arm))
        if not self.chebyshev:
            return sum(w * mean for w, mean in zip(weights, means, strict=True))
        rows = [self.row(cell, function, other) for other in range(len(self.arms))]
        known = [self.mean(row) for row in rows if self.plays(row)]
        z = [min(mean[o] for mean in known) - 0.05 for o in range(self.learned)]
        return min(w * (mean - low) for w, mean, low in zip(weights, means, z, strict=True) if w > 0)
