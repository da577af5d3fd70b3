"""The similarity space: distances, the slices of balls, and sets of intervals."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

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
    values: list[int]  # how many values a coordinate takes; 0: a continuum, or given by `arms` alone
    norm: float = 2.0
    factors: list[float] = field(default_factory=list)
    scale: float = 1.0
    matrix: Any = None
    function: Callable[[Any, Any], float] | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        *,
        norm: Any = 2,
        weights: Any = None,
        scale: float = 1.0,
        matrix: Any = None,
        function: Callable[[Any, Any], float] | None = None,
    ) -> Space:
        """The space of a problem; the arguments are those of the package's similarity."""
        dimensions = list(problem.context)
        names = [d.name for d in dimensions]
        if isinstance(problem.arm, Finite):
            arms = problem.arm.table.tolist()
            given = ["categorical"] if problem.arm.features is None else ["linear"] * len(arms[0])
            names += ["arm"] * len(given)
        else:
            dimensions += problem.arm
            names += [d.name for d in problem.arm]
            arms, given = [], []
            if not any(isinstance(d, Real) for d in problem.arm):
                columns = [places(_kind(d), d.values) for d in problem.arm]
                arms = [list(arm) for arm in itertools.product(*columns)]
        kinds = [_kind(d) for d in dimensions] + given
        values = [d.values for d in dimensions] + [0] * len(given)
        power = float(norm)  # float("inf") is a number too
        factors = _factors(power, float(scale), _weights(names, weights))
        return cls(kinds, len(problem.context), arms, values, power, factors, float(scale), matrix, function)

    @property
    def kind(self) -> str:
        """How domains are found: on finitely many arms, in slices, or on a lattice that stands in for all arms."""
        if self.arms:
            return "finite"
        one = len(self.kinds) == self.context + 1 and self.values[self.context] == 0
        return "slices" if one and self.function is None else "lattice"

    def gap(self, j: int, a: Any, b: Any) -> Any:
        """How far apart two values of coordinate j are; b may be an array of values."""
        if self.kinds[j] == "categorical":
            return (a != b) * 1.0
        apart = abs(a - b)
        return 2.0 * _min(apart, 1.0 - apart) if self.kinds[j] == "periodic" else apart

    def part(self, a: Sequence[float], b: Sequence[Any], coordinates: Iterable[int]) -> Any:
        """What some coordinates add to a norm, before any root; those of b may be arrays."""
        total: Any = 0.0
        for j in coordinates:
            gap = self.gap(j, a[j], b[j])
            if self.norm == 2:
                total = total + self.factors[j] * (gap * gap)
            elif self.norm == 1:
                total = total + self.factors[j] * gap
            else:
                total = _max(total, self.factors[j] * gap)
        return total

    def distance(self, a: Sequence[float], b: Sequence[float]) -> float:
        """D, of diameter at most 1."""
        if self.function is not None:
            return min(1.0, self.scale * float(self.function(np.array(a), np.array(b))))
        if self.matrix is not None:
            return min(1.0, self.scale * float(self.matrix[self.pair(a)][self.pair(b)]))
        part = self.part(a, b, range(len(self.kinds)))
        return min(1.0, math.sqrt(part) if self.norm == 2 else part)

    def distances(self, a: Sequence[float], points: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """D from one point to many (n, dim): for a norm the same sums, with arrays in place of numbers."""
        if self.function is not None or self.matrix is not None or not len(points):
            return np.array([self.distance(a, point.tolist()) for point in points])
        part = self.part(a, points.T, range(len(self.kinds)))
        return np.minimum(1.0, np.sqrt(part) if self.norm == 2 else part)

    def pair(self, point: Sequence[float]) -> int:
        """The number of a context and arm in the matrix: the first context dimension counts most."""
        number = 0
        for j in range(self.context):
            place = point[j] if self.kinds[j] == "categorical" else point[j] * (self.values[j] - 1)
            number = number * self.values[j] + round(place)
        return number * len(self.arms) + self.arms.index(list(point[self.context :]))

    def slice(self, ball: Ball, context: Sequence[float]) -> list[Interval]:
        """The arms y of a one-dimensional arm space with D((x, y), centre) <= radius, as closed intervals."""
        if ball.parent < 0:
            return [(0.0, 1.0)]
        r, inverse = ball.radius, 1.0 / self.factors[self.context]
        part = self.part(ball.centre, context, range(self.context))
        left = r * r - part if self.norm == 2 else r - part
        if left < 0.0:
            return []
        if self.norm == 2:
            half = math.sqrt(left * inverse)
        elif self.norm == 1:
            half = left * inverse
        else:
            half = r * inverse
        y = ball.centre[self.context]
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
        if self.kind == "slices":
            return any(low <= point[self.context] <= high for low, high in self.slice(ball, point))
        return self.distance(ball.centre, point) <= ball.radius


def places(kind: str, values: int) -> list[float]:
    """The encoded values of a discrete coordinate; none of a continuum."""
    return [float(k) if kind == "categorical" else k / (values - 1) for k in range(values)]


def _kind(dimension: object) -> str:
    if isinstance(dimension, Categorical):
        return "categorical"
    return "periodic" if isinstance(dimension, Real) and dimension.periodic else "linear"


def _weights(names: list[str], weights: Any) -> list[float]:
    if isinstance(weights, Mapping):
        return [float(weights.get(name, 1.0)) for name in names]
    return [1.0] * len(names) if weights is None else [float(w) for w in weights]


def _factors(norm: float, scale: float, weights: list[float]) -> list[float]:
    total = 0.0
    for w in weights:
        total += w
    if norm == 2:
        return [scale * scale * (w / total) for w in weights]
    return [scale * (w / (total if norm == 1 else max(weights))) for w in weights]


def _min(a: Any, b: Any) -> Any:
    return np.minimum(a, b) if isinstance(b, np.ndarray) else min(a, b)


def _max(a: Any, b: Any) -> Any:
    return np.maximum(a, b) if isinstance(b, np.ndarray) else max(a, b)


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
