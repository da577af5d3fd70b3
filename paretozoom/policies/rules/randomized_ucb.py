"""RandomizedUCB (Dudik, Hsu, Kale, Karampatziakis, Langford, Reyzin, Zhang, UAI 2011)."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from paretozoom.kernels.rules import randomized_ucb
from paretozoom.policies.rules.classes import UnsureClass
from paretozoom.policies.summary import Summary


class RandomizedUCB(UnsureClass):
    """Draw a rule from the weights of least estimated regret under which every rule is still explored enough.

    The weights are solved for when the decisions t = 1, 2, 4, ... are asked, from the rewards told by then: every
    rule's mean of 1 / probability of its arm is at most the larger of 4 K and t regret^2 / (180 C_t), where
    C_t = 2 log(N t / delta): a rule is let go only after 720 K C_t / regret^2 rounds. The paper asks this of all
    mixtures of rules, here it is asked of single rules only: a relaxation. Every arm has a probability of at least
    sqrt(C_t / (2 K t)), times `confidence`. Contexts of affine rules count by 200 parts of the range of x.

    What was solved stands until the next of these decisions; rewards that come later count then. A regret is a sum over
    all decisions divided by their number, so a reward not told yet counts as 0. With `pareto` a rule falls short by
    what some other rule has more in every objective at once. For `rules`, `cells` and `along` see `PolicyClass`. A
    feasible set restricts the draw.

    >>> from paretozoom import Finite, Objective, Problem, Real
    >>> problem = Problem(context=[Real("x")], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    >>> policy = RandomizedUCB(problem, rules=[[0, 0], [0, 1], [1, 0], [1, 1]], cells=2, seed=1)
    >>> for k in range(1025):
    ...     decision = policy.ask([k % 10 / 10])
    ...     policy.tell(decision, [float((decision.arm == "b") == (k % 10 >= 5))])
    >>> policy.values[:, 0].round(2).tolist(), policy.played.round(2).tolist()
    ([0.52, 1.02, 0.0, 0.5], [0.06, 0.88, 0.0, 0.06])
    """

    name = "randomized-ucb"
    kernel: ClassVar[ModuleType] = randomized_ucb
    summary = Summary(
        "weights of rules of least estimated regret that still explore each rule",
        contextual=True,
        guarantee="regret O(sqrt(T K log(T N / delta))) against the best of N rules; here for a relaxation",
        reference="Dudik et al., UAI 2011",
    )
