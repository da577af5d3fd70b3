"""Tasks on which the policies of the field are at home: what each family assumes holds there."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest

from paretozoom import Refused, simulate
from paretozoom.checks import check_environment, check_metric
from paretozoom.environments import ClusteredUsers, FiniteBandit, LinearRewards, PolicyClass, Task
from paretozoom.metrics import Metric
from paretozoom.policies import ParetoUCB1, Random
from paretozoom.problem import random_points
from paretozoom.problem.dimensions import Finite, Floats
from paretozoom.registry import find_members
from paretozoom.similarity.metric import check_similarity

HOMES: dict[str, Any] = {
    "bandit": FiniteBandit,
    "bandit-1": lambda: FiniteBandit(arms=4, objectives=1),
    "bandit-5": lambda: FiniteBandit(arms=9, objectives=5),
    "bandit-optimal": lambda: FiniteBandit(arms=3),
    "linear": LinearRewards,
    "users": ClusteredUsers,
    "users-few": lambda: ClusteredUsers(users=5, clusters=2, items=7),
    "class": PolicyClass,
    "class-6": lambda: PolicyClass(best=6),
}
every_home = pytest.mark.parametrize("make", HOMES.values(), ids=HOMES)


def points_of(task: Task, n: int, seed: int = 0) -> Floats:
    return random_points(task.problem.encoding, n, np.random.default_rng(seed))


def table_of(task: Task, context: list[float]) -> Floats:
    """All arms at an encoded context."""
    arms = task.problem.encoding.arms
    return np.column_stack([np.tile(context, (len(arms), 1)), arms])


# What all of them promise


@every_home
def test_the_contract_is_kept(make: Any) -> None:
    task = make()
    check_environment(task)
    assert task.gap_error == 0
    for metric in find_members("paretozoom.metrics", Metric).values():
        check_metric(metric, task)


@every_home
def test_means_are_probabilities_and_truth_is_enumeration(make: Any) -> None:
    task = make()
    means = task.means(points_of(task, 5_000))
    assert means.min() >= 0
    assert means.max() <= 1
    contexts = points_of(task, 20, seed=1)[:, : task.problem.encoding.context]
    for context in contexts:
        points = table_of(task, list(context))
        above = task.means(points)[:, None] - task.means(points)[None]
        dominated = ((above >= 0).all(axis=2) & (above > 0).any(axis=2)).any(axis=0)
        assert task.gaps(points) == pytest.approx(np.maximum(0, above.min(axis=2).max(axis=0)), abs=1e-15)
        assert task.are_optimal(points).tolist() == (~dominated).tolist()


@every_home
def test_assumption_1_holds_under_the_similarity_of_the_task(make: Any) -> None:
    task = make()
    check_similarity(task.problem, task.similarity)
    if not isinstance(task, PolicyClass):  # which jumps between cells
        assert task.lipschitz(similarity=task.similarity) <= 1 + 1e-6  # near pairs round


def test_without_looking_at_the_context_much_is_lost() -> None:
    for task in (LinearRewards(), ClusteredUsers(), PolicyClass()):
        random = task.gaps(points_of(task, 5_000)).mean()
        assert task.constant_arm()[1] > 0.5 * random


# Each on its own


@pytest.mark.parametrize(("arms", "objectives"), [(10, 2), (4, 1), (12, 3), (20, 6)])
def test_the_front_of_a_finite_bandit_is_clear(arms: int, objectives: int) -> None:
    task = FiniteBandit(arms, objectives)
    optimal = 1 if objectives == 1 else objectives + 1
    expected = [0.0] * optimal + np.linspace(0.15, 0.35, arms - optimal).tolist()
    assert task.gaps(table_of(task, [])) == pytest.approx(expected, abs=1e-12)
    assert task.front([]) == [f"arm{k + 1}" for k in range(optimal)]
    assert task.bins == arms


def test_pareto_ucb1_is_at_home_in_a_finite_bandit() -> None:
    task = FiniteBandit()
    policy = ParetoUCB1(task.problem, seed=1)
    gaps = [task.gap([], r.decision.arm) for r in simulate(policy, task, 4_000, seed=1)]
    random = [task.gap([], r.decision.arm) for r in simulate(Random(task.problem), task, 4_000, seed=1)]
    assert np.mean(gaps[-1_000:]) < 0.5 * np.mean(random)


def test_linear_rewards_are_linear_and_within_the_norms() -> None:
    task = LinearRewards()
    points = points_of(task, 2_000)
    features = task.features(points)
    assert task.means(points) == pytest.approx(features @ task.theta.T, abs=1e-12)
    corners = np.array(list(itertools.product([0.0, 1.0], repeat=4)))
    assert np.linalg.norm(task.features(corners), axis=1).max() <= 1 + 1e-12
    assert np.linalg.norm(task.theta, axis=1).max() <= 1
    assert isinstance(task.problem.arm, Finite)
    assert np.array_equal(task.problem.encoding.arms, np.array(task.problem.arm.features))


@pytest.mark.parametrize(("x", "best"), [(0.0, "early"), (0.45, "early"), (0.55, "late"), (1.0, "late")])
def test_the_front_of_linear_rewards_fits_the_context(x: float, best: str) -> None:
    task = LinearRewards()
    assert task.front([x]) == [f"{best}, {split}" for split in ("0", "0.5", "1")]
    fits = {"late": x, "early": 1 - x, "always": 0.4, "never": 0.0}
    for name, fit in fits.items():
        for split in ("0", "0.5", "1"):
            assert task.gap([x], f"{name}, {split}") == pytest.approx(0.18 * (max(x, 1 - x) - fit), abs=1e-12)


def test_users_of_a_cluster_are_alike_and_others_are_not() -> None:
    task = ClusteredUsers()
    means = np.array([task.means(table_of(task, [user])) for user in range(20)])
    clusters = task.cluster_of(np.arange(20))
    assert np.bincount(clusters).tolist() == [5, 5, 5, 5]
    for a, b in itertools.combinations(range(20), 2):
        apart = np.abs(means[a] - means[b]).max()
        assert apart == 0 if clusters[a] == clusters[b] else apart > 0.5
    features = np.column_stack([np.ones(12), task.problem.encoding.arms])
    for own in means:
        coefficients, residual, *_ = np.linalg.lstsq(features, own, rcond=None)
        assert residual == pytest.approx(0, abs=1e-20)
        assert np.linalg.norm(coefficients[1:], axis=0) == pytest.approx([0.8, 0.8])


def test_every_cluster_has_items_of_its_own() -> None:
    task = ClusteredUsers()
    fronts = [set(task.front([f"user{k}"])) for k in range(4)]
    assert [len(front) for front in fronts] == [4, 4, 4, 4]
    assert set.union(*fronts) == {f"item{k}" for k in range(12)}
    assert not fronts[0] & fronts[2]


@pytest.mark.parametrize("best", range(8))
def test_one_rule_is_far_better_than_the_others(best: int) -> None:
    task = PolicyClass(best)
    assert len(task.rules) <= 10
    assert len({tuple(row) for row in task.rules.tolist()}) == 8
    x = (np.arange(800) + 0.5) / 800
    for row, value in zip(task.rules, task.values, strict=True):
        points = np.column_stack([x, row[(x * 8).astype(int)]])
        assert task.means(points).mean() == pytest.approx(value)
    assert task.values.argmax() == best
    assert task.values[best] - np.sort(task.values)[-2] == pytest.approx(0.45)


# Refusals


@pytest.mark.parametrize(
    ("make", "parameters", "words"),
    [
        (FiniteBandit, {"arms": 2}, ["arms", "2", "3"]),
        (FiniteBandit, {"arms": 2.0}, ["arms", "2.0"]),
        (FiniteBandit, {"objectives": 0}, ["objectives", "0"]),
        (FiniteBandit, {"objectives": True}, ["objectives", "True"]),
        (ClusteredUsers, {"users": 1}, ["users", "1"]),
        (ClusteredUsers, {"clusters": 0}, ["clusters", "0"]),
        (ClusteredUsers, {"clusters": 21}, ["clusters", "21", "20"]),
        (ClusteredUsers, {"items": 2}, ["items", "2", "3"]),
        (PolicyClass, {"best": 8}, ["best", "8"]),
        (PolicyClass, {"best": -1}, ["best", "-1"]),
        (PolicyClass, {"best": "x"}, ["best", "'x'"]),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_impossible_tasks_are_refused(make: Any, parameters: dict[str, Any], words: list[str]) -> None:
    with pytest.raises(Refused) as refused:
        make(**parameters)
    assert all(word in str(refused.value) for word in words)
