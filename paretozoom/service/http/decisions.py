"""Requests for decisions."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator
from typing import Annotated, Any, Literal

import msgspec
from litestar import get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from paretozoom.service.access.guard import needs
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.outcomes import Outcome, declined_as_closed, history_of
from paretozoom.service.experiments.pending import Pending
from paretozoom.service.experiments.pending_decisions import NotOpen
from paretozoom.service.http.bodies import RequestId, Subject
from paretozoom.service.http.shared import (
    BEFORE,
    ONE,
    WHY_NOT,
    AnyRequest,
    Identified,
    Named,
    checked_batch,
    has_left,
    spend,
)
from paretozoom.service.watching.requests import note
from paretozoom.store.events import Carried, Decided, Erased


class NewDecision(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A context to decide for."""

    context: dict[str, Any] | list[Any] = {}
    feasible: Any = None
    request_id: RequestId | None = None
    deferred: Annotated[bool, Meta(description="waits until it is activated")] = False
    subject: Subject | None = None


class NewDecisions(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Contexts to decide for, in order."""

    decisions: list[NewDecision]


class DecisionAnswer(msgspec.Struct, frozen=True):
    """A decision."""

    id: str
    context: dict[str, Any]
    arm: Any
    density: float
    deferred: bool
    request_id: str | None

    @classmethod
    def of(cls, public: str, made: Decided | Carried) -> DecisionAnswer:
        """From what the log says."""
        decision = made.decision
        return cls(public, decision.context, decision.arm, decision.density, made.deferred, made.request)


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
async def decide(name: Named, data: JSONBody[NewDecision], request: AnyRequest, state: State) -> DecisionAnswer:
    """An arm for a context, drawn fairly among those that may be Pareto optimal."""
    began = time.perf_counter()
    spend(request, 1)
    ids = () if data.request_id is None else (data.request_id,)
    answer: DecisionAnswer = await state.writer.submit(
        name, lambda pending: _decide(pending, data), ids, left=has_left(request)
    )
    state.meters.took("decide", began)
    note(request.scope, decision=answer.id)
    return answer


@post(ONE + "/decisions/batch", before_request=needs("decide"), responses=WHY_NOT, summary="Decide many")
async def decide_many(name: Named, data: JSONBody[NewDecisions], request: AnyRequest, state: State) -> DecisionAnswers:
    """Decisions for many contexts; if one is refused, none is made."""
    began = time.perf_counter()
    wanted = checked_batch(state.experiments.limits.batch, "decisions", data.decisions)
    spend(request, len(wanted))
    ids = [one.request_id for one in data.decisions if one.request_id is not None]
    decided = await state.writer.submit(name, _decide_all(wanted), ids, size=len(wanted), left=has_left(request))
    state.meters.took("decide batch", began)
    note(request.scope, decisions=[decided[0].id, decided[-1].id])  # of those that are new, without gaps
    return DecisionAnswers(decided)


def _decide(pending: Pending, data: NewDecision) -> DecisionAnswer:
    made = pending.decide(
        data.context,
        feasible=data.feasible,
        request=data.request_id,
        deferred=data.deferred,
        subject=data.subject,
    )
    return DecisionAnswer.of(pending.id_of(made.decision.number), made)


def _decide_all(wanted: dict[str, NewDecision]) -> Callable[[Pending], Generator[None, None, list[DecisionAnswer]]]:
    return lambda pending: pending.all_or_none(_decide, wanted)


@get(ONE + "/decisions/{id:str}", before_request=needs("read"), responses=WHY_NOT, summary="Look up a decision")
async def look_up_decision(name: Named, id: Identified, state: State) -> DecisionState:
    """A decision, its rewards and what became of it."""
    experiment = state.experiments.find(name)
    number = experiment.number_of(id)
    entries = await state.experiments.entries_about(name, number)
    made = entries[0].event if entries else None
    if isinstance(made, Erased):
        raise declined_as_closed(number, "erased")
    if not isinstance(made, (Carried, Decided)):
        raise Declined(404, f"decision {id!r}: {BEFORE}")
    history = history_of((entry.event for entry in entries), experiment)
    time = made.made if isinstance(made, Carried) else entries[0].time
    return DecisionState(DecisionAnswer.of(id, made), history.outcome, history.told, history.default, time)


@post(
    ONE + "/decisions/{id:str}/{act:str}",
    before_request=needs("decide"),
    responses=WHY_NOT,
    status_code=204,
    summary="Activate or cancel a decision",
)
async def move_decision(
    name: Named, id: Identified, act: FromPath[Literal["activate", "cancel"]], state: State
) -> None:
    """A deferred decision was shown; or a decision was never shown, and teaches nothing."""
    try:
        await state.writer.submit(name, lambda pending: getattr(pending, act)(pending.experiment.number_of(id)))
    except NotOpen as closed:
        number = closed.number
        events = [entry.event for entry in await state.experiments.entries_about(name, number)]
        if not events:
            raise Declined(404, f"decision {id!r}: {BEFORE}") from None
        outcome = history_of(events, state.experiments.find(name)).outcome
        if not (act == "cancel" and outcome == "cancelled"):
            raise declined_as_closed(number, outcome) from None
