"""The request for the log."""

from __future__ import annotations

from typing import Annotated

import msgspec
from litestar import get
from litestar.datastructures import State
from litestar.params import QueryParameter
from litestar.response import Response

from paretozoom.service.access.guard import needs
from paretozoom.service.http.bodies import LARGEST
from paretozoom.service.http.shared import ONE, WHY_NOT, Named
from paretozoom.service.writing.live import LiveExperiments

MOST_EVENTS = 10_000
LINES = "application/x-ndjson"


@get(ONE + "/events", before_request=needs("read"), responses=WHY_NOT, summary="The log", media_type=LINES)
async def read_events(
    name: Named,
    state: State,
    after: Annotated[int, QueryParameter(ge=0, le=LARGEST, description="the last entry that is known already")] = 0,
    limit: Annotated[int, QueryParameter(ge=1, le=MOST_EVENTS)] = MOST_EVENTS,
) -> Response[bytes]:
    """Entries as lines of JSON, from one on; whoever remembers the last `seq` goes on from there."""
    experiments: LiveExperiments = state.experiments
    experiments.get(name)

    def lines() -> bytes:
        return b"".join(
            msgspec.json.encode(entry) + b"\n" for entry in experiments.store.read(name, after, after + limit)
        )

    return Response(await experiments.threads.look(lines), media_type=LINES)
