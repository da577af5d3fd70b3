"""Pareto Contextual Zooming (Turgay, Oner, Tekin, AISTATS 2018), to the letter."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

from paretozoom.kernels.core.pareto import mark_front
from paretozoom.kernels.zooming import pcz
from paretozoom.kernels.zooming.balls import Layout
from paretozoom.policies.summary import Summary
from paretozoom.policies.zooming.zooming import Zooming
from paretozoom.problem import Problem
from paretozoom.records import Values
from paretozoom.similarity import Similarity


class PCZ(Zooming):
    """Pareto Contextual Zooming.

    `horizon` is the number of decisions to come (None: unknown, restarts with doubled horizons); `delta` the
    probability that the guarantee fails (default 1/horizon); `noise` the sub-Gaussian scale of the rewards in
    their scaled units (1 as in the paper; 0.5 is enough for rewards in [0, 1]); `confidence` multiplies the
    uncertainty, and below 1 voids the guarantee; `similarity` is the problem's own unless given, as
    ``Similarity.of(problem, scale=...)`` or ``{"scale": ...}``; `centre` is a pair (context, arm) for the root ball
    (default: random). The guarantee also needs Assumption 1: scaled expected rewards that change no faster than
    the similarity distance; `scale` is there to make it true.

    >>> from paretozoom import Objective, Problem, Real
    >>> task = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a"), Objective("b")])
    >>> policy = PCZ(task, horizon=1000, seed=1)
    >>> for _ in range(200):
    ...     decision = policy.ask([0.5])
    ...     policy.tell(decision, [1 - decision.arm["y"], decision.arm["y"]])
    >>> len(policy.balls.radius), len(policy.front([0.5])) > 0
    (3, True)
    """

    name = "pcz"
    kernel: ClassVar[ModuleType] = pcz
    summary = Summary(
        "Pareto Contextual Zooming: balls that shrink where they pay, uniform on the front of their indices",
        multi_objective=True,
        contextual=True,
        similarity=True,
        adaptive=True,
        guarantee="Pareto regret O~(T^((1+d)/(2+d))), d the Pareto zooming dimension",
        reference="Turgay, Oner, Tekin, AISTATS 2018",
        colour="#0072b2",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None = None,
        delta: float | None = None,
        noise: float = 1.0,
        confidence: float = 1.0,
        similarity: Similarity | Mapping[str, Any] | None = None,
        centre: tuple[Values, Values] | None = None,
        seed: int = 0,
    ) -> None:
        super().__init__(
            problem,
            horizon=horizon,
            delta=delta,
            noise=noise,
            confidence=confidence,
            similarity=similarity,
            centre=centre,
            seed=seed,
        )

    def delta_of_bounds(self, rounds: int, noise_scale: float) -> float | None:
        """By default 1/rounds; None with another horizon, other constants than the paper's, or more noise than allowed.

        >>> from paretozoom import PaperTask
        >>> [PCZ(PaperTask().problem, horizon=100, noise=n).delta_of_bounds(100, 0.5) for n in (2.0, 1.0, 0.5, 0.1)]
        [None, 0.01, 0.01, None]
        """
        covered = (
            self.horizon == rounds
            and self.confidence == 1
            and self.similarity.parameters == Similarity.of(self.problem).parameters
            and noise_scale <= self.noise <= 1
        )  # less noise than 1 makes balls full earlier, so the bounds hold all the more
        return (self.delta or 1 / rounds) if covered else None

    def _mark(self, at: Layout, relevant: int) -> None:
        mark_front(self._floats, at.indices, at.learned, self._ints, at.chosen, relevant, at.near)
