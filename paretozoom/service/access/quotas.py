"""How many decisions and rewards a token is good for, per second."""

from __future__ import annotations

import math

from paretozoom.service.access.tokens import Caller
from paretozoom.service.declined import Declined

SECONDS_SAVED = 10.0  # of its rate that a token may use at once


class Quotas:
    """What each token has left.

    >>> quotas, caller = Quotas(), Caller("ab12", ("decide",), None, rate=5.0)
    >>> quotas.spend(caller, 50, now=0.0)
    >>> quotas.spend(caller, 20, now=1.0)
    Traceback (most recent call last):
    paretozoom.service.declined.Declined: token 'ab12': is good for 5 decisions and rewards per second
    >>> quotas.spend(caller, 20, now=4.0)
    """

    def __init__(self) -> None:
        self._left: dict[str, tuple[float, float]] = {}  # by token: how much, and when

    def spend(self, caller: Caller, size: int, now: float) -> None:
        """Take some of what a token has left, or decline; more than it ever has takes all, and what comes later."""
        if caller.rate is None:
            return
        most = max(1.0, caller.rate * SECONDS_SAVED)
        left, before = self._left.get(caller.id, (most, now))
        left = min(most, left + max(0.0, now - before) * caller.rate)
        missing = min(size, most) - left
        if missing > 0:
            raise Declined(
                429,
                f"token {caller.id!r}: is good for {caller.rate:g} decisions and rewards per second",
                after=math.ceil(missing / caller.rate),
            )
        self._left[caller.id] = left - size, now
