"""Rounds for a policy and its slow twin side by side, with any feedback; ball by ball comparison of the two."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from paretozoom import Asked, Categorical, Decision, Dropped, Integer, Problem, Snapshot, Told
from paretozoom.policies.zooming.zooming import Zooming as Policy
from paretozoom.records import Event
from tests.reference.space import Ball
from tests.reference.zooming.zooming import Zooming as Twin

Player = Policy | Twin


class World:
    """Contexts and rewards for any problem: smooth means over the encoded space, and noise."""

    def __init__(self, problem: Problem, seed: int, noise: float = 0.3) -> None:
        self.problem = problem
        self.noise = noise
        self.rng = np.random.default_rng(seed)

    def context(self) -> list[Any]:
        """A random context, in the user's units."""
        drawn: list[Any] = []
        for d in self.problem.context:
            if isinstance(d, Categorical):
                drawn.append(d.choices[int(self.rng.integers(len(d.choices)))])
            elif isinstance(d, Integer):
                drawn.append(int(self.rng.integers(d.low, d.high + 1)))
            else:
                drawn.append(d.decode(self.rng.random()))
        return drawn

    def reward(self, decision: Decision) -> dict[str, float]:
        """A reward with a mean that moves with the point, scaled to [0, 1]."""
        point = np.empty(self.problem.dim)
        self.problem.encode_context(decision.context, point)
        self.problem.encode_arm(decision.arm, point)
        objectives = len(self.problem.objectives)
        along = sum(0.37 * (j + 1) * v for j, v in enumerate(point.tolist()))
        means = [0.5 + 0.45 * math.sin(2 * math.pi * (along + i / (objectives + 1))) for i in range(objectives)]
        noise = self.noise * (2 * self.rng.random(objectives) - 1)
        return self.problem.decode_reward(np.clip(means + noise, 0.0, 1.0))


def play(
    players: Sequence[Player],
    world: World,
    rounds: int,
    *,
    scrambled: bool,
    check_every: int = 50,
    feasible: Callable[[], Any] | None = None,
) -> list[Event]:
    """Play the same rounds with every player; all must agree throughout. Returns the log.

    `feasible` gives the feasible set of each round.

    Scrambled feedback comes late, out of order, in parts, or never; some decisions are dropped, a few of them
    after a part of their reward was told.
    """
    log: list[Event] = []
    waiting: list[tuple[int, int, Told | Dropped]] = []
    ticket = 0
    for t in range(rounds):
        context = world.context()
        restricted = {} if feasible is None else {"feasible": feasible()}
        decisions = [player.ask(context, **restricted) for player in players]
        assert all(decision == decisions[0] for decision in decisions), decisions
        log.append(Asked(decisions[0]))
        for wait, event in feedback(decisions[0], world, scrambled):
            ticket += 1
            heapq.heappush(waiting, (t + wait, ticket, event))
        while waiting and waiting[0][0] <= t:
            event = heapq.heappop(waiting)[2]
            log.append(event)
            for player in players:
                tell(player, event)
        if t % check_every == 0:
            agree(players)
    agree(players)
    return log


def feedback(decision: Decision, world: World, scrambled: bool) -> list[tuple[int, Told | Dropped]]:
    """What will happen to a decision, and how many rounds later."""
    number, reward, rng = decision.number, world.reward(decision), world.rng
    if not scrambled:
        return [(0, Told(number, reward))]
    fate = rng.random()
    wait = int(rng.geometric(0.15)) - 1
    if fate < 0.4:
        return [(wait, Told(number, reward))]
    if fate < 0.5:
        return [(wait, Dropped(number))]
    if fate < 0.55:
        return []
    names = [str(name) for name in rng.permutation(list(reward))]
    if fate < 0.6 and len(names) > 1:
        return [(wait, Told(number, {names[0]: reward[names[0]]})), (wait + 3, Dropped(number))]
    return [(wait + int(rng.geometric(0.2)) - 1, Told(number, {name: reward[name]})) for name in names]


def tell(player: Player, event: Told | Dropped) -> None:
    """Let an event happen to a player by the verbs of a policy."""
    # All records of a policy's open decisions would be made for one of them.
    decision = player._open[event.number].record() if isinstance(player, Policy) else player.open[event.number].decision
    if isinstance(event, Told):
        player.tell(decision, event.reward)
    else:
        player.drop(decision)


def open_decisions(player: Player) -> dict[int, Decision]:
    """The open decisions of a policy or of its twin, by number."""
    if isinstance(player, Policy):
        return {decision.number: decision for decision in player.open}
    return {number: entry.decision for number, entry in player.open.items()}


def agree(players: Sequence[Player]) -> None:
    """All players hold the same balls, to the last bit, and the same decisions open."""
    first, *others = [balls_of(player) for player in players]
    for other in others:
        assert other == first
    opened = [open_decisions(player) for player in players]
    assert all(decisions == opened[0] for decisions in opened)


def balls_of(player: Player) -> list[Ball]:
    """The balls of a policy or of its twin."""
    if not isinstance(player, Policy):
        return player.balls
    now = player.balls
    columns = [c.tolist() for c in (now.centre, now.radius, now.parent, now.count, now.total)]
    return [Ball(*row) for row in zip(*columns, strict=True)]


def hold(player: Player, balls: Sequence[Ball]) -> None:
    """Make a policy or its twin hold exactly these balls, the root first."""
    if not isinstance(player, Policy):
        player.balls, player.apart = [], []
        for ball in balls:
            player.append(Ball(list(ball.centre), ball.radius, ball.parent, list(ball.count), list(ball.total)))
        return
    snapshot = player.dump()
    learned = {
        "centre": np.array([b.centre for b in balls], float),
        "radius": np.array([b.radius for b in balls], float),
        "parent": np.array([b.parent for b in balls], np.int64),
        "count": np.array([b.count for b in balls], np.int64),
        "total": np.array([b.total for b in balls], float),
    }
    player.load(Snapshot(snapshot.header, {**snapshot.arrays, **learned}))
