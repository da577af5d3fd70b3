"""The border of every policy: contexts, rewards and decisions that it refuses."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paretozoom.policies.base import Policy
from tests.policies.border import UNIT, altered, every_policy, refuses, used


@every_policy
@pytest.mark.parametrize(
    ("context", "fragments"),
    [
        ({}, ["'x' is missing"]),
        ({"z": 0.5}, ["'x' is missing", "{'z': 0.5}"]),
        ({"x": 0.5, "z": 0.5}, ["'z'"]),
        ([], ["[]"]),
        ([0.5, 0.5], ["[0.5, 0.5]"]),
        ("x", ["'x'"]),
        (0.5, ["0.5"]),
        (None, ["None"]),
        (np.array([[0.5]]), ["array([[0.5]])"]),
        ({"x": "0.5"}, ["['x']", "'0.5'"]),
        ({"x": None}, ["['x']", "None"]),
        ({"x": True}, ["['x']", "True"]),
        ({"x": b"0.5"}, ["['x']", "b'0.5'"]),
        ([math.nan], ["['x']", "nan"]),
        ([math.inf], ["['x']", "inf"]),
        ([-math.inf], ["['x']", "-inf"]),
        ([-0.1], ["['x']", "-0.1", "[0, 1]"]),
        (np.array([1.5]), ["['x']", "1.5", "[0, 1]"]),
        ([10**400], ["['x']", "1000"]),
    ],
)
def test_bad_contexts_are_refused(make: Callable[..., Policy], context: Any, fragments: list[str]) -> None:
    policy = used(make)
    for verb in (policy.ask, policy.front):
        with refuses(policy, "context", *fragments):
            verb(context)


@every_policy
@pytest.mark.parametrize(
    ("reward", "fragments"),
    [
        ({}, ["{}"]),
        ([None, None], ["[None, None]"]),
        ([], ["[]"]),
        ([0.5], ["[0.5]"]),
        ([0.5] * 3, ["[0.5, 0.5, 0.5]"]),
        ({"c": 0.5}, ["'c'"]),
        ({"a": 0.5, "c": 0.5}, ["'c'"]),
        (0.5, ["0.5"]),
        (None, ["None"]),
        ({"a": "0.5"}, ["['a']", "'0.5'"]),
        ({"a": 0.5, "b": b"1"}, ["['b']", "b'1'"]),
        ([0.5, True], ["['b']", "True"]),
        ([0.5, math.nan], ["['b']", "nan"]),
        ([math.inf, 0.5], ["['a']", "inf"]),
        ({"b": 1.25}, ["['b']", "1.25", "[0, 1]"]),
        ({"b": -0.25}, ["['b']", "-0.25", "[0, 1]"]),
        ({"a": 0.5, "b": 10**400}, ["['b']", "1000"]),
    ],
)
def test_bad_rewards_are_refused(make: Callable[..., Policy], reward: Any, fragments: list[str]) -> None:
    policy = used(make)
    with refuses(policy, "reward", *fragments):
        policy.tell(policy.open[-1], reward)
    policy.tell(policy.open[-1], [0.5, 0.5])


@every_policy
@pytest.mark.parametrize("verb", ["tell", "drop"])
def test_foreign_decisions_are_refused(make: Callable[..., Policy], verb: str) -> None:
    policy, other = used(make), make(UNIT, seed=2)
    mine = policy.open[-1]
    for _ in range(mine.number + 1):
        foreign = other.ask([0.3])
    assert foreign.number == mine.number
    strangers = [
        foreign,
        altered(mine, arm={"y": 0.5}),
        altered(mine, arm=None),
        altered(mine, density=mine.density + 1),
        altered(mine, credit=mine.credit + 1),
        altered(mine, context={"x": 0.4}),
        altered(mine, number=mine.number + 1),
        altered(mine, number=-1),
        altered(mine, number=10**6),
    ]
    for stranger in strangers:
        with refuses(policy, f"decision {stranger.number}", "not of this policy"):
            policy.tell(stranger, [0.5, 0.5]) if verb == "tell" else policy.drop(stranger)
    policy.tell(mine, [0.5, 0.5])


@every_policy
@pytest.mark.parametrize("stranger", [None, 0, "0", {}, {"number": 38}], ids=repr)
def test_what_is_no_decision_is_refused(make: Callable[..., Policy], stranger: Any) -> None:
    policy = used(make)
    with refuses(policy, "decision", repr(stranger)):
        policy.tell(stranger, [0.5, 0.5])
    with refuses(policy, "decision", repr(stranger)):
        policy.drop(stranger)


@every_policy
@pytest.mark.parametrize(
    "change",
    [{"number": [0]}, {"number": None}, {"context": {"x": np.array([0.3, 0.3])}}, {"arm": np.array([1, 2])}],
    ids=lambda change: next(iter(change)),
)
def test_decisions_of_wrong_types_are_refused(make: Callable[..., Policy], change: dict[str, Any]) -> None:
    policy = used(make)
    stranger = altered(policy.open[-1], **change)
    with refuses(policy, "decision"):
        policy.tell(stranger, [0.5, 0.5])
    with refuses(policy, "decision"):
        policy.drop(stranger)


@every_policy
def test_telling_again_is_refused(make: Callable[..., Policy]) -> None:
    policy = make(UNIT)
    first, second, third = (policy.ask([0.3]) for _ in range(3))
    policy.tell(first, [0.5, 0.5])
    policy.tell(second, {"b": 0.5})
    policy.drop(third)
    for reward in ([0.5, 0.5], {"a": 0.5}):
        with refuses(policy, "decision 0", "already told"):
            policy.tell(first, reward)
        with refuses(policy, "decision 2", "dropped"):
            policy.tell(third, reward)
    for reward in ({"b": 0.5}, {"b": 0.1}, [0.5, 0.5]):
        with refuses(policy, "reward['b']", "decision 1"):
            policy.tell(second, reward)
    for closed in (first, third):
        with refuses(policy, f"decision {closed.number}", "dropped"):
            policy.drop(closed)
    policy.tell(second, {"a": 0.5})
    with refuses(policy, "decision 1", "already told"):
        policy.tell(second, {"a": 0.5})
    assert policy.open == []
