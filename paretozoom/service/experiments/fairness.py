"""How fairly an experiment decided lately: how many decisions fell on the believed front, how evenly along it."""

from __future__ import annotations

import logging
import math
import time
from collections import Counter, deque
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

import msgspec

from paretozoom.policies.base import Policy
from paretozoom.policies.fronts import Piece
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite
from paretozoom.records import Decision, Refused, Snapshot

log = logging.getLogger("paretozoom")
SAMPLES = 300  # decisions that are remembered
BINS = 6
FEWEST = 30  # decisions on the front, for an entropy
MOST_TIME = 0.005  # the share of all time that goes to looking
SECONDS_BETWEEN = 0.2  # a front takes as long as dozens of decisions, so not all are sampled
FIELD = "positions"  # of a stored snapshot's header
_Positions = list[Annotated[float, msgspec.Meta(ge=0, le=1)] | None]


def position_on(front: Sequence[Piece], arm: Any) -> float | None:
    """How far along a front an arm is, from 0 to 1 by measure (by number, of finite arms); None if it is not on it.

    >>> front = [Piece(0.1, 0.3, None, {}, {}, {}, {}), Piece(0.6, 0.8, None, {}, {}, {}, {})]
    >>> round(position_on(front, {"y": 0.7}), 3), position_on(front, {"y": 0.5})
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


class RecentFairness:
    """Where the latest decisions that were sampled fell on the front of their context.

    >>> from paretozoom import Objective, Real
    >>> fairness = RecentFairness(Problem(context=[], arm=[Real("y")], objectives=[Objective("r")]))
    >>> fairness.front_share, fairness.local_entropy
    (None, None)
    """

    def __init__(self, problem: Problem, positions: Iterable[float | None] = ()) -> None:
        arm = problem.arm
        # Of a space of arms a front lists points, and a decision is hardly ever one of them.
        self._measurable = isinstance(arm, Finite) or len(problem.encoding.arms) > 0 or len(arm) == 1
        self._next = 0.0  # when another may be looked at
        self._positions: deque[float | None] = deque(positions, maxlen=SAMPLES)

    def sample(self, decision: Decision, policy: Policy, now: float) -> None:
        """Look where a decision fell, unless another was looked at a moment ago, or there is no front yet."""
        if not self._measurable or now < self._next:
            return
        began = time.perf_counter()
        try:
            front = policy.front(decision.context, believed=True)
        except Exception:  # of the operator's own policy; the decision stands
            log.exception("a policy failed to show its front")
            return
        finally:
            self._next = now + max(SECONDS_BETWEEN, (time.perf_counter() - began) / MOST_TIME)
        if front:
            self._positions.append(position_on(front, decision.arm))

    @property
    def positions(self) -> list[float | None]:
        """How far along the front each is, from 0 to 1; None of those that are not on it."""
        return list(self._positions)

    @property
    def front_share(self) -> float | None:
        """The share of decisions that are on the front."""
        if not self._positions:
            return None
        return sum(position is not None for position in self._positions) / len(self._positions)

    @property
    def local_entropy(self) -> float | None:
        """The entropy of the positions, each on the front of its own context: 1 if every part is played alike."""
        bins = Counter(min(int(position * BINS), BINS - 1) for position in self._positions if position is not None)
        n = bins.total()
        if n < FEWEST:
            return None
        entropy = -sum(c / n * math.log(c / n) for c in bins.values()) + (len(bins) - 1) / (2 * n)
        return min(1.0, entropy / math.log(BINS))


def with_positions(snapshot: Snapshot, positions: list[float | None]) -> Snapshot:
    """A snapshot with what is no part of an experiment's state, as it depends on when somebody looked."""
    return Snapshot({**snapshot.header, FIELD: positions}, snapshot.arrays)


def positions_in(snapshot: Snapshot) -> list[float | None]:
    """What `with_positions` added, or nothing.

    >>> positions_in(with_positions(Snapshot({}, {}), [0.5, None]))
    [0.5, None]
    """
    try:
        return msgspec.convert(snapshot.header.get(FIELD, []), _Positions)
    except msgspec.ValidationError as error:
        raise Refused(f"snapshot: {FIELD}: {error}") from error
