"""What an experiment knows beside its policy and its open decisions, as a snapshot has it."""

from __future__ import annotations

from typing import Literal

import msgspec

from paretozoom.records import Refused, Snapshot
from paretozoom.store.events import Created

FIELD = "experiment"  # of a snapshot's header
Status = Literal["running", "paused", "retired"]


class Counts(msgspec.Struct):
    """How often things happened; the reward of each objective, summed and counted.

    >>> Counts().decisions
    0
    """

    decisions: int = 0
    rewards: int = 0
    expiries: int = 0
    cancellations: int = 0
    totals: dict[str, float] = {}
    told: dict[str, int] = {}


class State(msgspec.Struct):
    """What a snapshot holds beside the policy's own."""

    seq: int
    time: float
    jumps: list[tuple[float, float]]
    created: Created
    created_at: float
    status: Status
    wait: float | None
    default: dict[str, float] | None
    counts: Counts
    epochs: list[tuple[str, int]]


def state_in(snapshot: Snapshot) -> State:
    """What a snapshot says of an experiment.

    >>> state_in(Snapshot({}, {}))
    Traceback (most recent call last):
    paretozoom.records.Refused: snapshot: experiment: Expected `object`, got `null`
    """
    try:
        return msgspec.convert(snapshot.header.get(FIELD), State, strict=False)
    except (msgspec.ValidationError, Refused) as error:
        raise Refused(f"snapshot: {FIELD}: {error}") from error
