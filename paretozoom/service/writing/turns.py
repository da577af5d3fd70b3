"""Turns on the loop, so that no experiment keeps it for long."""

from __future__ import annotations

import asyncio
import time

SECONDS_OF_A_TURN = 0.0002  # a request of a neighbour meets some ten turns on its way


class Turn:
    """The turn of an experiment: between two steps of its work it lets the others have theirs, if it was long."""

    def __init__(self) -> None:
        self._ends = 0.0

    def begin(self) -> None:
        """It is its turn."""
        self._ends = time.perf_counter() + SECONDS_OF_A_TURN

    async def pause(self) -> None:
        """Let the others have their turn, if this one was long."""
        if time.perf_counter() >= self._ends:
            await asyncio.sleep(0)
            self.begin()
