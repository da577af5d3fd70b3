"""What an experiment's log says of its rewards, contexts and similarity, for the terminal."""

from __future__ import annotations

import itertools
from textwrap import fill

import msgspec

from paretozoom.records import Refused, Snapshot
from paretozoom.similarity.diagnosis import Diagnosis, diagnose
from paretozoom.store import Store
from paretozoom.store.events import Created
from paretozoom.store.rounds import rounds_in

WIDTH = 100


def diagnosis_of(store: Store, name: str) -> Diagnosis:
    """What the log of an experiment says; of its similarity if it has one, else of the problem's own."""
    created = _created(store, name)
    rounds = rounds_in(store.read(name), len(created.problem.objectives))
    given = created.parameters.get("similarity")
    return diagnose(created.problem, given if isinstance(given, dict) else None, rounds)


def _created(store: Store, name: str) -> Created:
    """How an experiment began, also when the beginning of its log was thrown away: then its snapshots say it."""
    first = next(itertools.islice(store.read(name), 1), None)
    if first is not None and isinstance(first.event, Created):
        return first.event
    found = store.snapshot(name)
    if found is None:
        raise Refused(f"experiment: the log of {name!r} does not say how it began")
    return msgspec.convert(Snapshot.from_bytes(found[1]).header["experiment"]["created"], Created)


def as_text(name: str, found: Diagnosis) -> str:
    """A paragraph for each thing to be said.

    >>> print(as_text("prices", Diagnosis(float("nan"), 0.0, float("inf"), None, None, 12)))
    prices, 12 rounds
    <BLANKLINE>
    12 rounds are too few to tell how fast rewards change
    """
    said = [found.about_similarity, *map(str, found.findings)]
    return "\n\n".join([f"{name}, {found.rounds:,} rounds", *(fill(text, WIDTH) for text in said)])


def as_json(found: Diagnosis) -> str:
    """All of it as JSON; a number that is not finite is null."""
    return msgspec.json.format(msgspec.json.encode(found)).decode()
