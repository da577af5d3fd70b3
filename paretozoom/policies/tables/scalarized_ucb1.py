"""Scalarized UCB1 (Drugan and Nowe, IJCNN 2013)."""

from __future__ import annotations

import itertools
import math
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np

from paretozoom.kernels.arms import table
from paretozoom.kernels.tables import scalarized_ucb1
from paretozoom.policies.arms.finite import Within
from paretozoom.policies.parameters import check_scaled, checked_count, checked_positive
from paretozoom.policies.summary import Summary
from paretozoom.policies.tables.means import MeanTable
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Refused

MOST_FUNCTIONS = 1000

Scalarisation = Literal["linear", "chebyshev"]


def even_weights(objectives: int, functions: int) -> list[list[float]]:
    """The smallest even lattice of at least so many weight vectors: non-negative numbers that sum to 1.

    >>> even_weights(2, 3)
    [[0.0, 1.0], [0.5, 0.5], [1.0, 0.0]]
    >>> len(even_weights(3, 11)), even_weights(3, 1), even_weights(1, 11)
    (15, [[0.3333333333333333, 0.3333333333333333, 0.3333333333333333]], [[1.0]])
    """
    if objectives == 1 or functions == 1:
        return [[1.0 / objectives] * objectives]
    steps = 1
    while math.comb(steps + objectives - 1, objectives - 1) < functions:
        steps += 1
    ends = itertools.combinations(range(steps + objectives - 1), objectives - 1)
    return [[float(n) / steps for n in np.diff([-1, *bars, steps + objectives - 1]) - 1] for bars in ends]


class ScalarizedUCB1(MeanTable):
    """UCB1 for one of several weightings of the objectives, drawn anew in every round.

    A function turns the means of an arm into one number, by weights: their "linear" sum, or with "chebyshev" the
    smallest weighted distance from a point that lies `slack` below every mean, without the objectives of weight 0: with
    them it would be 0 for every arm. The bonus sqrt(2 log n / n_i) is added to this number, not to the means: a choice
    that makes each function a UCB1 of its own. There are `functions` of them, with weights spread evenly (with three
    objectives or more, the next number that an even lattice has). Each learns from its own rounds alone and counts no
    other plays; if `shared`, all learn from every round. Plays count once their reward is told. The density of a
    decision counts every function that could have chosen the arm. Contexts are ignored, unless `cells` divides them: a
    copy of the policy then plays in each cell. On continuous arms it plays a grid of `arms` per dimension: the centres
    of its cells, or `within` the "cell".

    >>> from paretozoom import Finite, Objective
    >>> problem = Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r"), Objective("s")])
    >>> policy = ScalarizedUCB1(problem, functions=3, seed=1)
    >>> for _ in range(300):
    ...     decision = policy.ask()
    ...     policy.tell(decision, [0.9, 0.9] if decision.arm == "a" else [0.1, 0.1])
    >>> policy.plays.tolist()
    [[276, 24]]
    """

    name = "scalarized-ucb1"
    kernel: ClassVar[ModuleType] = scalarized_ucb1
    summary = Summary(
        "UCB1 for a weighting of the objectives that is drawn in every round",
        multi_objective=True,
        guarantee="regret O(S log(T/S)) over finitely many arms for S weightings",
        reference="Drugan, Nowe, IJCNN 2013",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        scalarisation: Scalarisation = "linear",
        functions: int = 11,
        shared: bool = False,
        slack: float = 0.05,
        confidence: float = 1.0,
        cells: int = 1,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        check_scaled(problem, self.name)
        if scalarisation not in ("linear", "chebyshev"):
            raise Refused(f"scalarisation: {scalarisation!r} is not 'linear' or 'chebyshev'")
        if type(shared) is not bool:
            raise Refused(f"shared: {shared!r} is not True or False")
        self.confidence = checked_positive(confidence, "confidence")
        self.shared = shared
        if checked_count(functions, "functions") > MOST_FUNCTIONS:
            raise Refused(f"functions: {functions!r} given, expected at most {MOST_FUNCTIONS}")
        self.functions = even_weights(len(problem.objectives), int(functions))
        parameters: dict[str, Any] = {
            "scalarisation": scalarisation,
            "functions": int(functions),
            "shared": shared,
            "slack": checked_positive(slack, "slack"),
            "confidence": self.confidence,
        }
        constants = [len(self.functions), shared, scalarisation == "chebyshev", parameters["slack"], self.confidence]
        super().__init__(
            problem,
            arms=arms,
            within=within,
            cells=cells,
            constants=[*constants, *itertools.chain.from_iterable(self.functions)],
            seed=seed,
            parameters=parameters,
        )

    @property
    def _learners(self) -> int:
        """How many tables of means there are in a cell."""
        return 1 if self.shared else len(self.functions)

    def _sizes(self) -> tuple[int, int]:
        floats, ints = super()._sizes()
        return floats * self._learners, ints * self._learners

    @property
    def plays(self) -> Ints:
        """(cells, arms) How often each arm was told, by any function."""
        return np.asarray(self._plays_by_function.sum(axis=1))

    @property
    def means(self) -> Floats:
        """(cells, arms, learned) Mean rewards over all functions, oriented and scaled; 0 where nothing was told."""
        at = table.table(self._ints)
        sums = self._floats[at.floats : at.indices].reshape(self.copies, self._learners, at.arms, at.learned)
        return np.asarray(sums.sum(axis=1) / np.maximum(self.plays, 1)[:, :, None])

    @property
    def _plays_by_function(self) -> Ints:
        at = table.table(self._ints)
        return self._ints[at.ints : at.listed].reshape(self.copies, self._learners, at.arms)

    def _credits(self, number: int, learned: Any = None) -> range:
        return range(self._sizes()[1])
