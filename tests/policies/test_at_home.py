"""Every policy where it belongs: its gaps fall, and it beats Random, with the constants of its paper.

`ratio` and `spread` are the mean and the standard deviation, over 24 runs, of the last to the first half's gaps; the
test holds four other runs to that mean and four of their standard errors. A policy that takes a horizon is told the
rounds. What else is set is for the user to choose:
- SupLinUCB may explore any wide arm; it takes long where contexts are many, with the features of linear rewards;
- MOC-MAB asks how fast means change with the context, HOO what to do with several objectives and with contexts;
- COFIBA may shun arms for good on which it has not parted its users; two tastes and four arms let it learn;
- ILOVETOCONBANDITS and RandomizedUCB play a rule that is worse by 0.4 as often as before for more than 50,000 rounds.
  What falls by then is how often they play arms that no rule names, so they have two rules that agree on most contexts,
  and the first a delta of 1/T. With psi = 1, which no proof covers, it lets go of worse rules too.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any, NamedTuple

import numpy as np
import pytest

from paretozoom import Finite, Objective, Problem, Real, Tents
from paretozoom.environments import ClusteredUsers, FiniteBandit, LinearRewards, PaperTask, PolicyClass, Task
from paretozoom.kernels.core.jit import kernel
from paretozoom.policies import Policy
from paretozoom.problem.dimensions import Floats
from paretozoom.registry import find_members
from paretozoom.simulation import simulate_in_chunks

POLICIES = find_members("paretozoom.policies", Policy)
RUNS, MEASURED_RUNS = range(1, 5), range(101, 125)
ERRORS = 4  # standard errors that count as noise
VISIBLE = 0.8  # a ratio above hardly shows

TWO_RULES = [[0, 0, 1, 1, 1], [1, 1, 1, 1, 1]]


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    out[0] = world[min(int(point[0] * len(world)), len(world) - 1)] == point[1]


class TwoRules(Task):
    """Five cells of contexts, two arms, one of which pays 1 in each cell; the first rule plays it in all of them."""

    name = "two-rules"
    mean_kernel = _mean

    def __init__(self) -> None:
        problem = Problem(context=[Real("x")], arm=Finite(["a", "b"], features=[[0], [1]]), objectives=[Objective("r")])
        super().__init__(problem, world=np.array(TWO_RULES[0], float))


BANDIT, LINEAR, PAPER, TENTS, FIVE_TENTS = FiniteBandit(), LinearRewards(), PaperTask(), Tents(), Tents(arms=5)
USERS, FEW_USERS, TWO_USERS = ClusteredUsers(), ClusteredUsers(8, 2, 4), ClusteredUsers(2, 2, 4)
CLASS, RULES = PolicyClass(), TwoRules()
EIGHT: dict[str, Any] = {"rules": CLASS.rules.tolist(), "cells": 8}
TWO: dict[str, Any] = {"rules": TWO_RULES, "cells": 5}


class Home(NamedTuple):
    policy: str
    task: Task
    rounds: int
    ratio: float | None = None  # None if nothing is proved: then the policy need only beat Random
    spread: float = 0.0
    parameters: dict[str, Any] = {}

    def __str__(self) -> str:
        plain = [str(value) for value in self.parameters.values() if not isinstance(value, list)]
        return "-".join([self.policy, self.task.name, *plain])

    @property
    def bound(self) -> float:
        """Of the ratio of a few runs."""
        return self.ratio + ERRORS * self.spread / np.sqrt(len(RUNS)) if self.ratio is not None else np.inf


HOMES = [
    Home("annealing-pareto", BANDIT, 10_000),
    Home("pareto-kg", BANDIT, 10_000),
    Home("pareto-thompson", BANDIT, 10_000),
    Home("pareto-ucb1", BANDIT, 10_000, 0.331, 0.050),
    Home("scalarized-ucb1", BANDIT, 10_000, 0.627, 0.024),
    Home("linucb", LINEAR, 10_000, 0.158, 0.085),
    Home("linucb", LINEAR, 10_000, 0.143, 0.111, {"model": "hybrid"}),
    Home("linucb", LINEAR, 10_000, 0.225, 0.161, {"model": "shared"}),
    Home("sup-linucb", TWO_USERS, 5_000, 0.280, 0.001),
    Home("kernel-ucb", LINEAR, 5_000, 0.526, 0.129),
    Home("sup-kernel-ucb", TWO_USERS, 30_000, 0.101, 0.008),
    Home("club", USERS, 20_000, 0.095, 0.049),
    Home("cofiba", FEW_USERS, 20_000, 0.073, 0.088),
    Home("pareto-zoom", PAPER, 5_000),
    Home("pcz", TENTS, 400_000, 0.693, 0.043),
    Home("contextual-zooming", TENTS, 400_000, 0.727, 0.068),
    Home("query-ad-clustering", PAPER, 131_071, 0.739, 0.007),
    Home("hoo", TENTS, 50_000, 0.660, 0.024, {"weights": [0.5, 0.5], "cells": 4}),
    Home("mo-hoo", TENTS, 50_000, parameters={"cells": 4}),
    Home("moc-mab", FIVE_TENTS, 100_000, 0.566, 0.011, {"lipschitz": 0.27}),
    Home("epoch-greedy", CLASS, 50_000, 0.599, 0.022, EIGHT),
    Home("policy-elimination", CLASS, 50_000, 0.158, 0.010, EIGHT),
    Home("randomized-ucb", RULES, 50_000, 0.724, 0.031, TWO),
    Home("ilovetoconbandits", RULES, 50_000, 0.785, 0.018, {**TWO, "delta": 1 / 50_000}),
    Home("ilovetoconbandits", CLASS, 50_000, 0.513, 0.051, {**EIGHT, "psi": 1.0}),
]
FAR_HOMES = [Home("sup-linucb", LINEAR, 200_000, 0.420, 0.017, {"features": "products"})]
every_home = pytest.mark.parametrize(
    "home", [*HOMES, *(pytest.param(home, marks=pytest.mark.proof) for home in FAR_HOMES)], ids=str
)


def _halves(home: Home, seeds: range) -> Floats:
    """(runs, 2) What the gaps of each half of a run add up to."""
    make, settings = POLICIES[home.policy], dict(home.parameters)
    if "horizon" in inspect.signature(make).parameters:
        settings["horizon"] = home.rounds
    runs = []
    for seed in seeds:
        rounds = simulate_in_chunks(make(home.task.problem, **settings), home.task, home.rounds, seed=seed)
        gaps = np.concatenate([home.task.gaps(played.columns.point) for played in rounds])
        runs.append([gaps[: home.rounds // 2].sum(), gaps[home.rounds // 2 :].sum()])
    return np.array(runs)


@functools.cache
def _random_regrets(task: Task, rounds: int) -> Floats:
    return np.asarray(_halves(Home("random", task, rounds), RUNS).sum(axis=1))


def _error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


def test_every_policy_has_a_home() -> None:
    assert {home.policy for home in HOMES} == set(POLICIES) - {"random"}


def test_every_bound_asks_for_something() -> None:
    for home in (*HOMES, *FAR_HOMES):
        if home.ratio is None:
            assert POLICIES[home.policy].summary.guarantee == "none proved"
        else:
            assert home.ratio < VISIBLE
            assert home.bound < 1


@pytest.mark.parametrize(("task", "rules"), [(CLASS, EIGHT["rules"]), (RULES, TWO_RULES)], ids=["eight", "two"])
def test_the_best_rule_is_ahead(task: Task, rules: list[list[int]]) -> None:
    middles = (np.arange(len(rules[0])) + 0.5) / len(rules[0])
    values = [task.means(np.column_stack([middles, rule])).mean() for rule in rules]
    assert sorted(values)[-1] - sorted(values)[-2] >= 0.4 - 1e-9


@every_home
def test_gaps_fall_and_random_is_beaten(home: Home) -> None:
    halves = _halves(home, RUNS)
    better = _random_regrets(home.task, home.rounds) - halves.sum(axis=1)
    assert better.mean() > ERRORS * _error(better)
    if home.ratio is not None:
        assert (halves[:, 1] / halves[:, 0]).mean() <= home.bound


@pytest.mark.proof
@every_home
def test_ratios_are_as_measured(home: Home) -> None:
    if home.ratio is not None:
        halves = _halves(home, MEASURED_RUNS)
        ratios = halves[:, 1] / halves[:, 0]
        assert ratios.mean() == pytest.approx(home.ratio, abs=ERRORS * _error(ratios) + 0.001)
        assert ratios.std(ddof=1) == pytest.approx(home.spread, rel=0.5, abs=0.001)
