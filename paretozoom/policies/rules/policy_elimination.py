"""PolicyElimination (Dudik, Hsu, Kale, Karampatziakis, Langford, Reyzin, Zhang, UAI 2011)."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from paretozoom.kernels.rules import policy_elimination
from paretozoom.policies.rules.classes import UnsureClass
from paretozoom.policies.summary import Summary


class PolicyElimination(UnsureClass):
    """Draw from the rules that may still be the best, so that the arm of each is played often enough to tell.

    When decision t is asked, rules are dropped whose value, from the rewards told by then, falls short of the best by
    more than 2 b_t, b_t = 2 sqrt(2 K log(4 N t^2 / delta) / t). If some are, and at t = 1, 2, 4, ..., weights are found
    under which the mean of 1 / probability of its arm is at most 2 K for every rule left; what they leave of 1 goes to
    the empirically best rules, evenly. Every arm has a probability of at least mu_t = sqrt(log(4 N t^2 / delta) /
    (2 K t)), t the decision for which weights were last found; the paper finds them anew in each round. `confidence`
    multiplies b_t and mu_t. The paper takes the distribution of contexts as known: here all cells, or for affine rules
    200 parts of the range of x, are alike.

    A value is the sum of reward / probability over all t decisions, divided by t: until a reward is told, it counts as
    0; whenever it comes, it counts from then on. With `pareto` a rule falls short by what some other rule has more in
    every objective at once. For `rules`, `cells` and `along` see `PolicyClass`. A feasible set restricts the draw.

    >>> from paretozoom import Finite, Objective, Problem, Real
    >>> problem = Problem(context=[Real("x")], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    >>> policy = PolicyElimination(problem, rules=[[0, 0], [0, 1], [1, 0], [1, 1]], cells=2, seed=1)
    >>> for k in range(2049):
    ...     decision = policy.ask([k % 10 / 10])
    ...     policy.tell(decision, [float((decision.arm == "b") == (k % 10 >= 5))])
    >>> policy.values[:, 0].round(2).tolist(), policy.facts()["rules_in_play"]
    ([0.52, 1.0, 0.0, 0.49], 3)
    """

    name = "policy-elimination"
    kernel: ClassVar[ModuleType] = policy_elimination
    summary = Summary(
        "spreads its plays over the rules that may still be best, and drops those that cannot be",
        contextual=True,
        guarantee="regret 16 sqrt(2 T K log(4 T^2 N / delta)) against the best of N rules",
        reference="Dudik et al., UAI 2011",
    )
