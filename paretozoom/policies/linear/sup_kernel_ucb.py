"""SupKernelUCB (Valko, Korda, Munos, Flaounas and Cristianini, UAI 2013)."""

from __future__ import annotations

from collections.abc import Sequence

from paretozoom.policies.arms.finite import Within
from paretozoom.policies.linear.features import Features
from paretozoom.policies.linear.kernel_ucb import Kernel, kernel_settings
from paretozoom.policies.linear.staged import Explore, Staged
from paretozoom.policies.parameters import checked_problem
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem

BUDGET = 200


class SupKernelUCB(Staged):
    """The stages of SupLinUCB with a kernel ridge regression in each.

    A width is eta / sqrt(`gamma`) standard deviations, with eta = sqrt(2 log(2 T K / delta)), K arms and a delta of
    0.05 by default. The horizon T is taken for 100,000 if it is None. The `budget` of places is that of one stage, so
    the default of 200, a choice as in KernelUCB, allows for 2400 in the 12 stages of 100,000 rounds; 1000 a stage take
    eight times as long and 25 times the memory. The kernel and its parameters are those of KernelUCB, the other ones
    those of SupLinUCB. As that one, it plays much like Random for the first 50,000 rounds or so: its constants are for
    the proof, and a `confidence` below 1 shortens this.

    >>> from paretozoom import Objective, Real
    >>> problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])
    >>> policy = SupKernelUCB(problem, arms=3, horizon=1000, confidence=0.1, seed=1)
    >>> for k in range(1000):
    ...     decision = policy.ask([k % 10 / 10])
    ...     policy.tell(decision, [1 - abs(decision.context["x"] - decision.arm["y"])])
    >>> [round(policy.ask([x]).arm["y"], 3) for x in (0.1, 0.5, 0.9)]
    [0.167, 0.5, 0.833]
    """

    name = "sup-kernel-ucb"
    factor = 2.0
    summary = Summary(
        "kernel ridge regressions in stages, each of independent rewards"
        "; much like Random for the first 50,000 rounds or so",
        contextual=True,
        guarantee="regret O~(sqrt(T d~)), d~ the effective dimension of the kernel, without a budget",
        reference="Valko, Korda, Munos, Flaounas, Cristianini, UAI 2013",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None = None,
        delta: float | None = None,
        explore: Explore = "widest",
        kernel: Kernel = "rbf",
        length: float = 0.2,
        gamma: float = 1.0,
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
            horizon=horizon,
            delta=delta,
            explore=explore,
            confidence=confidence,
            **kernel_settings(checked_problem(problem), arms, kernel, length, gamma, budget, features),
            arms=arms,
            within=within,
            seed=seed,
            parameters={
                "kernel": kernel,
                "length": length,
                "gamma": gamma,
                "budget": budget,
                "features": features,
            },
        )
