"""LinUCB (Li, Chu, Langford and Schapire, WWW 2010)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import ModuleType
from typing import ClassVar, Literal, get_args

from paretozoom.kernels.linear import highest_index
from paretozoom.policies.arms.finite import Grid, Within
from paretozoom.policies.linear.estimator import Estimator
from paretozoom.policies.linear.features import FeatureMap, Features
from paretozoom.policies.parameters import checked_delta, checked_positive, checked_problem
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem
from paretozoom.records import Refused

Model = Literal["disjoint", "hybrid", "shared"]


class LinUCB(Estimator):
    """Ridge regression on features; plays the arm with the highest sum of mean and `alpha` standard deviations.

    With the model "disjoint" each arm has a regression of its own on (1, context); with "shared" all arms have one on
    joint features of context and arm; with "hybrid" the two add up. Categories are ones among zeros, a periodic
    coordinate is its cosine and sine, and the joint features are these and their products ("quadratic", "products" of
    context and arm alone, or none: "linear"; by default the first with at most 512 features), with a norm of at most
    1. `alpha` is 1, or with a `delta` the paper's 1 + sqrt(log(2 / delta) / 2).

    It learns one objective (the first, unless one is named) or a weighted sum; with `pareto` it has an index for each
    objective and plays uniformly on their front. On continuous arms it plays a grid of `arms` per dimension: the
    centres of its cells, or a random place `within` the "cell", which it learns from as if it were the centre.

    >>> from paretozoom import Finite, Objective, Real
    >>> problem = Problem(context=[Real("x")], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    >>> policy = LinUCB(problem, seed=1)
    >>> for k in range(200):
    ...     decision = policy.ask([k % 10 / 10])
    ...     policy.tell(decision, [decision.context["x"] if decision.arm == "a" else 0.5])
    >>> [[piece.arm for piece in policy.front([x], believed=True)] for x in (0.1, 0.9)]
    [['b'], ['a']]
    """

    name = "linucb"
    kernel: ClassVar[ModuleType] = highest_index
    summary = Summary(
        "ridge regression on features, plays the highest upper confidence bound",
        contextual=True,
        guarantee="none proved; SupLinUCB has one for linear rewards",
        reference="Li, Chu, Langford, Schapire, WWW 2010",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        model: Model = "disjoint",
        features: Features | None = None,
        alpha: float | None = None,
        delta: float | None = None,
        confidence: float = 1.0,
        objective: str | None = None,
        weights: Sequence[float] | None = None,
        pareto: bool = False,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        if model not in get_args(Model):
            raise Refused(f"model: {model!r} is not one of {list(get_args(Model))!r}")
        if model == "disjoint" and features is not None:
            raise Refused(
                f"features: {features!r} given, but the disjoint model has no joint features; "
                "give model='shared' or 'hybrid' too"
            )
        if alpha is not None and delta is not None:
            raise Refused(f"alpha: {alpha!r} given together with delta {delta!r}; give one of them")
        chance = checked_delta(delta)
        root = 0.0 if chance is None else math.sqrt(math.log(2.0 / chance) / 2.0)
        count = len(Grid.of(checked_problem(problem), arms).arms)
        joint = FeatureMap.none(problem, count) if model == "disjoint" else FeatureMap.of(problem, count, features)
        super().__init__(
            problem,
            objective=objective,
            weights=weights,
            pareto=pareto,
            features=joint,
            own=model != "shared",
            exploration=1.0 + root if alpha is None else checked_positive(alpha, "alpha"),
            confidence=confidence,
            arms=arms,
            within=within,
            seed=seed,
            parameters={
                "model": model,
                "features": features,
                "alpha": alpha,
                "delta": delta,
            },
        )
