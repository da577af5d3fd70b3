"""KernelUCB (Valko, Korda, Munos, Flaounas and Cristianini, UAI 2013)."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, ClassVar, Literal, get_args

from paretozoom.kernels.linear import highest_index
from paretozoom.policies.arms.finite import Grid, Within
from paretozoom.policies.linear.estimator import Estimator
from paretozoom.policies.linear.features import FeatureMap, Features
from paretozoom.policies.parameters import checked_count, checked_positive, checked_problem
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem
from paretozoom.records import Refused

BUDGET = 300

Kernel = Literal["rbf", "linear"]


class KernelUCB(Estimator):
    """Kernel ridge regression on contexts and arms; plays the arm with the highest sum of mean and width.

    The width is `eta` / sqrt(`gamma`) standard deviations, `gamma` the ridge. The kernel "rbf" is
    exp(-distance^2 / (2 `length`^2)): reals are scaled to [0, 1], periodic coordinates are places on a circle of length
    1, different categories are 1 apart. With the kernel "linear" and a `gamma` of 1 this is LinUCB's shared model;
    `features` are its joint features.

    A decision takes time in the square of the number of places seen, so there is a `budget` of places, unlike in the
    paper. Rewards at equal places share one, which changes nothing. Once the budget is full, a reward at a new place
    counts as one at the nearest place that is held: nothing is forgotten, but it is known less precisely where it was.
    The default of 300 is a choice: with 18 arms on a line a round then takes about a millisecond, with 1000 places
    about nine, or a quarter of an hour for a hundred thousand rounds.

    The other parameters are those of LinUCB.

    >>> from paretozoom import Objective, Real
    >>> problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])
    >>> policy = KernelUCB(problem, arms=5, seed=1)
    >>> for k in range(200):
    ...     decision = policy.ask([k % 10 / 10])
    ...     policy.tell(decision, [1 - abs(decision.context["x"] - decision.arm["y"])])
    >>> [piece.arm["y"] for x in (0.1, 0.5, 0.9) for piece in policy.front([x], believed=True)]
    [0.1, 0.5, 0.9]
    """

    name = "kernel-ucb"
    kernel: ClassVar[ModuleType] = highest_index
    summary = Summary(
        "kernel ridge regression, plays the highest upper confidence bound",
        contextual=True,
        guarantee="none proved; SupKernelUCB has one",
        reference="Valko, Korda, Munos, Flaounas, Cristianini, UAI 2013",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        kernel: Kernel = "rbf",
        length: float = 0.2,
        gamma: float = 1.0,
        eta: float = 1.0,
        budget: int = BUDGET,
        features: Features | None = None,
        confidence: float = 1.0,
        objective: str | None = None,
        weights: Sequence[float] | None = None,
        pareto: bool = False,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        super().__init__(
            problem,
            objective=objective,
            weights=weights,
            pareto=pareto,
            exploration=checked_positive(eta, "eta"),
            confidence=confidence,
            **kernel_settings(checked_problem(problem), arms, kernel, length, gamma, budget, features),
            arms=arms,
            within=within,
            seed=seed,
            parameters={
                "kernel": kernel,
                "length": length,
                "gamma": gamma,
                "eta": eta,
                "budget": budget,
                "features": features,
            },
        )


def kernel_settings(
    problem: Problem,
    arms: int | None,
    kernel: Kernel,
    length: float,
    gamma: float,
    budget: int,
    features: Features | None,
) -> dict[str, Any]:
    """What an Estimator must know of a kernel, checked."""
    if kernel not in get_args(Kernel):
        raise Refused(f"kernel: {kernel!r} is not one of {list(get_args(Kernel))!r}")
    if kernel == "rbf" and features is not None:
        raise Refused(f"features: {features!r} given, but the kernel 'rbf' has no features")
    scale, count = checked_positive(length, "length"), len(Grid.of(problem, arms).arms)
    return {
        "features": FeatureMap.none(problem, count) if kernel == "rbf" else FeatureMap.of(problem, count, features),
        "ridge": checked_positive(gamma, "gamma"),
        "length": scale if kernel == "rbf" else 0.0,
        "budget": checked_count(budget, "budget"),
    }
