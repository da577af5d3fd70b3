"""LinUCB and SupLinUCB against their slow twins, against numbers worked out by hand, and against each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Finite, Objective, Problem, Real, Refused
from paretozoom.kernels.arms import table
from paretozoom.kernels.linear.linear import SCALE
from paretozoom.policies.linear.features import FeatureMap, Features
from paretozoom.policies.linear.linucb import LinUCB
from paretozoom.policies.linear.sup_linucb import SupLinUCB
from tests.reference.linear import linear as slow
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS, feasible_sets

KINDS = ["plane", "periodic everywhere", "mixed contexts", "user's units", "labels", "features", "product of arms"]
MIXED = PROBLEMS | LATTICE_PROBLEMS
ONE = Problem(context=[Real("x")], arm=Finite(["only"]), objectives=[Objective("r")])


@pytest.mark.parametrize("title", KINDS)
@pytest.mark.parametrize("model", ["disjoint", "hybrid", "shared"])
def test_linucb_equals_its_twin(model: Any, title: str) -> None:
    problem = MIXED[title]
    settings: dict[str, Any] = {"model": model, "arms": 5, "alpha": 0.7, "seed": 3}
    lockstep(LinUCB(problem, **settings), slow.LinUCB(problem, **settings), World(problem, 1), 120)


@pytest.mark.parametrize("settings", [{"pareto": True}, {"objective": "b"}, {"weights": [0.25, 0.75]}])
@pytest.mark.parametrize("model", ["disjoint", "hybrid", "shared"])
@pytest.mark.parametrize("title", ["plane", "labels", "mixed arms"])
def test_linucb_with_feasible_sets_and_several_objectives(title: str, model: Any, settings: dict[str, Any]) -> None:
    problem = MIXED[title]
    given = {"model": model, "arms": 4, "within": "cell", "seed": 5, **settings}
    world, allowed = World(problem, 2), feasible_sets(problem, 7)
    lockstep(LinUCB(problem, **given), slow.LinUCB(problem, **given), world, 80, feasible=allowed)


@pytest.mark.parametrize("explore", ["wide", "widest"])
@pytest.mark.parametrize("title", KINDS)
def test_sup_linucb_equals_its_twin(title: str, explore: Any) -> None:
    problem = MIXED[title]
    settings: dict[str, Any] = {"horizon": 50, "confidence": 0.2, "explore": explore, "arms": 5, "seed": 3}
    policy, twin = SupLinUCB(problem, **settings), slow.SupLinUCB(problem, **settings)
    decisions = lockstep(policy, twin, World(problem, 1), 150)
    assert len({decision.credit // len(policy.grid.arms) for decision in decisions}) > 1


@pytest.mark.parametrize("settings", [{"pareto": True}, {"objective": "b"}, {"weights": [0.25, 0.75]}])
@pytest.mark.parametrize("title", ["plane", "labels", "mixed arms"])
def test_sup_linucb_with_feasible_sets_and_several_objectives(title: str, settings: dict[str, Any]) -> None:
    problem = MIXED[title]
    given = {"horizon": 40, "confidence": 0.1, "arms": 3, "within": "cell", "seed": 5, **settings}
    world, allowed = World(problem, 2), feasible_sets(problem, 7)
    lockstep(SupLinUCB(problem, **given), slow.SupLinUCB(problem, **given), world, 100, feasible=allowed)


def test_one_reward_by_hand() -> None:
    policy = LinUCB(ONE)
    policy.tell(policy.ask([0.5]), [1.0])
    means, widths = policy.estimates([0.5])
    assert means[0, 0] == pytest.approx(0.5555556, abs=1e-7)
    assert widths[0] ** 2 == pytest.approx(0.5555556, abs=1e-7)
    (piece,) = policy.front([0.5])
    assert piece.index["r"] == pytest.approx(1.3009116, abs=1e-7)
    at = table.table(policy._ints)
    inverse, b = policy._floats[at.floats : at.floats + 4].reshape(2, 2), policy._floats[at.floats + 4 : at.floats + 6]
    np.testing.assert_allclose(inverse @ b, [0.4444444, 0.2222222], atol=1e-7)


def test_constants() -> None:
    assert LinUCB(ONE).exploration == 1.0
    assert LinUCB(ONE, delta=0.05).exploration == pytest.approx(2.3581015, abs=1e-7)
    policy = SupLinUCB(PROBLEMS["plane"], arms=10)
    assert policy.exploration == pytest.approx(2.9584109, abs=1e-7)
    assert policy.stages == 12
    assert SupLinUCB(PROBLEMS["plane"], arms=10, horizon=100_000, delta=0.05).exploration == policy.exploration


def test_a_stage_ends_when_all_widths_are_small() -> None:
    """One arm of one feature: with alpha 2.9584109, the width alpha / sqrt(n + 1) is at most 1/2 from n = 35 on."""
    bare = Problem(context=[], arm=Finite(["only"], features=[[0.0]]), objectives=[Objective("r")])
    policy = SupLinUCB(bare, features="linear", horizon=100_000, delta=0.05 / 10)
    assert policy.exploration == pytest.approx(2.9584109, abs=1e-7)
    at = table.table(policy._ints)
    policy._floats[at.constants + SCALE] = 1.0  # the features (1, 0) instead of (1, 0) / sqrt(2)
    stages, widths = [], []
    for _ in range(40):
        decision = policy.ask()
        stages.append(decision.credit)
        widths.append(_width_of_the_first_stage(policy))
        policy.tell(decision, [0.5])
    assert stages == [1] * 35 + [2] * 5
    assert widths[0] == pytest.approx(2.9584109, abs=1e-7)  # of a feature of norm 1, before any reward
    assert widths[34:36] == pytest.approx([0.50006, 0.49307], abs=5e-6)


def _width_of_the_first_stage(policy: SupLinUCB) -> float:
    at, mean, width = table.table(policy._ints), np.empty((1, 1)), np.empty(1)
    policy.kernel.estimate_arms(policy._floats, policy._ints, at, 0, np.zeros(1), 1, mean, width)
    return float(width[0])


@pytest.mark.parametrize("title", ["plane", "mixed contexts", "labels"])
def test_hybrid_without_joint_features_is_disjoint(title: str) -> None:
    problem = PROBLEMS[title]
    hybrid, disjoint = LinUCB(problem, model="hybrid", arms=5), LinUCB(problem, arms=5)
    at = table.table(hybrid._ints)
    hybrid._floats[at.constants + SCALE] = 0.0  # z = 0
    world = World(problem, 4)
    for _ in range(300):
        context = world.context()
        decision = hybrid.ask(context)
        assert decision == disjoint.ask(context)
        reward = world.reward(decision)
        hybrid.tell(decision, reward)
        disjoint.tell(decision, reward)
        for one, other in zip(hybrid.estimates(context), disjoint.estimates(context), strict=True):
            np.testing.assert_array_equal(one, other)


@pytest.mark.parametrize("title", [*PROBLEMS, *LATTICE_PROBLEMS])
@pytest.mark.parametrize("features", ["quadratic", "products", "linear"])
def test_joint_features_have_a_norm_of_at_most_one(title: str, features: Features) -> None:
    problem = MIXED[title]
    policy = LinUCB(problem, model="shared", features=features, arms=3)
    world, most = World(problem, 0), 0.0
    for _ in range(50):
        most = max(most, float(policy.estimates(world.context())[1].max()))  # the norm, before any reward
    assert 0.5 < most <= 1.0 + 1e-12


def test_features_of_the_plane() -> None:
    twin = slow.Estimating(PROBLEMS["plane"], arms=10)
    np.testing.assert_allclose(twin.joint([0.5], 7, "products"), np.array([1, 0.5, 0.75, 0.375]) / 2)
    quadratic = FeatureMap.of(PROBLEMS["plane"], 10, "quadratic")
    assert quadratic.pairs == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    assert quadratic.scale == pytest.approx(1 / math.sqrt(6))


def test_the_richest_features_that_fit_are_taken() -> None:
    labels = Problem(context=[Real("x"), Real("y")], arm=Finite(list(range(300))), objectives=[Objective("r")])
    assert len(FeatureMap.of(labels, 300).pairs) == 303
    with pytest.raises(Refused, match="features: 'quadratic' gives 906 joint features, expected at most 512"):
        LinUCB(labels, model="hybrid", features="quadratic")


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"model": "joint"}, "model: 'joint' is not one of"),
        ({"features": "linear"}, "features: 'linear' given, but the disjoint model has no joint features"),
        ({"model": "shared", "features": "cubic"}, "features: 'cubic' is not one of"),
        ({"alpha": 0}, "alpha: 0 is not positive"),
        ({"alpha": 1, "delta": 0.1}, "alpha: 1 given together with delta 0.1"),
        ({"delta": 2}, "delta: 2 is not strictly between 0 and 1"),
        ({"confidence": -1}, "confidence: -1 is not positive"),
        ({"within": "edge"}, "within: 'edge' is not"),
        ({"pareto": True, "objective": "r"}, "pareto: True given together"),
    ],
)
def test_linucb_refuses(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        LinUCB(ONE, **settings)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"horizon": 1}, "horizon: 1 is not an integer from 2 to"),
        ({"explore": "all"}, "explore: 'all' is not one of"),
        ({"delta": 0}, "delta: 0 is not strictly between 0 and 1"),
    ],
)
def test_sup_linucb_refuses(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        SupLinUCB(ONE, **settings)


def test_sup_linucb_needs_a_scale() -> None:
    unscaled = Problem(context=[], arm=Finite(["a"]), objectives=[Objective("r", low=None, high=None, bounded=False)])
    with pytest.raises(Refused, match="sup-linucb needs the scale of the expected reward"):
        SupLinUCB(unscaled)
    policy = LinUCB(unscaled)
    policy.tell(policy.ask(), [-40.0])
    assert policy.front()[0].mean == {"r": -20.0}


def test_front_speaks_the_users_units() -> None:
    problem = Problem(
        context=[Real("x")],
        arm=[Real("price", 0, 8)],
        objectives=[Objective("cost", goal="min", low=0, high=10), Objective("gain")],
    )
    policy = LinUCB(problem, arms=2, pareto=True)
    assert policy.front([0.0], believed=True) == []
    assert [piece.mean for piece in policy.front([0.0])] == [{"cost": None, "gain": None}] * 2
    for _ in range(60):
        decision = policy.ask([0.0])
        cheap = decision.arm["price"] < 4
        policy.tell(decision, {"cost": 1.0 if cheap else 9.0, "gain": 0.1 if cheap else 0.9})
    low, high = policy.front([0.0], believed=True)
    assert (low.arm, high.arm) == ({"price": 2.0}, {"price": 6.0})
    assert low.mean["cost"] == pytest.approx(1.0, abs=1.0)
    assert low.index["cost"] == pytest.approx(low.mean["cost"] - low.uncertainty["cost"])
    assert low.count["cost"] + high.count["gain"] == 60
    assert [piece.arm for piece in policy.front([0.0], feasible={"price": (5, 8)})] == [{"price": 6.0}]
    assert list(LinUCB(problem, objective="gain").front([0.0])[0].index) == ["gain"]
    assert list(LinUCB(problem, weights=[0.5, 0.5]).front([0.0])[0].index) == ["weighted"]


def test_notes() -> None:
    policy = SupLinUCB(ONE, horizon=2, confidence=0.5)
    for _ in range(3):
        policy.ask([0.1])
    assert policy.notes == ["confidence=0.5", "beyond horizon"]
    assert LinUCB(ONE).notes == []


def test_a_snapshot_with_a_credit_of_no_stage_is_refused() -> None:
    policy = SupLinUCB(ONE, horizon=100)
    policy.ask([0.5])
    snapshot = policy.dump()
    snapshot.header["open"][0]["credit"] = policy.stages + 1
    with pytest.raises(Refused, match="credits"):
        policy.load(snapshot)


def test_linear_rewards_are_learned() -> None:
    """Means that cross at x = 1/2: a random policy loses about 750, these at most 21 (in stages 185) with ten seeds."""
    problem = Problem(context=[Real("x")], arm=Finite(["up", "down"]), objectives=[Objective("r")])
    for policy, most in [
        (LinUCB(problem, seed=1), 30.0),
        (LinUCB(problem, model="hybrid", seed=1), 30.0),
        (LinUCB(problem, model="shared", seed=1), 30.0),
        (SupLinUCB(problem, horizon=3000, confidence=0.3, seed=1), 250.0),
    ]:
        rng, regret = np.random.default_rng(0), 0.0
        for _ in range(3000):
            x = float(rng.random())
            decision = policy.ask([x])
            mean = x if decision.arm == "up" else 1 - x
            policy.tell(decision, [float(rng.random() < mean)])
            regret += max(x, 1 - x) - mean
        assert regret < most, policy
