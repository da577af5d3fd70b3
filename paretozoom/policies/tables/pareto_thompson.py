"""Pareto Thompson sampling (Yahyaa, Drugan and Manderick, ADPRL 2014)."""

from __future__ import annotations

from types import ModuleType
from typing import Any, ClassVar

import numpy as np

from paretozoom.kernels.tables import pareto_thompson
from paretozoom.policies.arms.finite import Within
from paretozoom.policies.parameters import check_scaled
from paretozoom.policies.summary import Summary
from paretozoom.policies.tables.means import MeanTable
from paretozoom.problem import Problem
from paretozoom.records import Refused

MOST_RESAMPLES = 100_000


class ParetoThompson(MeanTable):
    """Draw every arm's means from what is believed of them, then an arm from the front of what was drawn.

    What is believed starts as Beta(1, 1) for each objective of an arm; a reward r, cut to [0, 1], adds r to its first
    parameter and 1 - r to its second. The probability of an arm has no closed form, so the density is an estimate: the
    probability averaged over the sample that chose the arm and `resamples` others. It is never 0, as the first is
    among them, and it is exactly the probability of the arm if one of these samples is picked at random. Without
    resamples, the default, it is 1 / (size of the drawn front), mostly too large; 256 resamples give a good one and
    cost about a millisecond. Contexts are ignored, unless `cells` divides them: a copy of the policy then plays in each
    cell. On continuous arms it plays a grid of `arms` per dimension: the centres of its cells, or `within` the "cell".

    >>> from paretozoom import Finite, Objective
    >>> problem = Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r"), Objective("s")])
    >>> policy = ParetoThompson(problem, resamples=256, seed=1)
    >>> for _ in range(100):
    ...     decision = policy.ask()
    ...     policy.tell(decision, [0.9, 0.9] if decision.arm == "a" else [0.1, 0.1])
    >>> policy.plays.tolist()
    [[97, 3]]
    """

    name = "pareto-thompson"
    kernel: ClassVar[ModuleType] = pareto_thompson
    summary = Summary(
        "Thompson sampling per objective, uniform on the front of the sample",
        multi_objective=True,
        reference="Yahyaa, Drugan, Manderick, ADPRL 2014",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        resamples: int = 0,
        cells: int = 1,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        check_scaled(problem, self.name)
        again = checked_resamples(resamples)
        super().__init__(
            problem,
            cells=cells,
            arms=arms,
            within=within,
            constants=[again],
            seed=seed,
            parameters={"resamples": again},
        )

    @property
    def density_kind(self) -> str:
        """What `Decision.density` is: always an estimate."""
        return "estimate"


def checked_resamples(resamples: Any) -> int:
    """How often to sample again; 0 for never.

    >>> checked_resamples(256)
    256
    """
    whole = isinstance(resamples, (int, np.integer)) and not isinstance(resamples, bool)
    if not whole or not 0 <= resamples <= MOST_RESAMPLES:
        raise Refused(f"resamples: {resamples!r} is not an integer from 0 to {MOST_RESAMPLES}")
    return int(resamples)
