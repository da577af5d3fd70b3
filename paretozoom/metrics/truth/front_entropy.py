"""Evenness along the front: how evenly the Pareto optimal pulls fill equal lengths of it in objective space."""

from __future__ import annotations

from typing import Any

from paretozoom.metrics.base import Column
from paretozoom.metrics.truth.local_entropy import LocalEntropy
from paretozoom.metrics.truth.of_rounds import slices_and_front_bins_of
from paretozoom.problem.dimensions import Ints
from paretozoom.rounds import Rounds


class FrontEntropy(LocalEntropy):
    """`LocalEntropy` with bins of equal length of the front in objective space: 1 if play is even along every front.

    Bins are those of `Task.front_bin_of`; finite arms are bins of their own, so for them it is `LocalEntropy`. Where
    rewards change faster with some optimal arms than with others, no play can score 1 in both.

    >>> import numpy as np
    >>> from paretozoom import Decision, Round
    >>> from paretozoom.environments import ConvexFront
    >>> from paretozoom.metrics import LocalEntropy
    >>> task = ConvexFront()
    >>> arms = np.linspace(0.03, 0.28, 600)  # the Pareto set where x is 0.5, evenly
    >>> decisions = [Decision(n, {"x": 0.5}, {"y": y}, 1.0, 0) for n, y in enumerate(arms)]
    >>> rounds = Rounds.of(task.problem, [Round(d, {"first": 1.0, "second": 0.0}) for d in decisions])
    >>> metrics = [LocalEntropy(task, rounds=600), FrontEntropy(task, rounds=600)]
    >>> for metric in metrics:
    ...     metric.update(rounds)
    >>> [{name: round(value, 3) for name, value in metric.result().items()} for metric in metrics]
    [{'local_entropy': 1.0}, {'front_entropy': 0.991}]
    """

    name = "front-entropy"
    columns = (Column("Front entropy", "front_entropy"),)
    words = {
        "Front entropy": "local entropy with bins that are equally long parts of the front, in rewards; 1 is "
        "even along every front, which is not the same as fair over the arms where rewards change faster with some "
        "than with others",
    }

    def result(self) -> dict[str, Any]:
        """`front_entropy`, None if no slice has enough pulls."""
        return {"front_entropy": self._mean_entropy()}

    def _slices_and_bins(self, rounds: Rounds) -> tuple[Ints, Ints]:
        return slices_and_front_bins_of(self.environment, rounds)
