"""The request for what was learned."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
import numpy as np
from litestar import get
from litestar.datastructures import State
from litestar.params import QueryParameter

from paretozoom.policies.fronts import Piece
from paretozoom.records import Refused
from paretozoom.service.access.guard import needs
from paretozoom.service.http.shared import ONE, WHY_NOT, Named


class FrontAnswer(msgspec.Struct, frozen=True):
    """The arms that are believed Pareto optimal at a context."""

    context: dict[str, Any]
    pieces: list[Piece]


@get(ONE + "/front", before_request=needs("read"), responses=WHY_NOT, summary="What was learned")
async def show_front(
    name: Named,
    state: State,
    context: Annotated[str, QueryParameter(max_length=100_000, description="as JSON")] = "{}",
    believed: Annotated[bool, QueryParameter(description="by estimates alone, without optimism")] = True,
) -> FrontAnswer:
    """The arms believed Pareto optimal at a context, with means, uncertainty and how many rewards are behind them."""
    try:
        given = msgspec.json.decode(context, type=dict[str, Any] | list[Any])
    except (msgspec.MsgspecError, UnicodeEncodeError, RecursionError) as error:
        raise Refused(f"context: {context[:80]!r} is not JSON ({error})") from error
    experiment = await state.experiments.find_at_rest(name)
    plain = experiment.problem.encode_context(given, np.empty(experiment.problem.dim))
    return FrontAnswer(plain, experiment.policy.front(given, believed=believed))
