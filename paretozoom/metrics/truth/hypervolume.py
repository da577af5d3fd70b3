"""How much of the front was covered at the end of the run."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from paretozoom.environments.base import SLICES, Task
from paretozoom.metrics.base import Column, Metric
from paretozoom.metrics.sums import add_up, share, tail
from paretozoom.metrics.truth.of_rounds import MOST_POINTS, gaps_of, spread_points
from paretozoom.problem.dimensions import Floats
from paretozoom.rounds import Rounds


class Hypervolume(Metric):
    """The hypervolume of the true mean vectors played in the last fifth of the run, relative to the best possible.

    Per context slice, the volume between 0 and the scaled mean vectors played, over the volume between 0 and the
    mean vectors of all arms in all contexts of the slice (10,000 pairs spread evenly). So the yardstick is the front
    of the whole slice, the union over its contexts: where the means depend on the context, it is higher than
    the front of most single contexts. The ratios are capped at 1 and averaged over slices, weighted by pulls.

    Dominated arms do not lower a hypervolume, so a policy that plays everything scores high: read it beside
    `mean_gap_tail`, the mean gap over the same rounds.

    Where the means drift, the front is that of the slice over the last fifth of the run.

    Only vectors that no other one dominates are kept, rounded to 1/4096 (1/256 for three objectives or more)
    so that the run can be of any length. From six objectives on, the volumes are approximate.

    >>> from paretozoom import Decision, Round, Tents
    >>> task = Tents(slope=0.5, width=0.4)
    >>> decisions = [Decision(n, {"x": 0.0}, {"y": 0.35}, 1.0, 0) for n in range(10)]
    >>> metric = Hypervolume(task, rounds=10)
    >>> metric.update(Rounds.of(task.problem, [Round(d, {"r1": 1.0, "r2": 0.0}) for d in decisions]))
    >>> {name: round(value, 3) for name, value in metric.result().items()}
    {'hypervolume': 0.81, 'mean_gap_tail': 0.0}
    """

    name = "hypervolume"
    columns = (Column("Hypervolume", "hypervolume"),)
    words = {
        "Hypervolume": "how much of the space of rewards lies below the best of what was earned; larger is "
        "better, but it does not punish bad arms, so that trying everything has much of it: read it beside "
        "the mean gap",
    }

    def __init__(self, environment: Task, rounds: int) -> None:
        super().__init__(environment, rounds)
        objectives = len(environment.problem.objectives)
        self._fronts = [np.empty((0, objectives)) for _ in range(SLICES)]
        self._pulls = np.zeros(SLICES, np.int64)
        self._seen = 0
        self._total_gap = np.zeros(())

    def update(self, rounds: Rounds) -> None:
        """Add the true means of some more rounds to the fronts of their slices."""
        gaps = tail(gaps_of(self.environment, rounds), self._seen, self.rounds)
        points = tail(rounds.columns.point, self._seen, self.rounds)
        there = self.environment.at(tail(rounds.columns.number, self._seen, self.rounds))
        self._seen += len(rounds)
        if not len(points):
            return
        self._total_gap = add_up(self._total_gap, gaps)[-1]
        for k, means in enumerate(_means_by_slice(there, points)):
            if len(means):
                self._pulls[k] += len(means)
                self._fronts[k] = _front(np.concatenate([self._fronts[k], means]))

    def result(self) -> dict[str, Any]:
        """`hypervolume` and `mean_gap_tail`; None if there was no round, or no volume, to compare."""
        best = _best_volumes(self.environment, self.rounds if self.environment.drifts else 0)
        counted = np.flatnonzero((self._pulls > 0) & (best > 0))
        ratios = [min(1.0, _volume(self._fronts[k]) / best[k]) for k in counted]
        weights = self._pulls[counted]
        return {
            "hypervolume": share(float(np.dot(ratios, weights)), int(weights.sum())),
            "mean_gap_tail": share(float(self._total_gap), int(self._pulls.sum())),
        }


@lru_cache(maxsize=16)
def _best_volumes(environment: Task, rounds: int) -> Floats:
    """The hypervolume of the front of each context slice, 0 where it is not known."""
    points = spread_points(environment, MOST_POINTS)
    # A stride that visits the rounds of the tail evenly, whatever order the points are in.
    moments = 4 * rounds // 5 + np.arange(len(points)) * 0.6180339887498949 % 1.0 * (rounds / 5)
    there = environment.at(moments.astype(np.int64))
    return np.array([_volume(_front(means)) for means in _means_by_slice(there, points)])


def _means_by_slice(environment: Task, points: Floats) -> list[Floats]:
    slices = environment.slice_of(points)
    order = np.argsort(slices.astype(np.int16), kind="stable")  # small integers sort in linear time
    steps = 4096 if len(environment.problem.objectives) <= 2 else 256
    means = np.round(environment.means(points)[order] * steps) / steps
    return np.split(means, np.cumsum(np.bincount(slices, minlength=SLICES))[:-1])


def _front(vectors: Floats) -> Floats:
    from moocore import filter_dominated

    return np.asarray(filter_dominated(vectors, maximise=True)) if len(vectors) else vectors


def _volume(vectors: Floats) -> float:
    import moocore

    if not len(vectors):
        return 0.0
    if vectors.shape[1] <= 5:
        return float(moocore.hypervolume(vectors, ref=0, maximise=True))
    # Exact volumes take time exponential in the objectives; this method is quick and draws nothing at random.
    return float(moocore.hv_approx(vectors, ref=0, maximise=True, nsamples=2**16, method="Rphi-FWE+"))
