"""What a store is: append-only logs and snapshots, behind six methods."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from typing import Protocol

import msgspec

from paretozoom.store.events import Entry, Event

FILE = "paretozoom.db"  # of a store in a folder


class StoreError(Exception):
    """The store could not do what it was asked to; nothing was written."""


class Away(StoreError):
    """The database cannot be reached, or broke off; the same call may succeed later.

    If it broke off in the middle of a commit, all may be written: then the same call is a `Conflict`.
    """


class Full(StoreError):
    """There is no space left."""


class Conflict(StoreError):
    """The log is not where its writer believed: somebody else has written to it."""


class Repeated(Conflict):
    """A decision was made for this request before."""


class Locked(StoreError):
    """Another process holds the log."""


class Addition(msgspec.Struct, frozen=True):
    """What is to be added to a log whose last entry has the number `after`; a new log has 0, and begins with an event.

    A snapshot is the state after the last of the entries; one that is `pinned` is never thrown away, nor replaced by
    one that is not.

    >>> Addition("prices", 0, (), 0.0).snapshot is None
    True
    """

    log: str
    after: int
    events: Sequence[Event]
    time: float
    snapshot: bytes | None = None
    pinned: bool = False


class Lock(Protocol):
    """The right to write to a log, which one process has at a time."""

    def is_held(self) -> bool:
        """Whether the right still stands."""
        ...

    def release(self) -> None:
        """Give it back."""
        ...


class Store(Protocol):
    """Append-only logs and snapshots."""

    def logs(self) -> dict[str, int]:
        """The name of each log, and the number of its last entry."""
        ...

    def append(self, additions: Sequence[Addition]) -> None:
        """Add to some logs in one transaction; all or nothing."""
        ...

    def read(
        self,
        log: str,
        after: int = 0,
        until: int | None = None,
        *,
        number: int | None = None,
        numbers: Collection[int] | None = None,
        requests: Collection[str] | None = None,
    ) -> Iterator[Entry]:
        """Entries in order; only those about some decisions, or that made decisions for some requests, if given."""
        ...

    def snapshot(self, log: str, until: int | None = None) -> tuple[int, bytes] | None:
        """The newest snapshot (at most until an entry): the number of its last entry, and its bytes."""
        ...

    def lock(self, log: str) -> Lock:
        """Take the right to write to a log, or raise `Locked`."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
