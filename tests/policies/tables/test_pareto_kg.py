"""Pareto knowledge gradient: hand-computed values, its slow twin, and the horizon."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paretozoom import Finite, Objective, Problem, Real, Refused
from paretozoom.checks import check_policy
from paretozoom.kernels.arms.table import list_arms, table
from paretozoom.kernels.tables import pareto_kg
from paretozoom.policies.tables.pareto_kg import ParetoKG
from paretozoom.problem.feasible import ANY
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS, feasible_sets
from tests.reference.tables.pareto_kg import ParetoKG as Twin

ALL = PROBLEMS | LATTICE_PROBLEMS
SHORT = {"horizon": 280, "first_plays": 2}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("labels", SHORT),
    ("labels", SHORT | {"cells": 3, "confidence": 0.01}),
    ("plane", {"arms": 7, "horizon": 100_000, "first_plays": 4}),
    ("plane", SHORT | {"arms": 5, "within": "cell", "cells": 2}),
    ("user's units", SHORT | {"arms": 6, "confidence": 0.001}),
    ("product of arms", SHORT | {"confidence": 0.01}),
    ("mixed arms", SHORT | {"arms": 2}),
    ("five objectives", SHORT | {"arms": 6}),
    ("one objective", SHORT | {"arms": 6}),
]
FOUR = Problem(context=[], arm=Finite(list("abcd")), objectives=[Objective("r"), Objective("s")])


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize(("title", "given"), CASES)
def test_same_decisions_as_the_slow_twin(title: str, given: dict[str, Any], restricted: bool) -> None:
    problem = ALL[title]
    sets = feasible_sets(problem, 5) if restricted else None
    policy, twin = ParetoKG(problem, seed=3, **given), Twin(problem, seed=3, **given)
    lockstep(policy, twin, World(problem, 4), 300, feasible=sets)


def test_check_values() -> None:
    assert pareto_kg.expected_excess(0.0) == pytest.approx(0.3989423, abs=5e-8)
    assert pareto_kg.expected_excess(-1.0) == pytest.approx(0.0833155, abs=5e-8)
    assert pareto_kg.knowledge(0.4, 0.5, 0.5, 25) == pytest.approx(0.00833155, abs=5e-9)
    assert pareto_kg.expected_excess(-30.0) > 0


def test_the_index_of_an_arm() -> None:
    """Arm a has 25 rewards of mean 0.4 and deviation 0.5, the best other mean is 0.5, 900 rounds are left."""
    told = [0.9] * 12 + [-0.1] * 12 + [0.4]
    unbounded = Problem(context=[], arm=Finite(list("abcd")), objectives=[Objective(n, bounded=False) for n in "rs"])
    policy = ParetoKG(unbounded, horizon=1000)
    for label in "abcd":
        rewards = told if label == "a" else [0.45, 0.55] if label == "b" else [0.1, 0.2]
        for reward in rewards:
            policy.tell(policy.ask(feasible=[label]), [reward, reward])
    f, i, at = policy._floats, policy._ints, table(policy._ints)
    listed = list_arms(f, i, at, ANY)
    pareto_kg.index_arms(f, i, at, 0, listed, 100)
    assert f[at.indices] == pytest.approx(60.3871388, abs=1e-6)


def test_after_the_horizon_the_means_count() -> None:
    policy = ParetoKG(FOUR, horizon=40, seed=1)
    means = {"a": [0.9, 0.1], "b": [0.1, 0.9], "c": [0.2, 0.05], "d": [0.05, 0.2]}
    while policy.number < 60:
        decision = policy.ask()
        policy.tell(decision, means[decision.arm])
    assert policy.notes == ["beyond horizon"]
    assert {policy.ask().arm for _ in range(60)} == {"a", "b"}


def test_notes() -> None:
    assert ParetoKG(FOUR).notes == []
    assert ParetoKG(FOUR, confidence=0.5).notes == ["confidence=0.5"]


@pytest.mark.parametrize(("centre", "spread"), [(1e8, 1.0), (-1e10, 10.0), (0.0, 1e-6), (1e3, 1e3)])
def test_deviations_of_large_rewards(centre: float, spread: float) -> None:
    """As numpy has them, which takes the mean away first."""
    problem = Problem(context=[], arm=Finite(["a"]), objectives=[Objective(n, bounded=False) for n in "rs"])
    policy = ParetoKG(problem)
    rewards = np.random.default_rng(1).normal(centre, spread, (3000, 2))
    policy.tell_many(policy.ask_many([[]] * 3000), rewards)
    f, i, at = policy._floats, policy._ints, table(policy._ints)
    found = [pareto_kg.deviation_of(f, i, at, 0, o) for o in range(2)]
    assert found == pytest.approx(rewards.std(axis=0, ddof=1), rel=1e-5)


def test_deviations_of_equal_rewards_in_any_order_are_equal() -> None:
    """Ones and zeros bring ties, which rounding must not break."""
    problem = Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    for ones, zeros in [(1, 2), (3, 4), (10, 3), (70, 31)]:
        policy = ParetoKG(problem)
        for label, rewards in {"a": [1.0] * ones + [0.0] * zeros, "b": [0.0] * zeros + [1.0] * ones}.items():
            for reward in rewards:
                policy.tell(policy.ask(feasible=[label]), [reward])
        f, i, at = policy._floats, policy._ints, table(policy._ints)
        found = {pareto_kg.deviation_of(f, i, at, row, 0) for row in range(2)}
        assert len(found) == 1
        assert found.pop() == pytest.approx(np.std([1.0] * ones + [0.0] * zeros, ddof=1))


def test_a_copy_has_its_share_of_the_rounds_left() -> None:
    problem = Problem(context=[Real("x")], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    found = []
    for cells in (1, 4):
        policy = ParetoKG(problem, horizon=1000, cells=cells)
        for label, reward in (("a", 0.3), ("a", 0.5), ("b", 0.1), ("b", 0.5)):
            policy.tell(policy.ask([0.1], feasible=[label]), [reward])
        f, i, at = policy._floats, policy._ints, table(policy._ints)
        pareto_kg.index_arms(f, i, at, 0, list_arms(f, i, at, ANY), 200)
        found.append(f[at.indices] - policy.means[0, 0, 0])
    assert found[0] == pytest.approx(4 * found[1])


def test_unknown_scales_are_taken() -> None:
    unscaled = Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r", low=None, high=None)])
    policy, rng = ParetoKG(unscaled, horizon=500, confidence=0.01, seed=1), np.random.default_rng(2)
    for _ in range(500):
        decision = policy.ask()
        policy.tell(decision, [float(rng.normal(100 + 3 * (decision.arm == "b"), 1.0))])
    assert policy.plays[0, 1] > 400


@pytest.mark.parametrize("given", [{"horizon": 150}, {"cells": 3}, {"within": "cell"}])
def test_contract(given: dict[str, Any]) -> None:
    check_policy(lambda problem, seed: ParetoKG(problem, seed=seed, **given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"horizon": 1}, "horizon: 1"),
        ({"first_plays": 1}, "first_plays: 1"),
        ({"least_deviation": 0}, "least_deviation: 0"),
        ({"confidence": -1}, "confidence: -1"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        ParetoKG(FOUR, **given)
