"""What several metrics ask of a task: once per chunk of rounds, or once per task."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from paretozoom.environments.base import SLICES, Bools, Task
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.rounds import Columns, Rounds

CONTEXTS = 2_000  # contexts in which finite arms are tried
MOST_POINTS = 200_000  # pairs of context and arm that are tried at most, but for many thousands of arms
FEWEST_CONTEXTS = 40

# Every metric of a run reads the same chunk before the next one comes, so one answer is enough to remember.


@lru_cache(maxsize=1)
def gaps_of(environment: Task, rounds: Rounds) -> Floats:
    """The gap of each round.

    >>> from paretozoom import Decision, PaperTask, Round
    >>> task = PaperTask()
    >>> rounds = Rounds.of(task.problem, [Round(Decision(0, {"x": 0.5}, {"y": 0.1}, 1.0, 0), {"first": 1.0})])
    >>> gaps_of(task, rounds).tolist()
    [0.5]
    """
    return environment.at(rounds.columns.number).gaps(rounds.columns.point)


@lru_cache(maxsize=1)
def optimal_of(environment: Task, rounds: Rounds) -> Bools:
    """Whether the arm of each round was Pareto optimal.

    >>> from paretozoom import Decision, PaperTask, Round
    >>> task = PaperTask()
    >>> rounds = Rounds.of(task.problem, [Round(Decision(0, {"x": 0.5}, {"y": 0.3}, 1.0, 0), {"first": 1.0})])
    >>> optimal_of(task, rounds).tolist()
    [False]
    """
    return environment.at(rounds.columns.number).are_optimal(rounds.columns.point)


@lru_cache(maxsize=1)
def optimal_rounds_of(environment: Task, rounds: Rounds) -> tuple[Columns, Ints]:
    """The Pareto optimal rounds and the context slice of each.

    >>> from paretozoom import Decision, PaperTask, Round
    >>> task = PaperTask()
    >>> rounds = Rounds.of(task.problem, [Round(Decision(7, {"x": 0.51}, {"y": 0.5}, 1.0, 0), {"first": 1.0})])
    >>> played, slices = optimal_rounds_of(task, rounds)
    >>> played.number.tolist(), slices.tolist()
    ([7], [10])
    """
    played = rounds.columns.take(optimal_of(environment, rounds))
    return played, environment.slice_of(played.point)


@lru_cache(maxsize=1)
def slices_and_bins_of(environment: Task, rounds: Rounds) -> tuple[Ints, Ints]:
    """The context slice and the fairness bin of each Pareto optimal round.

    >>> from paretozoom import Decision, PaperTask, Round
    >>> task = PaperTask()
    >>> rounds = Rounds.of(task.problem, [Round(Decision(0, {"x": 0.51}, {"y": 0.5}, 1.0, 0), {"first": 1.0})])
    >>> [column.tolist() for column in slices_and_bins_of(task, rounds)]
    [[10], [3]]
    """
    played, slices = optimal_rounds_of(environment, rounds)
    return slices, environment.at(played.number).bin_of(played.point, played.arm)


def slices_and_front_bins_of(environment: Task, rounds: Rounds) -> tuple[Ints, Ints]:
    """The context slice and the bin along the front of each Pareto optimal round that has one.

    >>> from paretozoom import Decision, PaperTask, Round
    >>> task = PaperTask()
    >>> rounds = Rounds.of(task.problem, [Round(Decision(0, {"x": 0.51}, {"y": 0.5}, 1.0, 0), {"first": 1.0})])
    >>> [column.tolist() for column in slices_and_front_bins_of(task, rounds)]
    [[10], [3]]
    """
    played, slices = optimal_rounds_of(environment, rounds)
    bins = environment.at(played.number).front_bin_of(played.point, played.arm)
    return slices[bins >= 0], bins[bins >= 0]


@lru_cache(maxsize=16)
def possible_bins(environment: Task) -> Bools:
    """Which bins a Pareto optimal arm can fall into, per context slice: (slices, bins).

    All of them, but for finite arms, whose bins are the arms: an arm counts where it is optimal in one of
    2,000 contexts spread evenly (fewer for more than 100 arms).

    >>> from paretozoom import Tents
    >>> possible_bins(Tents(arms=11))[0].astype(int).tolist()
    [0, 0, 1, 1, 1, 0, 0, 0, 0, 0, 0]
    """
    arms = len(environment.problem.encoding.arms)
    if not arms:
        return np.ones((SLICES, environment.bins), np.bool_)
    from moocore import is_nondominated

    possible = np.zeros((SLICES, arms), np.bool_)
    points = spread_points(environment, min(CONTEXTS * arms, MOST_POINTS))
    means = environment.means(points).reshape(len(points) // arms, arms, -1)
    for context_slice, of_arms in zip(environment.slice_of(points[::arms]), means, strict=True):
        possible[context_slice] |= is_nondominated(of_arms, maximise=True, keep_weakly=True)
    return possible


def spread_points(environment: Task, count: int) -> Floats:
    """About `count` points spread evenly over contexts and arms; finite arms stand in turn behind each context.

    Where the task makes its contexts of uniform draws, the draws are spread evenly.

    >>> from paretozoom import PaperTask, Tents
    >>> spread_points(PaperTask(), 3).round(2).tolist()
    [[0.5, 0.5], [0.25, 0.07], [0.01, 0.64]]
    >>> len(spread_points(Tents(arms=11), 1100))
    1100
    """
    encoding = environment.problem.encoding
    if not len(encoding.arms):
        return _behind_contexts(environment, encoding.values[encoding.context :], count)
    contexts = 1 if encoding.context == 0 else max(FEWEST_CONTEXTS, count // len(encoding.arms))
    heads = _behind_contexts(environment, encoding.values[:0], contexts)
    return np.hstack([heads.repeat(len(encoding.arms), axis=0), np.tile(encoding.arms, (contexts, 1))])


def _behind_contexts(environment: Task, values: Ints, count: int) -> Floats:
    """Spread points of the task's contexts and further coordinates."""
    encoding = environment.problem.encoding
    contexts = encoding.values[: encoding.context]
    if environment.has_uniform_contexts:
        return _spread(np.concatenate([contexts, values]), count)
    draws = len(environment.empty_draws())
    places = _spread(np.concatenate([np.zeros(draws, np.int64), values]), count)
    points = np.empty((count, encoding.context + len(values)))
    environment.make_contexts(places[:, :draws], points)
    points[:, encoding.context :] = places[:, draws:]
    return points


def _spread(values: Ints, count: int) -> Floats:
    """The R-sequence of Roberts (2018): multiples, modulo 1, of the powers of the root of z^(d+1) = z + 1."""
    root = 2.0
    for _ in range(60):
        root = (1.0 + root) ** (1.0 / (len(values) + 1))
    places = 0.5 + np.arange(count)[:, None] * root ** -np.arange(1.0, len(values) + 1)
    places -= np.floor(places)
    if not values.any():
        return places
    spaced = np.floor(places * np.abs(values)) / np.where(values > 0, values - 1, 1)
    return np.where(values == 0, places, spaced)
