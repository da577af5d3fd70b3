"""What became of a decision, by what the log says of it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from paretozoom.service.declined import Declined
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.store.events import Cancelled, Carried, Erased, Event, Expired, Rewarded

Outcome = Literal["open", "rewarded", "expired", "cancelled", "retired", "erased"]

WHY_CLOSED: dict[Outcome, str] = {
    "open": "is open no more",  # though the log closed it nowhere
    "rewarded": "has all its rewards",
    "expired": "has expired",
    "cancelled": "was cancelled",
    "erased": "was erased",
    "retired": "is closed, as its experiment is retired",
}


class History(msgspec.Struct):
    """What became of a decision, the rewards it was told, and those that the default brought in the end.

    >>> History().outcome
    'open'
    """

    outcome: Outcome = "open"
    told: dict[str, float] = {}
    default: dict[str, float] = {}


def history_of(events: Iterable[Event], experiment: Experiment) -> History:
    """The history of a decision, from all events about it in the log of its experiment.

    >>> from paretozoom import PaperTask
    >>> from paretozoom.store.events import Created, Entry
    >>> begin = Entry(1, 0.0, Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    >>> history_of([Rewarded(3, {"first": 1.0}), Expired(3, {"second": 0.0})], Experiment("prices", begin))
    History(outcome='expired', told={'first': 1.0}, default={'second': 0.0})
    """
    history = History()
    for event in events:
        if isinstance(event, (Carried, Rewarded)):
            history.told.update(event.reward)
            if len(history.told) == len(experiment.problem.objectives):
                history.outcome = "rewarded"
        elif isinstance(event, Expired):
            history.outcome, history.default = "expired", event.reward or {}
        elif isinstance(event, Cancelled):
            history.outcome = "cancelled"
        elif isinstance(event, Erased):
            return History("erased")
    if history.outcome == "open" and experiment.status == "retired":
        history.outcome = "retired"
    return history


def declined_as_closed(number: int, outcome: Outcome) -> Declined:
    """Why nothing more can be done to a decision that is not open.

    >>> declined_as_closed(3, "expired").detail
    'decision 3: has expired'
    """
    return Declined(410, f"decision {number}: {WHY_CLOSED[outcome]}")


def check_repeated(number: int, events: list[Event], reward: Any, experiment: Experiment) -> None:
    """Decline a reward for a decision that is not open, unless all of it was told before."""
    if not events:
        raise Declined(404, f"decision {number}: is not in this log, which begins later")
    history = history_of(events, experiment)
    if history.outcome in ("expired", "cancelled", "erased"):
        raise declined_as_closed(number, history.outcome)
    if untold_part(number, reward, history.told, experiment.problem.objective_names):
        raise declined_as_closed(number, history.outcome)


def untold_part(number: int, reward: Any, told: Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    """What a reward says that was not told yet; a contradiction is declined.

    >>> untold_part(3, {"a": 1, "b": 0.5}, {"a": 1.0}, ("a", "b"))
    {'b': 0.5}
    """
    given = reward if isinstance(reward, Mapping) else dict(zip(names, reward, strict=True))
    news = {}
    for name, value in given.items():
        if value is None:
            continue
        if name not in told:
            news[name] = float(value)
        elif told[name] != value:
            raise Declined(409, f"reward[{name!r}]: decision {number} was rewarded with {told[name]!r}, now {value!r}")
    return news
