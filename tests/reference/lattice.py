"""What a round may choose among: intervals of one arm, numbered arms, or the points of a lattice."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.reference.space import SLIVER, Ball, Interval, Space, length, merged, places, walk, without

KOROBOV = 123
MOST_OF_A_CELL = 512
MOST_CANDIDATES = 2048


@dataclass
class Intervals:
    """A continuous arm; a domain is a list of intervals."""

    allowed: list[Interval]

    def domains(self, space: Space, balls: Sequence[Ball], context: Sequence[float]) -> dict[int, list[Interval]]:
        """The domain of every relevant ball: its slice without what is forbidden and without smaller balls."""
        slices = [space.slice(ball, context) for ball in balls]
        ends = [0.0, *itertools.chain(*self.allowed), 1.0]
        forbidden = [(low, high) for low, high in zip(ends[::2], ends[1::2], strict=True) if low < high]
        found = {}
        for k, ball in enumerate(balls):
            parts = slices[k]
            for low, high in forbidden:
                parts = without(parts, low, high)
            for other, theirs in zip(balls, slices, strict=True):
                if not parts:
                    break
                if other.radius < ball.radius:
                    for low, high in theirs:
                        parts = without(parts, low, high)
            parts = [(low, high) for low, high in parts if high - low >= SLIVER]
            if parts:
                found[k] = parts
        return found

    def union(self, domains: Iterable[list[Interval]]) -> list[Interval]:
        """All of some domains, as one."""
        return merged(itertools.chain(*domains))

    def size(self, domain: list[Interval]) -> float:
        """The length of a domain."""
        return length(domain)

    def draw(self, domain: list[Interval], u: float) -> float:
        """The arm that a uniform number stands for."""
        return walk(domain, u)

    def holds(self, domain: list[Interval], arm: float) -> bool:
        """Whether an arm lies in a domain."""
        return any(low <= arm <= high for low, high in domain)

    def coordinates(self, arm: float) -> list[float]:
        """Where an arm lies."""
        return [arm]


@dataclass
class Points:
    """Arms by number; a domain is a list of numbers, ascending."""

    points: dict[int, list[float]]

    def domains(self, space: Space, balls: Sequence[Ball], context: Sequence[float]) -> dict[int, list[int]]:
        """The domain of every relevant ball: the arms in it that are in no smaller one."""
        numbers = np.array(list(self.points))
        arms = np.array(list(self.points.values()))
        table = np.column_stack([np.tile(np.array(context, float), (len(arms), 1)), arms])
        smallest = np.full(len(numbers), np.inf)  # the radius of the smallest balls that contain an arm
        found: dict[int, list[int]] = {}
        for k in sorted(range(len(balls)), key=lambda k: balls[k].radius):
            ball = balls[k]
            mine = np.flatnonzero(smallest >= ball.radius)
            if ball.parent >= 0:
                mine = mine[space.distances(ball.centre, table[mine]) <= ball.radius]
            smallest[mine] = ball.radius
            if len(mine):
                found[k] = numbers[mine].tolist()
        return dict(sorted(found.items()))

    def union(self, domains: Iterable[list[int]]) -> list[int]:
        """All of some domains, as one."""
        return sorted(set().union(*domains))

    def size(self, domain: list[int]) -> float:
        """How many arms there are."""
        return len(domain)

    def draw(self, domain: list[int], u: float) -> int:
        """The arm that a uniform number stands for."""
        return domain[math.floor(u * len(domain))]

    def holds(self, domain: list[int], arm: int) -> bool:
        """Whether an arm lies in a domain."""
        return arm in domain

    def coordinates(self, arm: int) -> list[float]:
        """Where an arm lies."""
        return self.points[arm]


@dataclass
class Lattice(Points):
    """Cells with equally many candidates each, which stand in for all arms; the candidates are numbered."""

    volumes: list[float]
    per_cell: int

    def weights(self, domain: list[int]) -> list[float]:
        """How much of the arm space the candidates of a domain stand for, by cell."""
        counts = Counter(number // self.per_cell for number in domain)
        return [counts[cell] * volume / self.per_cell for cell, volume in enumerate(self.volumes)]

    def size(self, domain: list[int]) -> float:
        """The volume that a domain stands for."""
        total = 0.0
        for weight in self.weights(domain):
            total += weight
        return total

    def draw(self, domain: list[int], u: float) -> int:
        """The candidate that a uniform number stands for: first its cell, by weight, then one of the cell's."""
        target = u * self.size(domain)
        cells = sorted({number // self.per_cell for number in domain})
        weights = self.weights(domain)
        for cell in cells[:-1]:
            if target < weights[cell]:
                break
            target -= weights[cell]
        else:
            cell = cells[-1]
        mine = [number for number in domain if number // self.per_cell == cell]
        return mine[min(int(target / (self.volumes[cell] / self.per_cell)), len(mine) - 1)]


def lattice_of(
    space: Space, rows: Sequence[Sequence[float]], shifts: Sequence[float] | None, per_cell: int = MOST_OF_A_CELL
) -> Lattice:
    """The candidates of the feasible boxes, or of the whole arm space if there are none.

    `shifts` move the lattice, one number per continuous coordinate; without them it is centred. There are at most
    `per_cell` candidates in each box.
    """
    kinds, values = space.kinds[space.context :], space.values[space.context :]
    sides = [[(v, v) for v in places(*about)] or [(0.0, 1.0)] for about in zip(kinds, values, strict=True)]
    boxes = [list(box) for box in itertools.product(*sides)]
    if len(rows):
        boxes = [list(zip(row[: len(kinds)], row[len(kinds) :], strict=True)) for row in rows]
    while len(boxes) * per_cell > MOST_CANDIDATES and per_cell > 1:
        per_cell //= 2
    real = [j for j, v in enumerate(values) if v == 0]
    shifts = [0.5 / per_cell] * len(real) if shifts is None else shifts
    points = [point for box in boxes for point in _points(box, real, per_cell, shifts)]
    volumes = []
    for box in boxes:
        volume = 1.0
        for j in real:
            volume *= box[j][1] - box[j][0]
        volumes.append(volume)
    return Lattice(dict(enumerate(points)), volumes, per_cell)


def _points(box: list[Interval], real: list[int], per_cell: int, shifts: Sequence[float]) -> list[list[float]]:
    """The points of a cell."""
    points = np.tile([float(low) for low, _ in box], (per_cell, 1))
    generator = 1
    for j, shift in zip(real, shifts, strict=True):
        low, high = box[j]
        u = (np.arange(per_cell) * generator % per_cell) / per_cell + shift
        u[u >= 1.0] -= 1.0
        points[:, j] = low + (high - low) * u
        generator = (generator * KOROBOV) % MOST_OF_A_CELL
    found: list[list[float]] = points.tolist()
    return found
