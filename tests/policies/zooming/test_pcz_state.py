"""A policy is a fold over its log: snapshots, replay, and rewards told in parts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import PCZ, Asked, ContextualZooming, Decision, Objective, Problem, Real, Refused, Snapshot, Told
from paretozoom.kernels.zooming import balls
from paretozoom.policies.zooming.zooming import Zooming
from tests.reference.play import World, hold, play
from tests.reference.problems import PROBLEMS
from tests.reference.space import Ball

NAMES = ["plane", "periodic everywhere", "mixed contexts", "user's units", "features", "product of arms"]
MAKERS: list[tuple[type[Zooming], dict[str, Any]]] = [
    (PCZ, {"horizon": 1000, "confidence": 0.05}),
    (PCZ, {"horizon": None, "delta": 0.1, "confidence": 0.05}),
    (ContextualZooming, {"horizon": 1000, "confidence": 0.03, "objective": "b"}),
    (ContextualZooming, {"horizon": None, "confidence": 0.05, "weights": [0.25, 0.75], "radius": "pcz"}),
]
MAKER_IDS = ["pcz", "pcz-doubling", "cz", "cz-doubling"]


def objectives_of(problem: Any) -> dict[str, str]:
    """What "a" and "b" are called in a problem."""
    return dict(zip("ab", problem.objective_names, strict=True))


def make(maker: tuple[type[Zooming], dict[str, Any]], name: str, seed: int = 1) -> Zooming:
    """A policy for one of the problems."""
    kind, arguments = maker
    arguments = dict(arguments)
    if "objective" in arguments:
        arguments["objective"] = objectives_of(PROBLEMS[name])[arguments["objective"]]
    return kind(PROBLEMS[name], **arguments, seed=seed)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("maker", MAKERS, ids=MAKER_IDS)
def test_replaying_the_log_gives_the_same_bytes(maker: tuple[type[Zooming], dict[str, Any]], name: str) -> None:
    live, replayed = make(maker, name), make(maker, name)
    world = World(PROBLEMS[name], seed=2)
    for rounds in (100, 350):
        for event in play([live], world, rounds, scrambled=True):
            replayed.replay(event)
        assert replayed.dump().to_bytes() == live.dump().to_bytes()
    assert live.open
    assert len(live.balls.radius) > 10


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("maker", MAKERS, ids=MAKER_IDS)
def test_a_loaded_policy_continues_bit_for_bit(maker: tuple[type[Zooming], dict[str, Any]], name: str) -> None:
    policy, loaded = make(maker, name), make(maker, name, seed=99)
    world = World(PROBLEMS[name], seed=3)
    log = play([policy], world, 150, scrambled=True)
    known = {(event.number, name) for event in log if isinstance(event, Told) for name in event.reward}
    data = policy.dump().to_bytes()
    loaded.load(Snapshot.from_bytes(data))
    assert loaded.dump().to_bytes() == data
    assert policy.open
    # Half of the decisions that were open are told now, in reverse; then both go on together.
    for decision in policy.open[::-2]:
        for objective, reward in world.reward(decision).items():
            if (decision.number, objective) not in known:
                policy.tell(decision, {objective: reward})
                loaded.tell(decision, {objective: reward})
    play([policy, loaded], world, 150, scrambled=True, check_every=10)
    assert loaded.dump().to_bytes() == policy.dump().to_bytes() != data


def test_asking_draws_by_number_alone() -> None:
    # What is asked or told in between does not move the draws: only the number does.
    one, other = (PCZ(PROBLEMS["plane"], horizon=10**6, seed=5) for _ in range(2))
    for t in range(60):
        first, second = one.ask([0.3]), other.ask([t / 60])
        assert first.arm == second.arm  # one ball: the whole interval, whatever the context
        one.tell(first, [0.5, 0.5])


@settings(max_examples=25)
@given(
    seed=st.integers(0, 1000),
    orders=st.lists(st.permutations(range(5)), min_size=8, max_size=8),
    silent=st.lists(st.integers(0, 4), min_size=8, max_size=8),
)
def test_one_objective_after_another_is_all_at_once(seed: int, orders: list[list[int]], silent: list[int]) -> None:
    """Also when the objectives' counts differ beforehand: some decisions stay half told."""
    problem = PROBLEMS["five objectives"]
    at_once, in_turn = (PCZ(problem, horizon=200, confidence=0.1, seed=seed) for _ in range(2))
    rng = np.random.default_rng(seed)
    names = problem.objective_names
    for t in range(64):
        context, order = [rng.random()], orders[t % 8]
        decision, same = at_once.ask(context), in_turn.ask(context)
        assert decision == same
        reward = {name: rng.random() for name in names}
        if t % 3 == 0:  # only some objectives of it are ever told
            reward = {name: reward[name] for name in [names[k] for k in order[: silent[t % 8] + 1]]}
        at_once.tell(decision, reward)
        for k in order:
            if names[k] in reward:
                in_turn.tell(same, {names[k]: reward[names[k]]})
        assert in_turn.dump().arrays["count"].tolist() == at_once.dump().arrays["count"].tolist()
    assert in_turn.dump().to_bytes() == at_once.dump().to_bytes()
    counts = at_once.balls.count
    assert (counts != counts[:, :1]).any() or set(silent) == {4}
    assert len(at_once.balls.radius) > 5


def test_a_decision_has_one_child_at_most() -> None:
    problem = PROBLEMS["plane"]
    policy = PCZ(problem, horizon=1000, confidence=1e-3, seed=1)
    policy.tell(policy.ask([0.5]), [0.5, 0.5])
    decision = policy.ask([0.5])
    policy.tell(decision, {"a": 0.5})
    assert len(policy.balls.radius) == 2
    other = policy.ask([0.5])  # fills the child or splits the root elsewhere
    policy.tell(other, [0.5, 0.5])
    before = len(policy.balls.radius)
    policy.tell(decision, {"b": 0.5})
    assert len(policy.balls.radius) == before


def test_its_own_first_part_does_not_fill_a_ball() -> None:
    # Full at one reward: the decision's own reward of "a" must not count as the one before it.
    policy = PCZ(PROBLEMS["plane"], horizon=1000, confidence=1e-3, seed=1)
    decision = policy.ask([0.5])
    policy.tell(decision, {"a": 0.5})
    policy.tell(decision, {"b": 0.5})
    assert len(policy.balls.radius) == 1
    policy.tell(policy.ask([0.5]), [0.5, 0.5])
    assert len(policy.balls.radius) == 2


def test_a_late_reward_makes_no_child_in_a_smaller_ball() -> None:
    policy = PCZ(PROBLEMS["plane"], horizon=1000, confidence=1e-3, seed=1)
    policy.tell(policy.ask([0.5]), [0.5, 0.5])
    early = [policy.ask([0.5]) for _ in range(30)]
    for decision in early:
        policy.tell(decision, [0.5, 0.5])
    # Balls of radius 1/2 at context 1/2 reach sqrt(1/2) = 0.707 up and down: the second child must lie outside
    # the first, and then nothing of the root is left.
    assert policy.balls.parent.tolist()[1:] == [0] * (len(policy.balls.radius) - 1)
    assert len(policy.balls.radius) <= 3
    assert policy.balls.count[0].tolist() == [31, 31]


@pytest.mark.parametrize(("arm", "children"), [(0.3, 1), (0.9, 0)])
def test_a_point_outside_its_ball_makes_no_child(arm: float, children: int) -> None:
    # A ball of radius 1/4 around 0.2 reaches to 0.2 + sqrt(1/8) = 0.55 at its own context.
    policy = PCZ(PROBLEMS["plane"], horizon=1000, confidence=1e-3, seed=1)
    hold(policy, [Ball([0.5, 0.5], 1.0, -1, [9, 9], [4.5, 4.5]), Ball([0.5, 0.2], 0.25, 0, [9, 9], [4.5, 4.5])])
    policy.replay(Asked(Decision(0, {"x": 0.5}, {"y": arm}, 1.0, 1)))
    policy.replay(Told(0, {"a": 0.5, "b": 0.5}))
    assert policy.balls.radius.tolist() == [1.0, 0.25] + [0.125] * children
    assert policy.balls.count[1].tolist() == [10, 10]


def test_rewards_of_an_old_epoch_teach_nothing() -> None:
    policy = PCZ(PROBLEMS["plane"], confidence=1e-3, seed=1)
    old = [policy.ask([0.5]) for _ in range(5)]  # epochs 0, 0, 1, 1, 1
    current = policy.ask([0.5])
    policy.ask([0.5])  # begins epoch 2
    before = policy.dump().arrays
    for decision in [*old, current]:
        policy.tell(decision, [0.9, 0.1])
    after = policy.dump().arrays
    for column in ("centre", "radius", "count", "total", "epoch"):
        assert after[column].tolist() == before[column].tolist()
    assert [decision.number for decision in policy.open] == [6]
    assert policy.balls.count.tolist() == [[0, 0]]


def _forged(problem: Problem, **columns: Any) -> Snapshot:
    """A snapshot of a root and one child, with some columns replaced."""
    policy = PCZ(problem, horizon=1000, seed=1)
    snapshot = policy.dump()
    centre = np.repeat(policy.balls.centre, 2, axis=0)
    objectives = len(problem.objectives)
    balls = {
        "centre": centre,
        "radius": np.array([1.0, 0.5]),
        "parent": np.array([-1, 0]),
        "count": np.ones((2, objectives), np.int64),
        "total": np.zeros((2, objectives)),
    }
    return Snapshot(snapshot.header, {**snapshot.arrays, **balls, **columns})


@pytest.mark.parametrize("radius", [0.3, 2.0**-60, 0.75, 0.0, -0.5, math.nan])
def test_radii_that_no_policy_makes_are_refused(radius: float) -> None:
    problem = PROBLEMS["plane"]
    PCZ(problem, horizon=1000).load(_forged(problem))
    with pytest.raises(Refused, match="radius"):
        PCZ(problem, horizon=1000).load(_forged(problem, radius=np.array([1.0, radius])))


@pytest.mark.parametrize("place", [1e12, 7.0, -1.0])
def test_categories_that_are_not_there_are_refused(place: float) -> None:
    problem = PROBLEMS["product of arms"]
    snapshot = _forged(problem)
    centre = snapshot.arrays["centre"].copy()
    centre[1, 0] = place
    with pytest.raises(Refused, match="centre"):
        PCZ(problem, horizon=1000).load(_forged(problem, centre=centre))


def test_a_refused_seed_changes_nothing() -> None:
    policy = PCZ(PROBLEMS["plane"], horizon=1000, seed=1)
    policy.ask([0.5])
    policy._floats[balls.layout(policy._ints).total] = math.inf  # as if something had gone wrong
    with pytest.raises(Refused):
        policy.reseed(2)
    assert policy.seed == 1


@pytest.mark.parametrize("reward", [1e306, -1e306, 1e105])
def test_rewards_beyond_what_can_be_summed_are_refused(reward: float) -> None:
    problem = Problem(context=[], arm=[Real("y")], objectives=[Objective("r", low=0, high=1e-3, bounded=False)])
    policy = PCZ(problem, horizon=100)
    decisions = policy.ask_many([[]])
    for rewards in ([[reward]], np.array([[reward]])):
        with pytest.raises(Refused, match="too large"):
            policy.tell_many(decisions, rewards)


def test_a_function_that_rounds_differently_the_other_way_round() -> None:
    """More balls than the table of distances holds: a loaded copy decides the same."""
    problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])

    def distance(a: Any, b: Any) -> float:
        total = 0.0
        for j in range(2):
            total += abs(math.log((1 + a[j]) / (1 + b[j])))
        return total / (2 * math.log(2))

    arguments: dict[str, Any] = {"horizon": 1000, "confidence": 0.001, "similarity": {"function": distance}}
    policy, world = PCZ(problem, seed=3, **arguments), World(problem, seed=4)
    play([policy], world, 800, scrambled=False)
    assert len(policy.balls.radius) > 520
    fresh = PCZ(problem, **arguments)
    fresh.load(policy.dump())
    for _ in range(30):
        context = world.context()
        assert fresh.ask(context) == policy.ask(context)
