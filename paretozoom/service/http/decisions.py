"""Requests for decisions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any, Literal

import msgspec
from litestar import get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from paretozoom.service.access.guard import needs
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.outcomes import Outcome, declined_as_closed, history_of
from paretozoom.service.experiments.pending import NotOpen, Pending
from paretozoom.service.http.bodies import RequestId
from paretozoom.service.http.shared import ONE, WHY_NOT, Named, Numbered, checked_batch
from paretozoom.store.events import Carried, Decided


class NewDecision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A context to decide for."""

    context: dict[str, Any] | list[Any] = {}
    feasible: Any = None
    request_id: RequestId | None = None
    deferred: Annotated[bool, Meta(description="waits until it is activated")] = False


class NewDecisions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Contexts to decide for, in order."""

    decisions: list[NewDecision]


class DecisionAnswer(msgspec.Struct, frozen=True):
    """A decision."""

    id: int
    context: dict[str, Any]
    arm: Any
    density: float
    deferred: bool
    request_id: str | None

    @classmethod
    def of(cls, made: Decided | Carried) -> DecisionAnswer:
        """From what the log says."""
        decision, request = made.decision, made.request if isinstance(made, Decided) else None
        return cls(decision.number, decision.context, decision.arm, decision.density, made.deferred, request)


class DecisionAnswers(msgspec.Struct, frozen=True):
    """Decisions in the order of their contexts."""

    decisions: list[DecisionAnswer]


class DecisionState(msgspec.Struct, frozen=True):
    """A decision and what is known of it."""

    decision: DecisionAnswer
    state: Outcome
    reward: dict[str, float]
    default: Annotated[dict[str, float], Meta(description="told for what was missing when it expired")]
    time: float


@post(ONE + "/decisions", before_request=needs("decide"), responses=WHY_NOT, summary="Decide")
async def decide(name: Named, data: JSONBody[NewDecision], state: State) -> DecisionAnswer:
    """An arm for a context, drawn fairly among those that may be Pareto optimal."""
    began = time.perf_counter()
    ids = () if data.request_id is None else (data.request_id,)
    decided = await state.writer.submit(name, lambda pending: _decide(pending, data), ids)
    state.meters.took("decide", began)
    return DecisionAnswer.of(decided)


@post(ONE + "/decisions/batch", before_request=needs("decide"), responses=WHY_NOT, summary="Decide many")
async def decide_many(name: Named, data: JSONBody[NewDecisions], state: State) -> DecisionAnswers:
    """Decisions for many contexts; if one is refused, none is made."""
    began = time.perf_counter()
    wanted = checked_batch(state.experiments.limits.batch, "decisions", data.decisions)
    ids = [one.request_id for one in data.decisions if one.request_id is not None]
    decided = await state.writer.submit(name, _decide_all(wanted), ids)
    state.meters.took("decide batch", began)
    return DecisionAnswers([DecisionAnswer.of(one) for one in decided])


def _decide(pending: Pending, data: NewDecision) -> Decided:
    return pending.decide(data.context, feasible=data.feasible, request=data.request_id, deferred=data.deferred)


def _decide_all(wanted: dict[str, NewDecision]) -> Callable[[Pending], list[Decided]]:
    return lambda pending: pending.all_or_none(_decide, wanted)


@get(ONE + "/decisions/{number:int}", before_request=needs("read"), responses=WHY_NOT, summary="Look up a decision")
async def look_up_decision(name: Named, number: Numbered, state: State) -> DecisionState:
    """A decision, its rewards and what became of it."""
    experiment = state.experiments.find(name)
    entries = await state.experiments.entries_about(name, number)
    made = entries[0].event if entries else None
    if not isinstance(made, (Carried, Decided)):
        raise Declined(404, f"decision {number}: there is no such decision")
    history = history_of((entry.event for entry in entries), experiment)
    time = made.made if isinstance(made, Carried) else entries[0].time
    return DecisionState(DecisionAnswer.of(made), history.outcome, history.told, history.default, time)


@post(
    ONE + "/decisions/{number:int}/{act:str}",
    before_request=needs("decide"),
    responses=WHY_NOT,
    status_code=204,
    summary="Activate or cancel a decision",
)
async def move_decision(
    name: Named, number: Numbered, act: FromPath[Literal["activate", "cancel"]], state: State
) -> None:
    """A deferred decision was shown; or a decision was never shown, and teaches nothing."""
    try:
        await state.writer.submit(name, lambda pending: getattr(pending, act)(number))
    except NotOpen:
        events = [entry.event for entry in await state.experiments.entries_about(name, number)]
        if not events:
            raise Declined(404, f"decision {number}: there is no such decision") from None
        outcome = history_of(events, state.experiments.find(name)).outcome
        if not (act == "cancel" and outcome == "cancelled"):
            raise declined_as_closed(number, outcome) from None
