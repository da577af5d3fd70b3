"""Whatever a decision from outside credits: it is refused, or learned in the policy's own memory alone."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import Asked, Decision, Finite, Objective, Problem, Real, Refused, Snapshot, Told
from paretozoom.kernels.rules.classes import SHIFT
from paretozoom.policies import Policy
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.policies.rules.classes import PolicyClass
from paretozoom.registry import find_members

POLICIES = find_members("paretozoom.policies", Policy)
PAIR = [Objective("a"), Objective("b")]
SPACES = {
    "line": Problem(context=[Real("x")], arm=[Real("y")], objectives=PAIR),
    "labels": Problem(context=[Real("x")], arm=Finite(["a", "b", "c"]), objectives=PAIR),
}
REWARD = {"a": 0.5, "b": 0.25}
MARGIN, MARK = 5_000, 7
CREDITS = (
    st.integers(-3, 400)
    | st.sampled_from([99, 10**8, 2**31, 2**53 - 1, 2**63 - 1, 2**63, -(2**63), 10**30])
    | st.builds(lambda arm, parts: (arm << SHIFT) + parts, st.integers(0, 20), st.integers(0, 2**SHIFT - 1))
)
every_policy = pytest.mark.parametrize("name", POLICIES)


def _new(name: str, space: str) -> CompiledPolicy:
    make: Any = POLICIES[name]
    made: CompiledPolicy = make(SPACES[space], seed=3)
    return made


@functools.cache
def _played(name: str, space: str) -> Snapshot:
    """A policy after some rounds, with one decision told in part."""
    policy = _new(name, space)
    for k in range(40):
        policy.tell(policy.ask([k % 7 / 7]), [k % 3 / 3, k % 5 / 5])
    policy.tell(policy.ask([0.5]), {"a": 0.5})
    return policy.dump()


def _learned(policy: CompiledPolicy) -> dict[str, list[Any]]:
    arrays = policy.dump().arrays
    return {name: array.tolist() for name, array in arrays.items() if not name.startswith("open_")}


def _fenced(array: Any) -> tuple[Any, Any]:
    """A copy of an array between two margins, and all three together."""
    whole = np.full(len(array) + 2 * MARGIN, MARK, array.dtype)
    whole[MARGIN:-MARGIN] = array
    return whole[MARGIN:-MARGIN], whole


def _refusal_of(call: Callable[[], None]) -> str | None:
    try:
        call()
    except Refused as refusal:
        return str(refusal)
    return None


def _teaches(policy: CompiledPolicy, decision: Decision) -> bool:
    """Whether a decision with this credit is one whose reward should be learned."""
    if isinstance(policy, PolicyClass):  # exploitation, or feasible boxes without an arm of the grid
        return decision.credit % (1 << SHIFT) > 0
    return policy.name != "random"


@every_policy
@pytest.mark.parametrize("space", SPACES)
@settings(max_examples=30, deadline=None)
@given(credit=CREDITS, x=st.floats(0, 1))
def test_a_credit_is_refused_or_learned(name: str, space: str, credit: int, x: float) -> None:
    policy = _new(name, space)
    policy.load(_played(name, space))
    decision = msgspec.structs.replace(policy.propose([x]), credit=credit)
    before = policy.dump().to_bytes()
    refused = _refusal_of(lambda: policy.replay(Asked(decision)))
    if refused is not None:
        assert f"decision {decision.number} credits {credit}" in refused
        assert policy.dump().to_bytes() == before
        return
    learned = _learned(policy)
    (policy._floats, floats), (policy._ints, ints) = _fenced(policy._floats), _fenced(policy._ints)
    policy.replay(Told(decision.number, REWARD))
    for whole in (floats, ints):
        assert (whole[:MARGIN] == MARK).all()
        assert (whole[-MARGIN:] == MARK).all()
    assert (_learned(policy) != learned) == _teaches(policy, decision)
    again = _new(name, space)
    again.load(policy.dump())
    assert again.dump().to_bytes() == policy.dump().to_bytes()


@every_policy
@pytest.mark.parametrize("space", SPACES)
@settings(max_examples=10, deadline=None)
@given(credit=CREDITS)
def test_an_open_decision_of_a_snapshot_credits_what_exists(name: str, space: str, credit: int) -> None:
    policy, snapshot = _new(name, space), _played(name, space)
    [first] = snapshot.header["open"]
    changed = msgspec.structs.replace(snapshot, header={**snapshot.header, "open": [{**first, "credit": credit}]})
    before = policy.dump().to_bytes()
    refused = _refusal_of(lambda: policy.load(changed))
    if refused is not None:
        assert "snapshot" in refused
        assert policy.dump().to_bytes() == before
        return
    policy.tell(policy.open[0], {"b": 0.5})
    assert policy.open == []


@every_policy
def test_proposals_ahead_change_nothing(name: str) -> None:
    """Even across the beginning of an epoch: what is proposed may never be asked."""
    policy = _new(name, "line")
    for _ in range(60):
        policy.tell(policy.ask([0.3]), REWARD)
    before = policy.dump().to_bytes()
    ahead = [policy.propose([0.3], ahead=k) for k in (5, 0, 70)]
    assert [decision.number for decision in ahead] == [65, 60, 130]
    assert policy.dump().to_bytes() == before
    fresh = _new(name, "line")
    fresh.load(policy.dump())
    assert fresh.ask([0.3]) == ahead[1]
