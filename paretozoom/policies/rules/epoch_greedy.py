"""Epoch-Greedy (Langford and Zhang, NIPS 2007)."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import ClassVar

from paretozoom.kernels.rules import epoch_greedy
from paretozoom.policies.arms.finite import Within
from paretozoom.policies.parameters import checked_positive
from paretozoom.policies.rules.classes import Along, PolicyClass, Rules
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints


class EpochGreedy(PolicyClass):
    """One round of exploration, then ever more rounds of the rule that was best in those of exploration.

    Epoch l has floor(factor * sqrt(l / (K log N))) rounds of exploitation, K arms and N rules; they teach nothing. The
    epochs follow the decisions' numbers. The best rule is that of the rewards told so far; ties are drawn anew in each
    round. Other policies with epochs learn nothing from a reward of an earlier one. Here that would be nearly every
    late one, for the first epochs are a round each; and there is no need, for nothing is forgotten and reward /
    probability is an unbiased value whenever it comes: so all rewards of exploration teach. With `pareto` the best rule
    is one whose values no other rule's dominate. For `rules`, `cells` and `along` see `PolicyClass`. A feasible set
    restricts the draw; if the best rules' arms are not in it, all that are have equal chances.

    >>> from paretozoom import Finite, Objective, Real
    >>> problem = Problem(context=[Real("x")], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    >>> policy = EpochGreedy(problem, rules=[[0, 0], [0, 1], [1, 0], [1, 1]], cells=2, seed=1)
    >>> for k in range(200):
    ...     decision = policy.ask([k % 10 / 10])
    ...     policy.tell(decision, [float((decision.arm == "b") == (k % 10 >= 5))])
    >>> policy.values[:, 0].round(2).tolist(), [piece.arm for piece in policy.front([0.8])]
    ([0.49, 1.12, 0.0, 0.63], ['b'])
    """

    name = "epoch-greedy"
    kernel: ClassVar[ModuleType] = epoch_greedy
    summary = Summary(
        "uniform exploration and the empirically best rule of a class, in epochs",
        contextual=True,
        guarantee="regret O((K log N)^(1/3) T^(2/3)) against the best of N rules",
        reference="Langford, Zhang, NIPS 2007",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        rules: Rules | None = None,
        cells: int = 1,
        along: Along = "first",
        factor: float = 1.0,
        objective: str | None = None,
        weights: Sequence[float] | None = None,
        pareto: bool = False,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        super().__init__(
            problem,
            rules=rules,
            cells=cells,
            along=along,
            arms=arms,
            within=within,
            objective=objective,
            weights=weights,
            pareto=pareto,
            own={"factor": checked_positive(factor, "factor")},
            seed=seed,
        )

    def _first(self, floats: Floats, ints: Ints) -> None:
        super()._first(floats, ints)
        ints[0] = 1  # epochs count from 1

    def _is_epoch(self, entered: int, began: int, number: int) -> bool:
        last = max(number - 1, 0)
        if not (1 <= entered <= began + 1 and began <= last):
            return False
        factor = self.parameters["factor"]
        return last <= began + epoch_greedy.exploitation_rounds(entered, factor, len(self.grid.arms), self._rules)
