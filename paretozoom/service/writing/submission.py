"""Something that is to be done to an experiment, and who waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection
from typing import Any

from paretozoom.service.declined import Declined
from paretozoom.service.experiments.pending import Pending


def nobody_left() -> bool:
    """Of a caller who cannot leave.

    >>> nobody_left()
    False
    """
    return False


class Submission:
    """An act on what is pending, which may be a generator that is done step by step; `size` counts decisions."""

    __slots__ = ("act", "answer", "asked", "error", "future", "left", "request_ids", "size")

    def __init__(
        self,
        act: Callable[[Pending], Any],
        request_ids: Collection[str] = (),
        size: int = 1,
        left: Callable[[], bool] = nobody_left,
    ) -> None:
        loop = asyncio.get_running_loop()
        self.act = act
        self.request_ids = request_ids
        self.size = size
        self.left = left
        self.asked = loop.time()
        self.future: asyncio.Future[Any] = loop.create_future()
        self.answer: Any = None
        self.error: Exception | None = None

    def check_wanted(self) -> None:
        """Raise if nobody waits for it any more: its caller has left, or was told that it takes too long."""
        if self.future.done() or self.left():
            raise Declined(503, "whoever asked for it has left")

    def settle(self) -> None:
        """Let go whoever waits."""
        if self.future.done():  # gave up
            return
        if self.error is None:
            self.future.set_result(self.answer)
        else:
            self.future.set_exception(self.error)

    def give_up(self) -> None:
        """Say that it takes too long; it may be written down all the same."""
        self.error = Declined(503, "it was not done in time; ask again with the same request_id")
        self.settle()
