"""From a store to an experiment: the newest snapshot that can be read and the rest of the log, or the whole log."""

from __future__ import annotations

import logging
from collections.abc import Collection
from contextlib import suppress

import msgspec

from paretozoom.records import Refused, Snapshot
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.experiments.fairness import positions_in
from paretozoom.service.experiments.folding import fold_all
from paretozoom.store import Damaged, Entry, Store, StoreError
from paretozoom.store.events import Created

log = logging.getLogger("paretozoom")


def load_experiment(store: Store, name: str, until: int | None = None) -> tuple[Experiment, int]:
    """The experiment as its log says (at most until an entry), and the entry of the snapshot it was read from, or 0.

    Where a snapshot is damaged an older one is tried, and the whole log in the end; what that raises is raised.
    """
    for seq, _ in store.snapshots(name, until):
        try:
            return _from_snapshot(store, name, seq, until), seq
        except Exception as error:
            if isinstance(error, StoreError) and not isinstance(error, Damaged):
                raise
            log.warning("a snapshot was of no use", extra={"experiment": name, "entry": seq, "error": str(error)})
    return replay_experiment(store, name, until), 0


def replay_experiment(store: Store, name: str, until: int | None = None) -> Experiment:
    """The experiment by folding its log (at most until an entry), from the pinned snapshot it begins with, if any."""
    begin = beginning_of(store, name)
    if begin is not None:
        if until is not None and until < begin:
            raise Refused(f"log {name!r}: can be folded from entry {begin} on, not until {until}")
        return _from_snapshot(store, name, begin, until)
    entries = store.read(name, 0, until)
    first = next(entries, None)
    if first is None:
        raise Damaged(f"log {name!r}: is empty")
    if isinstance(first.event, Created) and first.event.snapshot:
        raise Damaged(f"log {name!r}: the snapshot that entry {first.seq} begins with is missing")
    return fold_all(Experiment(name, first), entries, lambda numbers: entries_about(store, name, numbers))


def entries_about(store: Store, name: str, numbers: Collection[int]) -> list[Entry]:
    """All that a log says of some decisions; nothing of one of which an entry is damaged."""
    try:
        return list(store.read(name, numbers=numbers))
    except Damaged:
        found = []
        for number in numbers:
            with suppress(Damaged):
                found += list(store.read(name, number=number))
        return found


def beginning_of(store: Store, name: str) -> int | None:
    """The entry of the snapshot from which a log is folded: what came before was imported, erased or thrown away."""
    return min((seq for seq, pinned in store.snapshots(name) if pinned), default=None)


def _from_snapshot(store: Store, name: str, seq: int, until: int | None) -> Experiment:
    found = store.snapshot(name, seq)
    if found is None or found[0] != seq:
        raise Damaged(f"log {name!r}: the snapshot of entry {seq} is missing")
    snapshot = Snapshot.from_bytes(found[1])
    experiment = Experiment.of(name, snapshot)
    experiment.positions = positions_in(snapshot)
    if experiment.seq != seq:
        raise Damaged(f"log {name!r}: the snapshot of entry {seq} says that it is of entry {experiment.seq}")
    return fold_all(experiment, store.read(name, seq, until), lambda numbers: entries_about(store, name, numbers))


def trouble_with(store: Store, name: str) -> str | None:
    """Why an experiment could not be served, if it could not."""
    try:
        load_experiment(store, name)
    except Exception as error:
        _unless_away(error)
        return str(error)
    return None


class Findings(msgspec.Struct):
    """What is found of an experiment when all that is stored of it is looked at.

    >>> Findings("prices", troubles=["entry 3 is damaged"]).fine
    False
    """

    name: str
    entries: int = 0
    digest: str | None = None  # of the state, by the whole log
    begin: int | None = None  # the entry of the snapshot from which the log is folded
    snapshots: dict[int, str] = {}  # same, DIFFERENT or DAMAGED
    troubles: list[str] = []
    broken: int | None = None  # the first entry that is damaged

    @property
    def fine(self) -> bool:
        """Whether all agrees."""
        return not self.troubles and set(self.snapshots.values()) <= {"same"}


def verify(store: Store, name: str, until: int | None = None) -> Findings:
    """Look at every byte that is stored of an experiment: checksums, the fold of its log, and each of its snapshots."""
    found = Findings(name)
    try:
        for entry in store.read(name, 0, until):
            found.entries = entry.seq
    except Damaged as error:
        found.troubles.append(str(error))
        found.broken = error.entry or found.entries + 1
    try:
        found.begin = beginning_of(store, name)
        if found.broken is None or (found.begin is not None and found.begin >= found.broken):
            found.digest = replay_experiment(store, name, until).digest()
    except Exception as error:
        _unless_away(error)
        found.troubles.append(str(error))
    for seq, _ in sorted(store.snapshots(name, until)):
        try:
            digest = _from_snapshot(store, name, seq, until).digest()
        except Exception as error:
            _unless_away(error)
            found.snapshots[seq] = "DAMAGED"
            if str(error) not in found.troubles:
                found.troubles.append(str(error))
        else:
            found.digest = found.digest or digest
            found.snapshots[seq] = "same" if digest == found.digest else "DIFFERENT"
    return found


def _unless_away(error: Exception) -> None:
    if isinstance(error, StoreError) and not isinstance(error, Damaged):
        raise error
