"""Requests for decisions."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Literal

from litestar import get, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody

from paretozoom.service.access.guard import needs
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.draft import Draft, NotOpen
from paretozoom.service.experiments.fates import became_of, declined
from paretozoom.service.http.bodies import DecisionAnswer, DecisionAnswers, DecisionState, NewDecision, NewDecisions
from paretozoom.service.http.shared import ONE, WHY_NOT, Named, Numbered, checked_batch
from paretozoom.store.events import Decided


@post(ONE + "/decisions", before_request=needs("decide"), responses=WHY_NOT, summary="Decide")
async def decide(name: Named, data: JSONBody[NewDecision], state: State) -> DecisionAnswer:
    """An arm for a context, drawn fairly among those that may be Pareto optimal."""
    began = time.perf_counter()
    ids = () if data.request_id is None else (data.request_id,)
    decided = await state.keeper.submit(name, lambda draft: _decide(draft, data), ids)
    state.meters.took("decide", began)
    return DecisionAnswer.of(decided)


@post(ONE + "/decisions/batch", before_request=needs("decide"), responses=WHY_NOT, summary="Decide many")
async def decide_many(name: Named, data: JSONBody[NewDecisions], state: State) -> DecisionAnswers:
    """Decisions for many contexts; if one is refused, none is made."""
    began = time.perf_counter()
    wanted = checked_batch(state.keeper, "decisions", data.decisions)
    ids = [one.request_id for one in data.decisions if one.request_id is not None]
    decided = await state.keeper.submit(name, _decide_all(wanted), ids)
    state.meters.took("decide batch", began)
    return DecisionAnswers([DecisionAnswer.of(one) for one in decided])


def _decide(draft: Draft, data: NewDecision) -> Decided:
    return draft.decide(data.context, feasible=data.feasible, request=data.request_id, deferred=data.deferred)


def _decide_all(wanted: dict[str, NewDecision]) -> Callable[[Draft], list[Decided]]:
    return lambda draft: draft.all_or_none(_decide, wanted)


@get(ONE + "/decisions/{number:int}", before_request=needs("read"), responses=WHY_NOT, summary="Look up a decision")
async def look_up_decision(name: Named, number: Numbered, state: State) -> DecisionState:
    """A decision, its rewards and what became of it."""
    experiment = state.keeper.find(name)
    entries = await state.keeper.look_up(name, number)
    if not entries or not isinstance(entries[0].event, Decided):
        raise Declined(404, f"decision {number}: there is no such decision")
    became = became_of((entry.event for entry in entries), experiment)
    made = DecisionAnswer.of(entries[0].event)
    return DecisionState(made, became.fate, became.told, became.default, entries[0].time)


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
        await state.keeper.submit(name, lambda draft: getattr(draft, act)(number))
    except NotOpen:
        events = [entry.event for entry in await state.keeper.look_up(name, number)]
        if not events:
            raise Declined(404, f"decision {number}: there is no such decision") from None
        fate = became_of(events, state.keeper.find(name)).fate
        if not (act == "cancel" and fate == "cancelled"):
            raise declined(number, fate) from None
