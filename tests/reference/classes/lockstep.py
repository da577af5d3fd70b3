"""A policy over finitely many arms and its slow twin side by side, with any feedback and feasible sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from paretozoom import Decision
from paretozoom.policies.base import Policy
from tests.reference.play import World


def lockstep(
    policy: Policy,
    twin: Any,
    world: World,
    rounds: int,
    *,
    feasible: Callable[[int], Any] | None = None,
    scrambled: bool = True,
) -> list[Decision]:
    """Play the same rounds with both; every decision must agree. Returns the decisions.

    The twin has `ask(context, feasible)`, which gives a Decision, and `tell(decision, reward)`. `feasible` gives the
    feasible set of a round. Scrambled feedback comes late, out of order, or never.
    """
    decisions: list[Decision] = []
    waiting: list[tuple[Decision, dict[str, float]]] = []
    for t in range(rounds):
        context, some = world.context(), None if feasible is None else feasible(t)
        mine, theirs = policy.ask(context, feasible=some), twin.ask(context, some)
        assert (mine.number, mine.arm, mine.credit) == (theirs.number, theirs.arm, theirs.credit), (mine, theirs)
        assert mine.density == pytest.approx(theirs.density, rel=1e-9)
        decisions.append(mine)
        waiting.append((mine, world.reward(mine)))
        while waiting and (not scrambled or world.rng.random() < 0.6):
            decision, reward = waiting.pop(int(world.rng.integers(len(waiting))))
            if scrambled and world.rng.random() < 0.1:
                policy.drop(decision)
            else:
                policy.tell(decision, reward)
                twin.tell(decision, reward)
    return decisions
