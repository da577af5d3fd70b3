"""PCZ and its slow twin make the same decisions and hold the same balls, to the last bit."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import PCZ, PaperTask, Problem, SmoothRidges, Tents
from paretozoom.environments.base import Task
from paretozoom.policies.fronts import Piece
from tests.reference.play import World, agree, play
from tests.reference.problems import PROBLEMS
from tests.reference.zooming import pcz


def pair(problem: Problem, **arguments: Any) -> tuple[PCZ, pcz.PCZ]:
    """A policy and its twin."""
    return PCZ(problem, **arguments), pcz.PCZ(problem, **arguments)


def check_fronts(policy: PCZ, twin: pcz.PCZ, world: World, contexts: int = 5) -> None:
    """`front` shows the domains of the twin's front with their indices, means and uncertainties."""
    problem = policy.problem
    for _ in range(contexts):
        context = world.context()
        point = [float(d.encode(v, "")) for d, v in zip(problem.context, context, strict=True)]
        best = twin.front(point)
        expected = []
        for (k, held), index in zip(best.items(), twin.indices(list(best)), strict=True):
            expected += [(*part, *_about(twin, k, index)) for part in _parts(twin, held, point)]
        shown = [
            (p.low, p.high, p.arm, *(list(about.values()) for about in (p.index, p.mean, p.uncertainty, p.count)))
            for p in policy.front(context)
        ]
        assert sorted(shown, key=repr) == sorted(expected, key=repr)
        assert twin.space.arms or [p[0] for p in shown] == sorted(p[0] for p in shown)


def _parts(twin: pcz.PCZ, held: list[Any], point: list[float]) -> list[tuple[Any, Any, Any]]:
    """(low, high, finite arm) of each part of a domain, in the user's units."""
    problem = twin.problem
    if twin.space.arms:
        return [(None, None, problem.decode_arm(a, np.array([*point, *twin.space.arms[a]]))) for a in held]
    decode = problem.arm[0].decode
    return [(decode(low), decode(high), None) for low, high in held]


def _about(twin: pcz.PCZ, ball: int, index: list[float]) -> list[list[Any]]:
    """Index, mean, uncertainty and count of a ball, in the user's units."""
    held, rows = twin.balls[ball], [[], [], [], []]
    for i, objective in enumerate(twin.problem.objectives):
        count = held.count[i]
        unsure = twin.uncertainty(count) * objective.span
        rows[0].append(objective.decode(index[i]) if math.isfinite(index[i]) else None)
        rows[1].append(objective.decode(held.total[i] / count) if count else None)
        rows[2].append(unsure if count else None)
        rows[3].append(count)
    return rows


@pytest.mark.parametrize("scrambled", [False, True], ids=["at once", "scrambled"])
@pytest.mark.parametrize("name", PROBLEMS)
def test_every_kind_of_problem(name: str, scrambled: bool) -> None:
    problem = PROBLEMS[name]
    for seed, confidence in enumerate([0.02, 0.05, 0.2]):
        policy, twin = pair(problem, horizon=1000, confidence=confidence, seed=seed)
        world = World(problem, seed=10 + seed)
        play([policy, twin], world, 200, scrambled=scrambled)
        check_fronts(policy, twin, world)
        assert len(twin.balls) > (20 if confidence < 0.1 else 1)
        assert min(ball.radius for ball in twin.balls) <= (0.25 if confidence < 0.1 else 0.5)


@pytest.mark.parametrize("scrambled", [False, True], ids=["at once", "scrambled"])
@pytest.mark.parametrize("delta", [None, 0.1])
@pytest.mark.parametrize("name", ["plane", "features", "mixed contexts"])
def test_unknown_horizon(name: str, delta: float | None, scrambled: bool) -> None:
    # 400 decisions reach the eighth epoch, and decisions of older epochs are still open when it begins.
    problem = PROBLEMS[name]
    policy, twin = pair(problem, delta=delta, confidence=0.05, seed=3)
    play([policy, twin], World(problem, seed=4), 400, scrambled=scrambled, check_every=1)
    assert twin.epoch == 7
    assert len(twin.balls) > 20


def test_many_balls_and_then_a_new_epoch() -> None:
    # Decision 510 begins the ninth epoch; the arrays stay as large as the eighth made them.
    problem = PROBLEMS["mixed contexts"]
    policy, twin = pair(problem, confidence=0.001, seed=3)
    world = World(problem, seed=4)
    play([policy, twin], world, 510, scrambled=False)
    assert len(twin.balls) > 130
    play([policy, twin], world, 60, scrambled=True)
    assert twin.epoch == 8
    assert 10 < len(twin.balls) < 60


@pytest.mark.parametrize("name", ["plane", "periodic everywhere", "user's units", "labels"])
def test_given_centre_and_delta(name: str) -> None:
    problem = PROBLEMS[name]
    world = World(problem, seed=5)
    elsewhere = PCZ(problem, horizon=100, seed=8)
    centre = (world.context(), elsewhere.ask(world.context()).arm)
    for horizon in (500, None):
        policy, twin = pair(problem, horizon=horizon, delta=0.3, noise=0.5, confidence=0.1, centre=centre, seed=6)
        play([policy, twin], world, 250, scrambled=True)
        if horizon is not None:
            other = PCZ(problem, horizon=500, delta=0.3, noise=0.5, confidence=0.1, centre=centre, seed=7)
            assert other.balls.centre[0].tolist() == twin.balls[0].centre
        assert len(twin.balls) > 10


TASKS: list[tuple[Task, dict[str, Any], int, int]] = [
    (PaperTask(), {"horizon": 100_000}, 1000, 5),
    (PaperTask(), {"horizon": 1000, "confidence": 0.05}, 500, 60),
    (SmoothRidges(), {"horizon": 1000, "noise": 0.5, "confidence": 0.1}, 500, 60),
    (Tents(2, spread=0.01), {"horizon": 1000, "noise": 0.01}, 400, 150),
    (Tents(3, spread=0.01), {"horizon": 1000, "noise": 0.01}, 300, 100),
    (Tents(2, arms=21), {"horizon": 1000, "confidence": 0.05}, 300, 40),
]


@pytest.mark.parametrize(("task", "arguments", "rounds", "least"), TASKS, ids=lambda v: getattr(v, "name", None))
def test_tasks(task: Task, arguments: dict[str, Any], rounds: int, least: int) -> None:
    policy, twin = pair(task.problem, **arguments, seed=1)
    task.reset(2)
    for _ in range(rounds):
        context = task.observe()
        decision, same = policy.ask(context), twin.ask(context)
        assert decision == same
        reward = task.respond(decision)
        policy.tell(decision, reward)
        twin.tell(same, reward)
    agree([policy, twin])
    check_fronts(policy, twin, World(task.problem, seed=3))
    assert len(twin.balls) >= least


def test_the_twin_is_sensitive() -> None:
    """A twin that differs in a hair of its confidence, or in its seed, is found out."""
    problem = PROBLEMS["plane"]
    for change in ({"confidence": 0.05 * (1 + 1e-12)}, {"seed": 1}, {"delta": 0.5}, {"horizon": 1001}):
        policy = PCZ(problem, horizon=1000, confidence=0.05)
        twin = pcz.PCZ(problem, **{"horizon": 1000, "confidence": 0.05, **change})
        with pytest.raises(AssertionError):
            _play_and_compare_fronts(policy, twin)


def _play_and_compare_fronts(policy: PCZ, twin: pcz.PCZ) -> None:
    world = World(policy.problem, seed=1)
    play([policy, twin], world, 300, scrambled=False)
    check_fronts(policy, twin, world)


def test_front_of_an_unseen_policy() -> None:
    piece = PCZ(PROBLEMS["plane"], horizon=10).front([0.5])
    nothing = {"a": None, "b": None}
    assert piece == [Piece(0.0, 1.0, None, nothing, nothing, nothing, {"a": 0, "b": 0})]
