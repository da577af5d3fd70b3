"""Threads share a policy: distinct decisions, every reward learned, and a state that is the fold of its log."""

from __future__ import annotations

import copy
import functools
import pickle
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import RLock
from typing import Any

import pytest

from paretozoom import PCZ, Asked, Decision, Event, PaperTask, ParetoZoom, Policy, Random, Told
from paretozoom.registry import find_members

POLICIES = find_members("paretozoom.policies", Policy)
THREADS, ROUNDS = 4, 2_000
PROBLEM = PaperTask().problem


@contextmanager
def impatient() -> Iterator[None]:
    """Let threads take turns as often as they can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        yield
    finally:
        sys.setswitchinterval(before)


def logged(policy: Policy, log: list[Event]) -> Policy:
    """The policy, which from now on writes down what it does when it does it."""
    remember, tell = policy._remember, policy._tell

    def asked(decision: Decision, point: Any) -> None:
        log.append(Asked(decision))
        remember(decision, point)

    def told(entry: Any, reward: Any) -> None:
        log.append(Told(entry.number, reward))
        tell(entry, reward)

    policy._remember, policy._tell = asked, told  # type: ignore[method-assign]
    return policy


def play(policy: Policy, thread: int) -> list[int]:
    numbers = []
    for k in range(ROUNDS):
        decision = policy.ask([(k % 89) / 89])
        numbers.append(decision.number)
        if k % 7 == thread:
            policy.tell(decision, {"second": 0.0})
            policy.tell(decision, {"first": 1.0})
        else:
            policy.tell(decision, {"first": float(decision.arm["y"] < 0.5), "second": 1.0})
    return numbers


@pytest.mark.parametrize("make", [Random, PCZ, ParetoZoom], ids=lambda make: make.name)
def test_four_threads_on_one_policy(make: Any) -> None:
    log: list[Event] = []
    policy = logged(make(PROBLEM, seed=1), log)
    with impatient(), ThreadPoolExecutor(THREADS) as pool:
        found = [number for numbers in pool.map(play, [policy] * THREADS, range(THREADS)) for number in numbers]
    assert sorted(found) == list(range(THREADS * ROUNDS))
    assert policy.open == []
    folded = make(PROBLEM, seed=1)
    for event in log:
        folded.replay(event)
    assert folded.dump().to_bytes() == policy.dump().to_bytes()


class Counting:
    """A lock that counts how often it was taken."""

    def __init__(self) -> None:
        self.lock, self.taken = RLock(), 0

    def acquire(self) -> None:
        self.taken += 1
        self.lock.acquire()

    def release(self) -> None:
        self.lock.release()

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: Any) -> None:
        self.release()


@pytest.mark.parametrize("name", POLICIES)
def test_whatever_is_public_takes_the_lock(name: str) -> None:
    policy = POLICIES[name](PROBLEM, seed=1)
    lock = policy._lock = Counting()
    decision = policy.ask([0.5])
    calls = {
        "tell": lambda: policy.tell(decision, [1.0, 0.5]),
        "propose": lambda: policy.propose([0.5]),
        "ask_many": lambda: policy.ask_many([[0.5]]),
        "tell_many": lambda: policy.tell_many(policy.open, [[0.5, 0.5]]),
        "replay": lambda: policy.replay(Asked(policy.propose([0.5]))),
        "drop": lambda: policy.drop(policy.open[0]),
        "load": lambda: policy.load(policy.dump()),
        "reseed": lambda: policy.reseed(2),
    }
    views: dict[str, Callable[[], Any]] = {"front": lambda: policy.front([0.5]), "facts": policy.facts}
    for view in dir(type(policy)):
        if not view.startswith("_") and isinstance(getattr(type(policy), view), property):
            views[view] = functools.partial(getattr, policy, view)
    own = {view: call for view, call in views.items() if getattr(type(policy), view) is not getattr(Policy, view, None)}
    assert own
    for what, call in {**calls, **own}.items():
        before = lock.taken
        call()
        assert lock.taken > before, what


@pytest.mark.parametrize("name", POLICIES)
def test_policies_can_be_pickled_and_copied(name: str) -> None:
    policy = POLICIES[name](PROBLEM, seed=1)
    for k in range(30):
        decision = policy.ask([k / 30])
        if k % 3:
            policy.tell(decision, [1.0, k / 30])
    for again in (pickle.loads(pickle.dumps(policy)), copy.deepcopy(policy)):
        assert again._lock is not policy._lock
        assert again.dump().to_bytes() == policy.dump().to_bytes()
        again.tell(again.open[0], [0.0, 1.0])
        assert len(again.open) == len(policy.open) - 1
        assert again.ask([0.5]).number == policy.number
