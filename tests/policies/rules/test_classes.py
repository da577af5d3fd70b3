"""Policies over a class of rules: their class, their numbers, and their slow twins."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Decision, Finite, Objective, Problem, Real, Refused, Snapshot
from paretozoom.checks import check_policy
from paretozoom.kernels.rules import epoch_greedy, ilovetoconbandits, policy_elimination, randomized_ucb
from paretozoom.kernels.rules.descent import descend, invert_mix, spreads
from paretozoom.policies.rules.classes import PolicyClass
from paretozoom.policies.rules.epoch_greedy import EpochGreedy
from paretozoom.policies.rules.ilovetoconbandits import ILoveToConBandits
from paretozoom.policies.rules.policy_elimination import PolicyElimination
from paretozoom.policies.rules.randomized_ucb import RandomizedUCB
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.rules import classes as reference

ALL: list[type[PolicyClass]] = [EpochGreedy, ILoveToConBandits, PolicyElimination, RandomizedUCB]
TWINS: dict[type[PolicyClass], type[reference.ClassTwin]] = {
    EpochGreedy: reference.EpochGreedyTwin,
    ILoveToConBandits: reference.ILoveToConBanditsTwin,
    PolicyElimination: reference.PolicyEliminationTwin,
    RandomizedUCB: reference.RandomizedUCBTwin,
}
TWO = [Objective("first"), Objective("second")]
LINE = Problem(context=[Real("x")], arm=[Real("y")], objectives=TWO)
LABELS = Problem(context=[Real("x")], arm=Finite(["a", "b", "c"]), objectives=TWO)
RULES = [[0, 0, 0, 0], [1, 1, 1, 1], [2, 2, 2, 2], [0, 1, 2, 0], [2, 1, 0, 1], [0, 0, 1, 1], [1, 2, 2, 0]]


# The numbers of the papers.


def test_rounds_of_exploitation() -> None:
    rounds = {epoch: epoch_greedy.exploitation_rounds(epoch, 1.0, 10, 100) for epoch in (1, 46, 47, 100, 1000, 10_000)}
    assert rounds == {1: 0, 46: 0, 47: 1, 100: 1, 1000: 4, 10_000: 14}


def test_numbers_of_policy_elimination() -> None:
    assert policy_elimination.doubt(1000, 100, 0.05) == pytest.approx(22.8027074, abs=1e-7)
    assert policy_elimination.width_of(1000, 10, 100, 0.05) == pytest.approx(1.3506356, abs=1e-7)
    assert policy_elimination.smoothing_of(1000, 10, 100, 0.05, 1.0) == pytest.approx(0.0337659, abs=1e-7)
    assert (
        2 * policy_elimination.width_of(8679, 10, 100, 0.05) >= 1 > 2 * policy_elimination.width_of(8680, 10, 100, 0.05)
    )


def test_numbers_of_randomized_ucb() -> None:
    assert randomized_ucb.doubt(1000, 100, 0.05) == pytest.approx(29.0173155, abs=1e-7)
    assert randomized_ucb.smoothing_of(1000, 10, 100, 0.05, 1.0) == pytest.approx(0.0380902, abs=1e-7)


def test_smoothing_of_ilovetoconbandits() -> None:
    mu = [ilovetoconbandits.smoothing_of(tau, 10, 100, 0.05, 1.0) for tau in (1, 1024, 65536)]
    assert mu == pytest.approx([0.05, 0.0486502, 0.0070480], abs=1e-7)


# Coordinate descent.


def test_descent_of_a_single_rule() -> None:
    one, weights = np.zeros((1, 1), np.int64), np.zeros(1)
    assert descend(weights, np.zeros(1), np.ones(1, np.int64), one, np.ones(1), 2, 0.1) == 2
    assert weights[0] == pytest.approx(0.244, abs=1e-12)
    spread = np.empty(1)
    for weight, expected in ((0.0, 10.0), (0.1, 5.5555556)):
        spreads(one, np.ones(1), invert_mix(one, np.array([weight]), 2, 0.1), spread)
        assert spread[0] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("arms", [2, 3, 10, 18])
def test_full_smoothing_needs_no_weights(arms: int) -> None:
    named = np.random.default_rng(arms).integers(arms, size=(7, 5))
    weights = np.zeros(5)
    assert descend(weights, np.zeros(5), np.ones(5, np.int64), named, np.full(7, 1 / 7), arms, 1 / (2 * arms)) == 0
    assert weights.tolist() == [0.0] * 5


@pytest.mark.parametrize("seed", range(20))
def test_descent_keeps_its_constraints_within_its_steps(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rules, sites, arms = int(rng.integers(1, 60)), int(rng.integers(1, 30)), int(rng.integers(2, 9))
    mu = float(rng.uniform(0.003, 1.0)) / (2 * arms)
    named, share = rng.integers(arms, size=(sites, rules)), rng.dirichlet(np.ones(sites))
    lenience, weights, spread = rng.exponential(2.0, rules), np.zeros(rules), np.empty(rules)
    steps = descend(weights, lenience, np.ones(rules, np.int64), named, share, arms, mu)
    assert steps <= 4 * math.log(1 / (arms * mu)) / mu
    spreads(named, share, invert_mix(named, weights, arms, mu), spread)
    assert (spread <= 2 * arms + lenience + 1e-8).all()
    assert weights.min() >= 0
    assert (weights * (2 * arms + lenience)).sum() <= 2 * arms + 1e-8


def test_randomized_ucb_finds_the_least_regret() -> None:
    """Against all distributions over three rules on a fine grid."""
    named, share = np.array([[0, 1, 0], [0, 1, 1], [1, 0, 1]]), np.array([0.5, 0.2, 0.3])
    short, most, mu = np.array([0.0, 0.4, 0.1]), np.array([8.0, 8.0, 9.0]), 0.01
    weights, spread = np.full(3, 1 / 3), np.empty(3)
    randomized_ucb.improve(weights, short, most, named, share, 2, mu, 1e-3)
    spreads(named, share, invert_mix(named, weights, 2, mu), spread)
    assert (spread <= most).all()
    least = math.inf
    for p, q in itertools.product(np.arange(0, 1.0001, 0.005), repeat=2):
        if p + q <= 1:
            other = np.array([1 - p - q, p, q])
            spreads(named, share, invert_mix(named, other, 2, mu), spread)
            least = min(least, float(other @ short)) if (spread <= most).all() else least
    assert weights @ short <= least + 1e-3


# The class.


def test_affine_rules_hold_the_peaks_of_the_paper() -> None:
    policy = EpochGreedy(LINE, arms=30)
    assert policy.facts() == {"rules": 121, "rules_in_play": 121}
    for x in (0.013, 0.2, 0.519, 0.77, 0.991):
        arms = policy.arms_of([x])
        assert arms[8 * 11 + 9] == min(int((0.8 - 0.8 * x) * 30), 29)
        assert arms[10 * 11 + 9] == min(int((1.0 - 0.8 * x) * 30), 29)


def test_rules_of_several_coordinates() -> None:
    problem = Problem(
        context=[Categorical("kind", ["u", "v"]), Real("x"), Real("z")], arm=[Real("y")], objectives=TWO[:1]
    )
    first, mean = EpochGreedy(problem), EpochGreedy(problem, along="mean")
    line = EpochGreedy(Problem(context=[Real("x")], arm=[Real("y")], objectives=TWO[:1]))
    assert first.arms_of(["v", 0.25, 0.75]).tolist() == line.arms_of([0.25]).tolist()
    assert mean.arms_of(["v", 0.25, 0.75]).tolist() == line.arms_of([0.5]).tolist()


def test_rules_of_categories() -> None:
    arm = Finite(["a", "b", "c"])
    one = EpochGreedy(Problem(context=[Categorical("kind", ["u", "v"])], arm=arm, objectives=TWO))
    pairs = set(zip(one.arms_of(["u"]).tolist(), one.arms_of(["v"]).tolist(), strict=True))
    assert pairs == set(itertools.product(range(3), repeat=2))
    few = EpochGreedy(Problem(context=[Categorical("kind", list("uvw"))], arm=[Real("y")], objectives=TWO))
    assert few.facts()["rules"] == 1000
    assert sorted(set(few.arms_of(["w"]).tolist())) == [0, 2, 4, 6, 8, 9, 11, 13, 15, 17]
    many = EpochGreedy(Problem(context=[Categorical("kind", list("abcdefghijkl"))], arm=arm, objectives=TWO))
    assert many.arms_of(["k"]).tolist() == [0, 1, 2]
    none = EpochGreedy(Problem(context=[], arm=arm, objectives=TWO))
    assert none.arms_of([]).tolist() == [0, 1, 2]


def test_given_rules() -> None:
    policy = EpochGreedy(LABELS, rules=RULES, cells=4)
    assert policy.arms_of([0.6]).tolist() == [rule[2] for rule in RULES]
    mixed = Problem(context=[Categorical("kind", ["u", "v"]), Real("x")], arm=Finite(["a", "b"]), objectives=TWO)
    policy = EpochGreedy(mixed, rules=[[0, 1, 1, 0], [1, 1, 0, 0]], cells=2)
    assert policy.arms_of(["v", 0.3]).tolist() == [1, 0]


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"rules": []}, "rules"),
        ({"rules": [[0, 0], [1]]}, "rules"),
        ({"rules": [0, 1]}, r"rules: \[0, 1\] is not a list of rules"),
        ({"rules": [None]}, r"rules: \[None\] is not a list of rules"),
        ({"rules": [lambda context: 0]}, "is not a list of rules"),
        ({"rules": np.array([0, 1])}, r"rules: array\(\[0, 1\]\) is not a list of rules"),
        ({"rules": np.array(0)}, "is not a list of rules"),
        ({"rules": [[0, 3, 0, 0]], "cells": 4}, r"rules\[0\]: 3"),
        ({"rules": [[0, True, 0, 0]], "cells": 4}, r"rules\[0\]: True"),
        ({"rules": [[0, 1, 0]], "cells": 4}, "one for each of 4 context cells"),
        ({"cells": 4}, "cells: 4 given without rules"),
        ({"along": "last"}, "along"),
        ({"within": "edge"}, "within"),
        ({"objective": "third"}, "objective"),
        ({"pareto": 1}, "pareto"),
    ],
)
@pytest.mark.parametrize("policy", ALL)
def test_bad_parameters_are_refused(policy: Any, parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(Refused, match=words):
        policy(LABELS, **parameters)


@pytest.mark.parametrize("policy", ALL[1:])
@pytest.mark.parametrize("parameters", [{"delta": 0.0}, {"delta": 1.0}, {"confidence": 0}, {"confidence": math.nan}])
def test_bad_confidence_is_refused(policy: Any, parameters: dict[str, Any]) -> None:
    with pytest.raises(Refused, match=next(iter(parameters))):
        policy(LABELS, **parameters)


def test_own_parameters_are_checked_and_noted() -> None:
    with pytest.raises(Refused, match="factor"):
        EpochGreedy(LABELS, factor=-1.0)
    with pytest.raises(Refused, match="psi"):
        ILoveToConBandits(LABELS, psi=0.0)
    assert PolicyElimination(LABELS, confidence=0.5, pareto=True).notes == ["confidence=0.5"]
    assert RandomizedUCB(LABELS, pareto=True).notes == []


@pytest.mark.parametrize("policy", ALL)
def test_unscaled_objectives_are_refused(policy: Any) -> None:
    unscaled = Objective("r", low=None, high=None, bounded=False)
    with pytest.raises(Refused, match="low and high are unknown"):
        policy(Problem(context=[], arm=Finite(["a", "b"]), objectives=[unscaled]))


# The twins.


def _players(policy: Any, problem: Problem, parameters: dict[str, Any], twin: dict[str, Any]) -> tuple[Any, Any]:
    own = {} if policy is EpochGreedy else {"confidence": 0.3}
    mine = policy(problem, **parameters, **own, seed=5)
    theirs: Any = TWINS[policy](problem, **twin, seed=5)
    theirs.confidence, theirs.policy = 0.3, mine
    return mine, theirs


@pytest.mark.parametrize("scrambled", [False, True])
@pytest.mark.parametrize("pareto", [False, True])
@pytest.mark.parametrize("policy", ALL)
def test_same_decisions_as_the_twin_on_finite_arms(policy: Any, pareto: bool, scrambled: bool) -> None:
    weights: dict[str, Any] = {} if pareto else {"weights": [0.25, 0.75]}
    table: dict[str, Any] = {"rules": RULES, "cells": 4}
    mine, theirs = _players(policy, LABELS, {**table, **weights, "pareto": pareto}, {**table, **weights})
    sets = [None, ["a", "c"], None, ["b"], None]
    lockstep(mine, theirs, World(LABELS, 3), 600, feasible=itertools.cycle(sets).__next__, scrambled=scrambled)
    assert mine.played == pytest.approx(np.array(theirs.played), abs=1e-9)
    assert policy is EpochGreedy or len(set(theirs.played)) > 2  # something was solved


@pytest.mark.parametrize("within", ["centre", "cell"])
@pytest.mark.parametrize("policy", ALL)
def test_same_decisions_as_the_twin_on_a_grid(policy: Any, within: str) -> None:
    grid: dict[str, Any] = {"arms": 4, "within": within}
    mine, theirs = _players(policy, LINE, grid, {**grid, "weights": [1.0, 0.0]})
    sets: list[Any] = [None, {"y": (0.3, 0.7)}, None, {"y": (0.0, 0.05)}, None, None]
    lockstep(mine, theirs, World(LINE, 4), 120, feasible=itertools.cycle(sets).__next__)


@pytest.mark.parametrize("policy", ALL)
def test_contract_over_many_epochs(policy: Any) -> None:
    own = {} if policy is EpochGreedy else {"confidence": 0.3}
    check_policy(
        lambda problem, seed: policy(problem, within="cell", arms=4, pareto=True, seed=seed, **own), rounds=300
    )


# What is learned.


def test_exploitation_teaches_nothing() -> None:
    policy = EpochGreedy(LABELS, rules=RULES, cells=4, factor=20.0, seed=2)
    world, explored = World(LABELS, 1), 0
    for _ in range(400):
        before, decision = policy.values.copy(), policy.ask(world.context())
        explores = decision.credit % 2**36 > 0
        if explores:
            assert decision.density == 1 / 3
            explored += 1
        policy.tell(decision, world.reward(decision))
        assert explores or (policy.values == before).all()
    assert 1 < explored < 100


def test_exploitation_plays_the_arm_of_the_best_rule() -> None:
    policy = EpochGreedy(LABELS, rules=[[0], [1], [2]], factor=20.0, seed=2)
    densities = []
    for _ in range(400):
        decision = policy.ask([0.5])
        explores = decision.credit % 2**36 > 0
        if not explores and policy.values.any():
            assert decision.arm == "b"
            densities.append(decision.density)
        policy.tell(decision, [float(decision.arm == "b"), 0.0])
    assert set(densities) == {1.0}


@pytest.mark.parametrize("policy", ALL[1:])
def test_the_order_of_rewards_does_not_matter(policy: Any) -> None:
    one, other = (policy(LABELS, rules=RULES, cells=4, seed=2) for _ in range(2))
    world, rng = World(LABELS, 1), np.random.default_rng(1)
    decisions = [(one.ask(context), other.ask(context)) for context in (world.context() for _ in range(64))]
    rewards = [world.reward(decision) for decision, _ in decisions]
    for (decision, _), reward in zip(decisions, rewards, strict=True):
        one.tell(decision, reward)
    for k in rng.permutation(64):
        other.tell(decisions[k][1], rewards[k])
    assert one.values == pytest.approx(other.values, rel=1e-12)


@pytest.mark.parametrize("policy", ALL)
def test_values_are_those_of_the_rules(policy: Any) -> None:
    """Inverse propensities make up for how often an arm is played: the mean is off by a few standard errors at most."""
    world, values = World(LABELS, 9), []
    for seed in range(20):
        player = policy(LABELS, rules=RULES, cells=4, seed=seed)
        for _ in range(500):
            decision = player.ask(world.context())
            player.tell(decision, world.reward(decision))
        values.append(player.values[:, 0])
    quiet = World(LABELS, 0, noise=0.0)
    middles = (np.arange(200) + 0.5) / 200
    means = np.array([[quiet.reward(Decision(0, {"x": x}, arm, 1.0, 0))["first"] for arm in "abc"] for x in middles])
    truth = [np.mean([means[k, rule[k // 50]] for k in range(200)]) for rule in RULES]
    error = np.std(values, axis=0) / math.sqrt(20)
    assert (np.abs(np.mean(values, axis=0) - truth) <= 5 * error).all()


def test_front_names_the_arms_of_the_best_rules() -> None:
    policy = EpochGreedy(LABELS, rules=[[0, 1], [1, 0], [2, 2]], cells=2, seed=3)
    assert policy.front([0.2]) == []
    for k in range(60):
        decision = policy.ask([k % 10 / 10])
        policy.tell(decision, [float(decision.arm == ("a" if k % 10 < 5 else "b")), 0.0])
    assert [piece.arm for piece in policy.front([0.2])] == ["a"]
    assert [piece.arm for piece in policy.front([0.7])] == ["b"]
    assert policy.front([0.7], feasible=["a"]) == []


def test_elimination_leaves_the_best() -> None:
    policy = PolicyElimination(LABELS, rules=[[0, 1], [1, 0], [2, 2]], cells=2, seed=3)
    for k in range(8193):
        decision = policy.ask([k % 10 / 10])
        policy.tell(decision, [float(decision.arm == ("a" if k % 10 < 5 else "b")), 0.0])
    assert policy.facts()["rules_in_play"] == 1
    assert policy.played.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize(("every", "first"), [(1, 1024), (2, 8192)])
def test_rules_are_dropped_as_soon_as_they_may_be(every: int, first: int) -> None:
    """In any round, by values over all t decisions, of which all or half were told."""
    policy = PolicyElimination(LABELS, rules=[[0, 1], [1, 0], [2, 2]], cells=2, seed=3)
    left, dropped, told = np.ones(3, bool), [], 0
    for t in range(2 * first):
        values = policy.values[:, 0] * told / max(t, 1)
        decision = policy.ask([t % 10 / 10])
        if t > 0:
            before = left.sum()
            left &= values >= values[left].max() - 2 * policy_elimination.width_of(t, 3, 3, 0.05)
            dropped += [t] * int(before - left.sum())
        assert policy.facts()["rules_in_play"] == left.sum()
        if t % every == 0:
            policy.tell(decision, [float(decision.arm == ("a" if t % 10 < 5 else "b")), 0.0])
            told += 1
    assert first < dropped[0]
    if left.sum() == 1:
        assert policy.played.tolist() == [1.0, 0.0, 0.0]


@pytest.mark.parametrize("policy", [EpochGreedy, ILoveToConBandits])
def test_rewards_of_earlier_epochs_teach(policy: Any) -> None:
    late, prompt = (policy(LABELS, rules=RULES, cells=4, seed=2) for _ in range(2))
    prompt.tell(prompt.ask([0.3]), [1.0, 0.0])
    decisions = [late.ask([0.3]) for _ in range(40)]
    late.tell(decisions[0], [1.0, 0.0])
    assert late.values.any()
    assert (late.values == prompt.values).all()


def _other(arrays: dict[str, Any], name: str, place: int, value: float) -> dict[str, Any]:
    changed = arrays[name].copy()
    changed[place] = value
    return {**arrays, name: changed}


@pytest.mark.parametrize("policy", ALL)
@pytest.mark.parametrize(
    ("name", "place", "value"),
    [
        ("ints", 0, 999),  # the epoch entered
        ("ints", 0, -1),
        ("ints", 1, 999),  # the decision it began with
        ("ints", 1, -5),
        ("ints", 2, -1),  # rewards that taught
        ("ints", 2, 999),
        ("ints", 3, -1),  # of them, at a site
        ("ints", -1, 2),  # a rule in play
        ("ints", -1, -(2**40)),
        ("floats", -1, 2.0),  # the smoothing
        ("floats", -1, -0.1),
        ("floats", -2, -1.0),  # weights that were solved for
        ("floats", 7, 5.0),  # weights that are played
        ("floats", 0, math.nan),
    ],
)
def test_snapshots_that_cannot_be_are_refused(policy: Any, name: str, place: int, value: float) -> None:
    player = policy(LABELS, rules=RULES, cells=4, seed=2)
    for k in range(40):
        player.tell(player.ask([k % 10 / 10]), [0.5, 0.5])
    snapshot = player.dump()
    fresh = policy(LABELS, rules=RULES, cells=4, seed=2)
    fresh.load(snapshot)
    with pytest.raises(Refused, match="snapshot"):
        fresh.load(Snapshot(snapshot.header, _other(snapshot.arrays, name, place, value)))
    assert fresh.dump().to_bytes() == snapshot.to_bytes()


def test_a_snapshot_without_rules_in_play_is_refused() -> None:
    snapshot = EpochGreedy(LABELS, rules=RULES, cells=4).dump()
    arrays = {**snapshot.arrays, "ints": snapshot.arrays["ints"].copy()}
    arrays["ints"][-len(RULES) :] = 0
    with pytest.raises(Refused, match="rules in play"):
        EpochGreedy(LABELS, rules=RULES, cells=4).load(Snapshot(snapshot.header, arrays))
