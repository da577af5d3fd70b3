"""CLUB (Gentile, Li and Zappella, ICML 2014)."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from paretozoom.kernels.clusters import club
from paretozoom.policies.clusters.clustered import Clustered
from paretozoom.policies.summary import Summary


class CLUB(Clustered):
    """Users with linear rewards, taken for alike until they turn out to be different; those alike learn together.

    A user is a category of the context, or one of `users` parts of each other context coordinate (None for about 20 in
    all, 1 for one user). Rewards are linear in features of the arm: products of up to `degree` of its coordinates, or a
    mark per label. A graph joins all users at the `start`, or "random" pairs; an edge goes, for good, when the weights
    of its users are further apart than `alpha_2` allows. `alpha` scales the exploration. It learns one number: the
    first objective, another `objective`, or the sum with `weights`; with `pareto` it learns each objective, parts users
    who differ in one of them, and picks uniformly on the front of the indices.

    >>> from paretozoom import Categorical, Finite, Objective, Problem
    >>> problem = Problem(context=[Categorical("user", ["u", "v", "w"])], arm=Finite(["a", "b"]),
    ...                   objectives=[Objective("r")])
    >>> policy = CLUB(problem, seed=1)
    >>> for t in range(300):
    ...     decision = policy.ask(["uvw"[t % 3]])
    ...     policy.tell(decision, [float((decision.arm == "a") == (t % 3 < 2))])
    >>> policy.user_clusters.tolist()
    [[0, 0, 2]]
    """

    name = "club"
    kernel: ClassVar[ModuleType] = club
    clusters_items = False
    summary = Summary(
        "linear rewards, learned together by users who seem alike",
        contextual=True,
        guarantee="regret O~(sqrt(T)) over finitely many users in clusters of equal weights, linear rewards",
        reference="Gentile, Li, Zappella, ICML 2014",
    )
