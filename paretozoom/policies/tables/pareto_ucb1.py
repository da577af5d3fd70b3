"""Pareto-UCB1 (Drugan and Nowe, IJCNN 2013)."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from paretozoom.kernels.tables import pareto_ucb1
from paretozoom.policies.arms.finite import Grid, Within
from paretozoom.policies.parameters import check_scaled, checked_count
from paretozoom.policies.summary import Summary
from paretozoom.policies.tables.means import MeanTable
from paretozoom.problem import Problem


class ParetoUCB1(MeanTable):
    """UCB1 with one index per objective and a uniform pick among the arms whose indices no other dominates.

    `front_size` is the number of Pareto optimal arms, which the paper takes as known; the number of arms, an upper
    bound, stands in for it. Contexts are ignored, unless `cells` divides them: a copy of the policy then plays in each
    cell, and knows of its own plays alone. Plays count once their reward is told. On continuous arms it plays a grid of
    `arms` per dimension: the centres of its cells, or `within` the "cell".

    >>> from paretozoom import Finite, Objective
    >>> problem = Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r"), Objective("s")])
    >>> policy = ParetoUCB1(problem, seed=1)
    >>> for _ in range(100):
    ...     decision = policy.ask()
    ...     policy.tell(decision, [0.9, 0.9] if decision.arm == "a" else [0.1, 0.1])
    >>> policy.plays.tolist()
    [[92, 8]]
    """

    name = "pareto-ucb1"
    kernel: ClassVar[ModuleType] = pareto_ucb1
    summary = Summary(
        "UCB1 per objective, uniform on the front of the indices",
        multi_objective=True,
        guarantee="Pareto regret O(log T) over finitely many arms",
        reference="Drugan, Nowe, IJCNN 2013",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        front_size: int | None = None,
        cells: int = 1,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        check_scaled(problem, self.name)
        size = checked_count(front_size, "front_size", len(Grid.of(problem, arms).arms))
        super().__init__(
            problem,
            cells=cells,
            arms=arms,
            within=within,
            constants=[(len(problem.objectives) * size) ** 0.25],
            seed=seed,
            parameters={"front_size": front_size},
        )
