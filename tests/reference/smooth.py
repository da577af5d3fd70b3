"""The smooth estimate of ParetoZoom: a Gaussian process in a few terms, mixed with what levels say.

Sums run in the order of the kernels', so that both round alike; rows are numpy's, number by number.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from paretozoom import Problem
from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from tests.reference.forget import Forgets
from tests.reference.trend import TURN, UNKNOWN, Factors, Vector

PER_COORDINATE, MOST_SMOOTH = 44, 128
FIRST_FIT, LAST_FIT, LAST_TAUGHT = 16, 4096, 1024
SCALES, CENTRE, SPREAD = 21, 7, 4.0
MOST_SIGNAL, SIGNAL_SPREAD = 20, 6.0
MANY = 4096.0
STARTS, SWEEPS = (3, 5, 7, 9, 11), 2
BOLDNESS, LESS_BOLDNESS, MEMORY, LEAST_SHARE = 4.0, 4.0, 0.7, 0.1
EVEN, FIRST_APART, FIRST_COMPARED, FAR, NEAR, LARGEST, LARGEST_SIZE = 4.0, 1.0, 4.0, 9.0, 0.1, 16.0, 1e140

Matrix = npt.NDArray[np.float64]


class Smooth(Forgets):
    """A smooth estimate beside the levels."""

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        super().__init__(problem, seed=seed)
        coordinates = [j for j, _ in self.functions[1:]]
        self.room = (
            min(MOST_SMOOTH, PER_COORDINATE * len(self.kinds)) if max(coordinates, default=-1) >= self.first else 0
        )
        self.smooth_factors: Factors = []
        self.smooth: list[Vector] = [[] for _ in range(self.learned)]
        self.inverse = [np.zeros((0, 0)) for _ in range(self.learned)]
        self.scale = [[CENTRE] * len(self.kinds) for _ in range(self.learned)]
        self.signal = [0] * self.learned
        self.compared = [[0.0] * 5 for _ in range(self.learned)]  # gain, weighed, apart, how many, explained
        self.searched = 0

    def boldness(self) -> float:
        """How many times roughness counts: less often beside a smooth estimate."""
        return LESS_BOLDNESS if self.smooth_factors else super().boldness()

    # What it says, and how it learns.

    def share(self, o: int) -> float:
        """The share of the smooth estimate."""
        gain, weighed, _, _, explained = self.compared[o]
        best = min(1.0, max(0.0, (gain + 0.5 * EVEN) / (weighed + EVEN)))
        if self.uses_trend:
            return best
        far = self.difference(o) / (NEAR * min(1.0, self.told / MANY) * max(explained, 1e-9))
        return best * (1.0 - 1.0 / (1.0 + far * far))

    def difference(self, o: int) -> float:
        """The mean squared difference of what levels and smooth estimate say, relative to the noise."""
        _, _, apart, compared, _ = self.compared[o]
        return (apart + FIRST_APART) / (compared + FIRST_COMPARED)

    def mix_in_smooth(self, index: Vector, context: Sequence[float], arm: Sequence[float]) -> Vector:
        """Some indices of an arm, mixed with the smooth estimate."""
        if not self.smooth_factors:
            return index
        values = self.values_at([*context, *arm])
        mixed = []
        for o, value in enumerate(index):
            share = self.share(o)
            mixed.append(self.raised(value * (1.0 - share), values, self.smooth_factors, self.smooth[o], share))
        return mixed

    def teach(self, point: Sequence[float], reward: Vector, said: Vector) -> None:
        """Compare what was told with what both said, and learn it at once if it is early."""
        terms, self.off = self.terms(point, self.smooth_factors), [0.0] * self.learned
        for o, value in enumerate(reward):
            if math.isnan(value):
                continue
            foretold = 0.0
            for size, term in zip(self.smooth[o], terms, strict=True):
                foretold += size * term
            apart, missed, noise = foretold - said[o], value - said[o], self.noise[o]
            self.off[o] = missed - self.share(o) * apart
            weight = 1.0 / (noise * max(1.0, (missed * missed + apart * apart) / (FAR * noise)))
            more = [weight * missed * apart, weight * apart * apart, min(LARGEST, apart * apart / noise), 1.0, 0.0]
            self.compared[o] = [one + other for one, other in zip(self.compared[o], more, strict=True)]
            if self.told < LAST_TAUGHT:
                gain, below = np.zeros(len(terms)), 1.0
                for term, row in zip(terms, self.inverse[o], strict=True):
                    gain += term * row
                for way, term in zip(gain.tolist(), terms, strict=True):
                    below += way * term
                steps = gain / below
                learned = np.array(self.smooth[o]) + steps * (value - foretold)
                self.smooth[o] = np.clip(learned, -LARGEST_SIZE, LARGEST_SIZE).tolist()
                self.inverse[o] = self.inverse[o] - steps[:, None] * gain

    # How it is fitted.

    def fit_smooth(self, forgot: bool) -> None:
        """Fit all objectives while rewards are few; then do without it where levels say the same."""
        is_late = not forgot and self.told > LAST_FIT
        if is_late:
            if not self.smooth_factors:
                for sums in self.compared:
                    sums[2] *= MEMORY
            elif all(self.share(o) < LEAST_SHARE for o in range(self.learned)):
                self.smooth_factors = []
            if not (self.smooth_factors and self.uses_trend):
                return
        if self.told < FIRST_FIT or self.room == 0:
            return
        searches = not is_late and (forgot or self.told >= self.searched + self.searched // 2)
        self.searched = self.told if searches else self.searched
        self.smooth_factors = self.smooth_factors if is_late else self.choose_terms()
        table = {digits: self.terms(self.middle(digits), self.smooth_factors) for digits in self.bases}
        places = self.places()
        for o in range(self.learned):
            gram, right, square, count = self._sums(o, table)
            if count > 0.0 and searches:
                self._search(o, gram, right, square, count)
            self._learn(o, gram, right)
            self.compared[o] = [MEMORY * value for value in self.compared[o][:4]]
            self.compared[o].append(self.judge(o, table, places, self.smooth[o])[1])

    def unlike(self, k: int, scale: int) -> float:
        """How much less is expected of a function than of the constant."""
        j, which = self.functions[k]
        if k == 0:
            return 0.0
        if self.kinds[j] == CATEGORICAL:
            return 2.0 ** (scale - CENTRE)
        if self.kinds[j] != PERIODIC and which < 2:
            return math.inf  # for trends alone
        turn = 2.0 * math.pi * (which // 2 + 1) if self.kinds[j] == PERIODIC else TURN * (which - 1)
        return 0.5 * turn * turn * 2.0 ** (scale - 10)

    def choose_terms(self) -> Factors:
        """Those of which most is expected; products of at most three functions of different coordinates."""
        least = [min(self.scale[o][j] for o in range(self.learned)) for j in range(len(self.kinds))]
        cost = [self.unlike(k, least[j]) for k, (j, _) in enumerate(self.functions)]
        order = sorted(range(len(cost)), key=lambda k: cost[k])
        limit = 1.0
        found: list[tuple[float, tuple[int, int, int]]] = []
        while len(found) < self.room and limit < 300.0:
            found = []
            for a, one in enumerate(order):
                for b in range(a + (one != 0), len(order)) if cost[one] <= limit else []:
                    two = order[b]
                    price = cost[one] + cost[two]
                    if price > limit:
                        break
                    if self._share_coordinate(one, two):
                        continue
                    for c in range(b + (two != 0), len(order)):
                        three = order[c]
                        if price + cost[three] > limit:
                            break
                        if not (self._share_coordinate(one, three) or self._share_coordinate(two, three)):
                            found.append((price + cost[three], (one, two, three)))
            limit *= 1.25
        cheapest = sorted(found, key=lambda term: term[0])[: self.room]
        return [(min(term), sum(term) - min(term) - max(term), max(term)) for _, term in cheapest]

    def _share_coordinate(self, a: int, b: int) -> bool:
        return a != 0 and b != 0 and self.functions[a][0] == self.functions[b][0]

    def _sums(self, o: int, table: dict[tuple[int, ...], Vector]) -> tuple[Matrix, Matrix, float, float]:
        """Over all rewards: products of terms, of terms and rewards, squared rewards, and how many they are."""
        n = len(self.smooth_factors)
        gram, right, square, count = np.zeros((n, n)), np.zeros(n), 0.0, 0.0
        for digits, base in self.bases.items():
            row = np.array(table[digits])
            gram += base.count[o] * row[:, None] * row
            right += base.total[o] * row
            square, count = square + base.square[o], count + base.count[o]
        return gram, right, square, count

    def expect(self, o: int) -> tuple[Vector, float]:
        """The variances of terms, relative to the noise, and how likely scales and signal are."""
        likely = -0.5 * (self.signal[o] / SIGNAL_SPREAD * (self.signal[o] / SIGNAL_SPREAD))
        for scale in self.scale[o]:
            likely -= 0.5 * ((scale - CENTRE) / SPREAD * ((scale - CENTRE) / SPREAD))
        unlike = [self.unlike(k, self.scale[o][j]) for k, (j, _) in enumerate(self.functions)]
        variances = [math.exp(-min(50.0, unlike[a] + unlike[b] + unlike[c])) for a, b, c in self.smooth_factors]
        total = 0.0
        for variance in variances:
            total += variance
        return [UNKNOWN, *(variance * (2.0 ** self.signal[o] / total) for variance in variances[1:])], likely

    def likely(self, o: int, gram: Matrix, right: Matrix, square: float, count: float) -> float:
        """How likely the rewards are by the scales and the signal: a logarithm, but for a constant."""
        variances, likely = self.expect(o)
        for variance in variances:
            likely -= 0.5 * math.log(variance)
        _, _, half, explained = factorised(gram, right, variances)
        return likely - half - 0.5 * count * math.log(max(square - explained, 1e-12 * square, 1e-300) / count)

    def _search(self, o: int, gram: Matrix, right: Matrix, square: float, count: float) -> None:
        """A few steps to what is likelier: one scale for all, then up or down by one."""
        best = self.likely(o, gram, right, square, count)
        kept = self.scale[o]
        for start in STARTS:
            self.scale[o] = [start] * len(self.kinds)
            value = self.likely(o, gram, right, square, count)
            if value > best:
                best, kept = value, self.scale[o]
        self.scale[o] = kept
        for _ in range(SWEEPS):
            moved = False
            for what in range(-2, len(self.kinds)):
                for step in (1, -1):
                    before = self.signal[o], self.scale[o]
                    self.signal[o] += step if what == -2 else 0
                    self.scale[o] = [scale + step * (what in (-1, j)) for j, scale in enumerate(self.scale[o])]
                    possible = all(0 <= scale < SCALES for scale in self.scale[o])
                    if possible and abs(self.signal[o]) <= MOST_SIGNAL:
                        value = self.likely(o, gram, right, square, count)
                        if value > best:
                            best, moved = value, True
                            break
                    self.signal[o], self.scale[o] = before
            if not moved:
                return

    def _learn(self, o: int, gram: Matrix, right: Matrix) -> None:
        """What it has of each term, and the inverse that the next rewards need."""
        variances, _ = self.expect(o)
        upper, y, _, _ = factorised(gram, right, [variances[0], *(BOLDNESS * variance for variance in variances[1:])])
        n, rows, out = len(y), upper.tolist(), [0.0] * len(y)
        for k in reversed(range(n)):
            total = float(y[k])
            for c in range(k + 1, n):
                total -= rows[k][c] * out[c]
            out[k] = total / rows[k][k]
        self.smooth[o] = out
        if self.told < LAST_TAUGHT:
            self.inverse[o] = inverted(upper)


def inverted(upper: Matrix) -> Matrix:
    """The inverse of a matrix of which an upper triangle, multiplied by itself, is the whole."""
    n = len(upper)
    inverse = np.zeros((n, n))  # of the upper triangle
    for r in reversed(range(n)):
        for k in range(r + 1, n):
            inverse[r, k:] -= upper[r, k] * inverse[k, k:]
        inverse[r, r] = 1.0
        inverse[r, r:] /= upper[r, r]
    whole = np.zeros((n, n))
    for c in range(n):  # a row and a column begin with the first column that both have
        column = inverse[: c + 1, c]
        whole[: c + 1, : c + 1] += column[:, None] * column
    return whole


def factorised(gram: Matrix, right: Matrix, variances: Vector) -> tuple[Matrix, Matrix, float, float]:
    """Cholesky's upper triangle, what solves it for the right side, half its log determinant, the solution's square."""
    a, y, half, square = gram.copy(), right.copy(), 0.0, 0.0
    for k, variance in enumerate(variances):
        a[k, k] += 1.0 / variance
    for k in range(len(y)):
        pivot = math.sqrt(max(float(a[k, k]), 1e-300))
        half += math.log(pivot)
        y[k] /= pivot
        square += float(y[k]) * float(y[k])
        a[k, k:] /= pivot
        y[k + 1 :] -= a[k, k + 1 :] * y[k]
        a[k + 1 :, k + 1 :] -= a[k, k + 1 :, None] * a[k, k + 1 :]
    return np.triu(a), y, half, square
