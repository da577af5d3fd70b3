"""Fairness in every context: how evenly the Pareto optimal pulls fill the bins, context slice by context slice."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretozoom.environments.base import Task
from paretozoom.metrics.base import Column, Metric
from paretozoom.metrics.truth.of_rounds import possible_bins, slices_and_bins_of
from paretozoom.problem.dimensions import Ints
from paretozoom.rounds import Rounds


class LocalEntropy(Metric):
    """The entropy of the bins inside each context slice over log(bins): 1 if play is fair in every context.

    With n pulls in a slice and k of its bins hit, the entropy is raised by (k - 1) / 2n (Miller and Madow), because
    that of a sample is too low, and the quotient is capped at 1. Slices with fewer than 30 Pareto optimal pulls are
    left out, the rest weighted by their pulls. Of finite arms, those count that are Pareto optimal somewhere in the
    slice; a slice with one of them says nothing about fairness and is left out. Bins are equal parts of the arms; for
    equal parts of the front in objective space see `FrontEntropy`.

    >>> from paretozoom import Decision, PaperTask, Round
    >>> task = PaperTask()
    >>> decisions = [Decision(n, {"x": 0.5}, {"y": 0.45 if n % 2 else 0.55}, 1.0, 0) for n in range(100)]
    >>> metric = LocalEntropy(task, rounds=100)
    >>> metric.update(Rounds.of(task.problem, [Round(d, {"first": 1.0, "second": 0.0}) for d in decisions]))
    >>> round(metric.result()["local_entropy"], 6) == round((math.log(2) + 1 / 200) / math.log(6), 6)
    True
    """

    name = "local-entropy"
    columns = (Column("Local entropy", "local_entropy"),)
    words = {
        "Local entropy": "fairness in each context: how evenly the bins are played within narrow slices of contexts; 1 "
        "is fair everywhere, and always playing one arm is not, even if its bin ratio is near 1",
    }
    FEWEST_PULLS = 30

    def __init__(self, environment: Task, rounds: int) -> None:
        super().__init__(environment, rounds)
        self._possible = possible_bins(environment)
        self._counts: Ints = np.zeros(self._possible.shape, np.int64)

    def update(self, rounds: Rounds) -> None:
        """Count the slices and bins of some more rounds."""
        slices, bins = self._slices_and_bins(rounds)
        cells = np.bincount(slices * self._counts.shape[1] + bins, minlength=self._counts.size)
        self._counts += cells.reshape(self._counts.shape)

    def result(self) -> dict[str, Any]:
        """`local_entropy`, None if no slice has enough pulls."""
        return {"local_entropy": self._mean_entropy()}

    def _slices_and_bins(self, rounds: Rounds) -> tuple[Ints, Ints]:
        return slices_and_bins_of(self.environment, rounds)

    def _mean_entropy(self) -> float | None:
        pulls = self._counts.sum(axis=1)
        bins = self._possible.sum(axis=1)
        counted = np.flatnonzero((pulls >= self.FEWEST_PULLS) & (bins > 1))
        if not len(counted):
            return None
        entropies = [min(1.0, _entropy(self._counts[k]) / math.log(bins[k])) for k in counted]
        return float(np.average(entropies, weights=pulls[counted]))


def _entropy(counts: Ints) -> float:
    hit = counts[counts > 0]
    ratios = hit / hit.sum()
    return float(-(ratios * np.log(ratios)).sum() + (len(hit) - 1) / (2 * hit.sum()))
