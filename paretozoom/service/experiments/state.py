"""What an experiment knows beside its policy and its open decisions, as a snapshot has it."""

from __future__ import annotations

from typing import Annotated, Literal

import msgspec

from paretozoom.records import Refused, Snapshot
from paretozoom.store.events import Created

FIELD = "experiment"  # of a snapshot's header
_Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 60)]
Status = Literal["running", "paused", "retired"]


class Counts(msgspec.Struct):
    """How often things happened; the reward of each objective, summed and counted.

    >>> Counts().decisions
    0
    """

    decisions: _Count = 0
    rewards: _Count = 0
    expiries: _Count = 0
    cancellations: _Count = 0
    totals: dict[str, float] = {}
    told: dict[str, _Count] = {}


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
        state = msgspec.convert(snapshot.header.get(FIELD), State)
    except (msgspec.ValidationError, Refused) as error:
        raise Refused(f"snapshot: {FIELD}: {error}") from error
    names = set(state.created.problem.objective_names)
    for field, given in (("totals", state.counts.totals), ("told", state.counts.told)):
        if not given.keys() <= names:
            raise Refused(f"snapshot: {FIELD}: counts.{field} are of {sorted(given)[:10]!r}, which are no objectives")
    for before, after in state.jumps:
        if not 0 <= before <= after <= state.time:
            raise Refused(f"snapshot: {FIELD}: the clock jumped from {before!r} to {after!r}, until {state.time!r}")
    return state
