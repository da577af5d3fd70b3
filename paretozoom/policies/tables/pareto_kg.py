"""Pareto knowledge gradient (Yahyaa, Drugan and Manderick, ICAART 2014)."""

from __future__ import annotations

from types import ModuleType
from typing import Any, ClassVar

from paretozoom.kernels.tables import pareto_kg
from paretozoom.policies.arms.finite import Within
from paretozoom.policies.parameters import USUAL_HORIZON, checked_count, checked_horizon, checked_positive
from paretozoom.policies.summary import Summary
from paretozoom.policies.tables.means import MeanTable
from paretozoom.problem import Problem
from paretozoom.records import Refused

LEAST_PLAYS = 2  # that have a standard deviation


class ParetoKG(MeanTable):
    """Add to every mean what one more reward is worth over the rounds left, then draw from the front of the sums.

    What a reward is worth is the knowledge gradient of normal rewards: by how much the best mean is expected to rise
    with it. It is multiplied by the rounds left until the `horizon` (None: 100,000 rounds are assumed), by the number
    of arms and of objectives, and by `confidence`; after the horizon the means alone count. That all arms count here,
    and not those of the front, is a choice: how many these are is not known. Every arm is played `first_plays` times
    before that; `least_deviation` is the smallest standard deviation assumed. Contexts are ignored, unless `cells`
    divides them: a copy of the policy then plays in each cell, with its even share of the rounds left. On continuous
    arms it plays a grid of `arms` per dimension: the centres of its cells, or `within` the "cell".

    >>> from paretozoom import Finite, Objective
    >>> problem = Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r"), Objective("s")])
    >>> policy = ParetoKG(problem, horizon=100, seed=1)
    >>> for _ in range(100):
    ...     decision = policy.ask()
    ...     policy.tell(decision, [0.9, 0.9] if decision.arm == "a" else [0.1, 0.1])
    >>> policy.plays.tolist()
    [[98, 2]]
    """

    name = "pareto-kg"
    kernel: ClassVar[ModuleType] = pareto_kg
    assumed_horizon = USUAL_HORIZON
    summary = Summary(
        "knowledge gradient per objective, uniform on the front of the indices",
        multi_objective=True,
        reference="Yahyaa, Drugan, Manderick, ICAART 2014",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None = None,
        first_plays: int = 2,
        least_deviation: float = 1e-3,
        confidence: float = 1.0,
        cells: int = 1,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        self.horizon = checked_horizon(horizon)
        self.confidence = checked_positive(confidence, "confidence")
        if checked_count(first_plays, "first_plays") < LEAST_PLAYS:
            raise Refused(f"first_plays: {first_plays!r} is not an integer of at least {LEAST_PLAYS}")
        parameters: dict[str, Any] = {
            "horizon": self.horizon,
            "first_plays": int(first_plays),
            "least_deviation": checked_positive(least_deviation, "least_deviation"),
            "confidence": self.confidence,
        }
        rounds = self.horizon or USUAL_HORIZON
        constants = [rounds, int(first_plays), parameters["least_deviation"], self.confidence]
        super().__init__(
            problem, arms=arms, within=within, cells=cells, constants=constants, seed=seed, parameters=parameters
        )

    def _sizes(self) -> tuple[int, int]:
        floats, ints = super()._sizes()
        return 3 * floats, ints
