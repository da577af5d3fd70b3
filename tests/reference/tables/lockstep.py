"""A policy with finitely many arms and its slow twin, side by side."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

import pytest

from paretozoom import Decision, Policy
from tests.reference.play import World
from tests.reference.tables.finite import FiniteTwin

Part = dict[str, float] | None  # of a reward, or None for a decision that is dropped


def lockstep(
    policy: Policy,
    twin: FiniteTwin | Policy,
    world: World,
    rounds: int,
    *,
    feasible: Callable[[], Any] | None = None,
    scrambled: bool = True,
) -> list[Decision]:
    """Play the same rounds with both; they must make the same decisions. Scrambled feedback comes late or never."""
    waiting: list[tuple[int, int, Decision, Part]] = []
    decisions, ticket = [], 0
    for t in range(rounds):
        context, restricted = world.context(), None if feasible is None else feasible()
        mine, theirs = policy.ask(context, feasible=restricted), twin.ask(context, feasible=restricted)
        assert (mine.number, mine.arm, mine.credit) == (theirs.number, theirs.arm, theirs.credit), (mine, theirs)
        assert mine.density == pytest.approx(theirs.density, rel=1e-12), (mine, theirs)
        decisions.append(mine)
        for wait, part in _feedback(mine, world, scrambled):
            ticket += 1
            heapq.heappush(waiting, (t + wait, ticket, mine, part))
        while waiting and waiting[0][0] <= t:
            _, _, decision, part = heapq.heappop(waiting)
            for player in (policy, twin):
                opened = _opened(player, decision.number)
                if part is None:
                    player.drop(opened)
                else:
                    player.tell(opened, part)
    return decisions


def _opened(player: FiniteTwin | Policy, number: int) -> Decision:
    entry = player.open[number] if isinstance(player, FiniteTwin) else player._open[number].decision
    assert isinstance(entry, Decision)
    return entry


def _feedback(decision: Decision, world: World, scrambled: bool) -> list[tuple[int, Part]]:
    """What becomes of a decision, and how many rounds later."""
    reward = world.reward(decision)
    if not scrambled:
        return [(0, reward)]
    fate, wait = world.rng.random(), int(world.rng.geometric(0.15)) - 1
    if fate < 0.1:
        return [(wait, None)]
    if fate < 0.15:
        return []
    if fate < 0.35:
        return [(wait + int(world.rng.geometric(0.2)) - 1, {name: value}) for name, value in reward.items()]
    return [(wait, reward)]
