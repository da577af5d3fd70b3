"""When ParetoZoom forgets: pairs of rewards at a place that contradict the estimates alike.

Sums run in the order of the kernels', so that both round alike.
"""

from __future__ import annotations

import math

from paretozoom import Problem
from tests.reference.levels import Cell, Rewards
from tests.reference.trend import PLACE_BITS, Trend

LEAST_KNOWN, LEAST_PAIRS, SURE, SURER, BEYOND, LARGEST = 16, 250, 4.0, 5.0, 4.0, 1e60
BOLDNESS = 32.0

Known = tuple[float, float]  # an estimate and its doubt


class Forgets(Trend):
    """Watches what is told, and forgets half when it contradicts what was learned."""

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        super().__init__(problem, seed=seed)
        self.forgets, self.forgotten = False, 0
        self.off: list[float] | None = None  # by how much levels and smooth estimate were off, if there is one
        self._begin_to_watch()

    def boldness(self) -> float:
        """How many times roughness counts."""
        return BOLDNESS

    def _begin_to_watch(self) -> None:
        self.watched = [0.0] * 4  # pairs, products, their squares, what they should be
        self.last: dict[tuple[int, int], float] = {}  # by place and objective

    def watch(
        self,
        digits: Cell,
        known: list[Known] | None,
        counts: list[int],
        rough: list[float],
        told: list[tuple[int, float]],
    ) -> None:
        """Compare some rewards with the estimates of their cell, by doubts and the roughness of their level."""
        place, depth = 0, max(1, PLACE_BITS // len(self.bits))
        for digit, bits in zip(digits, self.bits, strict=True):
            place = place << min(depth, bits) | digit >> (bits - min(depth, bits))
        place %= 2**PLACE_BITS
        pairs, product, expected = 0, 0.0, 0.0
        for o, value in told if known else []:
            assert known
            if counts[o] < LEAST_KNOWN:
                continue
            noise, (estimate, doubt) = self.noise[o], known[o]
            above, before = value - estimate, self.last.get((place, o), 0.0)
            if self.off:
                above = min(above, self.off[o], key=abs)
            self.last[place, o] = above
            if before != 0.0:
                pairs += 1
                product += above * before / noise
                expected += (doubt * doubt + rough[o] / self.boldness()) / noise
        if pairs:
            product = max(-LARGEST, min(LARGEST, product))
            pair = [1.0, product, product * product, min(LARGEST, expected)]
            self.watched = [total + more for total, more in zip(self.watched, pair, strict=True)]

    def conclude(self) -> None:
        """Half is forgotten if the products are larger than both chance and doubts explain."""
        pairs, products, squared, expected = self.watched
        if pairs >= LEAST_PAIRS:
            if products > (SURER if self.off else SURE) * math.sqrt(squared) and products > BEYOND * expected:
                self.forgets, self.following = True, self.told
            self.watched = [0.0] * 4

    def forget_half(self) -> None:
        """The older half of the places with one reward, and half of the rewards of the others."""
        single = [digits for digits, base in self.bases.items() if max(base.count) <= 1]
        gone = set(single[: len(single) // 2])
        self.bases = {digits: self._halved(base) for digits, base in self.bases.items() if digits not in gone}
        self.told, self.parts = divmod(sum(sum(base.count) for base in self.bases.values()), self.learned)
        self.forgets, self.forgotten = False, self.forgotten + 1
        self._begin_to_watch()

    @staticmethod
    def _halved(base: Rewards) -> Rewards:
        left = [(count + 1) // 2 for count in base.count]
        shares = [some / count if count else 0.0 for some, count in zip(left, base.count, strict=True)]
        totals = [share * total for share, total in zip(shares, base.total, strict=True)]
        return Rewards(left, totals, [share * square for share, square in zip(shares, base.square, strict=True)])
