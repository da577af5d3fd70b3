"""A policy with finitely many arms and its slow twin, asked and told the same: they must decide the same."""

from __future__ import annotations

import heapq
from collections.abc import Callable
from typing import Any

from paretozoom import Decision, Dropped, Told
from paretozoom.policies import Policy
from tests.reference.clusters.finite import FiniteTwin
from tests.reference.play import World, _feedback


def lockstep(
    policy: Policy,
    twin: FiniteTwin,
    world: World,
    rounds: int,
    *,
    scrambled: bool = False,
    feasible: Callable[[], Any] | None = None,
) -> list[Decision]:
    """Play; every decision must be equal in every field. `feasible` gives the feasible set of each round."""
    waiting: list[tuple[int, int, Told | Dropped]] = []
    decisions: list[Decision] = []
    for t in range(rounds):
        context, allowed = world.context(), None if feasible is None else feasible()
        decision, expected = policy.ask(context, feasible=allowed), twin.ask(context, feasible=allowed)
        assert decision == expected, (decision, expected)
        decisions.append(decision)
        for wait, event in _feedback(decision, world, scrambled):
            heapq.heappush(waiting, (t + wait, len(waiting) + 1000 * t, event))
        while waiting and waiting[0][0] <= t:
            event = heapq.heappop(waiting)[2]
            for player in (policy, twin):
                if isinstance(event, Told):
                    player.tell(decisions[event.number], event.reward)
                else:
                    player.drop(decisions[event.number])
    assert {decision.number for decision in policy.open} == set(twin.opened)
    return decisions
