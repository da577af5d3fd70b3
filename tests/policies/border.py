"""Policies that were used, and refusals that leave them as they were."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import pytest

from paretozoom import PCZ, Categorical, ContextualZooming, Decision, Integer, Objective, Problem, Random, Real, Refused
from paretozoom.policies.base import Policy

UNIT = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a"), Objective("b")])
SHOP = Problem(
    context=[Real("load", 1, 1000, scale="log"), Categorical("device", ["phone", "desk"])],
    arm=[Integer("level", 1, 4), Categorical("codec", ["fast", "small"])],
    objectives=[Objective("a", low=-10, high=90), Objective("b", goal="min", low=0, high=200)],
)
PROBLEMS = {"unit": UNIT, "shop": SHOP}
CONTEXTS: dict[str, Any] = {"unit": [0.3], "shop": [30, "desk"]}
# Little noise, so that balls split after a few rewards.
MAKERS: dict[str, Callable[..., Policy]] = {
    "random": Random,
    "pcz": lambda problem, **more: PCZ(problem, **{"horizon": 100, "noise": 0.05, **more}),
    "pcz-doubling": lambda problem, **more: PCZ(problem, **{"noise": 0.05, **more}),
    "contextual-zooming": lambda problem, **more: ContextualZooming(
        problem, **{"horizon": 100, "weights": [0.25, 0.75], "radius": "pcz", "noise": 0.05, **more}
    ),
}
every_policy = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
every_zooming = pytest.mark.parametrize("make", list(MAKERS.values())[1:], ids=list(MAKERS)[1:])


def bytes_of(policy: Policy) -> bytes:
    """A policy's whole state."""
    return policy.dump().to_bytes()


@contextmanager
def refuses(policy: Policy | None, *fragments: str) -> Iterator[None]:
    """Expect a refusal whose message contains every fragment, and that leaves the policy as it was."""
    before = policy and bytes_of(policy)
    with pytest.raises(Refused) as refusal:
        yield
    for fragment in fragments:
        assert fragment in str(refusal.value)
    assert (policy and bytes_of(policy)) == before


def used(make: Callable[..., Policy], problem: Problem = UNIT) -> Policy:
    """A policy with some balls, an open decision (the last), a partly told one and a dropped one."""
    policy = make(problem, seed=1)
    context = [0.3] if problem is UNIT else [30, "desk"]
    for _ in range(36):
        policy.tell(policy.ask(context), [0.5, 0.5])
    policy.drop(policy.ask(context))
    policy.tell(policy.ask(context), {"a": 0.25})
    policy.ask(context)
    return policy


def altered(decision: Decision, **changes: Any) -> Decision:
    """A decision with other fields."""
    return msgspec.structs.replace(decision, **changes)
