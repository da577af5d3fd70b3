"""What became of a decision, by what the log says of it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import msgspec

from paretozoom.service.declined import Declined
from paretozoom.service.experiments.draft import new_in
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.store.events import Cancelled, Event, Expired, Rewarded

Fate = Literal["open", "rewarded", "expired", "cancelled", "retired"]

WHY_CLOSED: dict[Fate, str] = {
    "open": "has all its rewards, some of them from before the experiment was imported",  # this log closed it nowhere
    "rewarded": "has all its rewards",
    "expired": "has expired",
    "cancelled": "was cancelled",
    "retired": "is closed, as its experiment is retired",
}


class Became(msgspec.Struct):
    """What is known of a decision: its fate, the rewards it was told, and those that the default brought in the end.

    >>> Became().fate
    'open'
    """

    fate: Fate = "open"
    told: dict[str, float] = {}
    default: dict[str, float] = {}


def became_of(events: Iterable[Event], experiment: Experiment) -> Became:
    """What became of a decision, by all that the log of its experiment says of it.

    >>> from paretozoom import PaperTask
    >>> from paretozoom.store.events import Created, Entry
    >>> begin = Entry(1, 0.0, Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    >>> became_of([Rewarded(3, {"first": 1.0}), Expired(3, {"second": 0.0})], Experiment("prices", begin))
    Became(fate='expired', told={'first': 1.0}, default={'second': 0.0})
    """
    became = Became()
    for event in events:
        if isinstance(event, Rewarded):
            became.told.update(event.reward)
            if len(became.told) == len(experiment.problem.objectives):
                became.fate = "rewarded"
        elif isinstance(event, Expired):
            became.fate, became.default = "expired", event.reward or {}
        elif isinstance(event, Cancelled):
            became.fate = "cancelled"
    if became.fate == "open" and experiment.status == "retired":
        became.fate = "retired"
    return became


def declined(number: int, fate: Fate) -> Declined:
    """Why nothing more can be done to a decision that is not open.

    >>> declined(3, "expired").detail
    'decision 3: has expired'
    """
    return Declined(410, f"decision {number}: {WHY_CLOSED[fate]}")


def check_told(number: int, events: list[Event], reward: Any, experiment: Experiment) -> None:
    """Check a reward for a decision that is not open: fine if it was told before."""
    if not events:
        raise Declined(404, f"decision {number}: there is no such decision")
    became = became_of(events, experiment)
    if became.fate in ("expired", "cancelled"):
        raise declined(number, became.fate)
    if new_in(number, reward, became.told, experiment.problem.objective_names):
        raise declined(number, became.fate)
