"""What policies share that learn the mean rewards of finitely many arms, per cell of contexts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.arms import table
from paretozoom.policies.arms.finite import FiniteArms, Within
from paretozoom.policies.fronts import Piece, on_front
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Refused, Values


class MeanTable(FiniteArms):
    """A policy whose memory is `kernels/tables/means.py`: counts and sums per context cell and arm."""

    def __init__(
        self,
        problem: Problem,
        *,
        cells: int,
        arms: int | None,
        within: Within,
        constants: Sequence[float],
        seed: int,
        parameters: Mapping[str, Any],
    ) -> None:
        super().__init__(
            problem,
            arms=arms,
            within=within,
            cells=cells,
            constants=constants,
            seed=seed,
            parameters={"cells": cells, **parameters},
        )

    def _sizes(self) -> tuple[int, int]:
        rows = self.copies * len(self.grid.arms)
        return rows * self.learned, rows

    @property
    def plays(self) -> Ints:
        """(cells, arms) How often each arm was told."""
        at = table.table(self._ints)
        rows = self.copies * at.arms
        return self._ints[at.ints : at.ints + rows].reshape(self.copies, at.arms).copy()

    @property
    def means(self) -> Floats:
        """(cells, arms, learned) Mean rewards, oriented and scaled; 0 where nothing was told."""
        at = table.table(self._ints)
        sums = self._floats[at.floats : at.floats + self.copies * at.arms * at.learned]
        return np.asarray(sums.reshape(self.copies, at.arms, at.learned) / np.maximum(self.plays, 1)[:, :, None])

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        floats, ints = super()._filled(arrays, key, number)
        at = table.table(ints)
        if (ints[at.ints : at.listed] < 0).any():
            raise Refused("snapshot: ints holds counts below 0")
        return floats, ints

    def _credits(self, number: int, learned: Any = None) -> range:
        return range(self.copies * len(self.grid.arms))

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The arms that were played and whose mean no other dominates, in the cell of a context."""
        cell = table.cell_of(self._ints, table.table(self._ints), self._encoded(context))
        plays, means, arms = self.plays[cell], self.means[cell], self._feasible_arms(feasible)
        arms = arms[plays[arms] > 0]
        return [
            self._piece(arm, mean=means[arm], width=1 / math.sqrt(plays[arm]), count=int(plays[arm]))
            for arm in arms[on_front(means[arms])].tolist()
        ]
