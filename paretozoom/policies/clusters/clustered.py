"""What CLUB and COFIBA share around their kernels: users, features of arms, memory, snapshots, the front."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.arms import table
from paretozoom.kernels.clusters import clusters
from paretozoom.policies.arms.finite import Grid, Scalarised, Within
from paretozoom.policies.clusters.item_features import item_features
from paretozoom.policies.fronts import Piece, on_front
from paretozoom.policies.parameters import check_scaled, checked_count, checked_positive, checked_problem, scalarisation
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Refused, Values

USERS = 20  # on a line
MOST_NUMBERS = 20_000_000  # in memory

Start = Literal["complete", "random"]


class Clustered(Scalarised):
    """A policy whose memory is `kernels/clusters/clusters.py`: a linear model per user, pooled over clusters."""

    clusters_items: ClassVar[bool]

    def __init__(
        self,
        problem: Problem,
        *,
        alpha: float = 0.5,
        alpha_2: float = 1.0,
        users: int | None = None,
        start: Start = "complete",
        degree: int | None = None,
        objective: str | None = None,
        weights: Sequence[float] | None = None,
        pareto: bool = False,
        arms: int | None = None,
        within: Within = "centre",
        seed: int = 0,
    ) -> None:
        check_scaled(problem, self.name, scalarisation(checked_problem(problem), objective, weights, pareto))
        if start not in ("complete", "random"):
            raise Refused(f"start: {start!r} is not 'complete' or 'random'")
        continua = sum(v >= 0 for v in problem.encoding.values[: problem.encoding.context].tolist())
        cells = checked_count(users, "users", math.ceil(USERS ** (1 / max(continua, 1)) - 1e-9))
        grid = Grid.of(problem, arms).arms
        self.features = item_features(problem, grid, degree)
        factors = [checked_positive(alpha, "alpha"), checked_positive(alpha_2, "alpha_2")]
        parameters = {
            "alpha": factors[0],
            "alpha_2": factors[1],
            "users": cells,
            "start": start,
            "degree": degree,
        }
        self._graphs, self._items = (len(grid), len(grid)) if self.clusters_items else (1, 0)
        constants = [*factors, start == "random", self._graphs, self._items]
        super().__init__(
            problem,
            objective=objective,
            weights=weights,
            pareto=pareto,
            arms=arms,
            within=within,
            cells=cells,
            constants=[*constants, *self.features.ravel()],
            seed=seed,
            parameters=parameters,
        )

    @property
    def users(self) -> int:
        """How many users there are: cells of contexts."""
        return self.copies

    @property
    def told(self) -> Ints:
        """(users,) How many rewards of each user were told."""
        return self._part("told", (self.users,))

    @property
    def user_weights(self) -> Floats:
        """(users, learned, features) The weights each user's own rewards give."""
        at, c = self._layout()
        size = self.users * at.learned * c.size
        return self._floats[c.theta : c.theta + size].reshape(self.users, at.learned, c.size).copy()

    @property
    def user_clusters(self) -> Ints:
        """(clusters of items, users) The cluster of each user, known by its smallest member."""
        _, c = self._layout()
        return self._part("label", (int(self._ints[c.begun]), self.users))

    @property
    def item_clusters(self) -> Ints:
        """(arms,) The cluster of each arm; its row in `user_clusters`."""
        return self._part("cluster", (len(self.grid.arms),))

    def facts(self) -> dict[str, Any]:
        """How many clusters of users there are, in all clusters of items, and how many of these."""
        labels = self.user_clusters
        return {"user_clusters": sum(len(set(row)) for row in labels.tolist()), "item_clusters": len(labels)}

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The arms whose index no other dominates, or with `believed` whose estimate; of the user of a context."""
        at, c = self._layout()
        user, arms = table.cell_of(self._ints, at, self._encoded(context)), self._feasible_arms(feasible)
        means, indices = (np.empty((len(arms), at.learned)) for _ in range(2))
        for alpha, out in ((0.0, means), (self.constants[clusters.ALPHA], indices)):
            for k, arm in enumerate(arms.tolist()):
                clusters.score(self._floats, self._ints, at, c, self.number, user, arm, alpha, at.indices, 1)
                out[k] = self._floats[at.indices : at.indices + at.learned]
        chosen = np.flatnonzero(on_front(means if believed else indices)).tolist()
        return [self._piece_for(user, int(arms[k]), means[k], indices[k]) for k in chosen]

    def _piece_for(self, user: int, arm: int, mean: Floats, index: Floats) -> Piece:
        labels = self.user_clusters[self.item_clusters[arm]]
        count = int(self.told[labels == labels[user]].sum())
        return self._piece(arm, index=index, mean=mean if count else None, width=float(index[0] - mean[0]), count=count)

    # Memory.

    def _sizes(self) -> tuple[int, int]:
        size = self.features.shape[1]
        c = clusters.places(self.users, size, self._graphs, self._items, len(self.grid.arms), self.learned, 0, 0)
        if c.floats + c.ints > MOST_NUMBERS:
            raise Refused(
                f"users: {self.users} users and {len(self.grid.arms)} arms with {size} features need "
                f"{c.floats + c.ints} numbers in memory, expected at most {MOST_NUMBERS}"
            )
        return int(c.floats), int(c.ints)

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        floats, ints = self._allocate(key)
        clusters.begin(floats, ints)
        return floats, ints

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        floats, ints = super()._filled(arrays, key, number)
        at = table.table(ints)
        c = clusters.clusters(floats, ints, at)
        begun = int(ints[c.begun])
        if not 1 <= begun <= c.graphs or ints[c.told : c.begun].min() < 0:
            raise Refused("snapshot: ints holds no number of clusters, or of rewards, that can be")
        for low, high, limit in (
            (c.cluster, c.label, begun),
            (c.label, c.edge, c.users),
            (c.edge, c.ints, 2),
        ):
            if high > low and not (ints[low:high].min() >= 0 and ints[low:high].max() < limit):
                raise Refused("snapshot: ints holds clusters or edges that do not exist")
        return floats, ints

    def _layout(self) -> tuple[table.Table, clusters.Clusters]:
        at = table.table(self._ints)
        return at, clusters.clusters(self._floats, self._ints, at)

    def _part(self, name: str, shape: tuple[int, ...]) -> Ints:
        begin: int = getattr(self._layout()[1], name)
        return self._ints[begin : begin + math.prod(shape)].reshape(shape).copy()

    def _credits(self, number: int, learned: Any = None) -> range:
        return range(self.users * len(self.grid.arms))
