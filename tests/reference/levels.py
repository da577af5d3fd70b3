"""The levels of ParetoZoom: cells as tuples of digits, what was told of them, and which coordinates they halve."""

from __future__ import annotations

import itertools
import math
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from paretozoom import Problem
from paretozoom.kernels.core.kinds import CATEGORICAL
from tests.reference.twin import Twin

MOST_LEVELS, LEAST_CELLS = 24, 1024
MOST_GROUPS = 4096  # of finite arms
CANDIDATES = {0: 64, 1: 64, 2: 256}  # by continuous arm coordinates
MOST_CANDIDATES = 512  # for more coordinates
MOST_LISTED = 2048  # candidates of all combinations of discrete values
FINER = 2  # cells of arms for each candidate
ALL_BITS, MOST_BITS, FEATURE_BITS = 60, 10, 5
ARM_BITS = {0: 7, 1: 7, 2: 5}  # at least, by continuous arm coordinates
LEAST_ARM_BITS = 4  # for more coordinates
FIRST_REWARDS = 8
PRIOR_GAIN, PRIOR_PAIRS = 0.2, 10.0
WELL_KNOWN, BITS_JUDGED, MOST_JUDGED = 8, 4, 16384
ALIKE = 6.0

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


@dataclass
class Block:
    """What was told of a cell of contexts, and what was made of it, by cell of arms."""

    rewards: dict[Cell, Rewards] = field(default_factory=dict)
    known: dict[Cell, list[tuple[float, float]]] = field(default_factory=dict)  # (estimate, doubt) by objective
    told: int = 0
    due: int = 0  # how many rewards let the estimates be made anew


@dataclass
class Level:
    """How many bits a level has of each coordinate, its cells of arms in order, and its blocks by cell of contexts."""

    inner: int  # the coordinate of arms that it halves, or -1
    outer: int  # the coordinate of contexts that it halves, or -1
    depth: Cell
    arm_cells: list[Cell]
    blocks: dict[Cell, Block] = field(default_factory=dict)
    parents: dict[Cell, tuple[Cell, Cell]] = field(default_factory=dict)  # of cells of arms, once they were asked for

    def halves_like(self, other: Level) -> bool:
        """Whether two levels have the same cells, made in the same way."""
        return (self.inner, self.outer, self.depth, self.arm_cells) == (
            other.inner,
            other.outer,
            other.depth,
            other.arm_cells,
        )


class Levels(Twin):
    """Rewards by the digits of contexts and arms, on levels that follow from them."""

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        super().__init__(problem, seed=seed)
        self.kinds = problem.encoding.kinds.tolist()
        self.arms: list[list[float]] = problem.encoding.arms.tolist()
        self.bits = self._bits()
        self.told, self.parts, self.following = 0, 0, FIRST_REWARDS
        self.bases: dict[Cell, Rewards] = {}  # by the digits of the context, then those of the arm or its number
        self.rest = self.bases  # what levels are made for: the rewards, or what a trend leaves of them
        self.levels: list[Level] = []
        self.noise = [1.0] * self.learned

    # Digits.

    def _bits(self) -> list[int]:
        """Ten of each coordinate if sixty are enough, else even shares, of arms not too few; last, those of a number.

        Finite arms are known by their number; their features have five bits. If labels leave too little for numbers,
        those with the most bits lose some, the first of them first.
        """
        arms, kept = len(self.arms), self.first if self.arms else len(self.kinds)
        bits = [FEATURE_BITS] * len(self.kinds)
        for j, (kind, values) in enumerate(zip(self.kinds, self.values, strict=True)):
            if kind == CATEGORICAL:
                bits[j] = math.ceil(math.log2(abs(values))) if values else 0  # what labels are is told by their number
        number = [max(1, math.ceil(math.log2(arms)))] if arms else []
        plain = [j for j in range(kept) if self.kinds[j] != CATEGORICAL]
        labels = [j for j in range(kept) if j not in plain]
        least = ARM_BITS.get(self._real_arms(), LEAST_ARM_BITS)
        wanted = len([j for j in plain if j < self.first]) + least * len([j for j in plain if j >= self.first])
        while sum(number) + sum(bits[j] for j in labels) + min(wanted, ALL_BITS // 2) > ALL_BITS:
            bits[max(labels, key=lambda j: (bits[j], -j))] -= 1
        left = ALL_BITS - sum(number) - sum(bits[j] for j in labels)
        while plain:
            share = left // len(plain)
            j = plain.pop()
            if j >= self.first:
                share = max(share, least)
            bits[j] = min(MOST_BITS, share, left)
            left -= bits[j]
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

    def _place(self, level: Level, digits: Cell) -> tuple[Block, Rewards]:
        """The block that some digits lie in, and the rewards of their cell in it."""
        context, arm = self._cell(level, digits)
        block = level.blocks.setdefault(context, Block())
        return block, block.rewards.setdefault(arm, self._nothing())

    def spread(self, o: int) -> float:
        """The variance of all rewards in an objective."""
        count, total, square = 0, 0.0, 0.0
        for base in self.rest.values():
            count, total, square = count + base.count[o], total + base.total[o], square + base.square[o]
        if count == 0:
            return 1.0
        return max(square / count - (total / count) * (total / count), 1e-300)

    def gain(self, j: int) -> float:
        """What the best of the first four bits of a coordinate tells, where all others are known well.

        Of very many bases, one in so many is asked.
        """
        step = 1 + len(self.bases) // MOST_JUDGED
        judged = list(self.rest.items())[::step]
        others, known = max(1, len(self.bits) - 1), 0
        while 2 ** ((known + 1) * others) * WELL_KNOWN <= self.told // step:
            known += 1
        best = 0.0
        for bit in range(min(self._telling_bits(j), BITS_JUDGED)):
            depth = tuple(bit if other == j else min(known, b) for other, b in enumerate(self.bits))
            total = 0.0
            for o in range(self.learned):
                total += self._gain(judged, j, bit, depth, o)
            best = max(best, total)
        return best

    def _gain(self, judged: Iterable[tuple[Cell, Rewards]], j: int, bit: int, depth: Cell, o: int) -> float:
        """How far apart the halves of cells are, less what noise adds, as a share of the variance of rewards."""
        pairs: dict[Cell, list[list[float]]] = defaultdict(lambda: [[0.0, 0.0], [0.0, 0.0]])
        for digits, base in judged:
            half = pairs[self._top(digits, depth)][self._half(digits, j, bit)]
            half[0] += base.count[o]
            half[1] += base.total[o]
        spread = self.spread(o)
        weights, told, whole = PRIOR_PAIRS, PRIOR_PAIRS * PRIOR_GAIN, 0
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

    def _telling_bits(self, j: int) -> int:
        """Those that tell the values of a coordinate apart; of what has few values, fewer than it is read in."""
        values = self.values[j] if j < len(self.kinds) else 0
        return min(self.bits[j], max(1, math.ceil(math.log2(values)))) if values > 0 else self.bits[j]

    def _half(self, digits: Cell, j: int, bit: int) -> int:
        return digits[j] >> (self.bits[j] - bit - 1) & 1

    def choose_splits(self) -> list[Level]:
        """Level by level the coordinates of contexts and arms whose next bits tell most; a bit more tells a fourth."""
        gains = [self.gain(j) for j in range(len(self.bits))]
        depth, visited = [0] * len(self.bits), 1
        contexts: dict[Cell, Cell] = dict.fromkeys(self.bases, ())  # halves that were taken; passed ones do not count
        levels = [self._level(-1, -1, tuple(depth))]
        while len(levels) < MOST_LEVELS:
            passed = [self._next_bit(j, depth) for j in range(len(self.bits))]
            depth[: self.first] = passed[: self.first]
            outer = self._best(range(self.first), gains, passed)
            inner = self._best(range(self.first, len(self.bits)), gains, passed)
            finer = [passed[j] + 1 if j == inner else d for j, d in enumerate(depth)]
            if inner >= 0 and self._count_arm_cells(finer) > self._most_cells():
                inner = -1
            if outer >= 0 and inner >= 0:
                tells = [gains[j] / 4.0 ** passed[j] for j in (outer, inner)]
                if tells[0] * ALIKE < tells[1]:
                    outer = -1
                elif tells[1] * ALIKE < tells[0]:
                    inner = -1
            if outer < 0 and inner < 0:
                break
            if outer >= 0:
                contexts = {d: (*taken, self._half(d, outer, depth[outer])) for d, taken in contexts.items()}
                visited, depth[outer] = len(set(contexts.values())), depth[outer] + 1
            if inner >= 0:
                depth[inner] = passed[inner] + 1
            if visited * self._count_arm_cells(depth) > max(LEAST_CELLS, self.told):
                break
            levels.append(self._level(inner, outer, tuple(depth)))
        return levels

    def _next_bit(self, j: int, depth: list[int]) -> int:
        """The next bit that tells two bases apart; of arms that are not finitely many, the next bit."""
        if not self.arms and j >= self.first:
            return depth[j]
        cells = [self._top(digits, tuple(depth)) for digits in self.bases]
        for bit in range(depth[j], self._telling_bits(j)):
            halves = {(cell, self._half(d, j, bit)) for cell, d in zip(cells, self.bases, strict=True)}
            if len(halves) > len(set(cells)):
                return bit
        return max(depth[j], self._telling_bits(j))

    def _best(self, coordinates: Iterable[int], gains: list[float], bits: list[int]) -> int:
        left = [j for j in coordinates if bits[j] < self._telling_bits(j)]
        return max(left, key=lambda j: gains[j] / 4.0 ** bits[j], default=-1)

    def _most_cells(self) -> int:
        """Of arms, that a level may have."""
        if self.arms:
            return min(len(self.arms), MOST_GROUPS)
        discrete = [abs(v) for v in self.values[self.first :] if v != 0]
        each = self._most_candidates()
        while each > 1 and each * math.prod(discrete) > MOST_LISTED:
            each //= 2
        return math.prod([FINER * each, *(2 ** math.ceil(math.log2(v)) for v in discrete)])

    def _most_candidates(self) -> int:
        return CANDIDATES.get(self._real_arms(), MOST_CANDIDATES)

    def _real_arms(self) -> int:
        return sum(v == 0 for v in self.values[self.first :])

    def _count_arm_cells(self, depth: Sequence[int]) -> int:
        return len(self._level(-1, -1, tuple(depth)).arm_cells) if self.arms else 2 ** sum(depth[self.first :])

    def _level(self, inner: int, outer: int, depth: Cell) -> Level:
        if self.arms:
            tops = [self._top(self._arm_digits(arm), depth)[self.first :] for arm in range(len(self.arms))]
            return Level(inner, outer, depth, list(dict.fromkeys(tops)))
        return Level(inner, outer, depth, list(itertools.product(*(range(2**d) for d in depth[self.first :]))))
