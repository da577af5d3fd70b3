"""Annealing-Pareto: hand-computed values, its slow twin, and when an arm is dropped and returns."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paretozoom import Finite, Objective, Problem, Real, Refused
from paretozoom.checks import check_policy
from paretozoom.kernels.tables.annealing_pareto import epsilon
from paretozoom.policies.tables.annealing_pareto import AnnealingPareto
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS, feasible_sets
from tests.reference.tables.annealing_pareto import AnnealingPareto as Twin
from tests.reference.tables.annealing_pareto import anneal

ALL = PROBLEMS | LATTICE_PROBLEMS
FAST = {"decay": 0.99, "first_plays": 3}
CASES: list[tuple[str, dict[str, Any]]] = [
    ("labels", FAST),
    ("labels", FAST | {"cells": 3, "prune_kept": True}),
    ("plane", {"arms": 7, "decay": 0.9999, "first_plays": 1}),
    ("plane", FAST | {"arms": 5, "within": "cell", "cells": 2}),
    ("user's units", FAST | {"arms": 12, "prune_kept": True}),
    ("product of arms", FAST | {"first_plays": 1}),
    ("mixed arms", FAST | {"arms": 2, "first_plays": 1}),
    ("five objectives", FAST | {"arms": 6}),
    ("one objective", FAST | {"arms": 6}),
]
MEANS = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.6, 0.6], "d": [0.5, 0.5]}
FOUR = Problem(context=[], arm=Finite(list(MEANS)), objectives=[Objective("r"), Objective("s")])


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize(("title", "given"), CASES)
def test_same_decisions_as_the_slow_twin(title: str, given: dict[str, Any], restricted: bool) -> None:
    problem = ALL[title]
    sets = feasible_sets(problem, 5) if restricted else None
    policy = AnnealingPareto(problem, seed=3, **given)
    twin = Twin(problem, seed=3, **{"prune_kept": False, **given})
    lockstep(policy, twin, World(problem, 4), 300, feasible=sets)
    everyone = set(range(len(twin.arms)))
    for cell in range(twin.cells):
        assert set(np.flatnonzero(policy.playable[cell])) == twin.playable.get(cell, everyone)


def test_epsilon() -> None:
    assert epsilon(0, 0.99, 10, 2) == pytest.approx(0.05)
    assert epsilon(100, 0.99, 10, 2) == pytest.approx(0.0183016, abs=5e-8)


def taught(means: dict[str, list[float]], **given: Any) -> AnnealingPareto:
    """Every arm was told its mean once, in this order."""
    policy = AnnealingPareto(FOUR, first_plays=1, **given)
    for label, mean in means.items():
        policy.tell(policy.ask(feasible=[label]), mean)
    return policy


def without_d() -> AnnealingPareto:
    """Arm d was dropped when arm c, which dominates it, was still the best one; then a and b came to be better."""
    policy = taught({"d": [0.5, 0.5], "c": [0.7, 0.7], "b": [0.0, 0.7], "a": [0.7, 0.0]})
    assert policy.playable.tolist() == [[True, True, True, False]]
    for label, mean in {"b": [0.0, 1.0], "a": [1.0, 0.0]}.items():
        while policy.means[0].max(axis=1)["abcd".index(label)] < 0.95:
            policy.tell(policy.ask(feasible=[label]), mean)
    return policy


def test_check_values_of_the_rule() -> None:
    numbered = dict(enumerate(MEANS.values()))
    assert anneal(numbered, set(numbered), 0.05) == {0, 1, 2, 3}
    assert anneal(numbered, set(numbered), 0.05, prune_kept=True) == {0, 1, 2}
    assert without_d().playable.tolist() == [[True, True, True, False]]


@pytest.mark.parametrize("order", ["abcd", "dcba", "dcab", "cdba"])
def test_arms_are_compared_when_all_were_played(order: str) -> None:
    """In whatever order: arm d is not lost to arm c before the better ones are known."""
    means = {label: MEANS[label] for label in order}
    for few in range(4):
        assert taught(dict(list(means.items())[:few]), decay=0.5).playable.all()
    assert taught(means, decay=0.5).playable.tolist() == [[True, True, True, True]]
    assert taught(means, decay=0.5, prune_kept=True).playable.tolist() == [[True, True, True, False]]


def test_an_arm_that_is_never_feasible_holds_nothing_up() -> None:
    policy = AnnealingPareto(FOUR, first_plays=2, seed=1)
    means = {"a": [0.9, 0.5], "b": [0.5, 0.9], "c": [0.4, 0.4]}
    for _ in range(40):
        decision = policy.ask(feasible=["a", "b", "c"])
        policy.tell(decision, means[decision.arm])
    assert policy.plays[0, 2] == 2
    assert policy.playable.all()
    assert {policy.ask(feasible=["a", "b", "c"]).arm for _ in range(40)} == {"a", "b"}
    assert policy.ask().arm == "d"


def test_asking_changes_nothing_that_was_learned() -> None:
    policy = without_d()
    before = policy.dump().arrays
    for _ in range(20):
        policy.ask()
    after = policy.dump().arrays
    assert all((before[name] == after[name]).all() for name in ("floats", "ints"))


def test_a_dropped_arm_is_played_only_if_it_must_be() -> None:
    policy = without_d()
    assert {policy.ask().arm for _ in range(100)} == {"a", "b", "c"}
    decision = policy.ask(feasible=["d"])
    assert (decision.arm, decision.density) == ("d", 1.0)
    assert {policy.ask(feasible=["c", "d"]).arm for _ in range(50)} == {"c"}


def test_a_dropped_arm_returns_by_being_nearly_best() -> None:
    policy = without_d()
    while policy.means[0, 3, 0] < 0.99:
        policy.tell(policy.ask(feasible=["d"]), [1.0, 1.0])
    assert policy.playable[0, 3]


@pytest.mark.parametrize("order", ["abcd", "bcda", "dcba"])
def test_late_rewards_do_not_wind_epsilon_back(order: str) -> None:
    """Arm d is 0.1 below arm a, which dominates it: near with the epsilon of number 0, 0.125, not with that of 3."""
    means = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.5, 0.5], "d": [0.9, 0.0]}
    policy = AnnealingPareto(FOUR, first_plays=1, decay=0.5)
    decisions = {label: policy.ask(feasible=[label]) for label in means}
    for label in order:
        policy.tell(decisions[label], means[label])
    assert policy.playable.tolist() == [[True, True, True, False]]


def test_the_time_of_copies() -> None:
    """The epsilon of number 3 is 0.125 / 8; that of a copy of three, whose time is 1, is 0.0625."""
    problem = Problem(context=[Real("x")], arm=FOUR.arm, objectives=FOUR.objectives)
    means = {"a": [1.0, 0.0], "b": [0.0, 1.0], "c": [0.5, 0.5], "d": [0.95, 0.0]}
    for cells in (1, 3):
        policy = AnnealingPareto(problem, first_plays=1, decay=0.5, cells=cells)
        for label, mean in means.items():
            policy.tell(policy.ask([0.1], feasible=[label]), mean)
        assert policy.playable[0].tolist() == [True, True, True, cells == 3]


@pytest.mark.parametrize("given", [{"first_plays": 1}, {"cells": 3}, {"within": "cell", "prune_kept": True}])
def test_contract(given: dict[str, Any]) -> None:
    check_policy(lambda problem, seed: AnnealingPareto(problem, seed=seed, **given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"decay": 1.0}, "decay: 1.0"),
        ({"decay": 0}, "decay: 0"),
        ({"first_plays": 0}, "first_plays: 0"),
        ({"prune_kept": "yes"}, "prune_kept: 'yes'"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        AnnealingPareto(FOUR, **given)
