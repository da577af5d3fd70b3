"""What is taken out of a log while it is served: what was decided for somebody, what is old, or all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Iterable

from paretozoom.records import Refused
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.experiments.fairness import with_positions
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.live_experiment import LiveExperiment
from paretozoom.store import Addition, Entry, Store
from paretozoom.store.events import Cancelled, Carried, Decided, Event, Expired, Removed, Rewarded


async def find_subjects(
    experiments: LiveExperiments, name: str, subjects: Collection[str], after: int = 0
) -> tuple[set[int], int]:
    """The decisions that were made for some subjects, and the last entry that was looked at."""

    def look() -> tuple[set[int], int]:
        found, last = set(), after
        for entry in experiments.store.read(name, after):
            last = entry.seq
            if isinstance(entry.event, (Carried, Decided)) and entry.event.subject in subjects:
                found.add(entry.event.decision.number)
        return found, last

    return await asyncio.to_thread(look) if subjects else (set(), after)


async def erase(experiments: LiveExperiments, live: LiveExperiment, numbers: Iterable[int], by: str) -> int:
    """Put tombstones in place of all that the log says of some decisions; how many entries these were.

    What is open of them is closed, and a snapshot of the state is pinned, as the log cannot be folded from its
    beginning any more. Called between two groups of requests.
    """
    store, wanted = experiments.store, set(numbers)
    seqs = await experiments.threads.write(_entries_about, store, live.name, wanted)
    if not seqs:
        return 0
    open_ones = live.ready().open_decisions
    events: list[Event] = [Cancelled(number) for number in sorted(wanted) if number in open_ones]
    events.append(Removed(by, "erasure", tuple(seqs)))
    after, addition = await _with_snapshot(experiments, live, events)
    await experiments.threads.write(store.erase, addition, seqs)
    if live.recent is not None:
        live.recent.forget(wanted)
    live.resume(after, after.seq)
    return len(seqs)


async def prune(experiments: LiveExperiments, live: LiveExperiment, before: float, by: str) -> int:
    """Throw away the oldest entries, as far as they are older than a moment and no open decision needs them."""
    store = experiments.store
    first, last = await experiments.threads.write(_old_entries, store, live, before)
    if last < first:
        return 0
    after, addition = await _with_snapshot(experiments, live, [Removed(by, "retention", (first, last))])
    await experiments.threads.write(store.prune, addition, last)
    live.resume(after, after.seq)
    return last - first + 1


async def delete(experiments: LiveExperiments, live: LiveExperiment) -> None:
    """Throw away an experiment; its name is free again."""
    await experiments.threads.write(experiments.store.delete, live.name)
    del experiments.by_name[live.name]
    await experiments.threads.write(live.lock.release)


async def _with_snapshot(
    experiments: LiveExperiments, live: LiveExperiment, events: list[Event]
) -> tuple[Experiment, Addition]:
    """The experiment after some events, and these with a snapshot of it; nothing has changed if that fails."""
    experiment = live.ready()
    if not experiment.policy.can_dump:
        raise Refused(f"experiment {live.name!r}: its policy cannot be saved, so its state needs the whole log")
    now, before, positions = experiments.now(), experiment.dump(), live.positions()

    def folded() -> tuple[Experiment, bytes]:
        copy = Experiment.load(live.name, before.to_bytes())
        for event in events:
            copy.fold(Entry(copy.seq + 1, now, event))
        return copy, with_positions(copy.dump(), positions).to_bytes()

    copy, data = await experiments.threads.read(folded)
    return copy, Addition(live.name, experiment.seq, events, now, data, pinned=True)


def _entries_about(store: Store, name: str, numbers: Iterable[int]) -> list[int]:
    """The entries that say more of some decisions than their numbers."""
    found = (entry for number in numbers for entry in store.read(name, number=number))
    return sorted(entry.seq for entry in found if isinstance(entry.event, (Carried, Decided, Expired, Rewarded)))


def _old_entries(store: Store, live: LiveExperiment, before: float) -> tuple[int, int]:
    """The first entry of a log, and the last that can be thrown away."""
    experiment = live.ready()
    oldest = min(experiment.open_decisions, default=None)
    needed = [] if oldest is None else [entry.seq for entry in store.read(live.name, number=oldest)]
    until = min([experiment.seq, *(seq - 1 for seq in needed)])
    first, last = 1, 0
    for entry in store.read(live.name, 0, until):
        first = entry.seq if last == 0 else first
        if entry.time >= before:
            break
        last = entry.seq
    return first, last
