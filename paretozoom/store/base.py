"""What a store is: append-only logs and snapshots, behind a few methods."""

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


class Busy(Away):
    """The database did not do it in time: somebody else has it locked, or it hangs."""


class Damaged(StoreError):
    """What is stored is not what was written; `entry` is the first of which this is known, 0 if it is none."""

    def __init__(self, text: str, entry: int = 0) -> None:
        super().__init__(text)
        self.entry = entry


class Full(StoreError):
    """There is no space left."""


class ReadOnly(StoreError):
    """The database takes no writes."""


class Conflict(StoreError):
    """The log is not where its writer believed: somebody else has written to it."""


class Repeated(Conflict):
    """A decision was made for this request before."""


class Locked(StoreError):
    """Another process holds the log."""


class Addition(msgspec.Struct, frozen=True):
    """What is to be added to a log whose last entry has the number `after`; a new log has 0, and begins with an event.

    A snapshot is the state after the last of the entries; one that is `pinned` is never thrown away, nor replaced by
    one that is not. With `root`, the checksum of the entry `after`, a new log begins behind entries that are not kept.

    >>> Addition("prices", 0, (), 0.0).snapshot is None
    True
    """

    log: str
    after: int
    events: Sequence[Event]
    time: float
    snapshot: bytes | None = None
    pinned: bool = False
    root: bytes | None = None


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
        """Entries in order; only those about some decisions, or that made decisions for some requests, if given.

        Raises `Damaged` at an entry that is not what was written.
        """
        ...

    def beginning(self, log: str) -> tuple[int, bytes]:
        """The last entry that was thrown away (0: none was), and its checksum."""
        ...

    def snapshots(self, log: str, until: int | None = None) -> list[tuple[int, bool]]:
        """The last entry of each snapshot (at most until an entry), and whether it is pinned; the newest first."""
        ...

    def snapshot(self, log: str, until: int | None = None) -> tuple[int, bytes] | None:
        """The newest snapshot (at most until an entry): the number of its last entry, and its bytes.

        Raises `Damaged` if it is not what was written.
        """
        ...

    def erase(self, addition: Addition, entries: Collection[int], *, mend: bool = False) -> None:
        """Put tombstones in place of some entries, and add to their log, in one transaction.

        The addition's snapshot is the only one that stays. With `mend` the entries are damaged: the checksums are
        computed again from what is there.
        """
        ...

    def damage(self, log: str) -> list[int]:
        """The entries that are missing, or are not what was written."""
        ...

    def cut(self, log: str, after: int) -> None:
        """Throw away all that comes after an entry."""
        ...

    def prune(self, addition: Addition, until: int) -> None:
        """Throw away all entries up to one, and add to the log; the addition's snapshot is the only one that stays."""
        ...

    def delete(self, log: str) -> None:
        """Throw away a log with all its snapshots; its name is free again."""
        ...

    def lock(self, log: str) -> Lock:
        """Take the right to write to a log, or raise `Locked`."""
        ...

    def check(self, by_writing: bool = False) -> None:
        """Raise what would keep an append from being written; a full disk is seen by writing only."""
        ...

    def close(self) -> None:
        """Let go of everything."""
        ...
