"""From a store to an experiment: the newest snapshot and the rest of the log, or the whole log."""

from __future__ import annotations

from paretozoom.records import Refused
from paretozoom.service.experiments.experiment import Experiment, Lookup, fold_all
from paretozoom.store import Store
from paretozoom.store.events import Created


def load_experiment(store: Store, name: str, until: int | None = None) -> tuple[Experiment, int]:
    """The experiment as its log says (at most until an entry), and the entry of the snapshot it was read from, or 0."""
    found = store.snapshot(name, until)
    if found is None:
        return replay_experiment(store, name, until), 0
    seq, data = found
    experiment = Experiment.load(name, data)
    if experiment.seq != seq:
        raise Refused(f"log {name!r}: the snapshot of entry {seq} says that it is of entry {experiment.seq}")
    return _go_on(store, experiment, seq, until), seq


def look_up_in(store: Store, name: str) -> Lookup:
    """All that a log says of some decisions."""
    return lambda numbers: store.read(name, numbers=numbers)


def _go_on(store: Store, experiment: Experiment, after: int, until: int | None) -> Experiment:
    """The experiment after what follows an entry in its log."""
    name = experiment.name
    return fold_all(experiment, store.read(name, after, until), look_up_in(store, name))


def replay_experiment(store: Store, name: str, until: int | None = None) -> Experiment:
    """The experiment by folding its whole log (at most until an entry), which may begin with a snapshot."""
    entries = store.read(name, 0, until)
    first = next(entries, None)
    if first is None:
        raise Refused(f"log {name!r}: is empty")
    if isinstance(first.event, Created) and first.event.snapshot:
        found = store.snapshot(name, first.seq)
        if found is None:
            raise Refused(f"log {name!r}: the snapshot that entry {first.seq} begins with is missing")
        return _go_on(store, Experiment.load(name, found[1]), first.seq, until)
    return fold_all(Experiment(name, first), entries, look_up_in(store, name))


def verify(store: Store, name: str, until: int | None = None) -> tuple[Experiment, dict[int, bool]]:
    """The experiment by its whole log, and for each snapshot whether it and what follows it come to the same bytes."""
    whole = replay_experiment(store, name, until)
    digest = whole.digest()
    checks: dict[int, bool] = {}
    found = store.snapshot(name, until)
    while found is not None:
        seq = found[0]
        by_snapshot = _go_on(store, Experiment.load(name, found[1]), seq, until)
        checks[seq] = by_snapshot.digest() == digest
        found = store.snapshot(name, seq - 1) if seq > 1 else None
    return whole, dict(sorted(checks.items()))
