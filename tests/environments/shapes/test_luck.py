"""Tasks: the luck of a seed and a round, the means and spreads of draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import (
    PCZ,
    Categorical,
    ContextualZooming,
    Decision,
    Integer,
    Objective,
    PaperTask,
    Problem,
    Random,
    Real,
    SmoothRidges,
    Tents,
    simulate,
)
from paretozoom.environments import Boxes, Bridge, Catalogue, Devices
from paretozoom.environments.base import Task
from paretozoom.problem.dimensions import Floats

TASKS: dict[str, Any] = {
    "paper": PaperTask,
    "tents": lambda: Tents(3),
    "tents-1": lambda: Tents(1),
    "tents-finite": lambda: Tents(arms=7),
    "tents-gaussian": lambda: Tents(spread=0.05),
    "ridges": SmoothRidges,
    "boxes": Boxes,
    "bridge": lambda: Bridge(spread=0.05),
    "catalogue": Catalogue,
    "devices": Devices,
}
every_task = pytest.mark.parametrize("make", TASKS.values(), ids=TASKS)


def decisions(task: Task, n: int) -> list[Decision]:
    """The first decisions of the policy Random on a task; not yet answered."""
    policy = Random(task.problem, seed=1)
    task.reset(3)
    return [policy.ask(task.observe()) for _ in range(n)]


@every_task
def test_contexts_depend_on_seed_and_round_alone(make: Any) -> None:
    task, other = make(), make()
    asked = decisions(task, 20)
    contexts = [d.context for d in asked]
    other.reset(3)
    for context, decision in zip(contexts, asked, strict=True):
        assert other.observe() == context
        other.respond(decision)
        other.respond(asked[0])
    task.reset(3)
    assert [task.observe() for _ in range(20)] == contexts
    task.reset(4)
    assert all(task.observe() != context for context in contexts)


@every_task
@given(order=st.permutations(range(12)))
def test_rewards_depend_on_seed_and_decision_alone(make: Any, order: list[int]) -> None:
    task = make()
    asked = decisions(task, 12)
    task.reset(3)
    rewards = [task.respond(decision) for decision in asked]
    task.reset(3)
    for k in order:
        assert task.respond(asked[k]) == rewards[k]
        task.observe()
    assert [task.respond(decision) for decision in asked] == rewards


@pytest.mark.parametrize(
    "name", ["tents-gaussian", "tents-finite", "paper", "ridges", "boxes", "bridge", "catalogue", "devices"]
)
def test_all_policies_meet_the_same_luck(name: str) -> None:
    task = TASKS[name]()
    policies = [
        Random(task.problem),
        PCZ(task.problem, horizon=300, noise=0.1),
        PCZ(task.problem, noise=0.1, seed=5),
        ContextualZooming(task.problem, horizon=300),
    ]
    played = [list(simulate(policy, task, 150, seed=11)) for policy in policies]
    assert all([r.decision.arm for r in run] != [r.decision.arm for r in played[0]] for run in played[1:])
    for rounds in zip(*played, strict=True):
        assert all(r.decision.context == rounds[0].decision.context for r in rounds)
        for objective in task.problem.objective_names:
            pairs = [(task.mean(r.decision.context, r.decision.arm)[objective], r.reward[objective]) for r in rounds]
            if task.noise == "gaussian":
                luck = [reward - mean for mean, reward in pairs]
                assert luck == pytest.approx([luck[0]] * len(luck), abs=1e-12)
            else:  # one uniform draw, compared with each mean
                successes = [mean for mean, reward in pairs if reward == 1]
                failures = [mean for mean, reward in pairs if reward == 0]
                assert max(failures, default=0) <= min(successes, default=1)


@pytest.mark.parametrize("task", [PaperTask(), Tents(6), Tents(6, spread=0.5)], ids=["paper", "tents", "gaussian"])
def test_contexts_arms_and_luck_are_drawn_apart(task: Task) -> None:
    n = 4000
    rounds = list(simulate(Random(task.problem), task, n, seed=1))
    x = np.array([r.decision.context["x"] for r in rounds])
    y = np.array([r.decision.arm["y"] for r in rounds])
    rewards = np.array([list(r.reward.values()) for r in rounds])
    luck = rewards - task.means(np.column_stack([x, y]))
    together = np.corrcoef(np.column_stack([x, y, luck]), rowvar=False)
    assert np.abs(together - np.eye(len(together))).max() < 4.5 / math.sqrt(n)
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 4 / math.sqrt(n - 1)
    for drawn in (x, y):
        assert abs(drawn.mean() - 0.5) < 4 / math.sqrt(12 * n)


def answers(task: Task, arm: Any, n: int) -> Floats:
    """The rewards of n decisions for one context and arm."""
    task.reset(17)
    asked = (Decision(k, {"x": 0.25}, arm, 1.0, 0) for k in range(n))
    return np.array([list(task.respond(decision).values()) for decision in asked])


@pytest.mark.parametrize(
    ("task", "arm"),
    [
        (PaperTask(), {"y": 0.65}),
        (SmoothRidges(), {"y": 0.8}),
        (Tents(1), {"y": 0.9}),
        (Tents(6), {"y": 0.3}),
        (Tents(3, arms=5), "y0.25"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_bernoulli_rewards_have_the_stated_means(task: Task, arm: Any) -> None:
    n = 8000
    rewards = answers(task, arm, n)
    assert set(np.unique(rewards)) <= {0.0, 1.0}
    means = np.array(list(task.mean({"x": 0.25}, arm).values()))
    assert np.all(np.abs(rewards.mean(axis=0) - means) <= 4 * np.sqrt(means * (1 - means) / n))
    assert_uncorrelated(rewards)


@pytest.mark.parametrize(("objectives", "spread"), [(1, 0.5), (2, 0.05), (6, 1.0)])
def test_gaussian_rewards_have_the_stated_means_and_spreads(objectives: int, spread: float) -> None:
    n, task = 8000, Tents(objectives, spread=spread)
    rewards = answers(task, {"y": 0.7}, n)
    means = np.array(list(task.mean({"x": 0.25}, {"y": 0.7}).values()))
    standard = (rewards - means) / spread
    assert np.all(np.abs(standard.mean(axis=0)) <= 4 / math.sqrt(n))
    # The variance of a sample variance of Gaussians is 2 / n; that of a fourth moment 96 / n.
    assert np.all(np.abs((standard**2).mean(axis=0) - 1) <= 4 * math.sqrt(2 / n))
    assert np.all(np.abs((standard**4).mean(axis=0) - 3) <= 4 * math.sqrt(96 / n))
    assert_uncorrelated(rewards)


def assert_uncorrelated(rewards: Floats) -> None:
    """Objectives of one round, and an objective in successive rounds, draw apart."""
    varying = rewards[:, rewards.std(axis=0) > 0]
    together = np.atleast_2d(np.corrcoef(varying, rowvar=False))
    assert np.abs(together - np.eye(len(together))).max() < 4.5 / math.sqrt(len(rewards))
    for column in varying.T:
        assert abs(np.corrcoef(column[1:], column[:-1])[0, 1]) < 4.5 / math.sqrt(len(rewards))


def test_no_spread_is_no_noise() -> None:
    task = Tents(2, spread=0.0)
    for decision in decisions(task, 20):
        assert task.respond(decision) == task.mean(decision.context, decision.arm)


def test_contexts_of_every_kind_are_drawn_uniformly() -> None:
    class Kinds(Task):
        name = "kinds"
        mean_kernel = PaperTask.mean_kernel

    task = Kinds(
        Problem(
            context=[
                Real("r", -1, 3),
                Real("log", 1, 100, scale="log"),
                Real("hour", 0, 24, periodic=True),
                Integer("n", 3, 7),
                Categorical("c", ["a", "b", "c"]),
                Real("last"),
            ],
            arm=[Real("y")],
            objectives=[Objective("a"), Objective("b")],
        )
    )
    n = 4000
    seen = [task.observe() for _ in range(n)]
    for name, low, high in (("r", -1, 3), ("hour", 0, 24), ("last", 0, 1)):
        values = (np.array([s[name] for s in seen]) - low) / (high - low)
        assert abs(values.mean() - 0.5) < 4 / math.sqrt(12 * n)
        assert abs(np.mean(values < 0.25) - 0.25) < 4 * math.sqrt(0.25 * 0.75 / n)
    assert abs(np.mean([s["log"] < 10 for s in seen]) - 0.5) < 4 * 0.5 / math.sqrt(n)
    for name, values in (("n", [3, 4, 5, 6, 7]), ("c", ["a", "b", "c"])):
        share = 1 / len(values)
        for value in values:
            assert abs(np.mean([s[name] == value for s in seen]) - share) < 4 * math.sqrt(share * (1 - share) / n)
    first, last = np.array([[s["r"], s["last"]] for s in seen]).T  # four draws apart: another block of the stream
    assert abs(np.corrcoef(first, last)[0, 1]) < 4 / math.sqrt(n)
