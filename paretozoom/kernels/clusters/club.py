"""CLUB (Gentile, Li and Zappella, 2014), one decision at a time."""

from __future__ import annotations

import math

from paretozoom.kernels.arms.table import Table, table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.clusters.clusters import ALPHA_2, Clusters, ask, clusters, divide, learn
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part

__all__ = ["ask", "room", "tell"]


@kernel
def reach(told: int, alpha_2: float) -> float:
    """How far a user's weights may be from the truth after some rewards: alpha_2 sqrt((1 + log(1 + n)) / (1 + n)).

    >>> reach(0, 2.0), round(reach(9, 1.0), 7)
    (2.0, 0.5746812)
    """
    return alpha_2 * math.sqrt((1.0 + math.log(1.0 + told)) / (1.0 + told))


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Learn a reward of a user, and cut the user's edges to those who have turned out to be different."""
    at = table(i)
    c = clusters(f, i, at)
    user, arm = credit // at.arms, credit % at.arms
    learn(f, i, at, c, user, arm, reward)
    alpha_2, cut = f[at.constants + ALPHA_2], False
    mine = reach(i[c.told + user], alpha_2)
    for other in range(c.users):
        if i[c.edge + user * c.users + other] == 1:
            apart = _largest_distance(f, at, c, user, other)
            if apart > mine + reach(i[c.told + other], alpha_2):
                i[c.edge + user * c.users + other] = i[c.edge + other * c.users + user] = 0
                cut = True
    if cut:
        divide(f, i, at, c, 0, user)


@part
def _largest_distance(f: Floats, at: Table, c: Clusters, user: int, other: int) -> float:
    """Between the weights of two users, in the learned number where they differ most."""
    most = 0.0
    for o in range(at.learned):
        a, b, total = (user * at.learned + o) * c.size, (other * at.learned + o) * c.size, 0.0
        for k in range(c.size):
            gap = f[c.theta + a + k] - f[c.theta + b + k]
            total += gap * gap
        most = max(most, total)
    return math.sqrt(most)
