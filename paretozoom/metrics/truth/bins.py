"""Fairness over the whole run: how evenly the Pareto optimal pulls fill the bins of the Pareto set."""

from __future__ import annotations

from typing import Any

import numpy as np

from paretozoom.environments.base import Task
from paretozoom.metrics.base import Column, Metric
from paretozoom.metrics.truth.of_rounds import possible_bins, slices_and_bins_of
from paretozoom.rounds import Rounds


class BinRatios(Metric):
    """The share of each bin in the Pareto optimal pulls, and the smallest share over the largest.

    Finite arms are bins of their own. Arms that are Pareto optimal in no context (of 2,000 spread evenly) have no
    bin: nobody should play them, so the ratio must not suffer. The others stay in the order of the arms.
    Contexts are pooled, so a policy can look fair here that plays one bin in each context: see `LocalEntropy`.

    >>> from paretozoom import Decision, PaperTask, Round
    >>> task = PaperTask()
    >>> arms = [0.41, 0.45, 0.48, 0.52, 0.55, 0.58, 0.59, 0.9]
    >>> decisions = [Decision(n, {"x": 0.5}, {"y": y}, 1.0, 0) for n, y in enumerate(arms)]
    >>> metric = BinRatios(task, rounds=8)
    >>> metric.update(Rounds.of(task.problem, [Round(d, {"first": 1.0, "second": 0.0}) for d in decisions]))
    >>> [round(ratio, 3) for ratio in metric.result()["bins"]], metric.result()["bin_ratio"]
    ([0.143, 0.143, 0.143, 0.143, 0.143, 0.286], 0.5)
    """

    name = "bins"
    columns = (Column("Bin ratio", "bin_ratio"),)
    words = {
        "Bin ratio": "fairness over all contexts: the Pareto set is cut into bins, the least played over the most "
        "played; 1 is fair (with finite arms, whose bins are the arms, only if all are optimal equally often)",
    }

    def __init__(self, environment: Task, rounds: int) -> None:
        super().__init__(environment, rounds)
        self._possible = np.flatnonzero(possible_bins(environment).any(axis=0))
        self._counts = np.zeros(environment.bins, np.int64)

    def update(self, rounds: Rounds) -> None:
        """Count the bins of some more rounds."""
        _, bins = slices_and_bins_of(self.environment, rounds)
        self._counts += np.bincount(bins, minlength=len(self._counts))

    def result(self) -> dict[str, Any]:
        """`bins`, the ratios, and `bin_ratio`; None for each if no pull was Pareto optimal."""
        counts = self._counts[self._possible]
        pulls = int(counts.sum())
        return {
            "bins": (counts / pulls).tolist() if pulls else [None] * len(counts),
            "bin_ratio": float(counts.min() / counts.max()) if pulls else None,
        }
