"""ParetoZoom as its kernels describe it: estimates that follow their own definition, cell by cell.

Sums run in the order of the kernels', so that both round alike.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from paretozoom import Decision, Problem
from paretozoom.kernels.kinds import CATEGORICAL, PERIODIC
from tests.reference.lattice import Lattice, lattice_of
from tests.reference.levels import CANDIDATES, Cell, Levels
from tests.reference.pareto import dominated
from tests.reference.space import Space
from tests.reference.twin import Answer, Boxes

OPTIMISM, MOST_MIXED = 0.03, 3

Weighted = list[tuple[Cell, float]]


@dataclass
class Look:
    """What is known at one context, or at the middle of a base: estimates by level, cell of arms and objective."""

    context: Sequence[float]
    corners: dict[int, Weighted] = field(default_factory=dict)
    known: dict[tuple[int, Cell, int], tuple[float, float]] = field(default_factory=dict)


class ParetoZoom(Levels):
    """Slow and obvious; takes the arguments of the package's ParetoZoom."""

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        super().__init__(problem, seed=seed)
        self.space = Space.of(problem)
        self.roughness: list[list[float]] = []

    # The verbs.

    def tell(self, decision: Decision, reward: dict[str, float]) -> None:
        """Learn what is told, be it a part."""
        kept, told = self.open[decision.number]
        assert kept == decision
        if self.told >= self.following:
            self.rebuild()
        point, given = np.zeros(self.problem.dim), np.zeros(self.learned)
        self.problem.encode_context(decision.context, point)
        arm = self.problem.encode_arm(decision.arm, point)
        self.problem.encode_reward(reward, given)
        digits = self._digits(point.tolist(), arm)
        places = [self.bases.setdefault(digits, self._nothing())]
        places += [self._rewards(level, digits) for level in self.levels]
        for o, value in enumerate(given.tolist()):
            if not math.isnan(value):
                for place in places:
                    place.add(o, 1, value, value * value)
        self.told += not told
        told.update(reward)
        if len(told) == self.learned:
            del self.open[decision.number]

    def answer(self, context: list[float], allowed: Boxes) -> Answer:
        """A candidate whose index no other dominates, by the size that it stands for."""
        u = self.draws()[0]
        if self.arms:
            numbers = [int(row[0]) for row in allowed] or list(range(len(self.arms)))
            marked = [numbers[k] for k in self.front_of(self.indices(context, numbers))]
            arm = marked[int(u * len(marked))]
            return arm, self.arms[arm], 1.0 / len(marked), arm
        lattice = self.candidates(allowed)
        marked = self.front_of(self.indices(context, lattice.points.values()))
        return -1, lattice.points[lattice.draw(marked, u)], 1.0 / lattice.size(marked), -1

    def candidates(self, allowed: Boxes, shifts: Sequence[float] | None = None) -> Lattice:
        """Of the decision that is being made, unless shifts are given."""
        real = sum(v == 0 for v in self.values[self.first :])
        drawn = [self.draws(1 + k // 4)[k % 4] for k in range(real)]
        return lattice_of(self.space, allowed, drawn if shifts is None else shifts, CANDIDATES.get(real, 512))

    def indices(self, context: list[float], arms: Iterable[Any], optimistic: bool = True) -> list[list[float]]:
        """Estimates with a little optimism, of arms by number or by place."""
        look, optimism = Look(context), OPTIMISM if optimistic else 0.0
        last = self.last_level(look)
        if last < 0:
            return [[0.0] * self.learned for _ in arms]
        rows = []
        for arm in arms:
            corners = self._arm_corners(last, arm)
            estimates = [self._between(look, last, corners, o) for o in range(self.learned)]
            rows.append([mean + optimism * math.sqrt(variance) for mean, variance in estimates])
        return rows

    @staticmethod
    def front_of(vectors: list[list[float]]) -> list[int]:
        """Who is dominated is so by one of the front, which comes earlier in falling order of the vectors."""
        kept: list[tuple[float, ...]] = []
        for vector in sorted(set(map(tuple, vectors)), reverse=True):
            if not any(dominated(vector, other) for other in kept):
                kept.append(vector)
        best = set(kept)
        return [k for k, vector in enumerate(vectors) if tuple(vector) in best]

    # Estimates.

    def last_level(self, look: Look) -> int:
        """The second in a row in which no cell makes much of its own rewards, else the last of all; -1 if none is."""
        idle = 0
        for k, level in enumerate(self.levels):
            cells = {cell for block, _ in self._context_corners(look, k) for cell in level.blocks[block]}
            busy = k == 0 or any(self._own(look, k, c, o)[0] > 0.1 for c in cells for o in range(self.learned))
            idle = 0 if busy else idle + 1
            if idle == 2:
                return k
        return len(self.levels) - 1

    def estimate(self, look: Look, k: int, cell: Cell, o: int) -> tuple[float, float]:
        """The mean reward of a cell of arms and its variance: what the coarser level says, corrected."""
        if (k, cell, o) not in look.known:
            share, own, noise = self._own(look, k, cell, o)
            if k == 0:
                seen = any(block[cell].count[o] for block in self.levels[0].blocks.values())
                look.known[k, cell, o] = (own, noise) if seen else (0.0, self.noise[o])
            else:
                mean, doubt = self._before(look, k, cell, o)
                rough, rest, both = self.roughness[k][o], 1.0 - share, min(noise, doubt)
                variance = rest * rest * (doubt + rough) + share * share * noise + 2.0 * share * rest * both
                look.known[k, cell, o] = mean + share * (own - mean), variance
        return look.known[k, cell, o]

    def _own(self, look: Look, k: int, cell: Cell, o: int) -> tuple[float, float, float]:
        """What counts of a cell's own rewards, their mean between the cells of contexts, and its variance."""
        weights = mean = noise = 0.0
        for block, weight in self._context_corners(look, k):
            here = self.levels[k].blocks[block].get(cell, self._nothing())
            own, doubt = here.mean(o, self.noise[o])
            weights += weight if here.count[o] else 0.0
            mean += weight * own
            noise += weight * weight * doubt
        if k == 0 or weights <= 0.05:
            return 0.0, mean, noise
        inverse = 1.0 / weights
        noise *= inverse * inverse
        return self.roughness[k][o] / (self.roughness[k][o] + noise), mean / weights, noise

    def _before(self, look: Look, k: int, cell: Cell, o: int) -> tuple[float, float]:
        """What the level before says: three quarters of the cell's parent, the rest of the parent's neighbour."""
        parent, beside = self.parents(k, cell)
        if self.levels[k].split < 0:
            return self.estimate(look, k - 1, parent, o)
        pairs = zip(self.estimate(look, k - 1, parent, o), self.estimate(look, k - 1, beside, o), strict=True)
        mean, doubt = (0.75 * near + 0.25 * next_to for near, next_to in pairs)
        return mean, doubt

    def parents(self, k: int, cell: Cell) -> tuple[Cell, Cell]:
        """The cell that a cell of arms is in at the level before, and the one next to that."""
        j = self.levels[k].split - self.first
        if self.levels[k].split < 0:
            return cell, cell
        if self.arms:
            steps = zip(cell, self.levels[k].depth[self.first :], self.levels[k - 1].depth[self.first :], strict=True)
            parent = tuple(digit >> (now - before) for digit, now, before in steps)
            return parent, parent
        cells, near = 2 ** self.levels[k - 1].depth[self.first + j], cell[j] // 2
        beside = near + (1 if cell[j] % 2 else -1)
        if self.kinds[self.first + j] == PERIODIC:
            beside %= cells
        elif self.kinds[self.first + j] == CATEGORICAL or not 0 <= beside < cells:
            beside = near
        return (*cell[:j], near, *cell[j + 1 :]), (*cell[:j], beside, *cell[j + 1 :])

    def _context_corners(self, look: Look, k: int) -> Weighted:
        """The visited cells around a context."""
        if k not in look.corners:
            around = self._corners(range(self.first), self.levels[k].depth, look.context)
            look.corners[k] = [(cell, weight) for cell, weight in around if cell in self.levels[k].blocks]
        return look.corners[k]

    def _arm_corners(self, k: int, arm: Any) -> Weighted:
        if self.arms:
            return [(self._cell(self.levels[k], self._arm_digits(arm))[1], 1.0)]
        return self._corners(range(self.first, len(self.kinds)), self.levels[k].depth, arm)

    def _corners(self, coordinates: Iterable[int], depth: Cell, place: Sequence[float]) -> Weighted:
        """The cells between whose centres a place lies, with weights; of the first three continuous coordinates."""
        corners: Weighted = [((), 1.0)]
        mixed = 0
        for j, value in zip(coordinates, place, strict=False):
            if depth[j] == 0 or self.kinds[j] == CATEGORICAL or mixed == MOST_MIXED:
                digit = self._digit(j, value) >> (self.bits[j] - depth[j])
                corners = [((*cell, digit), weight) for cell, weight in corners]
                continue
            mixed += 1
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

    def _between(self, look: Look, k: int, corners: Weighted, o: int) -> tuple[float, float]:
        mean = variance = 0.0
        for cell, weight in corners:
            one, its = self.estimate(look, k, cell, o)
            mean += weight * one
            variance += weight * its
        return mean, variance

    # The levels, made anew.

    def rebuild(self) -> None:
        """Choose splits, sum the bases in the cells of all levels, estimate noise and roughness."""
        self.following = self.told + max(4, self.told // (5 if self.told < 1000 else 2))
        self.levels = self.choose_splits()
        for level, (digits, base) in itertools.product(self.levels, self.bases.items()):
            cell = self._rewards(level, digits)
            for o in range(self.learned):
                cell.add(o, base.count[o], base.total[o], base.square[o])
        self.noise = [self._measure_noise(o) for o in range(self.learned)]
        self._measure_roughness()

    def _measure_roughness(self) -> None:
        """What the level before leaves of a base and of others in its cell has the variance of a level in common."""
        step = max(1, len(self.bases) // 256)
        sample = [(d, base, self._middle(d)) for d, base in list(self.bases.items())[len(self.bases) % step :: step]]
        self.roughness = [[1.0] * self.learned]
        for k, level in enumerate(self.levels[1:], 1):
            prior = [0.25 * (self.spread(o) if k == 1 else self.roughness[-1][o]) for o in range(self.learned)]
            weights, squares = [2.0] * self.learned, [2.0 * value for value in prior]
            for (digits, base, (look, arm)), o in itertools.product(sample, range(self.learned)):
                own, cell = base.count[o], self._cell(level, digits)[1]
                here = self._rewards(level, digits)
                others = here.count[o] - own
                if own == 0 or others == 0:
                    continue
                rest = (here.total[o] - base.total[o]) / others - self._expected(look, k, cell, o)
                left = base.total[o] / own - self._between(look, k - 1, self._arm_corners(k - 1, arm), o)[0]
                weight = own * min(1.0, others / 16.0)
                weights[o] += weight
                squares[o] += weight * left * rest
            rough = [max(s / w, 0.01 * p) for s, w, p in zip(squares, weights, prior, strict=True)]
            self.roughness.append(rough)

    def _expected(self, look: Look, k: int, cell: Cell, o: int) -> float:
        parent, beside = self.parents(k, cell)
        return 0.75 * self.estimate(look, k - 1, parent, o)[0] + 0.25 * self.estimate(look, k - 1, beside, o)[0]

    def _middle(self, digits: Cell) -> tuple[Look, Any]:
        """The context in the middle of a base, and its arm."""
        middle = [
            float(digit) if kind == CATEGORICAL else (digit + 0.5) / 2**bits
            for digit, kind, bits in zip(digits, self.kinds, self.bits, strict=False)
        ]
        return Look(middle[: self.first]), digits[-1] if self.arms else middle[self.first :]
