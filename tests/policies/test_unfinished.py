"""What may take long of learning can be left, and done in another thread: the state gets the same bytes."""

from __future__ import annotations

import pickle
import threading
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

from paretozoom import Asked, FiniteBandit, PaperTask, ParetoZoom, PlainPolicy, Policy, Told
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.registry import find_members

COMPILED = find_members("paretozoom.policies", CompiledPolicy)


class Averages(PlainPolicy):
    """Sums what it is told."""

    name = "averages"
    sums = 0.0

    def choose(self, context: Any, candidates: Any, luck: np.random.Generator) -> Any:
        return candidates[luck.integers(len(candidates))], 1 / len(candidates)

    def learn(self, context: Any, arm: Any, reward: dict[str, float]) -> None:
        if reward["r1"] == 0.5:
            raise RuntimeError("cannot learn this")
        self.sums = 0.9 * self.sums + reward["r1"]

    def state(self) -> dict[str, Any]:
        return {"sums": self.sums}

    def restore(self, state: dict[str, Any]) -> None:
        self.sums = state["sums"]


MAKES: list[Callable[[], Policy]] = [
    lambda: ParetoZoom(PaperTask().problem, seed=1),
    lambda: Averages(FiniteBandit().problem, seed=1),
]


def events(policy: Policy, rounds: int = 150) -> Iterator[Any]:
    """A log, of a policy that learns from it."""
    context = [0.5] * len(policy.problem.context)
    for k in range(rounds):
        decision = policy.propose(context)
        for event in (Asked(decision), Told(decision.number, dict.fromkeys(policy.problem.objective_names, k % 2))):
            policy.replay(event)
            yield event


def elsewhere(act: Callable[[], None]) -> None:
    thread = threading.Thread(target=act)
    thread.start()
    thread.join()


def bytes_of(policy: Policy) -> bytes:
    return policy.dump().to_bytes()


@pytest.mark.parametrize("make", MAKES, ids=["pareto-zoom", "plain"])
def test_what_is_left_is_learned_elsewhere(make: Callable[[], Policy]) -> None:
    whole, parted, forgetful, left = make(), make(), make(), 0
    for event in events(whole):
        parted.replay(event, finish=False)
        forgetful.replay(event, finish=False)  # what comes next finishes it
        if parted.unfinished:
            left += 1
            copied = pickle.loads(pickle.dumps(parted))
            elsewhere(parted.finish)
            assert bytes_of(copied) == bytes_of(parted) == bytes_of(whole)
        assert not parted.unfinished
    assert left >= 10
    assert bytes_of(parted) == bytes_of(whole) == bytes_of(forgetful)


def test_what_learning_raises_is_raised_once_by_whoever_finishes() -> None:
    policy = Averages(FiniteBandit().problem, seed=1)
    for event in events(Averages(FiniteBandit().problem, seed=1), rounds=3):
        policy.replay(event)
    decision = policy.ask([])
    policy.replay(Told(decision.number, dict.fromkeys(policy.problem.objective_names, 0.5)), finish=False)
    assert policy.open == []
    with pytest.raises(RuntimeError, match="cannot learn this"):
        policy.finish()
    policy.finish()
    policy.tell(policy.ask([]), [1.0] * len(policy.problem.objectives))


@pytest.mark.parametrize("name", [name for name, member in COMPILED.items() if hasattr(member.kernel, "refit")])
def test_other_threads_run_during_a_refit(name: str) -> None:
    options = getattr(COMPILED[name].kernel.refit, "targetoptions", None)
    assert options is None or options["nogil"]  # none, where nothing is compiled
