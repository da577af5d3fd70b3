"""MOC-MAB (Tekin and Turgay, IEEE Transactions on Signal Processing 2018)."""

from __future__ import annotations

import math
from types import ModuleType
from typing import ClassVar, Literal

from paretozoom.kernels.tables import moc_mab
from paretozoom.policies.arms.finite import MOST_CELLS, Grid, Within
from paretozoom.policies.parameters import (
    USUAL_HORIZON,
    check_scaled,
    checked_count,
    checked_horizon,
    checked_positive,
    checked_problem,
)
from paretozoom.policies.summary import Summary
from paretozoom.policies.tables.means import MeanTable
from paretozoom.problem import Problem
from paretozoom.records import Refused


class MOCMAB(MeanTable):
    """UCB for a dominant `objective` and, among the arms that may be as good in it, for the next one.

    The contexts are divided into equal cells, as many per dimension as the `horizon` (None: 100,000 is assumed) makes
    best for a `regret`: "2d", lexicographic in both objectives, or "pareto"; or `cells` of them. In each cell the
    leader of the dominant objective is played until its uncertainty is below `beta` v, where v is how much means may
    differ within a cell: `lipschitz` times its diameter to the power `exponent`. Without context dimensions that can
    be divided v is 0, and the second objective never counts. A third one never does, which its `notes` say.
    `confidence` multiplies the uncertainty. On continuous arms it plays a grid of `arms` per dimension: the centres of
    its cells, or `within` the "cell".

    >>> from paretozoom import Finite, Objective, Real
    >>> problem = Problem(context=[Real("x")], arm=Finite(list("ab")), objectives=[Objective("r"), Objective("s")])
    >>> policy = MOCMAB(problem, horizon=100_000)
    >>> policy.copies, round(policy.variation, 7)
    (18, 0.2222222)
    """

    name = "moc-mab"
    kernel: ClassVar[ModuleType] = moc_mab
    assumed_horizon = USUAL_HORIZON
    summary = Summary(
        "UCB for a dominant objective, then for another among arms as good",
        multi_objective=True,
        contextual=True,
        similarity=True,
        guarantee="Pareto regret O~(T^((a + d)/(2a + d))), 2D regret O~(T^((2a + d)/(3a + d))), a the exponent",
        reference="Tekin, Turgay, IEEE TSP 2018",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None = None,
        objective: str | None = None,
        regret: Literal["2d", "pareto"] = "2d",
        lipschitz: float = 4.0,
        exponent: float = 1.0,
        beta: float = 1.0,
        confidence: float = 1.0,
        cells: int | None = None,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        check_scaled(checked_problem(problem), self.name)
        self.horizon = checked_horizon(horizon)
        self.confidence = checked_positive(confidence, "confidence")
        names = list(problem.objective_names)
        if objective is not None and objective not in names:
            raise Refused(f"objective: {objective!r} is not one of {names!r}")
        if regret not in ("2d", "pareto"):
            raise Refused(f"regret: {regret!r} is not '2d' or 'pareto'")
        power = checked_positive(exponent, "exponent")
        if power > 1:
            raise Refused(f"exponent: {exponent!r} is above 1")
        total = self.horizon or USUAL_HORIZON
        values = problem.encoding.values[: problem.encoding.context].tolist()
        divided = sum(v >= 0 for v in values)
        best = math.ceil(round(total ** (1 / ((3 if regret == "2d" else 2) * power + divided)), 9))
        m = checked_count(cells, "cells", _that_fit(best, values))
        dominant = 0 if objective is None else names.index(objective)
        copies = 1 if m == 1 else math.prod(-v if v < 0 else m for v in values)
        self.variation = (
            checked_positive(lipschitz, "lipschitz") * divided ** (power / 2) * m**-power if divided else 0.0
        )
        self.logarithm = 1.0 + 2.0 * math.log(4.0 * len(Grid.of(problem, arms).arms) * copies * total**1.5)
        super().__init__(
            problem,
            arms=arms,
            within=within,
            cells=m,
            constants=[
                dominant,
                (dominant + 1) % len(names),
                self.logarithm * self.confidence**2,
                self.variation,
                checked_positive(beta, "beta"),
            ],
            seed=seed,
            parameters={
                "horizon": self.horizon,
                "objective": objective,
                "regret": regret,
                "lipschitz": lipschitz,
                "exponent": exponent,
                "beta": beta,
                "confidence": self.confidence,
                "cells": cells,
            },
        )

    @property
    def notes(self) -> list[str]:
        names = self.problem.objective_names
        first, second = (int(place) for place in self.constants[:2])
        ignored = [repr(name) for o, name in enumerate(names) if o not in (first, second)]
        if not ignored:
            return super().notes
        return [f"plays by {names[first]!r}, then {names[second]!r}; never by {', '.join(ignored)}", *super().notes]


def _that_fit(cells: int, values: list[int]) -> int:
    """As many cells per dimension, or as many as the memory holds."""
    while cells > 2 and math.prod(-v if v < 0 else cells for v in values) > MOST_CELLS:
        cells -= 1
    return cells if math.prod(-v if v < 0 else cells for v in values) <= MOST_CELLS else 1
