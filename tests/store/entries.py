"""What tests append to logs and read back, in short."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from paretozoom.store import Addition, Entry, Event, Store
from paretozoom.store.events import Paused


def add(store: Store, log: str, *events: Event, after: int = 0, **more: Any) -> None:
    """Append to one log."""
    store.append([Addition(log, after, events, more.pop("time", 1.5), **more)])


def pauses(count: int, first: int = 1) -> list[Paused]:
    """Events that can be told apart."""
    return [Paused(str(k)) for k in range(first, first + count)]


def names(entries: Iterator[Entry]) -> list[str]:
    """By whom pauses were made."""
    return [entry.event.by for entry in entries if isinstance(entry.event, Paused)]


def places(entries: Iterator[Entry]) -> list[int]:
    """The numbers of entries."""
    return [entry.seq for entry in entries]
