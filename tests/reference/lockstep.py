"""A policy and its slow twin, asked and told the same: they must decide the same."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable
from typing import Any

from paretozoom import Decision, Dropped, Policy, Told
from tests.reference.play import World, feedback
from tests.reference.problems import is_allowed
from tests.reference.twin import Twin


def lockstep(
    policy: Policy,
    twin: Twin | Policy,
    world: World,
    rounds: int,
    *,
    feasible: Callable[[], Any] | None = None,
    scrambled: bool = True,
) -> list[Decision]:
    """Play the same rounds with both. `feasible` gives the feasible set of each round.

    Scrambled feedback comes late, out of order, in parts, or never; some decisions are dropped.
    """
    waiting: list[tuple[int, int, Told | Dropped]] = []
    made: dict[int, tuple[Decision, Decision]] = {}
    ticket = 0
    for t in range(rounds):
        context, wanted = world.context(), None if feasible is None else feasible()
        mine, theirs = policy.ask(context, feasible=wanted), twin.ask(context, feasible=wanted)
        _agree(mine, theirs)
        assert is_allowed(policy.problem, wanted, mine.arm)
        made[mine.number] = mine, theirs
        for wait, event in feedback(mine, world, scrambled):
            ticket += 1
            heapq.heappush(waiting, (t + wait, ticket, event))
        while waiting and waiting[0][0] <= t:
            event = heapq.heappop(waiting)[2]
            for player, decision in zip((policy, twin), made[event.number], strict=True):
                if isinstance(event, Told):
                    player.tell(decision, event.reward)
                else:
                    player.drop(decision)
    assert {decision.number for decision in policy.open} == _open_numbers(twin)
    return [mine for mine, _ in made.values()]


def _agree(mine: Decision, theirs: Decision) -> None:
    """In all but rounding errors of densities and places."""
    assert (mine.number, mine.context, mine.credit) == (theirs.number, theirs.context, theirs.credit), (mine, theirs)
    assert math.isclose(mine.density, theirs.density, rel_tol=1e-9), (mine, theirs)
    if isinstance(mine.arm, dict):
        assert mine.arm.keys() == theirs.arm.keys()
        for name, value in mine.arm.items():
            other = theirs.arm[name]
            near = isinstance(value, float) and math.isclose(value, other, rel_tol=1e-12, abs_tol=1e-12)
            assert near or value == other, (mine, theirs)
    else:
        assert mine.arm == theirs.arm, (mine, theirs)


def _open_numbers(twin: Twin | Policy) -> set[int]:
    return set(twin.open) if isinstance(twin, Twin) else {decision.number for decision in twin.open}
