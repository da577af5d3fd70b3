"""COFIBA (Li, Karatzoglou and Gentile, SIGIR 2016)."""

from __future__ import annotations

from types import ModuleType
from typing import ClassVar

from paretozoom.kernels.clusters import cofiba
from paretozoom.policies.clusters.clustered import Clustered
from paretozoom.policies.summary import Summary


class COFIBA(Clustered):
    """CLUB with clusters of arms too: who is alike may differ from one cluster of arms to the next.

    Users, features and the other parameters are those of `CLUB`. An edge between users goes when they differ on the
    arm played, an edge between arms when these part the users in different ways; `alpha_2` says by how much users must
    differ. Which users an arm leaves together could be read off the graph of its cluster; chosen here, for the arm
    played as for its neighbours, are those within the confidence bounds of the user who played, so that equal arms
    never part. Each new cluster of arms starts with a fresh graph on the users, whom only plays of its arms can part.
    Until then all of them share what they know of it; if their tastes differ, this mixture can keep them away from it
    for good, as it does with the defaults of the task `clustered-users`. With 20 users or more it plays much like
    Random for the first 50,000 rounds or so; smaller `alpha` and `alpha_2` shorten this.

    >>> from paretozoom import Categorical, Finite, Objective, Problem
    >>> problem = Problem(context=[Categorical("user", ["u", "v", "w"])], arm=Finite(["a", "b"]),
    ...                   objectives=[Objective("r")])
    >>> policy = COFIBA(problem, alpha_2=0.5, seed=1)
    >>> for t in range(300):
    ...     decision = policy.ask(["uvw"[t % 3]])
    ...     policy.tell(decision, [float((decision.arm == "a") == (t % 3 < 2))])
    >>> policy.item_clusters.tolist(), policy.user_clusters.tolist()
    ([0, 1], [[0, 0, 2], [0, 0, 2]])
    """

    name = "cofiba"
    kernel: ClassVar[ModuleType] = cofiba
    clusters_items = True
    summary = Summary(
        "linear rewards, learned together by users who seem alike on an arm and on those like it"
        "; much like Random for the first 50,000 rounds or so",
        contextual=True,
        guarantee="regret O~(sqrt(T)) over finitely many users and arms in clusters, linear rewards",
        reference="Li, Karatzoglou, Gentile, SIGIR 2016",
    )
