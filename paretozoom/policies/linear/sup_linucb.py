"""SupLinUCB (Chu, Li, Reyzin and Schapire, AISTATS 2011)."""

from __future__ import annotations

from collections.abc import Sequence

from paretozoom.policies.arms.finite import Grid, Within
from paretozoom.policies.linear.features import FeatureMap, Features
from paretozoom.policies.linear.staged import Explore, Staged
from paretozoom.policies.parameters import checked_problem
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem


class SupLinUCB(Staged):
    """Ridge regressions on joint features in stages of rising precision, each learning from rewards of its own.

    A round begins at stage 1 with all arms. While all widths are at most 2^-s it drops the arms whose index is more
    than 2^(1-s) below the best and goes to stage s + 1; else it plays an arm whose width is above 2^-s and learns its
    reward in stage s. The paper lets this be any such arm: it is drawn uniformly ("wide"), or is the "widest". Once all
    widths are at most 1/sqrt(T) the highest index is played and nothing is learned. A width is
    sqrt(log(2 T K / delta) / 2) standard deviations, with K arms and a delta of 0.05 by default. The horizon T is taken
    for 100,000 if it is None. The guarantee is for rewards linear in the features (see LinUCB).

    These constants are for the proof. With them all arms are wide for long, so for the first 50,000 rounds or so it
    plays much like Random. A `confidence` below 1 shortens this, and voids the guarantee.

    With `pareto` it has an index for each objective, drops the arms that another exceeds by 2^(1-s) in all of them,
    and plays uniformly on the front of the indices. The other parameters are those of LinUCB.

    >>> from paretozoom import Finite, Objective, Real
    >>> problem = Problem(context=[Real("x")], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    >>> policy = SupLinUCB(problem, horizon=1000, confidence=0.2, seed=1)
    >>> for k in range(1000):
    ...     decision = policy.ask([k % 10 / 10])
    ...     policy.tell(decision, [decision.context["x"] if decision.arm == "a" else 0.5])
    >>> [policy.ask([x]).arm for x in (0.1, 0.9)]
    ['b', 'a']
    """

    name = "sup-linucb"
    factor = 0.5
    summary = Summary(
        "ridge regressions on features in stages, each of independent rewards"
        "; much like Random for the first 50,000 rounds or so",
        contextual=True,
        guarantee="regret O~(sqrt(T d)) for rewards linear in d features",
        reference="Chu, Li, Reyzin, Schapire, AISTATS 2011",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None = None,
        delta: float | None = None,
        explore: Explore = "widest",
        features: Features | None = None,
        confidence: float = 1.0,
        objective: str | None = None,
        weights: Sequence[float] | None = None,
        pareto: bool = False,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        count = len(Grid.of(checked_problem(problem), arms).arms)
        super().__init__(
            problem,
            objective=objective,
            weights=weights,
            pareto=pareto,
            features=FeatureMap.of(problem, count, features),
            horizon=horizon,
            delta=delta,
            explore=explore,
            confidence=confidence,
            arms=arms,
            within=within,
            seed=seed,
            parameters={"features": features},
        )
