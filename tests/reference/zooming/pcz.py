"""Pareto Contextual Zooming, Algorithm 1 of Turgay, Oner and Tekin (AISTATS 2018), read aloud."""

from __future__ import annotations

import math
from typing import Any

from paretozoom import Problem
from tests.reference.pareto import front
from tests.reference.zooming.zooming import Menu, Open, Zooming


class PCZ(Zooming):
    """Slow and obvious; takes the arguments of the package's PCZ."""

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None = None,
        delta: float | None = None,
        noise: float = 1.0,
        confidence: float = 1.0,
        similarity: Any = None,
        centre: Any = None,
        seed: int = 0,
    ) -> None:
        self.learned = len(problem.objectives)
        self.delta, self.noise, self.confidence = delta, noise, confidence
        super().__init__(problem, horizon=horizon, similarity=similarity, centre=centre, seed=seed)

    def epoch_delta(self) -> float:
        """The delta of the running epoch."""
        if self.delta is None:
            return 1.0 / self.epoch_horizon()
        if self.horizon is not None:
            return self.delta
        return self.delta * 6.0 / (math.pi * (self.epoch + 1)) ** 2

    def uncertainty(self, count: int) -> float:
        """u_B = sqrt(2 A / N)."""
        if count == 0:
            return math.inf
        inside = 2.0 * math.sqrt(2.0) * self.learned * self.epoch_horizon() ** 1.5 / self.epoch_delta()
        a = 1.0 + 2.0 * math.log(inside)
        return self.noise * self.confidence * math.sqrt(2.0 * a / count)

    def front(self, context: list[float], menu: Menu | None = None) -> dict[int, Any]:
        """The domains of the relevant balls whose index no other relevant ball's dominates, in order of creation."""
        held = self.domains_at(context, menu)
        relevant = list(held)
        return {relevant[place]: held[relevant[place]] for place in front(self.indices(relevant))}

    def choose(self, context: list[float], menu: Menu, u1: float, u2: float) -> tuple[Any, float, int]:
        """Lines 7-10: an arm uniformly on the union of the front's domains, then one of its balls."""
        best = self.front(context, menu)
        union = menu.union(best.values())
        arm = menu.draw(union, u1)
        holders = [k for k, held in best.items() if menu.holds(held, arm)]
        # An endpoint may lie in parts of balls of two radii.
        smallest = min(self.balls[k].radius for k in holders)
        holders = [k for k in holders if self.balls[k].radius == smallest]
        return arm, 1.0 / menu.size(union), holders[math.floor(u2 * len(holders))]

    def learn(self, entry: Open, told: dict[int, float]) -> None:
        """Lines 11-16: split, then update the parent."""
        self.split_if_full(entry, [int(i in entry.told) for i in range(self.learned)])
        ball = self.balls[entry.decision.credit]
        for i, reward in told.items():
            ball.total[i] += reward
            ball.count[i] += 1
