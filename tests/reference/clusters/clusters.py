"""CLUB and COFIBA, read aloud: matrices are inverted when they are needed, components searched from scratch."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretozoom import Decision, Problem
from paretozoom.problem.dimensions import Floats
from tests.reference.finite import FiniteTwin

GRAPH_STREAM = 1 << 21

Edges = set[tuple[int, int]]  # both ways


def component(edges: Edges, vertex: int) -> list[int]:
    """The vertices that edges join to one."""
    found = {vertex}
    while True:
        more = {b for a, b in edges if a in found} - found
        if not more:
            return sorted(found)
        found |= more


class Club(FiniteTwin):
    """Takes the features of the arms."""

    def __init__(
        self,
        problem: Problem,
        features: Floats,
        *,
        alpha: float = 0.5,
        alpha_2: float = 1.0,
        users: int = 20,
        start: str = "complete",
        weights: Any = (),
        **others: Any,
    ) -> None:
        super().__init__(problem, cells=users, weights=weights, **others)
        self.x = [np.array(row) for row in features.tolist()]
        self.alpha, self.alpha_2, self.start = alpha, alpha_2, start
        size = features.shape[1]
        self.m = [np.eye(size) for _ in range(self.cells)]
        self.b = [np.zeros((self.learned, size)) for _ in range(self.cells)]
        self.told = [0] * self.cells
        self.begin()

    def begin(self) -> None:
        """One graph on the users."""
        self.edges = self.graph(self.cells, GRAPH_STREAM + 1)

    def graph(self, n: int, stream: int) -> Edges:
        """A complete graph on n vertices, or an Erdos-Renyi one with p = 3 log(n) / n."""
        p = 1.0 if self.start == "complete" else 3 * math.log(n) / n
        pairs = [(a, b) for a in range(n) for b in range(a)]
        kept = [pair for k, pair in enumerate(pairs) if p >= 1 or self.draws(stream, k // 4)[k % 4] < p]
        return {(a, b) for a, b in kept} | {(b, a) for a, b in kept}

    def like(self, user: int, arm: int) -> list[int]:
        """The users whose rewards count for a user and an arm."""
        return component(self.edges, user)

    def pick(self, cell: int, listed: list[int], number: int) -> tuple[int, float]:
        """The front of w'x + alpha sqrt(x' M^-1 x log(t + 1)), with M and b summed over the users alike."""
        return self.uniform_on(self.front_of(listed, [self.index(cell, number + 1, arm) for arm in listed]))

    def index(self, user: int, t: int, arm: int) -> list[float]:
        """Of one arm."""
        alike, x = self.like(user, arm), self.x[arm]
        one = np.eye(len(x))
        inverse = np.linalg.inv(one + sum(self.m[j] - one for j in alike))
        w = sum(self.b[j] for j in alike) @ inverse
        return [
            float(w[o] @ x + self.alpha * math.sqrt(x @ inverse @ x * math.log(t + 1))) for o in range(self.learned)
        ]

    def weights_of(self, user: int) -> Floats:
        """(learned, features) w = M^-1 b of a user alone."""
        return np.asarray(self.b[user] @ np.linalg.inv(self.m[user]))

    def learn(self, decision: Decision, reward: list[float]) -> None:
        """M += xx', b += rx, then look who is unlike."""
        cell, arm = divmod(decision.credit, len(self.arms))
        x = self.x[arm]
        self.m[cell] = self.m[cell] + np.outer(x, x)
        self.b[cell] = self.b[cell] + np.outer(reward, x)
        self.told[cell] += 1
        self.cut(decision.number + 1, cell, arm)

    def reach(self, n: int) -> float:
        """C(n)."""
        return self.alpha_2 * math.sqrt((1 + math.log(1 + n)) / (1 + n))

    def cut(self, t: int, user: int, arm: int) -> None:
        """Delete the edges (user, j) with weights further apart than C(T_user) + C(T_j)."""
        w = [self.weights_of(j) for j in range(self.cells)]
        for a, j in sorted(self.edges):
            if a == user:
                apart = max(float(np.linalg.norm(w[user][o] - w[j][o])) for o in range(self.learned))
                if apart > self.reach(self.told[user]) + self.reach(self.told[j]):
                    self.edges -= {(user, j), (j, user)}


class Cofiba(Club):
    """A graph on the items, and for each cluster of items a graph on the users."""

    def begin(self) -> None:
        """Clusters of items are the components of their graph."""
        self.items = self.graph(len(self.x), GRAPH_STREAM)
        self.cluster = [-1] * len(self.x)
        self.graphs: list[Edges] = []
        self.name_new_clusters()

    def name_new_clusters(self) -> None:
        """Each component of items without a cluster gets the next number and a fresh graph."""
        for item in range(len(self.x)):
            if self.cluster[item] < 0:
                for member in component(self.items, item):
                    self.cluster[member] = len(self.graphs)
                self.graphs.append(self.graph(self.cells, GRAPH_STREAM + 1 + len(self.graphs)))

    def like(self, user: int, arm: int) -> list[int]:
        """The component of the user in the graph of the item's cluster."""
        return component(self.graphs[self.cluster[arm]], user)

    def near(self, t: int, user: int, item: int) -> set[int]:
        """The other users who agree with a user on an item, as far as one can tell."""
        x = self.x[item]
        w = [self.weights_of(j) @ x for j in range(self.cells)]
        cb = [self.alpha_2 * math.sqrt(x @ np.linalg.inv(m) @ x * math.log(t + 1)) for m in self.m]
        others = [j for j in range(self.cells) if j != user]
        return {j for j in others if all(abs(w[user] - w[j]) <= cb[user] + cb[j])}

    def cut(self, t: int, user: int, arm: int) -> None:
        """(a) users, (b) items."""
        here, h = self.near(t, user, arm), self.cluster[arm]
        for a, j in sorted(self.graphs[h]):
            if a == user and j not in here:
                self.graphs[h] -= {(user, j), (j, user)}
        for a, item in sorted(self.items):
            if a == arm and self.near(t, user, item) != here:
                self.items -= {(arm, item), (item, arm)}
        kept = component(self.items, arm)
        for item in range(len(self.x)):
            if self.cluster[item] == h and item not in kept:
                self.cluster[item] = -1
        self.name_new_clusters()
