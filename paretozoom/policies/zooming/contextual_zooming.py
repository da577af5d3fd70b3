"""Contextual Zooming (Slivkins, JMLR 2014), the single-objective ancestor of PCZ."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, Literal

from paretozoom.kernels.zooming import contextual_zooming
from paretozoom.kernels.zooming.balls import Layout
from paretozoom.policies.parameters import checked_problem, scalarisation
from paretozoom.policies.summary import Summary
from paretozoom.policies.zooming.zooming import Zooming
from paretozoom.problem import Problem
from paretozoom.records import Refused, Values
from paretozoom.similarity import Similarity


class ContextualZooming(Zooming):
    """Contextual Zooming on one objective (the first unless named), or on a weighted sum of all.

    `radius` is "slivkins" for 4 sqrt(log T / (1 + n)), the radius of the algorithm's own paper, or "pcz" for
    u_B of PCZ with one objective. Two things are choices: of the arms in the chosen ball's domain one is drawn
    uniformly, where the algorithm allows any; and whether a ball is full, its confidence at most its radius, is asked
    before the reward of the round counts, as in PCZ, else children would come one play earlier. The other parameters
    are those of PCZ; `delta` and `noise` matter for the radius "pcz" alone.

    >>> from paretozoom import Objective, Problem, Real
    >>> task = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a"), Objective("b")])
    >>> ContextualZooming(task, horizon=1000, objective="b", seed=1).ask([0.5]).density
    1.0
    """

    name = "contextual-zooming"
    kernel: ClassVar[ModuleType] = contextual_zooming
    summary = Summary(
        "balls that shrink where they pay, on one objective or a weighted sum",
        contextual=True,
        similarity=True,
        adaptive=True,
        guarantee="regret O~(T^((1+d)/(2+d))), d the zooming dimension",
        reference="Slivkins, JMLR 2014",
        colour="#d55e00",
    )
    in_parts = False

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None = None,
        objective: str | None = None,
        weights: Sequence[float] | None = None,
        radius: Literal["slivkins", "pcz"] = "slivkins",
        delta: float | None = None,
        noise: float = 1.0,
        confidence: float = 1.0,
        similarity: Similarity | Mapping[str, Any] | None = None,
        centre: tuple[Values, Values] | None = None,
        seed: int = 0,
    ) -> None:
        if radius not in ("slivkins", "pcz"):
            raise Refused(f"radius: {radius!r} is not 'slivkins' or 'pcz'")
        self.radius = radius
        self._scalar = scalarisation(checked_problem(problem), objective, weights)
        parameters = {
            "objective": objective,
            "weights": None if weights is None else self._scalar,
            "radius": radius,
        }
        super().__init__(
            problem,
            horizon=horizon,
            delta=delta,
            noise=noise,
            confidence=confidence,
            similarity=similarity,
            centre=centre,
            seed=seed,
            parameters=parameters,
        )
        self._needs = sum(1 << i for i, w in enumerate(self._scalar) if w > 0)

    def _weights(self) -> list[float]:
        return self._scalar

    def _radius(self, horizon: int, epoch: int) -> tuple[float, float, float]:
        if self.radius == "slivkins":
            return 4.0 * self.confidence, math.log(horizon), 1.0
        return super()._radius(horizon, epoch)

    def _mark(self, at: Layout, relevant: int) -> None:
        contextual_zooming.mark_best(self._floats, self._ints, at, relevant)
