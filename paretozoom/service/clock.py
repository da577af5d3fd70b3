"""The time of a service: that of the wall clock when it starts, then that of a steady clock; it never goes back."""

from __future__ import annotations

import time
from collections.abc import Callable

DAY = 86_400.0


class Clock:
    """Seconds since 1970 as this run counts them: whoever sets the wall clock meanwhile changes nothing.

    >>> wall, steady = [1_000.0], [5.0]
    >>> clock = Clock(lambda: wall[0], lambda: steady[0])
    >>> wall[0], steady[0] = 9_999_999.0, 7.0
    >>> clock()
    1002.0
    >>> clock.never_before(2_000.0)
    >>> steady[0] += 1.0
    >>> clock()
    2001.0
    """

    def __init__(self, wall: Callable[[], float] = time.time, steady: Callable[[], float] = time.monotonic) -> None:
        self._steady = steady
        self._offset = wall() - steady()

    def __call__(self) -> float:
        """The time now."""
        return self._steady() + self._offset

    def never_before(self, moment: float) -> None:
        """Go on from a moment that was in a log already, if the clock is behind it."""
        self._offset += max(0.0, moment - self())
