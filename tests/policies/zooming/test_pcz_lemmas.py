"""The paper's Lemmas 2, 3 and 4 on a task that satisfies its Assumption 1, checked against the truth."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import pytest

from paretozoom import PCZ, Tents
from paretozoom.policies.zooming.zooming import Balls
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.similarity import Similarity
from paretozoom.simulation import simulate_in_chunks

HORIZON = 20_000
SPREAD = 0.01


class Run(NamedTuple):
    """A whole run: every round, and the balls at its end (none is ever removed)."""

    task: Tents
    point: Floats  # (T, 2)
    credit: Ints  # (T,)
    reward: Floats  # (T, objectives)
    balls: Balls

    @property
    def radius(self) -> Floats:
        """The radius of each round's ball."""
        return self.balls.radius[self.credit]

    @property
    def gap(self) -> Floats:
        """The gap of each round's arm."""
        return self.task.gaps(self.point)


@pytest.fixture(scope="module", params=[(2, 1), (3, 2)], ids=["two objectives", "three objectives"])
def run(request: pytest.FixtureRequest) -> Run:
    """A run of PCZ with its guarantee intact: confidence 1, noise as it is, default delta.

    The peaks are close together, so that the largest gap is large.
    """
    objectives, seed = request.param
    task = Tents(objectives, width=0.05, spread=SPREAD)
    policy = PCZ(task.problem, horizon=HORIZON, noise=SPREAD)
    columns = [rounds.columns for rounds in simulate_in_chunks(policy, task, HORIZON, seed=seed)]
    point, credit, reward = (
        np.concatenate([getattr(c, name) for c in columns]) for name in ("point", "credit", "reward")
    )
    return Run(task, point, credit, reward, policy.balls)


def uncertainty(count: Floats, objectives: int) -> Floats:
    """u = noise * sqrt(2 A / N) with delta = 1/T."""
    a = 1 + 2 * math.log(2 * math.sqrt(2) * objectives * HORIZON**2.5)
    return SPREAD * np.sqrt(2 * a / count)


def event_holds(run: Run, slack: float = 1.0) -> bool:
    """Whether every ball's mean was within slack * (u + r) of the truth at its centre, after each of its rewards.

    Before its first reward a ball's u is infinite.
    """
    truth = run.task.means(run.balls.centre)
    for ball, radius in enumerate(run.balls.radius):
        rewards = run.reward[run.credit == ball]
        count = np.arange(1, len(rewards) + 1)[:, None]
        total = np.cumsum(rewards, axis=0)
        assert len(rewards) == run.balls.count[ball].max() == run.balls.count[ball].min()
        if len(rewards):
            assert np.array_equal(total[-1], run.balls.total[ball])
            apart = np.abs(total / count - truth[ball])
            if np.any(apart > slack * (uncertainty(count, rewards.shape[1]) + radius)):
                return False
    return True


def largest_gap(task: Tents) -> float:
    """The gap is convex in (x, y), as the distance to a strip: it is largest in a corner."""
    return float(task.gaps(np.array([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]])).max())


def test_assumptions_hold(run: Run) -> None:
    assert run.task.lipschitz() <= 1
    # Lemma 1: it fails in one of T runs at most.
    assert event_holds(run)
    # The event is no matter of course: half of the interval is not enough.
    assert not event_holds(run, slack=0.5)


def test_lemma_3_gap_of_every_round(run: Run) -> None:
    """On the event, gap <= 14 r(B(t))."""
    assert event_holds(run)
    assert np.all(run.gap <= 14 * run.radius)
    # In most rounds this says something: the bound is below half of the largest gap.
    assert np.mean(14 * run.radius < largest_gap(run.task) / 2) >= 1 / 3


def test_lemma_4_gap_where_a_ball_is_made(run: Run) -> None:
    """On the event, gap <= 12 r' at the centre of every ball but the root."""
    assert event_holds(run)
    gap, radius = run.task.gaps(run.balls.centre[1:]), run.balls.radius[1:]
    assert np.all(gap <= 12 * radius)
    assert np.mean(12 * radius < largest_gap(run.task) / 2) >= 1 / 3


def test_a_tenth_of_the_constants_is_too_little(run: Run) -> None:
    gap, radius = run.task.gaps(run.balls.centre[1:]), run.balls.radius[1:]
    assert np.mean(run.gap > 1.4 * run.radius) > 0.01
    assert np.mean(gap > 1.2 * radius) > 0.01


def indices_of_rounds(run: Run) -> Floats:
    """The index of each round's ball when the round began, (T, objectives), from the rounds alone."""
    objectives = run.reward.shape[1]
    apart = Similarity.of(run.task.problem).distances(run.balls.centre, run.balls.centre)
    pre = np.full((objectives, len(run.balls.radius)), np.inf)  # a ball to come has an infinite one, as an unseen has
    count, total = np.zeros(len(run.balls.radius)), np.zeros((len(run.balls.radius), objectives))
    found = np.empty((len(run.credit), objectives))
    for t, ball in enumerate(run.credit):
        found[t] = run.balls.radius[ball] + (pre + apart[ball]).min(axis=1)
        count[ball] += 1
        total[ball] += run.reward[t]
        pre[:, ball] = total[ball] / count[ball] + uncertainty(count[ball], objectives) + run.balls.radius[ball]
    return found


def margins(run: Run, indices: Floats, arms: int = 101) -> Floats:
    """By how much the arm that comes closest to dominating a round's index does: max over arms, min over objectives."""
    largest = np.full(len(indices), -np.inf)
    line = run.point.copy()
    for y in np.linspace(0, 1, arms):
        line[:, 1] = y
        largest = np.maximum(largest, (run.task.means(line) - indices).min(axis=1))
    return largest


def test_lemma_2_no_arm_dominates_the_index(run: Run) -> None:
    """On the event, no mean vector at x_t is above the index of the round's ball in every objective."""
    assert event_holds(run)
    indices = indices_of_rounds(run)
    assert np.all(margins(run, indices) < 0)
    # No wide margin either: take one radius off and there are arms that dominate it.
    assert np.any(margins(run, indices - run.radius[:, None]) > 0)
