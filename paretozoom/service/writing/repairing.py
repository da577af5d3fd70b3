"""Make an experiment whose log or snapshots are damaged one that can be served again."""

from __future__ import annotations

import time

from paretozoom.records import Refused
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.writing.loading import beginning_of, load_experiment, replay_experiment, verify
from paretozoom.store import Addition, Damaged, Entry, Store
from paretozoom.store.events import Removed

BY = "repair"
REASONS = (Damaged, Refused, ValueError, LookupError, TypeError)  # why a log or a snapshot is of no use


def repair(store: Store, name: str, *, cut: bool = False) -> str:
    """Rebuild what is damaged of an experiment from what is not; returns what was done, in words.

    Damaged snapshots are made anew from the log. Where entries are damaged, but a later snapshot is not, tombstones
    take their place. Else all that comes after the last good entry must go: only with `cut`.
    """
    found = verify(store, name)
    if found.fine:
        return "nothing to repair"
    bad = store.damage(name)
    try:
        experiment = _rebuilt(store, name, by_log=not bad)
    except REASONS as error:
        return _cut(store, name, bad, cut, error)
    _save(store, experiment, Removed(BY, "damage", tuple(bad)), bad)
    if not bad:
        return "snapshots were made anew from the log"
    return f"{_count(bad)} replaced by tombstones, what is known of them is in a snapshot"


def _rebuilt(store: Store, name: str, by_log: bool) -> Experiment:
    """By the log if it is whole, or else by a snapshot that is good and what follows it."""
    if by_log:
        try:
            return replay_experiment(store, name)
        except REASONS:
            pass
    return load_experiment(store, name)[0]


def _cut(store: Store, name: str, bad: list[int], allowed: bool, error: Exception) -> str:
    """Throw away what comes after the last entry that can be reached."""
    head = store.logs()[name]
    last = _last_good(store, name, bad[0] - 1 if bad else head - 1)
    lost = range(last + 1, head + 1)
    if last < 1:
        raise Refused(f"experiment {name!r}: nothing of it can be read; delete it, or restore a backup ({error})")
    if not allowed:
        raise Refused(
            f"experiment {name!r}: {_count(lost)}, from {lost[0]} on, cannot be reached any more ({error}); "
            "a backup may have them; --cut throws them away"
        )
    store.cut(name, last)
    experiment, _ = load_experiment(store, name)
    _save(store, experiment, Removed(BY, "cut", (lost[0], lost[-1])), ())
    return f"{_count(lost)} thrown away, from {lost[0]} on"


def _last_good(store: Store, name: str, at_most: int) -> int:
    """The last entry until which an experiment can be folded."""
    low, high = 0, at_most  # a fold until `low` works
    while low < high:
        middle = (low + high + 1) // 2
        try:
            load_experiment(store, name, middle)
        except REASONS:
            high = middle - 1
        else:
            low = middle
    return low


def _save(store: Store, experiment: Experiment, event: Removed, bad: list[int] | tuple[int, ...]) -> None:
    """Write down what was done, with a snapshot that is the only one from then on."""
    head, now = experiment.seq, time.time()
    experiment.fold(Entry(head + 1, now, event))
    data = experiment.dump().to_bytes()
    pinned = bool(bad) or beginning_of(store, experiment.name) is not None
    addition = Addition(experiment.name, head, [event], now, snapshot=data, pinned=pinned)
    store.erase(addition, bad, mend=bool(bad))


def _count(entries: range | list[int]) -> str:
    return f"{len(entries):,} {'entry' if len(entries) == 1 else 'entries'}"
