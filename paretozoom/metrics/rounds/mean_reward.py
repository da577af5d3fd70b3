"""What was earned: the mean reward of each objective."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretozoom.environments.base import Task
from paretozoom.metrics.base import Metric
from paretozoom.metrics.sums import add_up
from paretozoom.rounds import Rounds


class MeanReward(Metric):
    """The mean reward of each objective, in the user's units, over the rounds that were told it.

    >>> from paretozoom import Decision, PaperTask, Round
    >>> task = PaperTask()
    >>> rewards = [{"first": 1.0, "second": 0.0}, {"first": 0.0}]
    >>> rounds = [Round(Decision(n, {"x": 0.5}, {"y": 0.3}, 1.0, 0), reward) for n, reward in enumerate(rewards)]
    >>> metric = MeanReward(task, rounds=2)
    >>> metric.update(Rounds.of(task.problem, rounds))
    >>> metric.result()
    {'mean_reward': {'first': 0.5, 'second': 0.0}}
    """

    name = "mean-reward"
    words = {
        "Mean reward": "what was earned per round in each objective, in its own units",
    }

    def __init__(self, environment: Task, rounds: int) -> None:
        super().__init__(environment, rounds)
        self._told = np.zeros(len(environment.problem.objectives), np.int64)
        self._total = np.zeros(len(environment.problem.objectives))

    def update(self, rounds: Rounds) -> None:
        """Add the rewards of some more rounds."""
        reward = rounds.columns.reward
        silent = np.isnan(reward)
        self._told += len(reward) - silent.sum(axis=0)
        self._total = add_up(self._total, np.where(silent, 0.0, reward))[-1]

    def result(self) -> dict[str, Any]:
        """`mean_reward` by objective; None where no reward was told."""
        # Orienting and scaling is affine, so the mean may be taken first.
        objectives = self.environment.problem.objectives
        return {
            "mean_reward": {
                objective.name: objective.decode(float(total / told)) if told else None
                for objective, total, told in zip(objectives, self._total, self._told, strict=True)
            }
        }
