"""What SupLinUCB and SupKernelUCB share: stages of rising precision, and how wide a width is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, Literal, get_args

from paretozoom.kernels.linear import staging
from paretozoom.policies.arms.finite import Grid
from paretozoom.policies.linear.estimator import Estimator
from paretozoom.policies.parameters import (
    USUAL_HORIZON,
    check_scaled,
    checked_delta,
    checked_horizon,
    checked_problem,
    scalarisation,
)
from paretozoom.problem import Problem
from paretozoom.records import Refused

DELTA = 0.05  # the probability that the bound may fail with

Explore = Literal["wide", "widest"]


class Staged(Estimator):
    """A policy that explores in stages; a width is sqrt(`factor` log(2 T K / delta)) standard deviations."""

    kernel: ClassVar[ModuleType] = staging
    factor: ClassVar[float]
    assumed_horizon = USUAL_HORIZON

    def __init__(
        self,
        problem: Problem,
        *,
        objective: str | None,
        weights: Sequence[float] | None,
        pareto: bool,
        horizon: int | None,
        delta: float | None,
        explore: Explore,
        arms: int | None,
        parameters: Mapping[str, Any],
        **others: Any,
    ) -> None:
        check_scaled(problem, self.name, scalarisation(checked_problem(problem), objective, weights, pareto))
        if explore not in get_args(Explore):
            raise Refused(f"explore: {explore!r} is not one of {list(get_args(Explore))!r}")
        self.horizon = checked_horizon(horizon)
        rounds = self.horizon or USUAL_HORIZON
        chances = 2.0 * rounds * len(Grid.of(problem, arms).arms) / (checked_delta(delta) or DELTA)
        super().__init__(
            problem,
            objective=objective,
            weights=weights,
            pareto=pareto,
            exploration=math.sqrt(self.factor * math.log(chances)),
            stages=math.ceil(math.log(rounds)),
            floor=1.0 / math.sqrt(rounds),
            widest=explore == "widest",
            arms=arms,
            parameters={"horizon": self.horizon, "delta": delta, "explore": explore, **parameters},
            **others,
        )
