"""The levels of ParetoZoom: cells as tuples of digits, what was told of them, and which coordinates they halve."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paretozoom import Problem
from paretozoom.kernels.kinds import CATEGORICAL
from tests.reference.twin import Twin

MOST_LEVELS, MOST_ARM_CELLS = 24, 512
CANDIDATES = {0: 64, 1: 64, 2: 256}  # by continuous arm coordinates; 512 for more

Cell = tuple[int, ...]


@dataclass
class Rewards:
    """Count, sum and sum of squares of some rewards, by objective."""

    count: list[int]
    total: list[float]
    square: list[float]

    def add(self, o: int, count: int, total: float, square: float) -> None:
        """Add rewards of one objective."""
        self.count[o] += count
        self.total[o] += total
        self.square[o] += square

    def mean(self, o: int, noise: float) -> tuple[float, float]:
        """The mean, and its variance if four rewards of usual noise are added to the cell's own; zeros of nothing."""
        if self.count[o] == 0:
            return 0.0, 0.0
        mean = self.total[o] / self.count[o]
        spread = max(0.0, self.square[o] - mean * self.total[o])
        return mean, (spread + 4.0 * noise) / ((self.count[o] + 4.0) * self.count[o])


@dataclass
class Level:
    """How many bits a level has of each coordinate, its cells of arms in order, and its rewards by cell of contexts."""

    split: int  # the coordinate of arms that has more bits than in the level before, or -1
    depth: Cell
    arm_cells: list[Cell]
    blocks: dict[Cell, dict[Cell, Rewards]] = field(default_factory=dict)


class Levels(Twin):
    """Rewards by the digits of contexts and arms, on levels that follow from them."""

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        super().__init__(problem, seed=seed)
        self.kinds = problem.encoding.kinds.tolist()
        self.arms: list[list[float]] = problem.encoding.arms.tolist()
        self.bits = self._bits()
        self.told, self.following = 0, 8
        self.bases: dict[Cell, Rewards] = {}  # by the digits of the context, then those of the arm or its number
        self.levels: list[Level] = []
        self.noise = [1.0] * self.learned

    # Digits.

    def _bits(self) -> list[int]:
        """Ten of each coordinate if sixty are enough, five of features of finite arms; last, those of their number."""
        arms, kept = len(self.arms), self.first if self.arms else len(self.kinds)
        counted = [abs(v) if k == CATEGORICAL else 0 for k, v in zip(self.kinds, self.values, strict=True)]
        bits = [math.ceil(math.log2(n)) if n else 0 for n in counted]
        number = [max(1, math.ceil(math.log2(arms)))] if arms else []
        plain = [j for j, kind in enumerate(self.kinds) if kind != CATEGORICAL]
        left = 60 - sum(bits[:kept]) - sum(number)
        for j in plain:
            bits[j] = 5 if j >= kept else min(10, left // sum(p < kept for p in plain))
        return bits + number

    def _digit(self, j: int, value: float) -> int:
        if self.kinds[j] == CATEGORICAL:
            return int(value) % 2 ** self.bits[j]
        return min(int(value * 2 ** self.bits[j]), 2 ** self.bits[j] - 1)

    def _digits(self, point: Sequence[float], arm: int) -> Cell:
        """Of contexts and arms; a finite arm's number is the last."""
        digits = [self._digit(j, value) for j, value in enumerate(point)]
        return (*digits, arm) if self.arms else tuple(digits)

    def _arm_digits(self, arm: int) -> Cell:
        return self._digits([0.0] * self.first + self.arms[arm], arm)

    def _top(self, digits: Cell, depth: Cell) -> Cell:
        """The first bits of digits."""
        return tuple(g >> (b - d) for g, b, d in zip(digits, self.bits, depth, strict=True))

    def _cell(self, level: Level, digits: Cell) -> tuple[Cell, Cell]:
        """The cell of contexts and the cell of arms."""
        cell = self._top(digits, level.depth)
        return cell[: self.first], cell[self.first :]

    # The levels.

    def _nothing(self) -> Rewards:
        return Rewards([0] * self.learned, [0.0] * self.learned, [0.0] * self.learned)

    def _rewards(self, level: Level, digits: Cell) -> Rewards:
        context, arm = self._cell(level, digits)
        return level.blocks.setdefault(context, {}).setdefault(arm, self._nothing())

    def spread(self, o: int) -> float:
        """The variance of all rewards in an objective."""
        count, total, square = 0, 0.0, 0.0
        for base in self.bases.values():
            count, total, square = count + base.count[o], total + base.total[o], square + base.square[o]
        if count == 0:
            return 1.0
        return max(square / count - (total / count) * (total / count), 1e-300)

    def gain(self, j: int) -> float:
        """What the best of the first four bits of a coordinate tells, where all others are known well."""
        others, known = max(1, len(self.bits) - 1), 0
        while 2 ** ((known + 1) * others) * 8 <= self.told:
            known += 1
        best = 0.0
        for bit in range(min(self.bits[j], 4)):
            depth = tuple(bit if other == j else min(known, b) for other, b in enumerate(self.bits))
            total = 0.0
            for o in range(self.learned):
                total += self._gain(j, bit, depth, o)
            best = max(best, total)
        return best

    def _gain(self, j: int, bit: int, depth: Cell, o: int) -> float:
        """How far apart the halves of cells are, less what noise adds, as a share of the variance of rewards."""
        pairs: dict[Cell, list[list[float]]] = defaultdict(lambda: [[0.0, 0.0], [0.0, 0.0]])
        for digits, base in self.bases.items():
            half = pairs[self._top(digits, depth)][self._half(digits, j, bit)]
            half[0] += base.count[o]
            half[1] += base.total[o]
        spread = self.spread(o)
        weights, told, whole = 10.0, 10.0 * 0.2, 0
        for (count, total), (other, its) in pairs.values():
            if count and other:
                apart = total / count - its / other
                noise = self.noise[o] * (1.0 / count + 1.0 / other)
                weight = count * other / (count + other)
                weights += weight
                whole += 1
                told += weight * (apart * apart - noise) / (4.0 * spread)
        error = self.noise[o] * math.sqrt(2.0 * whole) / (4.0 * spread)
        return (told - error) / weights

    def _half(self, digits: Cell, j: int, bit: int) -> int:
        return digits[j] >> (self.bits[j] - bit - 1) & 1

    def choose_splits(self) -> list[Level]:
        """Level by level the coordinates of contexts and arms whose next bits tell most; a bit more tells a fourth."""
        gains = [self.gain(j) for j in range(len(self.bits))]
        depth, visited = [0] * len(self.bits), 1
        contexts: dict[Cell, Cell] = dict.fromkeys(self.bases, ())  # halves that were taken; passed ones do not count
        levels = [self._level(-1, tuple(depth))]
        while len(levels) < MOST_LEVELS:
            passed = [self._next_bit(j, depth) for j in range(len(self.bits))]
            depth[: self.first] = passed[: self.first]
            outer = self._best(range(self.first), gains, passed)
            inner = self._best(range(self.first, len(self.bits)), gains, passed)
            finer = [passed[j] + 1 if j == inner else d for j, d in enumerate(depth)]
            if inner >= 0 and self._count_arm_cells(finer) > (MOST_ARM_CELLS if self.arms else self._most_cells()):
                inner = -1
            if outer >= 0 and inner >= 0:
                tells = [gains[j] / 4.0 ** passed[j] for j in (outer, inner)]
                outer, inner = (-1 if tells[0] * 6 < tells[1] else outer), (-1 if tells[1] * 6 < tells[0] else inner)
            if outer < 0 and inner < 0:
                break
            if outer >= 0:
                contexts = {d: (*taken, self._half(d, outer, depth[outer])) for d, taken in contexts.items()}
                visited, depth[outer] = len(set(contexts.values())), depth[outer] + 1
            if inner >= 0:
                depth[inner] = passed[inner] + 1
            if visited * self._count_arm_cells(depth) > max(1024, self.told):
                break
            levels.append(self._level(inner, tuple(depth)))
        return levels

    def _next_bit(self, j: int, depth: list[int]) -> int:
        """The next bit that tells two bases apart; of arms that are not finitely many, the next bit."""
        if not self.arms and j >= self.first:
            return depth[j]
        cells = [self._top(digits, tuple(depth)) for digits in self.bases]
        for bit in range(depth[j], self.bits[j]):
            halves = {(cell, self._half(d, j, bit)) for cell, d in zip(cells, self.bases, strict=True)}
            if len(halves) > len(set(cells)):
                return bit
        return self.bits[j]

    def _best(self, coordinates: Iterable[int], gains: list[float], bits: list[int]) -> int:
        left = [j for j in coordinates if bits[j] < self.bits[j]]
        return max(left, key=lambda j: gains[j] / 4.0 ** bits[j], default=-1)

    def _most_cells(self) -> int:
        return CANDIDATES.get(sum(v == 0 for v in self.values[self.first :]), 512)

    def _count_arm_cells(self, depth: Sequence[int]) -> int:
        return len(self._level(-1, tuple(depth)).arm_cells) if self.arms else 2 ** sum(depth[self.first :])

    def _level(self, split: int, depth: Cell) -> Level:
        if self.arms:
            tops = [self._top(self._arm_digits(arm), depth)[self.first :] for arm in range(len(self.arms))]
            return Level(split, depth, list(dict.fromkeys(tops)))
        return Level(split, depth, list(itertools.product(*(range(2**d) for d in depth[self.first :]))))

    def _measure_noise(self, o: int) -> float:
        """The variance of rewards within the cells of the last level, and of two rewards overall."""
        squares, free, last = 2.0 * self.spread(o), 2.0, self.levels[-1]
        for block in last.blocks.values():
            for here in (block[cell] for cell in last.arm_cells if cell in block):
                count, total = here.count[o], here.total[o]
                if count > 1:
                    squares += max(0.0, here.square[o] - total * total / count)
                    free += count - 1.0
        return max(squares / free, 1e-300)
