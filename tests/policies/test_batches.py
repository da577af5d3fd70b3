"""Many at once equals one after another: decisions, state bytes, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import PCZ, ContextualZooming, PaperTask, Policy, Problem, Random, Refused
from paretozoom.policies.batches import Decisions
from tests.reference.play import World
from tests.reference.problems import PROBLEMS

MAKERS = {
    "random": lambda problem: Random(problem, seed=3),
    "pcz": lambda problem: PCZ(problem, horizon=1000, confidence=0.05, seed=3),
    "pcz, unknown horizon": lambda problem: PCZ(problem, noise=0.1, seed=3),
    "contextual zooming": lambda problem: ContextualZooming(problem, horizon=1000, confidence=0.05, seed=3),
}


def some_rewards(problem: Problem, n: int, seed: int) -> list[dict[str, float]]:
    draws = np.random.default_rng(seed).random((n, len(problem.objectives)))
    return [problem.decode_reward(row) for row in draws]


def state(policy: Policy) -> bytes:
    return policy.dump().to_bytes()


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("kind", MAKERS)
def test_batches_equal_the_loop(kind: str, name: str) -> None:
    problem = PROBLEMS[name]
    one, many = MAKERS[kind](problem), MAKERS[kind](problem)
    world = World(problem, seed=4)
    for size in (1, 30, 7):
        contexts = [world.context() for _ in range(size)]
        rewards = some_rewards(problem, size, size)
        singles = [one.ask(context) for context in contexts]
        batch = many.ask_many(contexts)
        assert list(batch) == singles
        assert state(many) == state(one)
        for decision, reward in zip(singles, rewards, strict=True):
            one.tell(decision, reward)
        many.tell_many(batch, rewards)
        assert state(many) == state(one)
        assert many.open == []


def test_arrays_are_taken_as_they_are() -> None:
    problem = PROBLEMS["plane"]
    one, many = MAKERS["pcz"](problem), MAKERS["pcz"](problem)
    rng = np.random.default_rng(0)
    for _ in range(20):
        contexts, rewards = rng.random((25, len(problem.context))), rng.random((25, len(problem.objectives)))
        singles = [one.ask(row.tolist()) for row in contexts]
        batch = many.ask_many(contexts)
        assert list(batch) == singles
        for decision, reward in zip(singles, rewards, strict=True):
            one.tell(decision, reward.tolist())
        many.tell_many(batch, rewards)
    assert state(many) == state(one)


def test_parts_slices_and_single_tells_mix() -> None:
    problem = PROBLEMS["plane"]
    one, many = MAKERS["pcz"](problem), MAKERS["pcz"](problem)
    contexts = [[k / 20] for k in range(20)]
    singles, batch = [one.ask(context) for context in contexts], many.ask_many(contexts)
    first, second = problem.objective_names[:2]
    parts = [{first: k / 20} for k in range(20)]
    for decision, part in zip(singles, parts, strict=True):
        one.tell(decision, part)
    many.tell_many(batch[:8], parts[:8])
    many.tell_many(list(batch[8:]), parts[8:])
    assert state(many) == state(one)
    for decision in singles:
        one.tell(decision, {second: 0.5})
    many.tell_many(batch, [{second: 0.5}] * 20)
    assert state(many) == state(one)
    decision, same = one.ask([0.5]), many.ask_many([[0.5]])
    one.drop(decision)
    many.drop(same[0])
    assert state(many) == state(one)


def test_open_rows_survive_a_snapshot() -> None:
    problem = PROBLEMS["plane"]
    policy, again = MAKERS["pcz"](problem), MAKERS["pcz"](problem)
    batch = policy.ask_many([[0.1], [0.9]])
    again.load(policy.dump())
    again.tell_many(batch, [[1.0, 0.0], [0.0, 1.0]])
    policy.tell_many(batch, [[1.0, 0.0], [0.0, 1.0]])
    assert state(again) == state(policy)


@pytest.mark.parametrize("as_array", [False, True])
def test_one_refusal_refuses_all(as_array: bool) -> None:
    problem = PROBLEMS["plane"]
    policy, other = MAKERS["pcz"](problem), Random(problem, seed=99)
    batch = policy.ask_many([[0.1], [0.2], [0.3]])
    good = [[0.5, 0.5]] * 3
    before = state(policy)

    def given(rows: list[list[float]]) -> Any:
        return np.array(rows) if as_array else rows

    for decisions, rewards in (
        (batch, given([*good[:2], [0.5, math.nan]])),
        (batch, given([*good[:2], [0.5, 1.5]])),
        (batch, given(good[:2])),
        ([batch[0], batch[0]], given(good[:2])),
        (other.ask_many([[0.1], [0.2], [0.3]]), given(good)),
        ([batch[0], "nonsense"], given(good[:2])),
    ):
        with pytest.raises(Refused):
            policy.tell_many(decisions, rewards)
        assert state(policy) == before
    for contexts in ([[0.1], [1.2]], [[0.1], [math.nan]], [[0.1], [0.1, 0.2]]):
        with pytest.raises((Refused, ValueError)):
            policy.ask_many(np.array(contexts) if as_array else contexts)
        assert state(policy) == before
    policy.tell_many(batch, given(good))
    with pytest.raises(Refused):
        policy.tell_many(batch, given(good))


def test_nothing_asked_is_nothing() -> None:
    policy = MAKERS["pcz"](PROBLEMS["plane"])
    before = state(policy)
    empty = policy.ask_many([])
    assert isinstance(empty, Decisions)
    policy.tell_many(empty, [])
    assert state(policy) == before


@pytest.mark.parametrize(
    ("contexts", "message"),
    [
        ([[0.1], [2.0]], r"contexts\[1\]\['x'\]: 2.0 is outside"),
        ([{"z": 0.1}], r"contexts\[0\]: 'x' is missing"),
        ([[0.1], [0.2], 3], r"contexts\[2\]: 3 is neither"),
    ],
)
def test_refused_contexts_name_their_row(contexts: Any, message: str) -> None:
    with pytest.raises(Refused, match=f"^{message}"):
        Random(PaperTask().problem).ask_many(contexts)


@pytest.mark.parametrize(
    ("rewards", "message"),
    [
        ([[1, 1], [0.5, 2]], r"rewards\[1\]\['second'\]: 2 is outside"),
        ([{"third": 1}, [1, 1]], r"rewards\[0\]: 'third' is not one of"),
        ([[1, 1], []], r"rewards\[1\]: \[\] has 0 entries"),
    ],
)
def test_refused_rewards_name_their_row(rewards: Any, message: str) -> None:
    policy = Random(PaperTask().problem)
    decisions = policy.ask_many([[0.1], [0.2]])
    with pytest.raises(Refused, match=f"^{message}"):
        policy.tell_many(decisions, rewards)
    assert len(policy.open) == 2
