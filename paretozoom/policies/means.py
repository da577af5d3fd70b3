"""What policies share that learn the mean rewards of finitely many arms, per cell of contexts."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretozoom.dimensions import Floats, Ints
from paretozoom.kernels import table
from paretozoom.kernels.pareto import mark_front
from paretozoom.policies.base import Piece
from paretozoom.policies.finite import FiniteArms
from paretozoom.records import Decision, Refused, Values


class MeanTable(FiniteArms):
    """A policy whose memory is `kernels/means.py`: counts and sums per context cell and arm."""

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

    def _check_credit(self, decision: Decision, ints: Ints, field: str) -> None:
        if not 0 <= decision.credit < self.copies * len(self.grid.arms):
            raise Refused(f"{field}: decision {decision.number} credits arm {decision.credit}, which does not exist")

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The arms that were played and whose mean no other dominates, in the cell of a context."""
        point = np.zeros(self._dim)
        self.problem.encode_context(context, point)
        at = table.table(self._ints)
        listed = table.list_arms(self._floats, self._ints, at, self._encode_feasible(feasible))
        arms = self._ints[at.listed : at.listed + listed].copy()
        cell = table.cell_of(self._ints, at, point)
        arms = arms[self.plays[cell, arms] > 0]
        means, marks = self.means[cell, arms], np.zeros(2 * len(arms), np.int64)
        mark_front(means.T.ravel(), 0, self.learned, marks, 0, len(arms), len(arms))
        return [self._piece(cell, int(arm), point) for arm in arms[marks[: len(arms)] == 1]]

    def _piece(self, cell: int, arm: int, point: Floats) -> Piece:
        point[self.problem.encoding.context :] = self.grid.arms[arm]
        plays, shown = int(self.plays[cell, arm]), {}
        if self.weights:
            shown["weighted"] = float(self.means[cell, arm, 0])
        else:
            shown = self.problem.decode_reward(self.means[cell, arm])
        unknown = dict.fromkeys(shown, None)
        number = arm if len(self.problem.encoding.arms) else -1
        played = self.problem.decode_arm(number, point)
        count = dict.fromkeys(shown, plays)
        return Piece(None, None, played, dict(unknown), dict(shown), {n: 1 / math.sqrt(plays) for n in shown}, count)
