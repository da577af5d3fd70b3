"""The request that cancels many decisions."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Annotated

import msgspec
from litestar import post
from litestar.datastructures import State
from litestar.params import JSONBody
from msgspec import Meta

from paretozoom.service.access.guard import needs
from paretozoom.service.declined import Declined, at
from paretozoom.service.experiments.epochs import number_in
from paretozoom.service.experiments.outcomes import declined_as_closed, history_of
from paretozoom.service.experiments.pending import Pending
from paretozoom.service.experiments.pending_decisions import NotOpen
from paretozoom.service.http.bodies import Id
from paretozoom.service.http.shared import BEFORE, ONE, WHY_NOT, AnyRequest, Named, checked_batch, has_left, spend


class NewCancellations(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Decisions that were never shown; if one cannot be cancelled, none is."""

    decisions: list[Id]


class CancellationAnswer(msgspec.Struct, frozen=True):
    """How many decisions were cancelled, and how many had been before."""

    cancelled: Annotated[int, Meta(ge=0)]
    repeated: Annotated[int, Meta(ge=0)]


@post(ONE + "/cancellations", before_request=needs("decide"), responses=WHY_NOT, status_code=200, summary="Cancel many")
async def cancel_many(
    name: Named, data: JSONBody[NewCancellations], request: AnyRequest, state: State
) -> CancellationAnswer:
    """Decisions were never shown, and teach nothing."""
    given = checked_batch(state.experiments.limits.batch, "decisions", data.decisions)
    spend(request, len(given))
    left = dict(given)
    while left:
        try:
            await state.writer.submit(name, _cancel_all(left), size=len(left), left=has_left(request))
            break
        except NotOpen as closed:
            events = [entry.event for entry in await state.experiments.entries_about(name, closed.number)]
            with at(next(place for place, id in left.items() if number_in(id) == closed.number)):
                if not events:
                    raise Declined(404, f"decision {closed.number}: {BEFORE}") from None
                outcome = history_of(events, state.experiments.find(name)).outcome
                if outcome != "cancelled":
                    raise declined_as_closed(closed.number, outcome) from None
            left = {place: id for place, id in left.items() if number_in(id) != closed.number}
    return CancellationAnswer(len(set(left.values())), len(given) - len(set(left.values())))


def _cancel_all(ids: dict[str, str]) -> Callable[[Pending], Generator[None, None, list[None]]]:
    return lambda pending: pending.all_or_none(_cancel, ids)


def _cancel(pending: Pending, id: str) -> None:
    pending.cancel(pending.experiment.number_of(id))
