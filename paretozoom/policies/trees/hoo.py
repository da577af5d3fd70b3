"""HOO, hierarchical optimistic optimisation (Bubeck, Munos, Stoltz, Szepesvari, JMLR 2011)."""

from __future__ import annotations

from collections.abc import Sequence

from paretozoom.policies.parameters import checked_problem, scalarisation
from paretozoom.policies.summary import Summary
from paretozoom.policies.trees.trees import ArmTrees
from paretozoom.problem import Problem


class HOO(ArmTrees):
    """A tree of ever smaller cells of arms, followed where its optimistic bounds are largest; truncated HOO.

    A cell of depth h is held to differ in its means by at most `nu1` rho^h; `rho` is by default 1/2 per halving of
    every dimension. Cells are halved along their longest side, lists of arms in the middle, until their number allows
    for the `horizon` (None: 100,000 is assumed) no more. Arms are drawn uniformly from a cell. One `objective` is
    learned, by default the first, or a sum with `weights`. Contexts are ignored, unless `cells` divides them: a tree
    then grows in each cell. `confidence` multiplies the uncertainty of the means.

    >>> from paretozoom import Objective, Real
    >>> problem = Problem(context=[], arm=[Real("y")], objectives=[Objective("r")])
    >>> policy = HOO(problem, horizon=1000, confidence=0.1, seed=1)
    >>> for _ in range(1000):
    ...     decision = policy.ask()
    ...     policy.tell(decision, [1 - abs(decision.arm["y"] - 0.3)])
    >>> decision.density, round(decision.arm["y"], 2)
    (32.0, 0.31)
    """

    name = "hoo"
    summary = Summary(
        "a tree of ever smaller cells of arms, followed by optimistic bounds",
        similarity=True,
        adaptive=True,
        guarantee="regret O~(T^((d + 1)/(d + 2))), d the near-optimality dimension",
        reference="Bubeck, Munos, Stoltz, Szepesvari, JMLR 2011",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None = None,
        nu1: float = 1.0,
        rho: float | None = None,
        objective: str | None = None,
        weights: Sequence[float] | None = None,
        confidence: float = 1.0,
        cells: int = 1,
        seed: int = 0,
    ) -> None:
        numbers = scalarisation(checked_problem(problem), objective, weights)
        super().__init__(
            problem,
            horizon=horizon,
            nu1=nu1,
            rho=rho,
            confidence=confidence,
            cells=cells,
            weights=numbers,
            seed=seed,
            parameters={"objective": objective, "weights": None if weights is None else numbers},
        )
