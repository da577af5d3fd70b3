"""Loops that Python runs, where kernels cannot be called by address."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from paretozoom import PCZ, Random
from paretozoom.environments import DriftingRidges, LinearRewards, SmoothRidges, Task
from paretozoom.kernels.core import looping
from paretozoom.policies import Policy
from tests.lines import in_chunks

ROUNDS = 60


@pytest.fixture
def outcome(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[Callable[[], bool]], None]]:
    """Sets what comes out when a known call by address is tried."""

    def become(tried: Callable[[], bool]) -> None:
        monkeypatch.setattr(looping, "_try", tried)
        looping.calls_work.cache_clear()

    yield become
    looping.calls_work.cache_clear()


def test_a_failing_call_is_told_once(outcome: Callable[[Callable[[], bool]], None]) -> None:
    outcome(lambda: True)
    assert looping.calls_work()
    outcome(lambda: {}["get_pointer_to_function"])
    with pytest.warns(RuntimeWarning, match=r"KeyError\('get_pointer_to_function'\)") as caught:
        assert [looping.calls_work() for _ in range(3)] == [False] * 3
    assert len(caught) == 1


def play(make: Callable[[Any], Policy], task: Task, delay: Any) -> tuple[Any, ...]:
    """What a policy plays in chunks and in batches, what it knows then, and the truth about it."""
    policy = make(task.problem)
    rounds = in_chunks(policy, task, ROUNDS, seed=3, delay=delay, chunk=25)
    points = task.sample(9, np.random.default_rng(1))
    decisions = policy.ask_many(points[:, : task.problem.encoding.context])
    policy.tell_many(decisions, np.full((9, len(task.problem.objectives)), 0.5))
    truth = [found(points).tolist() for found in (task.means, task.gaps, task.are_optimal)]
    front = [part.tolist() for part in task.front_of_grid(points[0])]
    return rounds, decisions[4], policy.dump().to_bytes(), truth, front


CASES = {
    "pcz, means that rise and fall": (PCZ, SmoothRidges(), 0),
    "random, means that move": (Random, DriftingRidges(), lambda rng: rng.integers(9)),
    "random, a grid of arms": (Random, LinearRewards(), 3),
}


@pytest.mark.parametrize(("make", "task", "delay"), CASES.values(), ids=CASES)
def test_interpreted_loops_do_the_same(
    make: Callable[[Any], Policy], task: Task, delay: Any, outcome: Callable[[Callable[[], bool]], None]
) -> None:
    expected = play(make, task, delay)
    outcome(lambda: False)
    with pytest.warns(RuntimeWarning, match="cannot call kernels by address .*wrong answer") as caught:
        found = play(make, task, delay)
    assert found == expected
    assert len(caught) == 1
