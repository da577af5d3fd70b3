"""MO-HOO (Van Moffaert, Van Vaerenbergh, Vrancx, Nowe, WCCI 2014)."""

from __future__ import annotations

from paretozoom.policies.summary import Summary
from paretozoom.policies.trees.trees import ArmTrees
from paretozoom.problem import Problem


class MOHOO(ArmTrees):
    """HOO with vectors: a node holds the set of bounds that no other dominates, and a random one shows the way.

    A node's bounds are the elementwise minima of its own one and of those of its children, at most 32 of them: those
    that add most to the volume they dominate (of more than two objectives: that differ most from the next one).
    Everything else is as in `HOO`, which it equals if there is a single objective.

    This is a reconstruction of the paper's idea from memory. Chosen here are: sets of vectors for B, since a single
    vector would promise the best of every objective at once, which no arm below may have; the uniform draw of a vector
    at each fork, since none on the front is better than another; and the cap of 32, since sets could otherwise grow
    with the number of nodes below, and the cost of a round with them.

    >>> from paretozoom import Objective, Real
    >>> problem = Problem(context=[], arm=[Real("y")], objectives=[Objective("r"), Objective("s")])
    >>> policy = MOHOO(problem, horizon=1000, confidence=0.1, seed=1)
    >>> for _ in range(1000):
    ...     decision = policy.ask()
    ...     policy.tell(decision, [1 - abs(decision.arm["y"] - 0.3), 1 - abs(decision.arm["y"] - 0.4)])
    >>> round(decision.arm["y"], 2)
    0.31
    """

    name = "mo-hoo"
    vectors = 32
    summary = Summary(
        "HOO with sets of vectors as bounds, one drawn at every fork",
        multi_objective=True,
        similarity=True,
        adaptive=True,
        reference="Van Moffaert, Van Vaerenbergh, Vrancx, Nowe, WCCI 2014",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None = None,
        nu1: float = 1.0,
        rho: float | None = None,
        confidence: float = 1.0,
        cells: int = 1,
        seed: int = 0,
    ) -> None:
        super().__init__(
            problem, horizon=horizon, nu1=nu1, rho=rho, confidence=confidence, cells=cells, seed=seed, parameters={}
        )
