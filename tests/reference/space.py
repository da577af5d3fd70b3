"""The similarity space: distances, the slices of balls, and sets of intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from paretozoom import Categorical, Finite, Problem, Real

Interval = tuple[float, float]
SLIVER = 1e-12  # a part shorter than this is no part


@dataclass
class Ball:
    """An active ball; the root has no parent."""

    centre: list[float]
    radius: float
    parent: int
    count: list[int]
    total: list[float]


@dataclass
class Space:
    """Context coordinates, then arm coordinates; `arms` lists the finitely many arms, if they are."""

    kinds: list[str]
    context: int
    arms: list[list[float]]
    values: list[int]  # how many values a context coordinate takes; 0: a continuum
    scale: float = 1.0

    @classmethod
    def of(cls, problem: Problem, scale: float = 1.0) -> Space:
        """The space of a problem."""
        kinds = [_kind(d) for d in problem.context]
        values = [0 if isinstance(d, Real) else d.values for d in problem.context]
        if isinstance(problem.arm, Finite):
            arms = problem.arm.table.tolist()
            kinds += ["categorical"] if problem.arm.features is None else ["linear"] * len(arms[0])
        else:
            kinds += [_kind(d) for d in problem.arm]
            arms = []
            if not any(isinstance(d, Real) for d in problem.arm):
                columns = [
                    [float(v) if isinstance(d, Categorical) else v / (d.values - 1) for v in range(d.values)]
                    for d in problem.arm
                ]
                arms = [list(arm) for arm in itertools.product(*columns)]
        return cls(kinds, len(problem.context), arms, values, scale)

    def gap(self, j: int, a: float, b: float) -> float:
        """How far apart two values of coordinate j are."""
        if self.kinds[j] == "categorical":
            return 0.0 if a == b else 1.0
        apart = abs(a - b)
        return 2.0 * min(apart, 1.0 - apart) if self.kinds[j] == "periodic" else apart

    def squares(self, a: Sequence[float], b: Sequence[float], coordinates: Iterable[int]) -> float:
        """The sum of the squared gaps of some coordinates."""
        total = 0.0
        for j in coordinates:
            gap = self.gap(j, a[j], b[j])
            total += gap * gap
        return total

    def distance(self, a: Sequence[float], b: Sequence[float]) -> float:
        """D, of diameter at most 1."""
        dim = len(self.kinds)
        return min(1.0, self.scale * math.sqrt(self.squares(a, b, range(dim)) / dim))

    def slice(self, ball: Ball, context: Sequence[float]) -> list[Interval]:
        """The arms y of a one-dimensional arm space with D((x, y), centre) <= radius, as closed intervals."""
        if ball.parent < 0:
            return [(0.0, 1.0)]
        radius = ball.radius / self.scale
        rest = len(self.kinds) * radius * radius - self.squares(context, ball.centre, range(self.context))
        if rest < 0.0:
            return []
        half, y = math.sqrt(rest), ball.centre[self.context]
        if self.kinds[self.context] == "linear":
            return [(max(0.0, y - half), min(1.0, y + half))]
        half /= 2.0
        if half >= 0.5:
            return [(0.0, 1.0)]
        if y - half < 0.0:
            return [(0.0, y + half), (y - half + 1.0, 1.0)]
        if y + half > 1.0:
            return [(0.0, y + half - 1.0), (y - half, 1.0)]
        return [(y - half, y + half)]

    def contains(self, ball: Ball, point: Sequence[float]) -> bool:
        """Whether a point lies in a ball."""
        if ball.parent < 0:
            return True
        if self.arms:
            return self.distance(ball.centre, point) <= ball.radius
        return any(low <= point[self.context] <= high for low, high in self.slice(ball, point))


def _kind(dimension: object) -> str:
    if isinstance(dimension, Categorical):
        return "categorical"
    return "periodic" if isinstance(dimension, Real) and dimension.periodic else "linear"


def without(parts: list[Interval], low: float, high: float) -> list[Interval]:
    """What a closed interval leaves of some intervals."""
    left = []
    for a, b in parts:
        if a < low:
            left.append((a, min(b, low)))
        if high < b:
            left.append((max(a, high), b))
    return left


def merged(parts: Iterable[Interval]) -> list[Interval]:
    """The same set as disjoint intervals, ascending; intervals that touch become one."""
    union: list[Interval] = []
    for low, high in sorted(parts):
        if union and low <= union[-1][1]:
            union[-1] = (union[-1][0], max(union[-1][1], high))
        else:
            union.append((low, high))
    return union


def length(parts: Iterable[Interval]) -> float:
    """The total length of disjoint intervals, summed in their order."""
    total = 0.0
    for low, high in parts:
        total += high - low
    return total


def walk(parts: Sequence[Interval], share: float) -> float:
    """The point that leaves the given share of the total length of disjoint, ascending intervals below it."""
    left = share * length(parts)
    for low, high in parts[:-1]:
        if left < high - low:
            return low + left
        left -= high - low
    low, high = parts[-1]
    return min(low + left, high)
