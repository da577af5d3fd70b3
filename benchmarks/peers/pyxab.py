"""PyXAB's HCT, a tree over continuous arms, one for each cell of contexts."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats
from peers.adapter import Cells, Rival, Settings, is_continuous


class PyXABTrees(Rival):
    """`PyXAB.algos.HCT`, with binary cells of arms."""

    name = "pyxab-hct"
    package = "PyXAB"
    settings: ClassVar[Settings] = {
        "8 cells, rho 0.5": {"cells": 8, "nu": 1.0, "rho": 0.5, "c": 0.1},
        "16 cells, rho 0.5": {"cells": 16, "nu": 1.0, "rho": 0.5, "c": 0.1},
        "16 cells, rho 0.75": {"cells": 16, "nu": 1.0, "rho": 0.75, "c": 0.1},
    }
    speed = 5_000.0

    def __init__(
        self, problem: Problem, horizon: int, seed: int, *, cells: int, nu: float, rho: float, c: float
    ) -> None:
        super().__init__(problem, horizon, seed)
        from PyXAB.algos.HCT import HCT
        from PyXAB.partition.BinaryPartition import BinaryPartition
        from PyXAB.partition.DimensionBinaryPartition import DimensionBinaryPartition

        dimensions = problem.dim - problem.encoding.context
        self.cells = Cells(problem, cells)
        self.trees: list[Any] = [
            HCT(
                nu=nu,
                rho=rho,
                c=c,
                domain=[[0.0, 1.0]] * dimensions,
                partition=BinaryPartition if dimensions == 1 else DimensionBinaryPartition,
            )
            for _ in range(self.cells.count)
        ]
        self.times = [0] * self.cells.count

    @classmethod
    def plays(cls, problem: Problem) -> bool:
        """Continuous arms."""
        return is_continuous(problem)

    def choose(self, context: Floats) -> Floats:
        """What the cell's tree pulls."""
        cell = self.cells.find(context)
        self.times[cell] += 1
        return np.array(self.trees[cell].pull(self.times[cell]), float)

    def learn(self, context: Floats, arm: int | Floats, reward: Floats) -> None:
        """Tell the mean of the rewards."""
        cell = self.cells.find(context)
        self.trees[cell].receive_reward(self.times[cell], float(reward.mean()))
