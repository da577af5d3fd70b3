"""Pareto regret: the sum of the gaps of the arms played."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretozoom.environments.base import Task
from paretozoom.metrics.base import Column, Metric
from paretozoom.metrics.sums import add_up, share, tail
from paretozoom.metrics.truth.of_rounds import gaps_of
from paretozoom.problem.dimensions import Floats
from paretozoom.rounds import Rounds


class ParetoRegret(Metric):
    """The sum of the gaps, their mean, their mean over the last fifth of the run, and how the sum grew.

    The curve is read after each of `checkpoints`: 200 round counts, evenly spaced up to the last (every round of
    a shorter run), NaN where the run has not come yet.

    >>> from paretozoom import Decision, PaperTask, Round
    >>> task = PaperTask()
    >>> decisions = [Decision(n, {"x": 0.5}, {"y": y}, 1.0, 0) for n, y in enumerate([0.3, 0.5, 0.8])]
    >>> metric = ParetoRegret(task, rounds=3)
    >>> metric.update(Rounds.of(task.problem, [Round(d, {"first": 1.0, "second": 0.0}) for d in decisions]))
    >>> {name: round(value, 6) for name, value in metric.result().items()}
    {'regret': 0.275, 'mean_gap': 0.091667, 'tail_gap': 0.025}
    >>> metric.curves()["regret"].round(6).tolist()
    [0.25, 0.25, 0.275]
    """

    name = "regret"
    columns = (Column("Mean gap", "mean_gap"), Column("Tail gap", "tail_gap"))
    words = {
        "Pareto regret": "the sum over rounds of how far the chosen arm was from the best trade-offs; smaller is "
        "better",
        "Gap": "the regret of one round: its mean over all rounds, and in the tail, the last fifth of them",
    }
    CHECKPOINTS = 200

    def __init__(self, environment: Task, rounds: int) -> None:
        super().__init__(environment, rounds)
        count = min(self.CHECKPOINTS, rounds)
        self.checkpoints = np.arange(1, count + 1) * rounds // max(count, 1)
        self._regret = np.full(count, np.nan)
        self._seen = self._seen_in_tail = 0
        self._total = self._total_in_tail = np.zeros(())

    def update(self, rounds: Rounds) -> None:
        """Add the gaps of some more rounds."""
        gaps = gaps_of(self.environment, rounds)
        in_tail = tail(gaps, self._seen, self.rounds)
        sums = add_up(self._total, gaps)
        passed = (self.checkpoints > self._seen) & (self.checkpoints <= self._seen + len(gaps))
        self._regret[passed] = sums[self.checkpoints[passed] - self._seen]
        self._total, self._total_in_tail = sums[-1], add_up(self._total_in_tail, in_tail)[-1]
        self._seen += len(gaps)
        self._seen_in_tail += len(in_tail)

    def result(self) -> dict[str, Any]:
        """`regret`, `mean_gap` and `tail_gap`."""
        return {
            "regret": float(self._total),
            "mean_gap": share(float(self._total), self._seen),
            "tail_gap": share(float(self._total_in_tail), self._seen_in_tail),
        }

    def curves(self) -> dict[str, Floats]:
        """The `regret` after so many `rounds`."""
        return {"rounds": self.checkpoints.astype(float), "regret": self._regret.copy()}
