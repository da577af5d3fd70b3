"""A log is folded into an experiment; decisions that are not at hand are looked up."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice
from typing import TypeGuard

from paretozoom.records import Refused
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.store.events import Entry, Event, Expired, Rewarded

Lookup = Callable[[set[int]], Iterable[Entry]]  # all that a log says of some decisions
TOGETHER = 2_000  # entries that are folded at once


def fold_all(experiment: Experiment, entries: Iterable[Entry], look_up: Lookup | None = None) -> Experiment:
    """The experiment after more entries; decisions from before them are looked up.

    >>> from paretozoom import PaperTask
    >>> from paretozoom.store.events import Created, Paused
    >>> begin = Entry(1, 0.0, Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    >>> fold_all(Experiment("prices", begin), [Entry(2, 1.0, Paused("ops"))]).status
    'paused'
    """
    waiting = iter(entries)
    while some := list(islice(waiting, TOGETHER)):
        if look_up is not None:
            needed = {entry.event.number for entry in some if teaches(entry.event)}
            needed = experiment.at_hand.missing(needed)
            lost = experiment.bring_back(needed, look_up(needed)) if needed else set()
            if lost:
                raise Refused(f"log {experiment.name!r}: what it says of decision {min(lost)} is not what was decided")
        for entry in some:
            experiment.fold(entry)
        experiment.at_hand.put_away()
    return experiment


def teaches(event: Event) -> TypeGuard[Rewarded | Expired]:
    """Whether an event brings a reward to a decision.

    >>> teaches(Expired(3, None)), teaches(Expired(3, {"speed": 0.0}))
    (False, True)
    """
    return isinstance(event, (Rewarded, Expired)) and bool(event.reward)
