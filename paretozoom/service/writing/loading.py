"""From a store to an experiment: the newest snapshot and the rest of the log, or the whole log."""

from __future__ import annotations

from paretozoom.records import Refused
from paretozoom.service.experiments.experiment import Experiment, fold_all
from paretozoom.store import Store
from paretozoom.store.events import Created, Entry, Upgraded


def load_experiment(store: Store, name: str, until: int | None = None) -> tuple[Experiment, int]:
    """The experiment as its log says (at most until an entry), and the entry of the snapshot it was read from, or 0."""
    found = store.snapshot(name, until)
    if found is None:
        return replay_experiment(store, name, until), 0
    seq, data = found
    experiment = Experiment.load(name, data)
    if experiment.seq != seq:
        raise Refused(f"log {name!r}: the snapshot of entry {seq} says that it is of entry {experiment.seq}")
    tail = store.read(name, seq, until)
    if experiment.version != experiment.policy.version and next(tail, None) is not None:
        raise Refused(_written_by(experiment, experiment.version))
    return fold_all(experiment, tail), seq


def replay_experiment(store: Store, name: str, until: int | None = None) -> Experiment:
    """The experiment by folding its whole log (at most until an entry).

    Where the log begins with a snapshot, or another version of the policy took over from one, from there on.
    """
    return _replay(store, name, until)[0]


def _replay(store: Store, name: str, until: int | None) -> tuple[Experiment, int]:
    """The experiment, and the entry from which today's version of its policy wrote the log."""
    entries = store.read(name, 0, until)
    begin = next(entries, None)
    if begin is None:
        raise Refused(f"log {name!r}: is empty")
    first = Experiment(name, begin)
    version = first.version
    experiment: Experiment | None = None
    for entry in entries:
        if isinstance(entry.event, Upgraded):  # what came before may be of versions that nothing here can read
            begin, version, experiment = entry, entry.event.version, None
        elif version == first.policy.version:
            experiment = experiment or _from(store, name, begin)
            experiment.fold(entry)
    if version != first.policy.version:
        raise Refused(_written_by(first, version))
    return experiment or _from(store, name, begin), begin.seq


def _from(store: Store, name: str, begin: Entry) -> Experiment:
    """The experiment at an entry from which it can be read."""
    if isinstance(begin.event, Created) and not begin.event.snapshot:
        return Experiment(name, begin)
    return Experiment.load(name, _pinned(store, name, begin.seq))


def _written_by(experiment: Experiment, version: int) -> str:
    policy = experiment.policy
    return (
        f"log {experiment.name!r}: was written by version {version} of {policy.name}, this is version "
        f"{policy.version}, and no snapshot of the log's end is there; start that version once and stop it, "
        "which saves one"
    )


def _pinned(store: Store, name: str, seq: int) -> bytes:
    found = store.snapshot(name, seq)
    if found is None or found[0] != seq:
        raise Refused(f"log {name!r}: the snapshot that entry {seq} begins with is missing")
    return found[1]


def verify(store: Store, name: str, until: int | None = None) -> tuple[Experiment, dict[int, bool]]:
    """The experiment by its whole log, and for each snapshot whether it and what follows it come to the same bytes."""
    whole, begin = _replay(store, name, until)
    digest = whole.digest()
    checks: dict[int, bool] = {}
    found = store.snapshot(name, until)
    while found is not None and found[0] >= begin:  # those before are of other versions
        seq = found[0]
        by_snapshot = fold_all(Experiment.load(name, found[1]), store.read(name, seq, until))
        checks[seq] = by_snapshot.digest() == digest
        found = store.snapshot(name, seq - 1) if seq > 1 else None
    return whole, dict(sorted(checks.items()))
