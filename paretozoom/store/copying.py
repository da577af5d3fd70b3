"""From one store to another."""

from __future__ import annotations

from contextlib import suppress
from functools import partial
from itertools import chain, groupby, islice

from paretozoom.store.base import Addition, Conflict, Damaged, Store
from paretozoom.store.events import Entry

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
    damaged = []
    for log, head in copied.items():
        try:
            _copy_log(source, target, log, head)
        except Damaged as error:  # the others are copied
            damaged.append(f"{error}; it was copied as far as it can be read")
    if damaged:
        raise Damaged("; ".join(damaged))
    return copied


def _copy_log(source: Store, target: Store, log: str, head: int) -> None:
    snapshots = source.snapshots(log, head)
    wanted = {seq: pinned for k, (seq, pinned) in enumerate(snapshots) if pinned or k == 0}
    newest = max(wanted, default=0)
    entries = source.read(log, 0, head)
    after, checksum = source.beginning(log)
    root = checksum if after else None
    for first in entries:
        additions = []
        chunk = chain([first], islice(entries, AT_ONCE - 1))
        for _, group in groupby(chunk, partial(_together, newest=newest, wanted=wanted)):
            together = list(group)
            last = together[-1].seq
            data = _snapshot_of(source, log, last) if last in wanted else None
            pinned = data is not None and wanted[last]
            events = [entry.event for entry in together]
            additions.append(Addition(log, after, events, together[0].time, data, pinned, root))
            after, root = last, None
        target.append(additions)


def _together(entry: Entry, newest: int, wanted: dict[int, bool]) -> tuple[float, int, bool]:
    """What entries have in common that are written as one addition."""
    return entry.time, entry.seq if wanted.get(entry.seq) else 0, entry.seq <= newest


def _snapshot_of(source: Store, log: str, seq: int) -> bytes | None:
    """A snapshot, unless it is damaged: the log is copied, and says the same."""
    with suppress(Damaged):
        found = source.snapshot(log, seq)
        return found[1] if found is not None and found[0] == seq else None
    return None
