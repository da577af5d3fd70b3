"""From one store to another."""

from __future__ import annotations

from functools import partial
from itertools import groupby, islice

from paretozoom.store.base import Addition, Conflict, Store
from paretozoom.store.events import Created, Entry

AT_ONCE = 5_000


def copy_store(source: Store, target: Store) -> dict[str, int]:
    """Copy every log as far as it is written now, and the snapshots it needs; returns how many entries each has.

    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from paretozoom.store import Addition, open_store
    >>> from paretozoom.store.events import Paused
    >>> with TemporaryDirectory() as one, TemporaryDirectory() as other:
    ...     source, target = open_store(Path(one)), open_store(Path(other))
    ...     source.append([Addition("prices", 0, [Paused("ops")], time=1.5)])
    ...     print(copy_store(source, target), target.logs())
    ...     source.close(), target.close()
    {'prices': 1} {'prices': 1}
    (None, None)
    """
    copied = source.logs()
    there = sorted(copied.keys() & target.logs().keys())
    if there:
        raise Conflict(f"log {there[0]!r}: exists already where it is to be copied to")
    for log, head in copied.items():
        saved, newest = source.snapshot(log, head) or (0, None)
        entries = source.read(log, 0, head)
        after = 0
        while chunk := list(islice(entries, AT_ONCE)):
            additions = []
            for _, group in groupby(chunk, partial(_together, saved=saved)):
                together = list(group)
                pinned = _begins(together[0])
                last = together[-1].seq
                data = _snapshot_of(source, log, last) if pinned else newest if last == saved else None
                events = [entry.event for entry in together]
                additions.append(Addition(log, after, events, together[0].time, snapshot=data, pinned=pinned))
                after = last
            target.append(additions)
    return copied


def _together(entry: Entry, saved: int) -> tuple[float, int, bool]:
    """What entries have in common that are written as one addition."""
    return entry.time, entry.seq if _begins(entry) else 0, entry.seq <= saved


def _begins(entry: Entry) -> bool:
    """Whether what follows an entry goes on from a snapshot."""
    return isinstance(entry.event, Created) and entry.event.snapshot


def _snapshot_of(source: Store, log: str, seq: int) -> bytes | None:
    found = source.snapshot(log, seq)
    return found[1] if found is not None and found[0] == seq else None
