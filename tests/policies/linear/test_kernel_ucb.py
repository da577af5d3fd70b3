"""KernelUCB and SupKernelUCB against their slow twins, against numbers worked out by hand, and against LinUCB."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Finite, Integer, Objective, Problem, Real, Refused, Snapshot
from paretozoom.policies.linear.kernel_ucb import KernelUCB
from paretozoom.policies.linear.linucb import LinUCB
from paretozoom.policies.linear.sup_kernel_ucb import SupKernelUCB
from paretozoom.policies.linear.sup_linucb import SupLinUCB
from tests.reference.linear import linear as slow
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS, feasible_sets

KINDS = ["plane", "periodic everywhere", "mixed contexts", "labels", "features", "product of arms"]
MIXED = PROBLEMS | LATTICE_PROBLEMS
LINE = Problem(context=[Real("x")], arm=Finite(["only"]), objectives=[Objective("r")])


@pytest.mark.parametrize("budget", [12, 300])
@pytest.mark.parametrize("title", KINDS)
def test_kernel_ucb_equals_its_twin(title: str, budget: int) -> None:
    problem = MIXED[title]
    settings: dict[str, Any] = {"arms": 4, "budget": budget, "gamma": 0.5, "length": 0.3, "seed": 3}
    lockstep(KernelUCB(problem, **settings), slow.KernelUCB(problem, **settings), World(problem, 1), 80)


@pytest.mark.parametrize("settings", [{"pareto": True}, {"objective": "b"}, {"weights": [0.25, 0.75]}])
@pytest.mark.parametrize("title", ["plane", "labels", "mixed arms"])
def test_kernel_ucb_with_feasible_sets_and_several_objectives(title: str, settings: dict[str, Any]) -> None:
    problem = MIXED[title]
    given = {"arms": 3, "within": "cell", "budget": 25, "eta": 0.5, "seed": 5, **settings}
    world, allowed = World(problem, 2), feasible_sets(problem, 7)
    lockstep(KernelUCB(problem, **given), slow.KernelUCB(problem, **given), world, 60, feasible=allowed)


@pytest.mark.parametrize("explore", ["wide", "widest"])
@pytest.mark.parametrize("title", KINDS)
def test_sup_kernel_ucb_equals_its_twin(title: str, explore: Any) -> None:
    problem = MIXED[title]
    settings: dict[str, Any] = {"horizon": 50, "confidence": 0.1, "explore": explore, "arms": 3, "seed": 3}
    settings |= {"budget": 20, "length": 0.5}
    policy, twin = SupKernelUCB(problem, **settings), slow.SupKernelUCB(problem, **settings)
    decisions = lockstep(policy, twin, World(problem, 1), 100)
    assert {decision.credit // len(policy.grid.arms) for decision in decisions} != {1}


@pytest.mark.parametrize("settings", [{"pareto": True}, {"weights": [0.25, 0.75]}])
@pytest.mark.parametrize("title", ["plane", "labels", "mixed arms"])
def test_sup_kernel_ucb_with_feasible_sets_and_several_objectives(title: str, settings: dict[str, Any]) -> None:
    problem = MIXED[title]
    given = {"horizon": 40, "confidence": 0.05, "arms": 3, "within": "cell", "length": 1.0, "seed": 5, **settings}
    world, allowed = World(problem, 2), feasible_sets(problem, 7)
    lockstep(SupKernelUCB(problem, **given), slow.SupKernelUCB(problem, **given), world, 60, feasible=allowed)


def test_one_reward_by_hand() -> None:
    policy = KernelUCB(LINE, length=0.2)
    assert policy.estimates([0.3])[1].tolist() == [1.0]
    policy.tell(policy.ask([0.3]), [1.0])
    for x, mean, width in [(0.3, 0.5, 0.7071068), (0.5, 0.3032653, 0.9033605)]:  # exp(-1/2) = 0.6065307 apart
        means, widths = policy.estimates([x])
        assert means[0, 0] == pytest.approx(mean, abs=1e-7)
        assert widths[0] == pytest.approx(width, abs=1e-7)


def test_constants() -> None:
    policy = SupKernelUCB(PROBLEMS["plane"], arms=10)
    assert policy.exploration == pytest.approx(5.9168218, abs=1e-7)
    assert policy.exploration == pytest.approx(2 * SupLinUCB(PROBLEMS["plane"], arms=10).exploration)
    assert policy.stages == 12


@pytest.mark.parametrize("title", ["plane", "labels", "features", "user's units", "plane of arms"])
@pytest.mark.parametrize("pareto", [False, True])
def test_the_linear_kernel_is_shared_linucb(title: str, pareto: bool) -> None:
    problem = MIXED[title]
    settings: dict[str, Any] = {"pareto": pareto, "arms": 4, "seed": 2}
    dual, primal = KernelUCB(problem, kernel="linear", **settings), LinUCB(problem, model="shared", **settings)
    world = World(problem, 6)
    for _ in range(150):
        context = world.context()
        decision = primal.ask(context)
        assert dual.ask(context) == decision
        reward = world.reward(decision)
        dual.tell(decision, reward)
        primal.tell(decision, reward)
        for one, other in zip(dual.estimates(context), primal.estimates(context), strict=True):
            np.testing.assert_allclose(one, other, atol=1e-9)


def test_the_stages_with_a_linear_kernel_are_sup_linucb() -> None:
    problem = PROBLEMS["plane"]
    settings: dict[str, Any] = {"horizon": 100, "arms": 4, "seed": 2}
    dual = SupKernelUCB(problem, kernel="linear", confidence=0.1, budget=300, **settings)
    primal = SupLinUCB(problem, confidence=0.2, **settings)  # eta is twice alpha
    world = World(problem, 6)
    for _ in range(300):
        context = world.context()
        decision = primal.ask(context)
        assert dual.ask(context) == decision
        reward = world.reward(decision)
        dual.tell(decision, reward)
        primal.tell(decision, reward)


def test_equal_places_share_one_of_the_budget() -> None:
    problem = Problem(context=[Integer("x", 0, 3)], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    small, large = KernelUCB(problem, budget=8), KernelUCB(problem, budget=500)
    world = World(problem, 1)
    for _ in range(400):
        decision = small.ask(world.context())
        assert large.ask(decision.context) == decision
        reward = world.reward(decision)
        small.tell(decision, reward)
        large.tell(decision, reward)
    assert small.held.tolist() == large.held.tolist() == [8]
    assert small.plays.sum() == 400


def test_many_rewards_at_few_places_stay_exact() -> None:
    """After thousands of changes of the factor, the estimates are still those of the matrix."""
    policy = KernelUCB(LINE, budget=30, length=0.3)
    rng = np.random.default_rng(0)
    for x, r in rng.random((5000, 2)).tolist():
        policy.tell(policy.ask([x]), [r])
    assert policy.notes == ["budget full, rewards join the nearest place"]
    arrays = policy.dump().arrays
    counts, floats = arrays["ints"][2:], arrays["floats"]
    total, places = floats[30 * 31 // 2 + 30 :][:30], floats[30 * 31 // 2 + 60 :].reshape(30, 2)[:, 0]
    assert counts.sum() == 5000
    gram = np.exp(-((places[:, None] - places) ** 2) / (2 * 0.3**2)) + np.diag(1.0 / counts)
    for x in (0.0, 0.4, 0.9):
        k = np.exp(-((places - x) ** 2) / (2 * 0.3**2))
        means, widths = policy.estimates([x])
        assert means[0, 0] == pytest.approx(k @ np.linalg.solve(gram, total / counts), abs=1e-9)
        assert widths[0] == pytest.approx(math.sqrt(1 - k @ np.linalg.solve(gram, k)), abs=1e-9)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"kernel": "cubic"}, "kernel: 'cubic' is not one of"),
        ({"features": "linear"}, "features: 'linear' given, but the kernel 'rbf' has no features"),
        ({"length": 0}, "length: 0 is not positive"),
        ({"gamma": -1}, "gamma: -1 is not positive"),
        ({"budget": 0}, "budget: 0 is not a positive integer"),
        ({"budget": 100_000}, "its memory would be"),
    ],
)
@pytest.mark.parametrize("policy", [KernelUCB, SupKernelUCB])
def test_refuses(policy: Any, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        policy(LINE, **settings)


def test_a_snapshot_with_more_places_than_the_budget_is_refused() -> None:
    policy = KernelUCB(LINE, budget=3)
    policy.tell(policy.ask([0.5]), [1.0])
    snapshot = policy.dump()
    for place, value in [(1, 4), (1, 2), (2, 0), (0, -1)]:
        ints = snapshot.arrays["ints"].copy()
        ints[place] = value
        with pytest.raises(Refused, match="counts and matrices that cannot be"):
            policy.load(Snapshot(snapshot.header, {**snapshot.arrays, "ints": ints}))
    floats = snapshot.arrays["floats"].copy()
    floats[0] = 0.0
    with pytest.raises(Refused, match="counts and matrices that cannot be"):
        policy.load(Snapshot(snapshot.header, {**snapshot.arrays, "floats": floats}))


def test_a_tiny_ridge_and_places_that_almost_coincide() -> None:
    policy = KernelUCB(LINE, gamma=1e-14, budget=40)
    for k in range(200):
        policy.tell(policy.ask([0.5 + 1e-9 * k]), [0.5])
    assert np.isfinite(policy.estimates([0.5])[0]).all()
    assert np.isfinite(policy.estimates([0.9])[1]).all()


def test_a_ridge_is_learned() -> None:
    """Rewards 1 - 4 |y - x|: 1,500 rounds cost a random policy about 1,150, this one at most 288 with ten seeds."""
    problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])
    policy = KernelUCB(problem, arms=9, budget=100, eta=0.5, seed=1)
    rng, lost = np.random.default_rng(0), 0.0
    for _ in range(1500):
        x = float(rng.random())
        decision = policy.ask([x])
        mean = max(0.0, 1.0 - 4.0 * abs(decision.arm["y"] - x))
        policy.tell(decision, [float(rng.random() < mean)])
        lost += 1.0 - mean
    assert lost < 350.0
