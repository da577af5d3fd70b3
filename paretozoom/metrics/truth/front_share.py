"""How often the arm played was Pareto optimal."""

from __future__ import annotations

from typing import Any

from paretozoom.environments.base import Task
from paretozoom.metrics.base import Column, Metric
from paretozoom.metrics.sums import share, tail
from paretozoom.metrics.truth.of_rounds import optimal_of
from paretozoom.rounds import Rounds


class FrontShare(Metric):
    """The share of rounds with a Pareto optimal arm, over all rounds and over the last fifth of the run.

    Membership is that of the context's Pareto set, not "gap 0": weakly dominated arms have gap 0 too.

    >>> from paretozoom import Decision, PaperTask, Round
    >>> task = PaperTask()
    >>> decisions = [Decision(n, {"x": 0.5}, {"y": y}, 1.0, 0) for n, y in enumerate([0.3, 0.5, 0.9, 0.6])]
    >>> metric = FrontShare(task, rounds=4)
    >>> metric.update(Rounds.of(task.problem, [Round(d, {"first": 1.0, "second": 0.0}) for d in decisions]))
    >>> metric.result()
    {'front_share': 0.5, 'front_share_tail': 1.0}
    """

    name = "front-share"
    columns = (Column("Front share", "front_share"), Column("Front share, tail", "front_share_tail"))
    words = {
        "Front share": "the share of rounds in which the arm was Pareto optimal, over all rounds and in the tail",
    }

    def __init__(self, environment: Task, rounds: int) -> None:
        super().__init__(environment, rounds)
        self._seen = self._seen_in_tail = 0
        self._optimal = self._optimal_in_tail = 0

    def update(self, rounds: Rounds) -> None:
        """Count the Pareto optimal arms of some more rounds."""
        optimal = optimal_of(self.environment, rounds)
        in_tail = tail(optimal, self._seen, self.rounds)
        self._seen += len(optimal)
        self._seen_in_tail += len(in_tail)
        self._optimal += int(optimal.sum())
        self._optimal_in_tail += int(in_tail.sum())

    def result(self) -> dict[str, Any]:
        """`front_share` and `front_share_tail`."""
        return {
            "front_share": share(self._optimal, self._seen),
            "front_share_tail": share(self._optimal_in_tail, self._seen_in_tail),
        }
