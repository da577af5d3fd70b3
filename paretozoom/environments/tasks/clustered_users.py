"""Users in clusters that nobody is told about, and items with features."""

from __future__ import annotations

import numpy as np

from paretozoom.environments.base import Task, checked_count
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Categorical, Finite, Floats, Ints, Objective
from paretozoom.records import Refused
from paretozoom.similarity import Similarity

MIDDLE = 0.5  # the mean of an item without taste
SLOPE = 0.8
TURN = np.deg2rad(35.0)  # of the objectives' directions from their cluster's


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    # world: the number of clusters, then for each cluster and objective the direction it likes
    cluster = int(point[0]) % int(world[0])
    for o in range(2):
        first = 1 + 4 * cluster + 2 * o
        out[o] = MIDDLE + SLOPE * (world[first] * (point[1] - 0.5) + world[first + 1] * (point[2] - 0.5))


def _around(angles: Floats) -> Floats:
    """Unit vectors."""
    return np.column_stack([np.cos(angles), np.sin(angles)])


class ClusteredUsers(Task):
    """The context is a user, the arm an item with two features: home of CLUB and COFIBA.

    Users of one cluster like the same things, and each is as often there as any other; which cluster a user belongs
    to (its number modulo the number of clusters) is hidden. Items lie on a circle of features. In each cluster the two
    objectives are linear in the features, mu_i = 0.5 + 0.8 direction_i (features - middle), with directions 70 degrees
    apart, so the front is the items of an arc.

    >>> task = ClusteredUsers()
    >>> task.front(["user0"]), task.front(["user2"])
    (['item0', 'item1', 'item2', 'item3'], ['item6', 'item7', 'item8', 'item9'])
    >>> task.front(["user0"]) == task.front(["user16"])
    True
    """

    name = "clustered-users"
    mean_kernel = _mean

    def __init__(self, users: int = 20, clusters: int = 4, items: int = 12) -> None:
        for field, value, least in (("users", users, 2), ("clusters", clusters, 1), ("items", items, 3)):
            checked_count(value, field, least)
        if clusters > users:
            raise Refused(f"clusters: {clusters!r} given, expected at most {users}, the number of users")
        places = 0.5 + 0.5 * _around(2 * np.pi * np.arange(items) / items)
        middles = np.pi / 4 + 2 * np.pi * np.arange(clusters) / clusters
        directions = _around(np.column_stack([middles - TURN, middles + TURN]).ravel())
        problem = Problem(
            context=[Categorical("user", [f"user{k}" for k in range(users)])],
            arm=Finite([f"item{k}" for k in range(items)], features=places.tolist()),
            objectives=[Objective("first"), Objective("second")],
        )
        super().__init__(problem, world=np.concatenate([[clusters], directions.ravel()]))

    def cluster_of(self, users: Ints) -> Ints:
        """The hidden clusters of users, by their numbers.

        >>> ClusteredUsers().cluster_of(np.array([0, 1, 5, 19])).tolist()
        [0, 1, 1, 3]
        """
        return users % int(self.world[0])

    @property
    def similarity(self) -> Similarity:
        """|mu - mu'| <= 0.8 (|y1 - y1'| + |y2 - y2'|), and 0.8 sqrt(2) / 2 times 2 more if the users differ."""
        weights = [np.sqrt(2.0), 1.0, 1.0]
        return Similarity.of(self.problem, norm=1, weights=weights, scale=SLOPE * sum(weights))
