"""Finitely many arms, slow and obvious: the grid, cells of contexts, feasible arms, the place that is played."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from paretozoom import Finite, Problem
from tests.reference.pareto import Vector, front
from tests.reference.twin import PLAY_STREAM, Answer, Boxes, Twin


class FiniteTwin(Twin):
    """A twin says in `pick` what is played among the listed arms of a context cell, or in `choose` of a context."""

    def __init__(
        self, problem: Problem, *, arms: int | None = None, within: str = "centre", cells: int = 1, **given: Any
    ) -> None:
        super().__init__(problem, **given)
        self.within = within
        arm_values = self.values[self.first :]
        parts = arms or math.ceil(18 ** (1 / max(1, arm_values.count(0))))
        columns = [_places(v) if v else [(k + 0.5) / parts for k in range(parts)] for v in arm_values]
        self.arms = problem.encoding.arms.tolist() if self.finite else [list(a) for a in itertools.product(*columns)]
        self.half = [0.0 if v or self.finite else 0.5 / parts for v in arm_values]
        self.divide(cells)
        self.cells = math.prod(self.divisions)

    # What a twin provides.

    def pick(self, cell: int, listed: list[int], number: int) -> tuple[int, float]:
        """The arm played among the listed ones, and its probability."""
        raise NotImplementedError

    def credit(self, cell: int, arm: int, number: int) -> int:
        """What the decision credits."""
        return cell * len(self.arms) + arm

    def choose(self, context: list[float], listed: list[int]) -> tuple[int, float, int]:
        """(arm, probability, credit)"""
        cell = self.cell(context)
        arm, probability = self.pick(cell, listed, self.number)
        return arm, probability, self.credit(cell, arm, self.number)

    def credit_of_anywhere(self, context: list[float], arm: int) -> int:
        """The credit of a draw from boxes that hold no arm of the grid."""
        return self.credit(self.cell(context), arm, self.number)

    # Parts.

    def answer(self, context: list[float], allowed: Boxes) -> Answer:
        """Choose among the feasible arms, or draw anywhere if none of a grid is feasible."""
        listed = self.listed(allowed)
        if not listed:
            place, density = self.anywhere(allowed, self.within == "centre")
            return -1, place, density, self.credit_of_anywhere(context, self.nearest(place))
        arm, density, credit = self.choose(context, listed)
        place = list(self.arms[arm])
        if self.within == "cell" and not self.finite:
            place, size = self.place_in_cell(place, allowed)
            density /= size
        return (arm if self.finite else -1), place, density, credit

    def listed(self, allowed: Boxes) -> list[int]:
        """The feasible arms, in order."""
        if not allowed:
            return list(range(len(self.arms)))
        if self.finite:
            return [int(row[0]) for row in allowed]
        return [k for k, arm in enumerate(self.arms) if any(inside(arm, box) for box in allowed)]

    def place_in_cell(self, middle: list[float], allowed: Boxes) -> tuple[list[float], float]:
        """A uniform place in the feasible part of an arm's cell, and the size of this part."""
        cell = [y - h for y, h in zip(middle, self.half, strict=True)]
        cell += [y + h for y, h in zip(middle, self.half, strict=True)]
        n = len(middle)
        parts = []
        for box in allowed or [cell]:
            lows, highs = map(max, cell[:n], box[:n]), map(min, cell[n:], box[n:])
            parts.append(list(zip(lows, highs, strict=True)))
        sizes = [self._size(part) for part in parts]
        part = parts[self.pick_part(sizes, self.draws(PLAY_STREAM - 1)[0])]
        place = list(middle)
        for j, (low, high) in enumerate(part):
            if self.half[j] > 0:
                place[j] = low + (high - low) * self.draws(PLAY_STREAM + j // 4)[j % 4]
        return place, sum(sizes)

    def _size(self, part: list[tuple[float, float]]) -> float:
        """The product of the continuous sides; 0 if a discrete value is not in the part."""
        size = 1.0
        for (low, high), half in zip(part, self.half, strict=True):
            size *= max(0.0, high - low) if half > 0 else float(low <= high)
        return size

    def nearest(self, place: Sequence[float]) -> int:
        """The first of the arms nearest to a place; two categories are 1 apart."""
        values = [1] if isinstance(self.problem.arm, Finite) else self.values[self.first :]

        def apart(arm: Sequence[float]) -> float:
            gaps = [a - b for a, b in zip(arm, place, strict=True)]
            return sum(float(g != 0) if v < 0 else g * g for g, v in zip(gaps, values, strict=True))

        return min(range(len(self.arms)), key=lambda k: apart(self.arms[k]))

    def uniform_on(self, members: Sequence[int]) -> tuple[int, float]:
        """One of the members, all alike, and its probability."""
        return members[int(self.draws()[0] * len(members))], 1 / len(members)

    def front_of(self, listed: Sequence[int], vectors: Sequence[Vector]) -> list[int]:
        """The listed arms whose vectors no other dominates."""
        return [listed[k] for k in front(vectors)]


def _places(values: int) -> list[float]:
    """The encoded values of a discrete coordinate."""
    return [float(k) for k in range(-values)] if values < 0 else [k / (values - 1) for k in range(values)]


def inside(arm: Sequence[float], box: Sequence[float]) -> bool:
    """Whether an arm lies in a box: lows, then highs."""
    return all(low <= y <= high for y, low, high in zip(arm, box, box[len(arm) :], strict=False))
