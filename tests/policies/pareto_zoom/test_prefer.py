"""ParetoZoom with preferred weights: which are refused, what they mean in the user's units, and what is played."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Objective, ParetoZoom, Problem, Real, Refused, Snapshot
from paretozoom.policies.pareto_zoom.pareto_zoom import checked_weights
from paretozoom.service.experiments.policies import make_policy
from tests.policies.pareto_zoom.side_by_side import Both, contexts_of
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS

UNITS = PROBLEMS["user's units"]  # cost, to be small, from -2 to 7; gain from 0 to 50, not bounded
SHOP = Problem(
    context=[Categorical("device", ["phone", "desk"])],
    arm=Finite(["a", "b", "c"]),
    objectives=[Objective("clicks", low=0, high=10), Objective("seconds", goal="min", low=0, high=200)],
)
MEANS = {"a": (3, 40), "b": (5, 60), "c": (7, 150)}


@pytest.mark.parametrize(
    ("prefer", "named"),
    [
        ({}, "prefer"),
        ({"weights": 1}, "prefer"),
        ({"limits": {"gain": 1}}, "limits"),
        ({"weights": {"gain": 1}, "limits": {}}, "limits"),
        ({"weights": {"gains": 1}}, "'gains'"),
        ({"weights": {"gain": -1}}, "'gain' is -1"),
        ({"weights": {"gain": "much"}}, "'much'"),
        ({"weights": {"gain": float("nan")}}, "weight of 'gain'"),
        ({"weights": {"gain": float("inf")}}, "weight of 'gain'"),
        ({"weights": {"gain": True}}, "weight of 'gain'"),
        ({"weights": {"gain": 0, "cost": 0.0}}, "above 0"),
        ({"weights": {}}, "above 0"),
    ],
)
def test_what_is_no_preference_is_refused(prefer: Any, named: str) -> None:
    with pytest.raises(Refused, match="prefer") as refusal:
        ParetoZoom(UNITS, prefer=prefer)
    assert named in str(refusal.value)


def test_weights_and_scales_may_be_of_any_size() -> None:
    wide = Problem(context=[], arm=[Real("y")], objectives=[Objective("a", high=1e-300), Objective("b", high=1e300)])
    assert checked_weights(wide, {"weights": {"a": 1e-300}}).tolist() == [1.0, 0.0]
    assert checked_weights(wide, {"weights": {"a": 1, "b": 1e300}}).tolist() == [0.0, 1.0]


@pytest.mark.parametrize("times", [1, 1e-200, 1e250])
def test_weights_are_of_rewards_in_the_users_units(times: float) -> None:
    """A weighted sum of scaled rewards orders arms as that of rewards does, with what is to be small subtracted."""
    weights = checked_weights(UNITS, {"weights": {"cost": 2.5 * times, "gain": 0.5 * times}})
    rng = np.random.default_rng(1)
    rewards = np.column_stack([rng.uniform(-2, 7, 50), rng.uniform(0, 50, 50)])
    scaled = [[o.encode(r, "") for o, r in zip(UNITS.objectives, row, strict=True)] for row in rewards.tolist()]
    own = rewards @ [-2.5, 0.5]
    assert np.argsort(np.array(scaled) @ weights).tolist() == np.argsort(own).tolist()
    assert weights.max() == 1


@pytest.mark.parametrize(
    ("weights", "best"), [({"clicks": 1}, "c"), ({"seconds": 1}, "a"), ({"clicks": 1, "seconds": 0.05}, "b")]
)
def test_play_comes_to_the_best_weighted_arm(weights: dict[str, float], best: str) -> None:
    """Sums are 3, 5, 7; 40, 60, 150 to be small; 1.0, 2.0, -0.5. Noise is a half and 20."""
    late = []
    for seed in range(5):
        policy, rng = ParetoZoom(SHOP, prefer={"weights": weights}, seed=seed), np.random.default_rng(seed)
        for number in range(400):
            decision = policy.ask([("phone", "desk")[rng.integers(2)]])
            clicks, seconds = MEANS[decision.arm]
            policy.tell(decision, [clicks + 0.5 * rng.uniform(-1, 1), seconds + 20 * rng.uniform(-1, 1)])
            late += [decision.arm] * (number >= 200)
    assert late.count(best) > 0.9 * len(late)


def test_play_on_a_line_comes_to_the_best_weighted_arm() -> None:
    """a falls off from 0.2 on, b from 0.8 on: their squares, weighed 3 to 1, are least together at 0.35."""
    problem, arms = PROBLEMS["no context"], []
    policy, rng = ParetoZoom(problem, prefer={"weights": {"a": 3, "b": 1}}, seed=1), np.random.default_rng(1)
    for _ in range(600):
        decision = policy.ask()
        y = decision.arm["y"]
        policy.tell(decision, [float(np.clip(1 - (y - at) ** 2 + 0.05 * rng.normal(), 0, 1)) for at in (0.2, 0.8)])
        arms.append(y)
    assert np.mean(arms[-100:]) == pytest.approx(0.35, abs=0.05)


NAMES = ["plane", "no context", "user's units", "labels", "features", "mixed arms", "one objective", "plane of arms"]
ALL = {**PROBLEMS, **LATTICE_PROBLEMS}


def preferred(problem: Problem) -> dict[str, dict[str, float]]:
    """Weights that differ, in the user's units."""
    return {"weights": {o.name: (k + 1) / o.span for k, o in enumerate(problem.objectives)}}


@pytest.mark.parametrize("name", NAMES)
def test_kernels_do_what_the_definition_says(name: str) -> None:
    both, world = Both(ALL[name], seed=2, prefer=preferred(ALL[name])), World(ALL[name], seed=4)
    for rounds in (5, 40, 150):
        both.play(world, rounds, scrambled=True)
        both.agree(contexts_of(ALL[name], 3, rounds))
    assert len(both.model.levels.levels) > 2


@pytest.mark.parametrize("name", NAMES)
def test_densities_are_those_of_the_marked_candidates(name: str) -> None:
    """Before rewards all are equal; later one candidate is played: all of its part of the arms, each as likely."""
    problem = ALL[name]
    policy, world = ParetoZoom(problem, prefer=preferred(problem)), World(problem, seed=2)
    arms = len(problem.encoding.arms)
    assert policy.ask(world.context()).density == pytest.approx(1 / SIZES.get(name, arms or 1))
    for _ in range(80):
        decision = policy.ask(world.context())
        policy.tell(decision, world.reward(decision))
    context = world.context()
    if arms:
        chances = {repr(one.arm): one.density for one in (policy.ask(context) for _ in range(50))}
        assert sum(chances.values()) == pytest.approx(1)
    elif len(problem.arm) == 1:
        line = [policy.ask(context) for _ in range(50)]
        assert {round(one.density) for one in line} == {int(policy.settings.line_candidates)}


SIZES = {"mixed arms": 3 * 4}  # of all arms together: of labels and whole numbers, how many there are


@pytest.mark.parametrize("name", ["plane", "labels"])
def test_a_loaded_policy_goes_on_preferring(name: str) -> None:
    problem = PROBLEMS[name]
    policy, world = ParetoZoom(problem, prefer=preferred(problem), seed=1), World(problem, seed=3)
    for rounds in (3, 30, 60):
        lockstep(policy, policy_of(policy), world, 0)
        for _ in range(rounds):
            decision = policy.ask(world.context())
            policy.tell(decision, world.reward(decision))
        loaded = policy_of(policy)
        lockstep(policy, loaded, world, 40, scrambled=False)
        assert loaded.dump().to_bytes() == policy.dump().to_bytes()


def policy_of(policy: ParetoZoom) -> ParetoZoom:
    """A policy that was made from another one's parameters as JSON, as the service does, and its snapshot."""
    parameters = json.loads(json.dumps(policy.parameters))
    loaded = make_policy("pareto-zoom", policy.problem, parameters, 9)
    assert isinstance(loaded, ParetoZoom)
    assert loaded.parameters == policy.parameters
    loaded.load(Snapshot.from_bytes(policy.dump().to_bytes()))
    return loaded


def test_a_snapshot_of_other_weights_is_refused() -> None:
    problem = PROBLEMS["plane"]
    whole = ParetoZoom(problem, prefer={"weights": {"a": 1}}).dump()
    for prefer in (None, {"weights": {"a": 1, "b": 1}}):
        with pytest.raises(Refused):
            ParetoZoom(problem, prefer=prefer).load(whole)


def test_what_does_not_count_is_not_lost() -> None:
    """The front is known beside what is preferred."""
    policy, rng = ParetoZoom(SHOP, prefer={"weights": {"clicks": 1, "seconds": 0.05}}), np.random.default_rng(1)
    for _ in range(200):
        decision = policy.ask(["phone"])
        clicks, seconds = MEANS[decision.arm]
        policy.tell(decision, [clicks + rng.uniform(-1, 1), seconds + rng.uniform(-1, 1)])
    assert [piece.arm for piece in policy.front(["phone"])] == ["b"]
    assert "b" in [piece.arm for piece in policy.front(["phone"], believed=True)]
