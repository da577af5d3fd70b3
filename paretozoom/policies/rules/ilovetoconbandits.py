"""ILOVETOCONBANDITS (Agarwal, Hsu, Kale, Langford, Li, Schapire, ICML 2014)."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import ClassVar

from paretozoom.kernels.rules import ilovetoconbandits
from paretozoom.policies.arms.finite import Within
from paretozoom.policies.parameters import checked_delta, checked_positive
from paretozoom.policies.rules.classes import DELTA, Along, PolicyClass, Rules
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem


class ILoveToConBandits(PolicyClass):
    """Draw a rule from weights under which every rule's value can be told well enough for its estimated regret.

    The weights are solved for when the decisions 1, 2, 4, ... are asked, from the rewards told by then: every rule's
    mean of 1 / probability of its arm is at most 2 K + regret / (psi mu), and what the weights leave of 1 goes to the
    empirically best rules, evenly. Every arm has probability mu at least, sqrt(log(16 t^2 N / delta) / (K t)), times
    `confidence`. Contexts of affine rules count by 200 parts of the range of x.

    What was solved stands until the next of these decisions; rewards that come later count then. Other policies with
    epochs learn nothing from a reward of an earlier one, since they forgot what they knew when it ended. This one
    forgets nothing, and reward / probability, with the probability of the decision, is an unbiased value whenever it
    comes. A regret is a sum over all decisions divided by their number, so a reward not told yet counts as 0. With
    `pareto` a rule falls short by what some other rule has more in every objective at once. For `rules`, `cells` and
    `along` see `PolicyClass`. A feasible set restricts the draw.

    With psi = 100, as in the paper, regrets hardly count before some millions of rounds; a smaller one explores less
    and has no proof.

    >>> from paretozoom import Finite, Objective, Real
    >>> problem = Problem(context=[Real("x")], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    >>> policy = ILoveToConBandits(problem, rules=[[0, 0], [0, 1], [1, 0], [1, 1]], cells=2, seed=1)
    >>> for k in range(1025):
    ...     decision = policy.ask([k % 10 / 10])
    ...     policy.tell(decision, [float((decision.arm == "b") == (k % 10 >= 5))])
    >>> policy.values[:, 0].round(2).tolist(), policy.played.round(2).tolist()
    ([0.51, 1.01, 0.0, 0.5], [0.0, 0.81, 0.19, 0.0])
    """

    name = "ilovetoconbandits"
    kernel: ClassVar[ModuleType] = ilovetoconbandits
    summary = Summary(
        "weights of rules that explore each as much as its regret allows, by coordinate descent",
        contextual=True,
        guarantee="regret O(sqrt(K T log(T N / delta))) against the best of N rules",
        reference="Agarwal et al., ICML 2014",
    )

    def __init__(
        self,
        problem: Problem,
        *,
        rules: Rules | None = None,
        cells: int = 1,
        along: Along = "first",
        delta: float | None = None,
        psi: float = 100.0,
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
            rules=rules,
            cells=cells,
            along=along,
            arms=arms,
            within=within,
            objective=objective,
            weights=weights,
            pareto=pareto,
            own={
                "delta": checked_delta(delta) or DELTA,
                "psi": checked_positive(psi, "psi"),
                "confidence": checked_positive(confidence, "confidence"),
            },
            seed=seed,
        )
