"""UCB1 (Auer, Cesa-Bianchi and Fischer, 2002) and Pareto-UCB1, from the papers."""

from __future__ import annotations

import math
from typing import Any

from paretozoom import Decision, Problem
from tests.reference.finite import FiniteTwin


class Averages(FiniteTwin):
    """Rewards by credit, and their totals: sums from the left."""

    def __init__(self, problem: Problem, **given: Any) -> None:
        super().__init__(problem, **given)
        self.rewards: dict[int, list[list[float]]] = {}
        self.totals: dict[int, list[float]] = {}

    def learn(self, decision: Decision, reward: list[float]) -> None:
        """Keep the reward."""
        credit = decision.credit
        self.rewards.setdefault(credit, []).append(reward)
        before = self.totals.get(credit, [0.0] * self.learned)
        self.totals[credit] = [total + reward[o] for o, total in enumerate(before)]

    def plays(self, credit: int) -> int:
        """How many rewards there are."""
        return len(self.rewards.get(credit, []))

    def all_plays(self, first: int) -> int:
        """The n of a table of means that begins with a credit: how many rewards all its arms have, at least 1."""
        return max(1, sum(self.plays(first + arm) for arm in range(len(self.arms))))

    def mean(self, credit: int) -> list[float]:
        """Their mean, by objective."""
        return [total / self.plays(credit) for total in self.totals[credit]]


class UCB1(Averages):
    """One objective: the arm of largest mean + sqrt(2 log n / n_i), ties uniformly."""

    def pick(self, cell: int, listed: list[int], number: int) -> tuple[int, float]:
        """The largest index."""
        first = cell * len(self.arms)
        indices = {arm: self.index(first + arm, self.all_plays(first)) for arm in listed}
        most = max(indices.values())
        return self.uniform_on([arm for arm in listed if indices[arm] == most])

    def index(self, credit: int, n: int) -> float:
        """Infinite before the first play."""
        plays = self.plays(credit)
        return self.mean(credit)[0] + math.sqrt(2 * math.log(n) / plays) if plays else math.inf


class ParetoUCB1(Averages):
    """The front of the vectors mean + sqrt(2 log(n (D |A*|)^(1/4)) / n_i)."""

    def __init__(self, problem: Problem, *, front_size: int | None = None, **given: Any) -> None:
        super().__init__(problem, **given)
        self.front_size = len(self.arms) if front_size is None else front_size

    def pick(self, cell: int, listed: list[int], number: int) -> tuple[int, float]:
        """Uniform on the front."""
        first = cell * len(self.arms)
        vectors = [self.index(first + arm, self.all_plays(first)) for arm in listed]
        return self.uniform_on(self.front_of(listed, vectors))

    def index(self, credit: int, n: int) -> list[float]:
        """Infinite before the first play."""
        plays = self.plays(credit)
        if plays == 0:
            return [math.inf] * self.learned
        more = math.sqrt(2 * math.log(n * (self.learned * self.front_size) ** 0.25) / plays)
        return [mean + more for mean in self.mean(credit)]
