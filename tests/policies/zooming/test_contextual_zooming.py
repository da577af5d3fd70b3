"""Contextual Zooming: its slow twin, and numbers worked out by hand."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import ContextualZooming, PaperTask, Problem, Tents
from paretozoom.environments.base import Task
from tests.reference.play import World, agree, hold, play
from tests.reference.problems import PROBLEMS
from tests.reference.space import Ball
from tests.reference.zooming import contextual_zooming

PLANE = PROBLEMS["plane"]
T = 100_000
VARIANTS: list[dict[str, Any]] = [
    {"confidence": 0.02},
    {"confidence": 0.03, "objective": "second"},
    {"confidence": 0.05, "weights": True},
    {"confidence": 0.05, "radius": "pcz", "delta": 0.2, "noise": 0.5},
    {"confidence": 0.1, "radius": "pcz", "weights": True},
]


def pair(problem: Problem, **arguments: Any) -> tuple[ContextualZooming, contextual_zooming.ContextualZooming]:
    """A policy and its twin; "second" is a problem's last objective, and weights are all different."""
    names = problem.objective_names
    if arguments.get("objective") == "second":
        arguments["objective"] = names[-1]
    if arguments.get("weights"):
        total = len(names) * (len(names) + 1) / 2
        arguments["weights"] = [(k + 1) / total for k in range(len(names))]
    return ContextualZooming(problem, **arguments), contextual_zooming.ContextualZooming(problem, **arguments)


@pytest.mark.parametrize("scrambled", [False, True], ids=["at once", "scrambled"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_twin_on_every_kind_of_problem(name: str, scrambled: bool) -> None:
    problem = PROBLEMS[name]
    for seed, arguments in enumerate(VARIANTS):
        policy, twin = pair(problem, horizon=1000, seed=seed, **arguments)
        play([policy, twin], World(problem, seed=20 + seed), 130, scrambled=scrambled)
        assert len(twin.balls) > 10


@pytest.mark.parametrize("arguments", VARIANTS, ids=lambda v: ",".join(f"{k}={v}" for k, v in v.items()))
@pytest.mark.parametrize("name", ["plane", "features"])
def test_twin_with_unknown_horizon(name: str, arguments: dict[str, Any]) -> None:
    policy, twin = pair(PROBLEMS[name], horizon=None, seed=3, **arguments)
    play([policy, twin], World(PROBLEMS[name], seed=4), 400, scrambled=True, check_every=1)
    assert twin.epoch == 7
    assert len(twin.balls) > 10


@pytest.mark.parametrize(
    ("task", "arguments", "least"),
    [
        (PaperTask(), {"horizon": T}, 3),
        (PaperTask(), {"horizon": T, "radius": "pcz", "centre": ([0.5], [0.5])}, 3),
        (Tents(2, spread=0.01), {"horizon": 1000, "radius": "pcz", "noise": 0.01}, 150),
        (Tents(3, spread=0.01), {"horizon": 1000, "confidence": 0.002, "weights": [0.0, 0.3, 0.7]}, 150),
    ],
    ids=["slivkins", "pcz", "tents", "weights"],
)
def test_twin_on_tasks(task: Task, arguments: dict[str, Any], least: int) -> None:
    policy, twin = (
        ContextualZooming(task.problem, **arguments, seed=1),
        contextual_zooming.ContextualZooming(task.problem, **arguments, seed=1),
    )
    task.reset(2)
    for _ in range(400):
        context = task.observe()
        decision, same = policy.ask(context), twin.ask(context)
        assert decision == same
        reward = task.respond(decision)
        policy.tell(decision, reward)
        twin.tell(same, reward)
    agree([policy, twin])
    assert len(twin.balls) >= least


def root(count: int) -> Ball:
    """A root in the middle."""
    return Ball([0.5, 0.5], 1.0, -1, [count], [0.5 * count])


@pytest.mark.parametrize(
    ("arguments", "count", "conf"),
    [
        ({}, 0, 13.5722808),
        ({}, 183, 1.0005618),
        ({}, 184, 0.9978539),
        # A = 60.6440689 with one objective: u(121) and u(122) = sqrt(2 A / n).
        ({"radius": "pcz"}, 121, math.sqrt(2 * 60.6440689 / 121)),
        ({"radius": "pcz"}, 122, math.sqrt(2 * 60.6440689 / 122)),
        ({"confidence": 0.5}, 0, 13.5722808 / 2),
        ({"radius": "pcz", "noise": 0.25, "confidence": 0.5}, 122, math.sqrt(2 * 60.6440689 / 122) / 8),
    ],
)
def test_confidence_radius(arguments: dict[str, Any], count: int, conf: float) -> None:
    policy = ContextualZooming(PLANE, horizon=T, **arguments)
    hold(policy, [root(count)])
    (piece,) = policy.front([0.5])
    assert piece.uncertainty == {"a": pytest.approx(conf, abs=5e-8)}
    mean = 0.5 if count else 0.0
    assert piece.index == {"a": pytest.approx(mean + conf + 2, abs=5e-8)}
    assert contextual_zooming.ContextualZooming(PLANE, horizon=T, **arguments).uncertainty(count) == pytest.approx(
        conf, abs=5e-8
    )


@pytest.mark.parametrize(
    ("radius", "size", "full"),
    [
        ("slivkins", 1.0, 184),
        ("slivkins", 1 / 2, 736),
        ("slivkins", 1 / 4, 2947),
        ("slivkins", 1 / 8, 11789),
        ("pcz", 1.0, 122),
    ],
)
@pytest.mark.parametrize("splits", [False, True])
def test_rewards_until_a_ball_is_full(radius: Any, size: float, full: int, splits: bool) -> None:
    policy = ContextualZooming(PLANE, horizon=T, radius=radius, seed=1)
    count = full if splits else full - 1
    step = math.sqrt(2) * size
    places = [min(k * step, 1.0) for k in range(math.ceil(1 / step) + 1)]
    tiles = [Ball([0.5, y], size, 0, [count], [0.5 * count]) for y in places]
    balls = [root(count)] if size == 1 else [root(1), *tiles]
    hold(policy, balls)
    decision = policy.ask([0.5])
    assert policy.balls.radius[decision.credit] == size
    policy.tell(decision, [0.25, 1.0])
    assert policy.balls.radius.tolist()[len(balls) :] == [size / 2] * splits
    assert policy.balls.count[decision.credit].tolist() == [count + 1]
    assert policy.balls.total[decision.credit].tolist() == [0.5 * count + 0.25]


@settings(max_examples=10)
@given(
    seed=st.integers(0, 10_000),
    contexts=st.lists(st.floats(0, 1), min_size=1, max_size=5),
    rewards=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=5),
    variant=st.sampled_from([("slivkins", 184), ("pcz", 122)]),
)
def test_first_child_comes_when_the_root_is_full(
    seed: int, contexts: list[float], rewards: list[tuple[float, float]], variant: tuple[Any, int]
) -> None:
    radius, full = variant
    policy = ContextualZooming(PLANE, horizon=T, radius=radius, seed=seed)
    for t in range(full + 1):
        assert len(policy.balls.radius) == 1
        policy.tell(policy.ask([contexts[t % len(contexts)]]), rewards[t % len(rewards)])
    assert policy.balls.radius.tolist() == [1.0, 0.5]


def test_it_learns_when_every_weighted_objective_is_told_and_only_once() -> None:
    problem = PROBLEMS["five objectives"]
    names = problem.objective_names
    policy = ContextualZooming(problem, horizon=T, weights=[0.0, 0.25, 0.0, 0.75, 0.0])
    decision = policy.ask([0.5])
    policy.tell(decision, {names[0]: 1.0, names[3]: 0.5})
    assert policy.balls.count.tolist() == [[0]]
    policy.tell(decision, {names[1]: 0.25, names[2]: 1.0})
    assert policy.balls.count.tolist() == [[1]]
    assert policy.balls.total.tolist() == [[0.25 * 0.25 + 0.75 * 0.5]]
    policy.tell(decision, {names[4]: 1.0})
    assert policy.balls.count.tolist() == [[1]]
    assert policy.open == []


def test_the_ball_of_the_largest_index_is_played_alone() -> None:
    policy = ContextualZooming(PLANE, horizon=T, seed=1)
    low, high = Ball([0.5, 0.2], 0.5, 0, [9], [4.5]), Ball([0.5, 0.8], 0.5, 0, [9], [4.6])
    hold(policy, [root(1), low, high])
    assert [policy.ask([0.5]).credit for _ in range(50)] == [2] * 50
