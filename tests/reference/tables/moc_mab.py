"""MOC-MAB, slowly: word for word what the paper says, every leader in turn for the probability."""

from __future__ import annotations

import math
from typing import Any

from paretozoom import Decision, Problem
from tests.reference.finite import FiniteTwin


class MOCMAB(FiniteTwin):
    """Rewards of every arm in every cell, kept one by one."""

    def __init__(
        self, problem: Problem, *, horizon: int, cells: int, lipschitz: float, first: int = 0, beta: float = 1.0,
        scale: float = 1.0, **given: Any
    ) -> None:  # fmt: skip
        super().__init__(problem, cells=cells, **given)
        values = self.values[: len(problem.context)]
        divided = sum(v >= 0 for v in values)
        count = math.prod(cells if v >= 0 else -v for v in values)
        self.dominant, self.second = first, (first + 1) % len(problem.objectives)
        self.a = scale**2 * (1 + 2 * math.log(4 * len(self.arms) * count * horizon**1.5))
        self.v = lipschitz * math.sqrt(divided) / cells if divided else 0.0
        self.beta = beta
        self.rewards: dict[int, list[list[float]]] = {}

    def learn(self, decision: Decision, reward: list[float]) -> None:
        """Keep the reward."""
        self.rewards.setdefault(decision.credit, []).append(reward)

    def mean(self, row: int, objective: int) -> float:
        """The mean of a row; 0 if there is none."""
        seen = [reward[objective] for reward in self.rewards.get(row, [])]
        total = 0.0
        for r in seen:
            total += r
        return total / max(len(seen), 1)

    def u(self, row: int) -> float:
        """How far the mean of a row may be off."""
        plays = len(self.rewards.get(row, []))
        return math.sqrt(2 * self.a / plays) if plays else math.inf

    def played(self, leader: int, rows: dict[int, int]) -> list[int]:
        """The arms that may be played when an arm leads in the first objective."""
        row = rows[leader]
        if self.u(row) > self.beta * self.v:
            return [leader]
        threshold = self.mean(row, self.dominant) - self.u(row) - 2 * self.v
        as_good = [a for a, r in rows.items() if self.mean(r, self.dominant) + self.u(r) >= threshold]
        g2 = {a: self.mean(rows[a], self.second) + self.u(rows[a]) for a in as_good}
        return [a for a in as_good if g2[a] == max(g2.values())]

    def pick(self, cell: int, listed: list[int], number: int) -> tuple[int, float]:
        """A leader at random, then one of the arms played for it."""
        rows = {arm: cell * len(self.arms) + arm for arm in listed}
        g1 = {arm: self.mean(row, self.dominant) + self.u(row) for arm, row in rows.items()}
        leaders = [arm for arm in listed if g1[arm] == max(g1.values())]
        draws = self.draws()
        options = self.played(leaders[int(draws[0] * len(leaders))], rows)
        arm = options[int(draws[1] * len(options))]
        probability = 0.0
        for leader in leaders:
            options = self.played(leader, rows)
            probability += (arm in options) / len(options) / len(leaders)
        return arm, probability
