"""Query-Ad-Clustering, slowly: every reward of the current phase, kept one by one."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from paretozoom import Decision, Finite, Problem
from tests.reference.finite import inside
from tests.reference.pareto import front
from tests.reference.twin import Answer, Boxes, Twin


class QueryAdClustering(Twin):
    """Parts are lists of what they hold: of a discrete coordinate its values, cut into runs of about equal length."""

    def __init__(
        self, problem: Problem, *, a: float, b: float, weights: Sequence[float], scale: float = 1.0, seed: int
    ) -> None:
        super().__init__(problem, weights=weights, seed=seed)
        self.power, self.scale = 1 / (a + b + 2), scale
        self.context_values, self.arm_values = self.values[: self.first], self.values[self.first :]
        self.listed = [list(row) for row in problem.encoding.arms.tolist()]
        self.phase = -1
        self.rewards: dict[int, list[list[float]]] = {}

    def begin(self, number: int) -> None:
        """Enter the phase of a decision."""
        phase = math.floor(math.log2(number + 1))
        if phase == self.phase:
            return
        self.phase, self.rewards = phase, {}
        eps = 2 ** (-phase * self.power)
        m = math.ceil(1 / eps - 1e-9)
        self.divisions = [m if v == 0 else -v if v < 0 else min(v, m) for v in self.context_values]
        if isinstance(self.problem.arm, Finite):
            self.arms = self.listed
            return
        self.covers = [self.cover(v, m) for v in self.arm_values]
        self.arms = [list(arm) for arm in itertools.product(*([place for place, _ in c] for c in self.covers))]

    def cover(self, values: int, m: int) -> list[tuple[float, tuple[float, float]]]:
        """The parts of a coordinate: the middle, and what it stands for."""
        if values == 0:
            return [((k + 0.5) / m, (k / m, (k + 1) / m)) for k in range(m)]
        if values < 0:
            return [(float(k), (k, k)) for k in range(-values)]
        found, parts = [], min(values, m)
        for k in range(parts):
            run = [v for v in range(values) if k * values // parts <= v < (k + 1) * values // parts]
            found.append((run[(len(run) - 1) // 2] / (values - 1), (run[0] / (values - 1), run[-1] / (values - 1))))
        return found

    def covering(self, arm: Sequence[float]) -> int:
        """The arm of the cover that stands for an arm."""
        number = 0
        for y, cover in zip(arm, self.covers, strict=True):
            inside_of = [k for k, (_, (low, high)) in enumerate(cover) if low - 1e-9 <= y <= high + 1e-9]
            number = number * len(cover) + inside_of[-1]
        return number

    def answer(self, context: list[float], allowed: Boxes) -> Answer:
        """The arm of largest index in the cell of the context."""
        self.begin(self.number)
        row = self.cell(context) * len(self.arms)
        feasible = list(range(len(self.arms)))
        if allowed and self.listed:
            wanted = [self.listed[int(r[0])] for r in allowed]
            feasible = [k for k in feasible if self.arms[k] in wanted]
        elif allowed:
            feasible = [k for k in feasible if any(inside(self.arms[k], box) for box in allowed)]
        u = self.draws()[0]
        if not feasible and self.listed:
            arm = int(allowed[int(u * len(allowed))][0])
            return arm, self.listed[arm], 1 / len(allowed), row + self.covering(self.listed[arm])
        if not feasible:
            place, density = self.anywhere(allowed, True)
            return -1, place, density, row + self.covering(place)
        indices = [self.index(row + k) for k in feasible]
        best = front(indices)
        chosen = feasible[best[int(u * len(best))]]
        finite = self.listed.index(self.arms[chosen]) if self.listed else -1
        return finite, self.arms[chosen], 1 / len(best), row + chosen

    def index(self, row: int) -> list[float]:
        """Mean and bonus, by number that is learned."""
        seen = self.rewards.get(row, [])
        totals = [0.0] * self.learned
        for reward in seen:
            totals = [t + r for t, r in zip(totals, reward, strict=True)]
        more = math.sqrt(4.0 * self.phase * self.scale**2 / (1 + len(seen)))
        return [total / max(len(seen), 1) + more for total in totals]

    def learn(self, decision: Decision, reward: list[float]) -> None:
        """Keep the reward if its phase is not over."""
        if math.floor(math.log2(decision.number + 1)) == self.phase:
            self.rewards.setdefault(decision.credit, []).append(reward)
