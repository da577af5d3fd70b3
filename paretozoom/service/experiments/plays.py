"""Where recent decisions fell on the front that the model believes in: how many on it, and how evenly along it."""

from __future__ import annotations

import math
from collections import Counter, deque
from collections.abc import Sequence
from typing import Any

from paretozoom.policies.base import Piece
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite
from paretozoom.records import Decision

KEPT = 300  # looked at
BINS = 6
SECONDS_BETWEEN = 0.2  # a front takes as long as dozens of decisions, so not all are looked at


def place_on(front: Sequence[Piece], arm: Any) -> float | None:
    """How far along a front an arm is, from 0 to 1 by measure (by number, of finite arms); None if it is not on it.

    >>> front = [Piece(0.1, 0.3, None, {}, {}, {}, {}), Piece(0.6, 0.8, None, {}, {}, {}, {})]
    >>> round(place_on(front, {"y": 0.7}), 3), place_on(front, {"y": 0.5})
    (0.75, None)
    """
    before, found, whole = 0.0, None, 0.0
    for piece in front:
        low, high = piece.low, piece.high
        if piece.arm is None and isinstance(low, (int, float)) and isinstance(high, (int, float)):
            value = next(iter(arm.values()))
            length, inside = high - low, low <= value <= high
            within = value - low
        else:
            length, inside, within = 1.0, piece.arm == arm, 0.5
        if inside and found is None:
            found = before + within
        before += length
        whole = before
    return None if found is None or whole <= 0 else min(found / whole, 1.0)


class Plays:
    """The last decisions that were looked at.

    >>> from paretozoom import Objective, Real
    >>> plays = Plays(Problem(context=[], arm=[Real("y")], objectives=[Objective("r")]))
    >>> plays.share, plays.evenness
    (None, None)
    """

    def __init__(self, problem: Problem) -> None:
        arm = problem.arm
        # Of a space of arms a front lists points, and a decision is hardly ever one of them.
        self.can_tell = isinstance(arm, Finite) or len(problem.encoding.arms) > 0 or len(arm) == 1
        self._looked = -SECONDS_BETWEEN
        self._places: deque[float | None] = deque(maxlen=KEPT)

    def wants(self, now: float) -> bool:
        """Whether the next decision is to be looked at."""
        if not self.can_tell or now < self._looked + SECONDS_BETWEEN:
            return False
        self._looked = now
        return True

    def note(self, decision: Decision, front: Sequence[Piece]) -> None:
        """Look at a decision and at the front of its context; before there is one, there is nothing to see."""
        if front:
            self._places.append(place_on(front, decision.arm))

    @property
    def share(self) -> float | None:
        """The share of decisions that are on the front."""
        if not self._places:
            return None
        return sum(place is not None for place in self._places) / len(self._places)

    @property
    def evenness(self) -> float | None:
        """The entropy of the places along the front, each in its own context: 1 if every part is played alike."""
        bins = Counter(min(int(place * BINS), BINS - 1) for place in self._places if place is not None)
        n = bins.total()
        if n < 30:
            return None
        entropy = -sum(c / n * math.log(c / n) for c in bins.values()) + (len(bins) - 1) / (2 * n)
        return min(1.0, entropy / math.log(BINS))
