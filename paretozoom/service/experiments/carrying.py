"""Open decisions on their way from one log to another: an export holds them whole, an import writes them down again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import msgspec

from paretozoom.records import Refused, Snapshot
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.experiments.open_decisions import PREFIX
from paretozoom.store.events import Carried, Decided, Entry, Rewarded
from paretozoom.store.rows import is_request

FIELD = "carried"  # of a snapshot's header


def with_carried(snapshot: Snapshot, entries: Iterable[Entry]) -> Snapshot:
    """A snapshot of an experiment with its open decisions whole, from what its log says of them."""
    seq: int = snapshot.header["experiment"]["seq"]
    made_by: dict[int, Decided | Carried] = {}
    rewards: dict[int, dict[str, float]] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, (Decided, Carried)):
            made_by[event.decision.number] = event
        if entry.seq <= seq and isinstance(event, (Rewarded, Carried)):
            number = event.number if isinstance(event, Rewarded) else event.decision.number
            rewards.setdefault(number, {}).update(event.reward)
    columns = (snapshot.arrays[PREFIX + name].tolist() for name in ("number", "deferred", "made", "shown"))
    carried = []
    for number, deferred, made, shown in zip(*columns, strict=True):
        if number not in made_by:
            raise Refused(f"log: says nothing of decision {number}, which is open")
        event = made_by[number]
        about = (event.subject, event.request, event.feasible)
        carried.append(Carried(event.decision, rewards.get(number, {}), deferred, made, shown, *about))
    return Snapshot({**snapshot.header, FIELD: msgspec.to_builtins(carried)}, snapshot.arrays)


def read_export(name: str, data: bytes) -> tuple[Experiment, list[Carried]]:
    """The experiment of an export without its open decisions, and these, as events that are to follow."""
    snapshot = Snapshot.from_bytes(data)
    experiment = _taken_over(name, snapshot)
    try:
        carried: list[Carried] = msgspec.convert(snapshot.header.get(FIELD, []), list[Carried])
    except (msgspec.ValidationError, Refused) as error:
        raise Refused(f"snapshot: {FIELD}: {error}") from error
    if experiment.policy.number and experiment.epochs.current is None:
        raise Refused("snapshot: experiment: epochs are none, so no decision has an id")
    waiting = experiment.open_decisions
    numbers = [event.decision.number for event in carried]
    if numbers != waiting.numbers():
        raise Refused(f"snapshot: {FIELD} are the decisions {numbers[:10]!r}, expected {waiting.numbers()[:10]!r}")
    requests = [event.request for event in carried if event.request is not None]
    _check_texts("requests", requests)
    if len(set(requests)) < len(requests):
        raise Refused(f"snapshot: {FIELD}: requests are {requests[:10]!r}, expected each once")
    _check_texts("subjects", [event.subject for event in carried if event.subject is not None])
    for event in carried:
        for objective in event.reward:
            if objective not in experiment.problem.objective_names:
                raise Refused(f"snapshot: {FIELD}: {objective!r} is not an objective")
        row: Any = waiting.get(event.decision.number)
        made = float(snapshot.arrays[PREFIX + "made"][row.row])
        if (event.deferred, event.made, event.shown) != (row.deferred, made, row.shown):
            raise Refused(f"snapshot: {FIELD}: decision {row.number} was not made, shown or deferred as its row says")
    lost = experiment.bring_back(numbers, (Entry(experiment.seq, 0.0, event) for event in carried))
    if lost:
        raise Refused(f"snapshot: {FIELD}: decision {min(lost)} is not the one that is open")
    experiment.at_hand.put_away(0)
    waiting.clear()
    return experiment, carried


def _taken_over(name: str, snapshot: Snapshot) -> Experiment:
    try:
        return Experiment.of(name, snapshot)
    except Refused:
        raise
    except Exception as error:  # of the operator's own policy
        raise Refused(f"snapshot: its policy does not take over its state ({error!r})") from error


def _check_texts(field: str, given: list[str]) -> None:
    """Hold texts of an import to what a request may say."""
    for text in given:
        if not (text and is_request(text)):
            raise Refused(f"snapshot: {FIELD}: {field}: {text[:80]!r} is not a text of 1 to 200 characters without 0")
