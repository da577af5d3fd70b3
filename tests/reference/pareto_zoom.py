"""ParetoZoom as its kernels describe it: estimates that follow their own definition, cell by cell.

Sums run in the order of the kernels', so that both round alike.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from paretozoom import Decision, Problem
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from tests.reference import along_front
from tests.reference.estimates import Estimates
from tests.reference.lattice import Lattice, lattice_of
from tests.reference.levels import Cell
from tests.reference.pareto import dominated
from tests.reference.space import Space
from tests.reference.trend import sum_of_products
from tests.reference.twin import Answer, Boxes

OPTIMISM = 0.003
MOST_MIXED = 3
LEAST_WEIGHT = 0.5
WORSE, AHEAD, END = 1.0, 2.0, 0.5
LIFT, MOST_LABELLED = 0.5, 4096

Weighted = list[tuple[Cell, float]]


class ParetoZoom(Estimates):
    """Slow and obvious; takes the arguments of the package's ParetoZoom."""

    def __init__(self, problem: Problem, *, spread: str = "arms", seed: int = 0) -> None:
        super().__init__(problem, seed=seed)
        self.space = Space.of(problem)
        self.offset = [math.nan] * self.learned
        self.along_front = spread == "front"

    # The verbs.

    def tell(self, decision: Decision, reward: dict[str, float]) -> None:
        """Learn what is told, be it a part, relative to the first reward of all."""
        kept, told = self.open[decision.number]
        assert kept == decision
        if self.told >= self.following:
            self.rebuild()
        point, given = np.zeros(self.problem.dim), np.zeros(self.learned)
        self.problem.encode_context(decision.context, point)
        arm = self.problem.encode_arm(decision.arm, point)
        self.problem.encode_reward(reward, given)
        self.learn_at(point.tolist(), arm, given.tolist())
        told.update(reward)
        if len(told) == self.learned:
            del self.open[decision.number]

    def learn_at(self, point: list[float], arm: int, reward: list[float]) -> None:
        """Learn of an encoded place."""
        for o, value in enumerate(reward):
            if math.isnan(self.offset[o]):
                self.offset[o] = value
        relative = [value - first for value, first in zip(reward, self.offset, strict=True)]
        self.off = None
        if self.smooth_factors:
            self.teach(point, relative, self.foretell(point, arm))
        self.learn_of(self._digits(point, arm), relative)

    def foretell(self, point: list[float], arm: int) -> list[float]:
        """What levels and trend say of the rewards at a point."""
        context, said = point[: self.first], [0.0] * self.learned
        last = self.last_level(context)
        if last >= 0:
            table = self.row(last, context, 0.0)
            for cell, weight in self._arm_corners(last, arm if self.arms else point[self.first :]):
                said = [before + weight * value for before, value in zip(said, table[cell], strict=True)]
        if self.uses_trend:
            terms = self.terms(point, self.factors)
            said = [value + sum_of_products(self.trend[o], terms) for o, value in enumerate(said)]
        return said

    def answer(self, context: list[float], allowed: Boxes) -> Answer:
        """A candidate whose index no other dominates: by the size that it stands for, or by its share of the front."""
        u = self.draws()[0]
        if self.arms:
            numbers = [int(row[0]) for row in allowed] or list(range(len(self.arms)))
            indices = self.indices(context, numbers)
            marked = self.played_of(indices)
            if self.along_front:
                k, density = self._draw_along(indices, marked, u)
            else:
                k, density = marked[int(u * len(marked))], 1.0 / len(marked)
            return numbers[k], self.arms[numbers[k]], density, numbers[k]
        lattice = self.candidates(allowed)
        indices = self.indices(context, lattice.points.values())
        marked = self.played_of(indices)
        if self.along_front:
            k, chance = self._draw_along(indices, marked, u)
            density = chance / (lattice.volumes[k // lattice.per_cell] / lattice.per_cell)
        else:
            k, density = lattice.draw(marked, u), 1.0 / lattice.size(marked)
        return -1, lattice.points[k], density, -1

    @staticmethod
    def _draw_along(indices: list[list[float]], marked: list[int], u: float) -> tuple[int, float]:
        """One of the front by what it stands for, and the chance of that."""
        weights = along_front.weigh([indices[k] for k in marked])
        drawn = along_front.draw(weights, u)
        return marked[drawn], weights[drawn] / along_front.total(weights)

    def candidates(self, allowed: Boxes, shifts: Sequence[float] | None = None) -> Lattice:
        """Of the decision that is being made, unless shifts are given."""
        drawn = [self.draws(1 + k // 4)[k % 4] for k in range(self._real_arms())]
        return lattice_of(self.space, allowed, drawn if shifts is None else shifts, self._most_candidates())

    # What is known at a context.

    def indices(
        self, context: Sequence[float], arms: Iterable[Any], optimism: float | None = None
    ) -> list[list[float]]:
        """Estimates and a little of their doubts, of arms by number or by place, relative to the first reward."""
        last = self.last_level(context)
        table = self.row(last, context, OPTIMISM if optimism is None else optimism) if last >= 0 else {}
        rows = []
        for arm in arms:
            row = [0.0] * self.learned
            for cell, weight in self._arm_corners(last, arm) if last >= 0 else []:
                for o in range(self.learned):
                    row[o] += weight * table[cell][o]
            place = self.arms[arm] if self.arms else arm
            row = self.mix_in_smooth(self.add_trend(row, context, place), context, place)
            rows.append(self.lifted(row, context, arm) if optimism is None and self._are_labels() else row)
        return rows

    def _are_labels(self) -> bool:
        return bool(self.arms) and self.kinds[self.first :] == [CATEGORICAL]

    def lifted(self, row: list[float], context: Sequence[float], arm: int) -> list[float]:
        """The indices of a label, higher if hardly any rewards were told of it beside the labels of a context."""
        labels = [j for j in range(self.first) if self.kinds[j] == CATEGORICAL]
        if math.prod(-self.values[j] for j in labels) * len(self.arms) > MOST_LABELLED:
            labels = []
        own = [
            sum(base.count)
            for digits, base in self.bases.items()
            if digits[-1] == arm and all(digits[j] == int(context[j]) for j in labels)
        ]
        told = sum(own) / self.learned
        lucks = [LIFT * LIFT * noise * math.log(1.0 + self.told) for noise in self.noise]
        return [value + math.sqrt(luck / (1.0 + told)) for value, luck in zip(row, lucks, strict=True)]

    def last_level(self, context: Sequence[float]) -> int:
        """The finest whose visited cells of contexts around this one have half of the weight; -1 if there is none."""
        for k in reversed(range(len(self.levels))):
            if self._weight(self.visited(k, context)) >= LEAST_WEIGHT:
                return k
        return -1

    def row(self, k: int, context: Sequence[float], optimism: float) -> dict[Cell, list[float]]:
        """The indices of a level's cells of arms, between the visited cells of contexts."""
        around, blocks = self.visited(k, context), self.levels[k].blocks
        all_weight, row = self._weight(around), {}
        for cell in self.levels[k].arm_cells:
            indices = [0.0] * self.learned
            for block, weight in around:
                for o, (estimate, doubt) in enumerate(blocks[block].known[cell]):
                    indices[o] += weight / all_weight * (estimate + optimism * doubt)
            row[cell] = indices
        return row

    def visited(self, k: int, context: Sequence[float]) -> Weighted:
        """The visited cells around a context."""
        around = self._corners(range(self.first), self.levels[k].depth, context)
        return [(cell, weight) for cell, weight in around if cell in self.levels[k].blocks]

    @staticmethod
    def _weight(around: Weighted) -> float:
        total = 0.0
        for _, weight in around:
            total += weight
        return total

    def counts(self, context: Sequence[float], arm: Any) -> list[int]:
        """Of the finest cell that an estimate is made of."""
        level = self.levels[self.last_level(context)]
        digits = self._digits([*context, *(self.arms[arm] if self.arms else arm)], arm if self.arms else -1)
        block, cell = self._cell(level, digits)
        rewards = level.blocks[block].rewards if block in level.blocks else {}
        return rewards.get(cell, self._nothing()).count

    def _arm_corners(self, k: int, arm: Any) -> Weighted:
        if self.arms:
            return [(self._cell(self.levels[k], self._arm_digits(arm))[1], 1.0)]
        return self._corners(range(self.first, len(self.kinds)), self.levels[k].depth, arm)

    def _corners(self, coordinates: Iterable[int], depth: Cell, place: Sequence[float]) -> Weighted:
        """The cells between whose centres a place lies, with weights; of the first three continuous coordinates."""
        corners: Weighted = [((), 1.0)]
        interpolated = 0
        for j, value in zip(coordinates, place, strict=False):
            if depth[j] == 0 or self.kinds[j] == CATEGORICAL or interpolated == MOST_MIXED:
                digit = self._digit(j, value) >> (self.bits[j] - depth[j])
                corners = [((*cell, digit), weight) for cell, weight in corners]
                continue
            interpolated += 1
            cells, position = 2 ** depth[j], value * 2 ** depth[j] - 0.5
            low, share = math.floor(position), position - math.floor(position)
            ends = [low % cells, (low + 1) % cells]
            if self.kinds[j] != PERIODIC:
                ends = [max(low, 0), min(low + 1, cells - 1)]
            corners = [
                ((*cell, end), weight * part)
                for end, part in zip(ends, (1.0 - share, share), strict=True)
                for cell, weight in corners
            ]
        return corners

    def played_of(self, indices: list[list[float]]) -> list[int]:
        """The front, less those of its ends that another all but dominates."""
        front = self.front_of(indices)
        if self.learned == 1 or not any(sums[3] > 0.0 for sums in self.compared):
            return front
        doubts = [math.sqrt(max(self.difference(o) * noise, 1e-300)) for o, noise in enumerate(self.noise)]
        units = [1.0 / (WORSE * doubt) for doubt in doubts]
        scaled = {k: [unit * value for unit, value in zip(units, indices[k], strict=True)] for k in front}
        near = END * (self.learned - 1) ** 2
        ends = [max(vector[o] for vector in scaled.values()) - near for o in range(self.learned)]

        def takes_place(other: list[float], mine: list[float]) -> bool:
            pairs, ahead = list(zip(other, mine, ends, strict=True)), 0.0
            for a, b, _ in pairs:
                ahead += a - b
            is_hardly_worse = all(b - a <= 1.0 for a, b, _ in pairs)
            return is_hardly_worse and ahead >= AHEAD and any(b > a and b >= end for a, b, end in pairs)

        return [k for k in front if not any(takes_place(scaled[other], scaled[k]) for other in front)]

    @staticmethod
    def front_of(vectors: list[list[float]]) -> list[int]:
        """Who is dominated is so by one of the front, which comes earlier in falling order of the vectors."""
        kept: list[tuple[float, ...]] = []
        for vector in sorted(set(map(tuple, vectors)), reverse=True):
            if not any(dominated(vector, other) for other in kept):
                kept.append(vector)
        best = set(kept)
        return [k for k, vector in enumerate(vectors) if tuple(vector) in best]
