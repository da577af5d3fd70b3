"""Connections to PostgreSQL that do not wait for ever: a server may hang without hanging up."""

from __future__ import annotations

import time
from collections.abc import Generator
from typing import Any, TypeVar

import psycopg

Answer = TypeVar("Answer")


class PatientConnection(psycopg.Connection[Any]):
    """A connection that is closed when the server was silent for too long.

    The server ends statements by its own clock, but not while it is stopped, or away without a word.
    """

    patience: float | None = None  # seconds

    def wait(self, gen: Generator[Any, Any, Answer], *arguments: Any, **named: Any) -> Answer:
        """Wait for what was sent to be answered."""
        if self.patience is None:
            return super().wait(gen, *arguments, **named)
        try:
            return super().wait(impatient(gen, self.patience), *arguments, **named)
        except _Silent:
            self.close()
            raise psycopg.OperationalError(f"the server was silent for {self.patience:g} seconds") from None


class _Silent(Exception):
    """Nothing was sent or received for too long."""


def impatient(wanted: Generator[Any, Any, Answer], patience: float) -> Generator[Any, Any, Answer]:
    """The same exchange with a server, broken off when nothing moves for so many seconds."""
    moved = time.monotonic()
    try:
        state = next(wanted)
        while True:
            ready = yield state
            if ready:
                moved = time.monotonic()
            elif time.monotonic() - moved > patience:
                wanted.close()
                raise _Silent
            state = wanted.send(ready)
    except StopIteration as end:
        answer: Answer = end.value
        return answer
