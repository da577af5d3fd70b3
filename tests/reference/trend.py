"""The trend of ParetoZoom: a quadratic of contexts and arms, fitted to the rewards while they are few.

Sums run in the order of the kernels', so that both round alike.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

from paretozoom import Problem
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from tests.reference.levels import Cell, Levels, Rewards

MOST_LABELS, MOST_TERMS = 16, 128
MOST_FUNCTIONS, MOST_OF_ALL = 14, 96
MARGIN = 0.15
TURN = math.pi / (1.0 + 2.0 * MARGIN)
LAST_FIT = 8192
PLACE_BITS = 10
SIZES, FIRST_SIZE, UNKNOWN = 12, 6, 1e6
PRIOR_NOISE, LEAST_NOISE, SURE = 16.0, 1e-12, 8.0
MOST_MISSED, MOST_FOUND = 0.5, 0.4

Vector = list[float]
Factors = list[tuple[int, int, int]]


class Trend(Levels):
    """Levels for what a trend misses."""

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        super().__init__(problem, seed=seed)
        self.functions = [(0, 0)]  # coordinate and which of its functions; the first is the constant
        numbers = sum(kind != CATEGORICAL for kind in self.kinds)
        of_number = max(3, min(MOST_FUNCTIONS, MOST_OF_ALL // max(1, numbers)))
        for j, kind in enumerate(self.kinds):
            if kind != CATEGORICAL or self._labels(j) <= MOST_LABELS:
                self.functions += [(j, which) for which in range(self._labels(j) if kind == CATEGORICAL else of_number)]
        if sum(self._is_quadratic(k) for k in range(1, len(self.functions))) >= MOST_TERMS:
            self.functions = [(0, 0)]
        self.factors = self._factors()
        self.uses_trend = False
        self.trend = [[0.0] * len(self.factors) for _ in range(self.learned)]
        self.missed = [0.0] * self.learned  # relative to the noise
        self.size = [FIRST_SIZE] * self.learned

    def _labels(self, j: int) -> int:
        return abs(self.values[j]) or len(self.arms)

    def _factors(self) -> list[tuple[int, int, int]]:
        """The constant and all functions, products of two but for squares, and of labels with squares and products."""
        order = {k: (j, which) for k, (j, which) in enumerate(self.functions) if k == 0 or self._is_quadratic(k)}
        numbers = [k for k in order if k and not self._is_label(k) and not self._is_square(k)]
        pairs = [
            (a, b)
            for a, b in itertools.combinations(list(order)[1:], 2)
            if order[a][0] != order[b][0] and not self._is_square(a) and not self._is_square(b)
        ]
        curves = [(k,) for k in order if self._is_square(k)] + [(a, b) for a, b in pairs if {a, b} <= set(numbers)]
        bent = [sorted([k, *curve]) for k in order if self._is_label(k) for curve in curves]
        kept = [[k] for k in order]
        for more in ([list(pair) for pair in pairs], bent):
            if len(kept) + len(more) > MOST_TERMS:
                break
            kept += more
        return [(*[0] * (3 - len(term)), *term) for term in kept]

    def _is_label(self, k: int) -> bool:
        return k > 0 and self.kinds[self.functions[k][0]] == CATEGORICAL

    def _is_quadratic(self, k: int) -> bool:
        """Whether a function is one of the trend's: not of a higher degree than 2."""
        j, which = self.functions[k]
        return self.kinds[j] == CATEGORICAL or which < 2

    def _is_square(self, k: int) -> bool:
        j, which = self.functions[k]
        return k > 0 and self.kinds[j] not in (CATEGORICAL, PERIODIC) and which == 1

    # The trend at a place.

    def values_at(self, place: Sequence[float]) -> Vector:
        """All functions at a place: coordinates of contexts and arms."""
        values = [1.0]
        for j, group in itertools.groupby(self.functions[1:], key=lambda function: function[0]):
            number = len(list(group))
            if self.kinds[j] == CATEGORICAL:
                values += [math.sqrt(number) if int(place[j]) == which else 0.0 for which in range(number)]
            elif self.kinds[j] == PERIODIC:
                angles = [2.0 * math.pi * (which // 2 + 1) * place[j] for which in range(number)]
                values += [
                    math.sqrt(2.0) * (math.sin(angle) if which % 2 else math.cos(angle))
                    for which, angle in enumerate(angles)
                ]
            else:
                values += functions_of_number(number, place[j])
        return values

    def middle(self, digits: Cell) -> Vector:
        """The middle of a base; of finite arms the features themselves."""
        place = [
            float(digit) if kind == CATEGORICAL else (digit + 0.5) / 2**bits
            for digit, kind, bits in zip(digits, self.kinds, self.bits, strict=False)
        ]
        return [*place[: self.first], *self.arms[digits[-1]]] if self.arms else place

    def terms(self, place: Sequence[float], factors: Factors) -> Vector:
        """All terms at a place."""
        values = self.values_at(place)
        return [values[a] * values[b] * values[c] for a, b, c in factors]

    def trend_of(self, digits: Cell, o: int) -> float:
        """The trend in the middle of a base."""
        return sum_of_products(self.trend[o], self.terms(self.middle(digits), self.factors)) if self.uses_trend else 0.0

    def add_trend(self, index: Vector, context: Sequence[float], arm: Sequence[float]) -> Vector:
        """Some indices of an arm with the trend added: products of functions of arms first, the constant, the rest."""
        if not self.uses_trend:
            return index
        values = self.values_at([*context, *arm])
        return [self.raised(before, values, self.factors, self.trend[o]) for o, before in enumerate(index)]

    def raised(self, value: float, values: Vector, factors: Factors, sizes: Vector, share: float = 1.0) -> float:
        """A number with a share of some terms added, where functions have some values."""
        constant, weights = 0.0, [0.0] * len(values)
        of_context = [k == 0 or j < self.first for k, (j, _) in enumerate(self.functions)]
        for size, (a, b, c) in zip(sizes, factors, strict=True):
            product = share * size * values[a] * values[b]
            if of_context[c]:
                constant += product * values[c]
            elif of_context[b]:
                weights[c] += product
            else:
                value += product * values[c]
        value += constant
        for k, weight in enumerate(weights):
            value = value if of_context[k] else value + weight * values[k]
        return value

    # How it is fitted.

    def fit(self) -> None:
        """Fit all objectives, and decide whether to use what came out."""
        places = self.places()
        table = {digits: self.terms(self.middle(digits), self.factors) for digits in self.bases}
        missed = explained = 0.0
        for o in range(self.learned):
            self._fit(o, table, places, self.rewards_at(places, o))
            self.missed[o], variance = self.judge(o, table, places, self.trend[o])
            missed, explained = missed + self.missed[o], explained + variance
        found = self.told / len(set(places.values())) * missed / self.learned
        self.uses_trend = missed < MOST_MISSED * explained and found < MOST_FOUND

    def _rest(self, digits: Cell, base: Rewards) -> Rewards:
        """What the trend leaves of a base's rewards."""
        rest = Rewards(list(base.count), list(base.total), list(base.square))
        if self.uses_trend:
            for o, count in enumerate(base.count):
                trend, total = self.trend_of(digits, o), base.total[o]
                rest.total[o] = total - count * trend
                rest.square[o] = max(0.0, base.square[o] - trend * (2.0 * total - count * trend))
        return rest

    def _fit(self, o: int, table: dict[Cell, Vector], places: dict[Cell, Cell], rewards: dict[Cell, float]) -> None:
        """By the likeliest of three sizes of terms; the more is missed, the less do many rewards of a place count."""
        n = len(self.factors)
        gram, right, square, count = [[0.0] * n for _ in range(n)], [0.0] * n, 0.0, 0.0
        for digits, base in self.bases.items():
            share = 1.0 / (1.0 + self.missed[o] * rewards[places[digits]])
            weight, total, row = share * base.count[o], share * base.total[o], table[digits]
            square, count = square + share * base.square[o], count + weight
            for t in range(n if weight > 0.0 else 0):
                right[t] += total * row[t]
                for other in range(t, n):
                    gram[t][other] += weight * row[t] * row[other]
        if count == 0.0:
            self.trend[o] = [0.0] * n
            return
        sizes = range(max(0, self.size[o] - 1), min(SIZES, self.size[o] + 2))
        fits = [(*self._solve(gram, right, square, count, size), size) for size in sizes]
        _, self.trend[o], self.size[o] = max(fits, key=lambda fit: fit[0])

    @staticmethod
    def _solve(gram: list[Vector], right: Vector, square: float, count: float, size: int) -> tuple[float, Vector]:
        """How likely the rewards are if terms have a size, and what the trend has of each of them: by Cholesky."""
        n, a, y = len(right), [list(row) for row in gram], list(right)
        likely = half = explained = 0.0
        for k in range(n):
            expected = UNKNOWN if k == 0 else 4.0 ** (size - 6)
            a[k][k] += 1.0 / expected
            likely -= 0.5 * math.log(expected)
        for k in range(n):
            pivot = math.sqrt(max(a[k][k], 1e-300))
            half += math.log(pivot)
            y[k] /= pivot
            explained += y[k] * y[k]
            a[k] = [value / pivot if c >= k else value for c, value in enumerate(a[k])]
            for r in range(k + 1, n):
                y[r] -= a[k][r] * y[k]
                a[r] = [v - a[k][r] * a[k][c] if c >= r else v for c, v in enumerate(a[r])]
        out = [0.0] * n
        for k in reversed(range(n)):
            total = y[k]
            for c in range(k + 1, n):
                total -= a[k][c] * out[c]
            out[k] = total / a[k][k]
        left = max(square - explained, 1e-12 * square, 1e-300)
        return likely - half - 0.5 * count * math.log(left / count), out

    def places(self) -> dict[Cell, Cell]:
        """The place of each base."""
        depth = max(1, PLACE_BITS // len(self.bits))
        return {digits: self._top(digits, tuple(min(depth, b) for b in self.bits)) for digits in self.bases}

    def rewards_at(self, places: dict[Cell, Cell], o: int) -> dict[Cell, float]:
        """How many rewards of an objective each place has."""
        rewards = dict.fromkeys(places.values(), 0.0)
        for digits, base in self.bases.items():
            rewards[places[digits]] += base.count[o]
        return rewards

    def judge(self, o: int, table: dict[Cell, Vector], places: dict[Cell, Cell], sizes: Vector) -> tuple[float, float]:
        """The variances of what terms miss and explain of the means of places, relative to the noise."""
        rewards = self.rewards_at(places, o)
        sums = {place: [0.0, 0.0, 0.0] for place in rewards}  # above the trend, squares of that, of the trend
        count, total, square = 0.0, 0.0, 0.0
        for digits, base in self.bases.items():
            trend, here, at = sum_of_products(sizes, table[digits]), base.count[o], sums[places[digits]]
            at[0] += base.total[o] - here * trend
            at[1] += base.square[o] - trend * (2.0 * base.total[o] - here * trend)
            at[2] += here * trend
            count, total, square = count + here, total + base.total[o], square + base.square[o]
        if count == 0:
            return 0.0, 0.0
        overall = total / count
        variance = max(0.0, square / count - overall * overall)
        noise, free = PRIOR_NOISE * variance, PRIOR_NOISE
        weights, missed, mean, explained = 1.0, 0.0, 0.0, 0.0
        for place, (above, squares, said) in sums.items():
            n = rewards[place]
            if n > 1:
                weight = (n - 1.0) / (n - 1.0 + SURE)
                weights += weight
                missed += weight * (above * above - squares) / (n * (n - 1.0))
                mean += weight * (said / n - overall)
                explained += weight * ((said / n - overall) * (said / n - overall))
                noise += squares - above * above / n
                free += n - 1.0
        noise, mean = max(noise / free, LEAST_NOISE * square / count, 1e-300), mean / weights
        prior = variance * (weights - 1.0) / (weights * weights)
        return max(0.0, missed / weights) / noise, (explained / weights - mean * mean + prior) / noise


def functions_of_number(count: int, place: float) -> Vector:
    """Line and parabola of mean square 1, and the cosines of 1, 2, 3 ... times an angle."""
    line = math.sqrt(3.0) * (2.0 * place - 1.0)
    waves = [math.sqrt(2.0), math.sqrt(2.0) * math.cos(TURN * (place + MARGIN))]
    twice = math.sqrt(2.0) * waves[1]
    for _ in range(count - 3):
        waves.append(twice * waves[-1] - waves[-2])
    return [line, 0.5 * math.sqrt(5.0) * (line * line - 1.0), *waves[1:]]


def sum_of_products(sizes: Vector, values: Vector) -> float:
    """From the first on."""
    total = 0.0
    for size, value in zip(sizes, values, strict=True):
        total += size * value
    return total
