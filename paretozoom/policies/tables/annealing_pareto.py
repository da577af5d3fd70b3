"""Annealing-Pareto (Yahyaa, Drugan and Manderick, ADPRL 2014)."""

from __future__ import annotations

from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.arms import table
from paretozoom.kernels.tables import annealing_pareto
from paretozoom.policies.arms.finite import Within
from paretozoom.policies.parameters import check_scaled, checked_count
from paretozoom.policies.summary import Summary
from paretozoom.policies.tables.means import MeanTable
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import number_of
from paretozoom.records import Refused


class AnnealingPareto(MeanTable):
    """Play uniformly the arms whose mean is nearly best in an objective, and those kept since they were not dominated.

    The arms it plays, A*, are all until each was played and told `first_plays` times. After every reward from then on
    they become those with a mean within epsilon of the best in some objective, and those still in A* that none of these
    dominates; with `prune_kept` an arm is also dropped if another of those kept dominates it. An arm that was dropped
    returns only by being nearly best. Epsilon is `decay` to the power of the largest number of a decision told so far,
    over the number of arms and of objectives. Contexts are ignored, unless `cells` divides them: a copy of the policy
    then plays in each cell, for which the number is over that of the cells.

    Of the feasible arms those not yet played often enough come first, then those in A*, then, if there are none, the
    nearly best. An arm that is never feasible holds nothing up: as long as one lacks plays that cannot be had now, A*
    is found anew in each decision, for the feasible arms as if they were all. On continuous arms it plays a grid of
    `arms` per dimension: the centres of its cells, or `within` the "cell".

    >>> from paretozoom import Finite, Objective
    >>> problem = Problem(context=[], arm=Finite(["a", "b", "c"]), objectives=[Objective("r"), Objective("s")])
    >>> policy = AnnealingPareto(problem, first_plays=2, seed=1)
    >>> for _ in range(100):
    ...     decision = policy.ask()
    ...     policy.tell(decision, {"a": [0.9, 0.1], "b": [0.1, 0.9], "c": [0.1, 0.1]}[decision.arm])
    >>> policy.playable.tolist()
    [[True, True, False]]
    """

    name = "annealing-pareto"
    kernel: ClassVar[ModuleType] = annealing_pareto
    summary = Summary(
        "uniform on the arms nearly best in an objective, with a margin that shrinks",
        multi_objective=True,
        reference="Yahyaa, Drugan, Manderick, ADPRL 2014",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        decay: float = 0.9999,
        first_plays: int = 10,
        prune_kept: bool = False,
        cells: int = 1,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        check_scaled(problem, self.name)
        if type(prune_kept) is not bool:
            raise Refused(f"prune_kept: {prune_kept!r} is not True or False")
        parameters: dict[str, Any] = {
            "decay": number_of(decay, "decay"),
            "first_plays": checked_count(first_plays, "first_plays"),
            "prune_kept": prune_kept,
        }
        if not 0 < parameters["decay"] < 1:
            raise Refused(f"decay: {decay!r} is not strictly between 0 and 1")
        constants = [parameters["decay"], parameters["first_plays"], prune_kept]
        super().__init__(
            problem, arms=arms, within=within, cells=cells, constants=constants, seed=seed, parameters=parameters
        )

    def _sizes(self) -> tuple[int, int]:
        floats, ints = super()._sizes()
        return floats, 2 * ints + self.copies

    @property
    def playable(self) -> npt.NDArray[np.bool_]:
        """(cells, arms) Which arms are in A*."""
        at = table.table(self._ints)
        rows = self.copies * at.arms
        dropped = self._ints[at.ints + rows : at.ints + 2 * rows]
        return np.asarray(dropped.reshape(self.copies, at.arms) == 0)
