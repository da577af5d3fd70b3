"""Pareto Thompson sampling: its slow twin, the distribution of its draws, and what its density says."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Finite, Objective, Problem, Refused
from paretozoom.checks import check_policy
from paretozoom.kernels.arms.table import KEY0
from paretozoom.kernels.tables.beta import draw_beta
from paretozoom.policies.tables.pareto_thompson import ParetoThompson
from paretozoom.problem.feasible import ANY
from tests.reference import philox
from tests.reference.lockstep import lockstep
from tests.reference.pareto import front
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS, feasible_sets
from tests.reference.tables.pareto_thompson import BLOCKS, SAMPLE_STREAM, beta
from tests.reference.tables.pareto_thompson import ParetoThompson as Twin

ALL = PROBLEMS | LATTICE_PROBLEMS
CASES: list[tuple[str, dict[str, Any]]] = [
    ("labels", {"resamples": 0}),
    ("labels", {"resamples": 3, "cells": 3}),
    ("plane", {"arms": 6, "resamples": 0}),
    ("plane", {"arms": 4, "resamples": 2, "within": "cell", "cells": 2}),
    ("user's units", {"arms": 4, "resamples": 1}),
    ("one objective", {"arms": 5, "resamples": 1}),
    ("mixed arms", {"arms": 2, "resamples": 0}),
    ("five objectives", {"arms": 4, "resamples": 0}),
]
THREE = Problem(context=[], arm=Finite(["a", "b", "c"]), objectives=[Objective("r"), Objective("s")])


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize(("title", "given"), CASES)
def test_same_decisions_as_the_slow_twin(title: str, given: dict[str, Any], restricted: bool) -> None:
    problem = ALL[title]
    sets = feasible_sets(problem, 5) if restricted else None
    policy, twin = ParetoThompson(problem, seed=3, **given), Twin(problem, seed=3, **given)
    lockstep(policy, twin, World(problem, 4), 120, feasible=sets)


@pytest.mark.parametrize(
    ("ones", "zeros"), [(0.0, 0.0), (0.0, 3.0), (3.0, 1.0), (0.3, 0.2), (40.0, 0.0), (900.5, 99.5)]
)
def test_draws_are_beta(ones: float, zeros: float) -> None:
    a, b, n = 1 + ones, 1 + zeros, 20_000
    drawn = np.array([draw_beta(ones, zeros, 1, 2, k, 7) for k in range(n)])
    mean, variance = a / (a + b), a * b / ((a + b) ** 2 * (a + b + 1))
    assert drawn.mean() == pytest.approx(mean, abs=5 * math.sqrt(variance / n))
    assert drawn.var() == pytest.approx(variance, rel=0.1)
    theirs = np.sort(np.random.default_rng(5).beta(a, b, 10 * n))
    apart = np.abs(np.searchsorted(theirs, np.sort(drawn)) / (10 * n) - (np.arange(n) + 0.5) / n).max()
    assert apart < 1.95 * math.sqrt(1 / n + 0.1 / n)  # of Kolmogorov and Smirnov, exceeded once in a thousand
    for k in range(50):
        twin = beta(a, b, lambda block, k=k: philox.uniforms([1, 2], [k, 7 + block, 0, 0]))
        assert drawn[k] == pytest.approx(twin, rel=1e-9)


def test_three_ones_and_a_zero() -> None:
    """What is believed is Beta(4, 2): mean 2/3, variance 2/63."""
    policy = ParetoThompson(THREE)
    for reward in (1.0, 1.0, 0.0, 1.0):
        policy.tell(policy.ask(feasible=["a"]), [reward, 1 - reward])
    ones, plays = policy.means[0, 0] * policy.plays[0, 0], policy.plays[0, 0]
    assert (1 + ones).tolist() == [4, 2]
    assert (1 + plays - ones).tolist() == [2, 4]
    drawn = np.array([draw_beta(ones[0], plays - ones[0], 3, 4, k, 0) for k in range(20_000)])
    assert drawn.mean() == pytest.approx(2 / 3, abs=0.006)
    assert drawn.var() == pytest.approx(2 / 63, rel=0.05)


def test_an_arm_is_on_the_front_of_its_sample() -> None:
    policy = ParetoThompson(THREE, seed=9)
    key = policy._ints[[KEY0, KEY0 + 1]].tolist()
    for number in range(200):
        sample = [
            [draw_beta(0.0, 0.0, *key, number, SAMPLE_STREAM + (2 * arm + o) * BLOCKS) for o in range(2)]
            for arm in range(3)
        ]
        decision = policy.ask()
        assert decision.credit in front(sample)
        assert decision.density == 1 / len(front(sample))


def taught(resamples: int) -> ParetoThompson:
    policy, means = (
        ParetoThompson(THREE, resamples=resamples, seed=4),
        {"a": (0.7, 0.3), "b": (0.3, 0.7), "c": (0.4, 0.4)},
    )
    for label, mean in means.items():
        for k in range(20):
            policy.tell(policy.ask(feasible=[label]), [float(k < 20 * m) for m in mean])
    return policy


def draws(policy: ParetoThompson, times: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    arms, densities = [], []
    for key in range(times):
        policy._ints[KEY0] = key
        arm, density, _ = policy.kernel.ask(policy._floats, policy._ints, 60, np.empty(policy.problem.dim), ANY)
        arms.append(arm)
        densities.append(density)
    return np.array(arms), np.array(densities)


def test_many_resamples_give_the_probability() -> None:
    policy = taught(256)
    arms, _ = draws(taught(0), 20_000)
    few, densities = draws(policy, 300)
    for arm in range(3):
        share = (arms == arm).mean()
        assert densities[few == arm].mean() == pytest.approx(share, abs=0.02)


@pytest.mark.parametrize("resamples", [1, 4, 32])
def test_the_density_is_exact_given_the_samples(resamples: int) -> None:
    """So 1/density averages to the number of arms on the front of at least one sample: never above all arms."""
    _, densities = draws(taught(resamples), 3000)
    error = 5 * (1 / densities).std() / math.sqrt(len(densities))
    assert (1 / densities).mean() <= 3 + error
    _, many = draws(taught(64), 500)
    assert (1 / many).mean() == pytest.approx(3, abs=5 * (1 / many).std() / math.sqrt(len(many)) + 0.05)


def test_rewards_outside_the_scale_count_as_its_ends() -> None:
    problem = Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r", bounded=False)])
    policy = ParetoThompson(problem)
    for reward in (-3.0, 5.0, 0.25):
        policy.tell(policy.ask(feasible=["a"]), [reward])
    assert policy.means[0, 0, 0] * 3 == pytest.approx(1.25)


def test_a_better_arm_is_played_more() -> None:
    policy, rng = ParetoThompson(THREE, seed=1), np.random.default_rng(1)
    means = {"a": (0.8, 0.5), "b": (0.5, 0.8), "c": (0.3, 0.3)}
    for _ in range(2000):
        decision = policy.ask()
        policy.tell(decision, (rng.random(2) < means[decision.arm]).astype(float).tolist())
    assert policy.plays[0, 2] < 100
    assert policy.plays[0, :2].min() > 600


@pytest.mark.parametrize("given", [{"resamples": 3}, {"cells": 3}, {"within": "cell"}])
def test_contract(given: dict[str, Any]) -> None:
    check_policy(lambda problem, seed: ParetoThompson(problem, seed=seed, **given))
    assert ParetoThompson(THREE).density_kind == "estimate"


@pytest.mark.parametrize("resamples", [-1, 2.5, True, 100_001])
def test_refusals(resamples: Any) -> None:
    with pytest.raises(Refused, match=f"resamples: {resamples}"):
        ParetoThompson(THREE, resamples=resamples)


def test_unknown_scales_are_refused() -> None:
    unscaled = Problem(context=[], arm=Finite(["a"]), objectives=[Objective("r", low=None, high=None)])
    with pytest.raises(Refused, match="scale"):
        ParetoThompson(unscaled)
