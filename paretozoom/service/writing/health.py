"""How the store is, by what came of the latest calls."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal, TypeVar

from paretozoom.store import Away, Busy, Conflict, Full, Locked, ReadOnly, StoreError

Answer = TypeVar("Answer")
StoreState = Literal["fine", "away", "hung", "full", "read-only", "failing"]
KINDS: dict[type[StoreError], StoreState] = {Full: "full", ReadOnly: "read-only", Busy: "hung", Away: "away"}
WORDS: dict[StoreState, str] = {
    "fine": "the store is fine",
    "away": "the store cannot be reached",
    "hung": "the store does not answer, or somebody else has locked it",
    "full": "the store has no space left",
    "read-only": "the store takes no writes",
    "failing": "the store fails",
}


class StoreHealth:
    """Sees every call that may write.

    >>> health = StoreHealth(patience=5.0)
    >>> health.call(lambda: 7, writes=True), health.state
    (7, 'fine')
    """

    def __init__(self, patience: float) -> None:
        self._patience = patience
        self._began: float | None = None  # the call that is under way
        self._wrote = 0.0  # when it last could write
        self.failure: StoreError | None = None

    def call(self, function: Callable[[], Answer], writes: bool = False) -> Answer:
        """Call something, and remember how it went."""
        self._began = time.monotonic()
        try:
            answer = function()
        except (Conflict, Locked):  # of one log
            raise
        except StoreError as error:
            self.failure = error
            raise
        finally:
            self._began = None
        if writes:
            self.failure, self._wrote = None, time.monotonic()
        return answer

    def is_hanging(self) -> bool:
        """Whether a call is under way for longer than it may be."""
        began = self._began
        return began is not None and time.monotonic() - began > self._patience

    def is_known(self, seconds: float) -> bool:
        """Whether it could write so short a time ago that there is no need to find out."""
        return self.failure is None and time.monotonic() - self._wrote < seconds

    @property
    def state(self) -> StoreState:
        """How it is."""
        if self.is_hanging():
            return "hung"
        if self.failure is None:
            return "fine"
        return KINDS.get(type(self.failure), "failing")
