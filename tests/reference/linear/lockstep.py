"""A policy with finitely many arms and its slow twin, side by side: both must make the same decisions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from paretozoom import Decision
from paretozoom.policies import Policy
from tests.reference.linear.finite import FiniteTwin
from tests.reference.play import World


def lockstep(
    policy: Policy,
    twin: FiniteTwin,
    world: World,
    rounds: int,
    *,
    feasible: Callable[[], Any] | None = None,
    scrambled: bool = True,
) -> list[Decision]:
    """Play rounds with both, on some feasible sets; scrambled rewards come late, reordered, in parts or never."""
    waiting: list[tuple[Decision, dict[str, float]]] = []
    decisions = []
    for _ in range(rounds):
        context, allowed = world.context(), feasible() if feasible else None
        decision = policy.ask(context, feasible=allowed)
        assert twin.ask(context, feasible=allowed) == decision
        decisions.append(decision)
        waiting.append((decision, world.reward(decision)))
        while waiting and (not scrambled or world.rng.random() < 0.6):
            decision, reward = waiting.pop(int(world.rng.integers(len(waiting))))
            fate = world.rng.random() if scrambled else 1.0
            if fate < 0.1:
                policy.drop(decision)
                continue
            parts = [{name: value} for name, value in reward.items()] if fate < 0.3 else [reward]
            for part in parts:
                policy.tell(decision, part)
            twin.tell(decision, reward)
    return decisions
