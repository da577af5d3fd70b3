"""Contextual Zooming (Slivkins, JMLR 2014), slow and obvious."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from paretozoom import Problem
from tests.reference.zooming.zooming import Menu, Open, Zooming


class ContextualZooming(Zooming):
    """Takes the arguments of the package's ContextualZooming."""

    learned = 1

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None = None,
        objective: str | None = None,
        weights: Sequence[float] | None = None,
        radius: str = "slivkins",
        delta: float | None = None,
        noise: float = 1.0,
        confidence: float = 1.0,
        similarity: Any = None,
        centre: Any = None,
        seed: int = 0,
    ) -> None:
        names = [o.name for o in problem.objectives]
        self.weights = list(weights) if weights else [float(name == (objective or names[0])) for name in names]
        self.radius, self.delta, self.noise, self.confidence = radius, delta, noise, confidence
        super().__init__(problem, horizon=horizon, similarity=similarity, centre=centre, seed=seed)

    def uncertainty(self, count: int) -> float:
        """4 sqrt(log T / (1 + n)), or the u of PCZ with one objective."""
        horizon = self.epoch_horizon()
        if self.radius == "slivkins":
            return 4.0 * self.confidence * math.sqrt(math.log(horizon) / (count + 1.0))
        if count == 0:
            return math.inf
        delta = self.delta or 1.0 / horizon
        if self.delta and self.horizon is None:
            delta = self.delta * 6.0 / (math.pi * (self.epoch + 1)) ** 2
        a = 1.0 + 2.0 * math.log(2.0 * math.sqrt(2.0) * horizon**1.5 / delta)
        return self.noise * self.confidence * math.sqrt(2.0 * a / count)

    def choose(self, context: list[float], menu: Menu, u1: float, u2: float) -> tuple[Any, float, int]:
        """The ball of the largest index, then an arm uniformly on its domain."""
        held = self.domains_at(context, menu)
        relevant = list(held)
        index = [g for (g,) in self.indices(relevant)]
        tied = [k for k, g in zip(relevant, index, strict=True) if g == max(index)]
        domains = {k: menu.union([held[k]]) for k in tied}
        ball = tied[math.floor(u2 * len(tied))]
        arm = menu.draw(domains[ball], u1)
        density = 0.0  # every tied ball could have given this arm
        for k in tied:
            if menu.holds(domains[k], arm):
                density += 1.0 / (len(tied) * menu.size(domains[k]))
        return arm, density, ball

    def learn(self, entry: Open, told: dict[int, float]) -> None:
        """Learn the weighted sum as soon as every objective of positive weight is known, once."""
        needed = {i for i, weight in enumerate(self.weights) if weight > 0}
        known = {**entry.told, **told}
        if needed <= set(entry.told) or not needed <= set(known):
            return
        self.split_if_full(entry, [0])
        reward = 0.0
        for i in sorted(needed):
            reward += self.weights[i] * known[i]
        ball = self.balls[entry.decision.credit]
        ball.total[0] += reward
        ball.count[0] += 1
