"""The straight line: what the seed decides, delays, and calls that are refused."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import PCZ, Decision, PaperTask, Random, Refused, simulate
from paretozoom.simulation import simulate_in_chunks
from tests.lines import POLICIES, ROUNDS, Shop, bytes_of, every_policy, in_chunks

every_line = pytest.mark.parametrize("line", [simulate, simulate_in_chunks])


@every_line
@every_policy
def test_the_seed_decides_everything(make: Any, line: Any) -> None:
    def play(seed: int, start: int) -> list[Any]:
        task = PaperTask()
        task.reset(start)
        policy = make(task.problem)
        policy.reseed(start)
        return [
            r.columns.point.tolist() if line is simulate_in_chunks else r for r in line(policy, task, 30, seed=seed)
        ]

    assert play(1, 0) == play(1, 99)
    assert play(1, 0) != play(2, 0)


@every_line
def test_delays_have_a_stream_of_their_own(line: Any) -> None:
    seen: list[list[float]] = []
    for name in ("random", "pcz"):
        draws: list[float] = []

        def delay(rng: np.random.Generator, draws: list[float] = draws) -> int:
            draws.append(rng.random())
            return 0

        task = PaperTask()
        for _ in line(POLICIES[name](task.problem), task, 25, seed=6, delay=delay):
            pass
        seen.append(draws)
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 25


@pytest.mark.parametrize(("delay", "open_after"), [(0, 0), (1, 1), (7, 7), (ROUNDS, ROUNDS), (10**6, ROUNDS)])
@every_line
def test_a_reward_comes_after_its_delay(line: Any, delay: int, open_after: int) -> None:
    task = PaperTask()
    policy = PCZ(task.problem, horizon=200)
    for _ in line(policy, task, ROUNDS, seed=1, delay=delay):
        pass
    assert len(policy.open) == open_after
    assert policy.dump().arrays["count"].sum(axis=0).tolist() == [ROUNDS - open_after] * 2


@every_line
def test_no_rounds(line: Any) -> None:
    task = PaperTask()
    assert list(line(Random(task.problem), task, 0, seed=1)) == []


def test_numpy_integers_are_rounds_and_delays() -> None:
    task = PaperTask()
    plain = list(simulate(Random(task.problem), task, 12, seed=3, delay=2))
    assert list(simulate(Random(task.problem), task, np.int64(12), seed=np.int64(3), delay=np.int8(2))) == plain
    assert in_chunks(Random(task.problem), task, np.int64(12), seed=np.int64(3), delay=np.int8(2)) == plain


BAD_CALLS: list[tuple[str, Any]] = [
    *(("rounds", v) for v in (-1, 2.5, True, "x", None, math.nan)),
    *(("seed", v) for v in (-1, 1.5, True, "x", None, [1, 2])),
    *(("delay", v) for v in (-1, 1.5, True, "x", math.nan, [1])),
]


@pytest.mark.parametrize(("field", "value"), BAD_CALLS, ids=repr)
@every_line
def test_bad_calls_are_refused_and_change_nothing(line: Any, field: str, value: Any) -> None:
    task = PaperTask()
    task.reset(5)
    policy = PCZ(task.problem, seed=7)
    policy.ask([0.5])
    before, key = bytes_of(policy), task.key.tolist()
    arguments = {"rounds": 10, "seed": 1, "delay": 0, field: value}
    with pytest.raises(Refused) as refusal:
        list(line(policy, task, arguments.pop("rounds"), **arguments))
    assert field in str(refusal.value)
    assert repr(value) in str(refusal.value)
    assert bytes_of(policy) == before
    assert task.key.tolist() == key


@pytest.mark.parametrize("chunk", [0, -1, 2.5, True, "x", None], ids=repr)
@pytest.mark.parametrize("environment", [PaperTask, Shop])
def test_bad_chunks_are_refused_and_change_nothing(environment: Any, chunk: Any) -> None:
    policy = Random(environment().problem, seed=7)
    before = bytes_of(policy)
    with pytest.raises(Refused, match="chunk"):
        list(simulate_in_chunks(policy, environment(), 10, seed=1, chunk=chunk))
    assert bytes_of(policy) == before


@pytest.mark.parametrize("wait", [-1, 1.5, True, "x", math.nan], ids=repr)
@every_line
def test_bad_draws_of_a_delay_are_refused(line: Any, wait: Any) -> None:
    task = PaperTask()
    with pytest.raises(Refused) as refusal:
        list(line(Random(task.problem), task, 10, seed=1, delay=lambda _: wait))
    assert "delay" in str(refusal.value)
    assert repr(wait) in str(refusal.value)


@every_line
def test_a_bad_answer_of_an_environment_is_refused(line: Any) -> None:
    class Broken(Shop):
        def respond(self, decision: Decision) -> Any:
            return [1.0, 500.0] if decision.number == 3 else super().respond(decision)

    policy = Random(Shop.problem)
    with pytest.raises(Refused, match=r"reward\['wait'\]: 500.0"):
        list(line(policy, Broken(), 10, seed=1))


def test_an_endless_delay_is_never() -> None:
    task = PaperTask()
    policy, twin = Random(task.problem), Random(task.problem)
    assert list(simulate(policy, task, 5, seed=1, delay=10**30)) == in_chunks(twin, task, 5, seed=1, delay=10**30)
    assert bytes_of(policy) == bytes_of(twin)
