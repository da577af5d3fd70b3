"""Annealing-Pareto (Yahyaa, Drugan and Manderick, 2014), from the paper."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from paretozoom import Decision, Problem
from tests.reference.pareto import Vector, dominated
from tests.reference.tables.ucb1 import Averages


def near_best(means: Mapping[int, Vector], apart: float) -> set[int]:
    """S: the arms within a margin of the best in some objective."""
    objectives = range(len(next(iter(means.values())))) if means else range(0)
    best = {o: max(mean[o] for mean in means.values()) for o in objectives}
    return {arm for arm, mean in means.items() if any(mean[o] >= best[o] - apart for o in objectives)}


def anneal(means: Mapping[int, Vector], before: set[int], apart: float, prune_kept: bool = False) -> set[int]:
    """A* after a round, of the arms that have means."""
    near = near_best(means, apart)
    rest = {arm for arm in before & set(means) if arm not in near}
    kept = {arm for arm in rest if not any(dominated(means[arm], means[other]) for other in near)}
    if prune_kept:
        kept = {arm for arm in kept if not any(dominated(means[arm], means[other]) for other in rest)}
    return near | kept


class AnnealingPareto(Averages):
    """A* of each cell is a set of arms."""

    def __init__(self, problem: Problem, *, decay: float, first_plays: int, prune_kept: bool, **given: Any) -> None:
        super().__init__(problem, **given)
        self.decay, self.first_plays, self.prune_kept = decay, first_plays, prune_kept
        self.playable: dict[int, set[int]] = {}
        self.last: dict[int, int] = {}

    def epsilon(self, number: int) -> float:
        """The margin of a decision, in the time of a copy."""
        return float(self.decay ** (number / self.cells)) / (len(self.arms) * self.learned)

    def known(self, cell: int) -> dict[int, list[float]]:
        """The means of the arms played often enough."""
        rows = {arm: cell * len(self.arms) + arm for arm in range(len(self.arms))}
        return {arm: self.mean(row) for arm, row in rows.items() if self.plays(row) >= self.first_plays}

    def learn(self, decision: Decision, reward: list[float]) -> None:
        """Keep the reward, update A* if all arms are known."""
        super().learn(decision, reward)
        cell, everyone = decision.credit // len(self.arms), set(range(len(self.arms)))
        self.last[cell] = max(decision.number, self.last.get(cell, 0))
        known, before = self.known(cell), self.playable.get(cell, everyone)
        if set(known) == everyone:
            self.playable[cell] = anneal(known, before, self.epsilon(self.last[cell]), self.prune_kept)

    def pick(self, cell: int, listed: list[int], number: int) -> tuple[int, float]:
        """Uniform on the unknown, else on A*, else on the nearly best."""
        known, apart = self.known(cell), self.epsilon(number)
        unknown = [arm for arm in listed if arm not in known]
        if unknown:
            return self.uniform_on(unknown)
        here = {arm: known[arm] for arm in listed}
        if len(known) < len(self.arms):
            return self.uniform_on(sorted(anneal(here, set(listed), apart, self.prune_kept)))
        kept = [arm for arm in listed if arm in self.playable[cell]]
        return self.uniform_on(kept or sorted(near_best(here, apart)))
