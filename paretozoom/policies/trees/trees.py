"""What the policies share that grow trees over the arms, as HOO does."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.arms import table
from paretozoom.kernels.trees import hoo, hoo_tree
from paretozoom.policies.arms.finite import FiniteArms, Grid
from paretozoom.policies.fronts import Piece
from paretozoom.policies.parameters import (
    USUAL_HORIZON,
    check_scaled,
    checked_horizon,
    checked_positive,
    checked_problem,
)
from paretozoom.policies.snapshots import checked_array
from paretozoom.policies.trees.tree_front import front_of
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Refused, Values

FIRST_CAPACITY = 64
DEEPEST = 1000


class Nodes(NamedTuple):
    """The nodes of all trees, those of context cells (the roots) first."""

    parent: Ints  # (n,) -1 for a root
    upper: Ints  # (n,) 1 if a node is the upper half of its parent
    depth: Ints  # (n,)
    plays: Ints  # (n,)
    mean: Floats  # (n, learned) 0 where nothing was told


class ArmTrees(FiniteArms):
    """A policy whose memory is `kernels/trees/hoo_tree.py`: a tree over the arms for each cell of contexts."""

    kernel: ClassVar[ModuleType] = hoo
    vectors: ClassVar[int] = 1  # how many a node's B may have
    assumed_horizon = USUAL_HORIZON

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None,
        nu1: float,
        rho: float | None,
        confidence: float,
        cells: int,
        weights: Sequence[float] = (),
        seed: int,
        parameters: Mapping[str, Any],
    ) -> None:
        check_scaled(checked_problem(problem), self.name, weights)
        self.horizon = checked_horizon(horizon)
        self.confidence = checked_positive(confidence, "confidence")
        encoding = problem.encoding
        sides = 1 if len(encoding.arms) else encoding.arms.shape[1]
        nu = checked_positive(nu1, "nu1")
        shrink = 0.5 ** (1 / sides) if rho is None else checked_positive(rho, "rho")
        if shrink >= 1:
            raise Refused(f"rho: {rho!r} is not below 1")
        log = math.log(self.horizon or USUAL_HORIZON)
        self.depth = min(max(1, math.ceil((0.5 * log + math.log(nu)) / -math.log(shrink))), DEEPEST)
        common = {"horizon": self.horizon, "nu1": nu1, "rho": rho, "confidence": self.confidence, "cells": cells}
        super().__init__(
            problem,
            grid=Grid(encoding.arms, np.zeros(encoding.arms.shape[1])),
            within="cell",
            cells=cells,
            weights=weights,
            constants=[2.0 * log * self.confidence**2, nu, shrink],
            seed=seed,
            parameters={**common, **parameters},
        )

    @property
    def nodes(self) -> Nodes:
        """The nodes as they are now (copies)."""
        floats, ints = self._views(self._floats, self._ints)
        parent, plays = ints[:, hoo_tree.PARENT].copy(), ints[:, hoo_tree.PLAYS].copy()
        upper, depth = np.zeros_like(parent), np.zeros_like(parent)
        for node in range(self.copies, len(parent)):
            upper[node] = ints[parent[node], hoo_tree.CHILDREN + 1] == node
            depth[node] = depth[parent[node]] + 1
        sums = floats[:, hoo_tree.SUMS : hoo_tree.SUMS + self.learned]
        return Nodes(parent, upper, depth, plays, sums / np.maximum(plays, 1)[:, None])

    def facts(self) -> dict[str, Any]:
        """How many nodes there are, and how deep they lie."""
        now = self.nodes
        return {"nodes": len(now.depth), "deepest": int(now.depth.max())}

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The told cells at the ends of the ways that may be gone next, or with `believed` the best means of these.

        Their index is U, the bound from their own rewards.
        """
        root = table.cell_of(self._ints, table.table(self._ints), self._encoded(context))
        return front_of(self, root, self._encode_feasible(feasible), believed)

    # Memory.

    def _sizes(self) -> tuple[int, int]:
        return hoo_tree.tree_sizes(self.vectors, self.learned, self._first_capacity)

    @property
    def _first_capacity(self) -> int:
        return max(2 * self.copies, FIRST_CAPACITY)

    def _views(self, floats: Floats, ints: Ints) -> tuple[Floats, Ints]:
        """The floats and the ints of the nodes, a row each."""
        at = table.table(ints)
        trees, size = hoo_tree.tree(ints, at), int(ints[at.ints + hoo_tree.SIZE])
        of_floats = floats[trees.floats : trees.floats + size * trees.float_width]
        of_ints = ints[trees.ints : trees.ints + size * hoo_tree.NODE]
        return of_floats.reshape(size, trees.float_width), of_ints.reshape(size, hoo_tree.NODE)

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        return self._grown(key, np.arange(self.copies))

    def _grown(self, key: Ints, places: Ints) -> tuple[Floats, Ints]:
        """Arrays with the nodes at these places, which are known as credits are."""
        floats, ints = self._allocate(key)
        at = table.table(ints)
        ints[at.ints : at.ints + hoo_tree.TREE_HEADER] = [
            0,
            self._first_capacity,
            self.copies,
            self.vectors,
            self.depth,
        ]
        trees = hoo_tree.tree(ints, at)
        for place in places.tolist():
            floats, ints = hoo.room(floats, ints)
            hoo.add_node(floats, ints, table.table(ints), trees, place)
        return floats, ints

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        now, (floats, _) = self.nodes, self._views(self._floats, self._ints)
        place = np.where(now.parent < 0, np.arange(len(now.parent)), self.copies + 2 * now.parent + now.upper)
        sums = floats[:, hoo_tree.SUMS : hoo_tree.SUMS + self.learned]
        return {"place": place, "plays": now.plays, "sums": np.ascontiguousarray(sums)}

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        given = arrays.get("place")
        n = len(given) if isinstance(given, np.ndarray) and given.ndim == 1 else self.copies
        place = checked_array(arrays, "place", (n,), np.int64)
        plays = checked_array(arrays, "plays", (n,), np.int64)
        sums = checked_array(arrays, "sums", (n, self.learned), np.float64)
        roots, rest = place[: self.copies], place[self.copies :]
        after = self.copies + 2 * np.arange(self.copies, n)
        known = np.array_equal(roots, np.arange(self.copies)) and bool(((rest >= self.copies) & (rest < after)).all())
        if not known or len(np.unique(place)) < n:
            raise Refused("snapshot: place does not name nodes of trees")
        if (plays < 0).any() or (plays[self.copies :] < 1).any() or not np.isfinite(sums).all():
            raise Refused("snapshot: plays and sums are not those of nodes that were told")
        floats, ints = self._grown(key, place)
        of_floats, of_ints = self._views(floats, ints)
        of_ints[:, hoo_tree.PLAYS] = plays
        of_floats[:, hoo_tree.SUMS : hoo_tree.SUMS + self.learned] = sums
        hoo.rebuild(floats, ints)
        return floats, ints

    def _credits(self, number: int, learned: Any = None) -> range:
        ints = self._ints if learned is None else learned[1]
        return range(self.copies + 2 * int(ints[table.table(ints).ints + hoo_tree.SIZE]))
