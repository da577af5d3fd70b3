"""Requests of whoever watches the service."""

from __future__ import annotations

from litestar import get
from litestar.datastructures import State
from litestar.enums import MediaType
from litestar.response import Response

from paretozoom.service.access.guard import caller_of, needs
from paretozoom.service.declined import Declined
from paretozoom.service.http.shared import WHY_NOT, AnyRequest
from paretozoom.service.watching.meters import Meters
from paretozoom.service.writing.health import WORDS
from paretozoom.service.writing.live import LiveExperiments

SECONDS_BEHIND = 3.0


@get("/live", media_type=MediaType.TEXT, summary="Is it alive?")
async def live() -> str:
    """Yes."""
    return "alive\n"


@get("/ready", media_type=MediaType.TEXT, responses={503: WHY_NOT[503]}, summary="Can it decide?")
async def ready(state: State) -> str:
    """Once the logs are read and the kernels compiled, and as long as the store can be written to.

    It names the experiments that are damaged.
    """
    experiments: LiveExperiments = state.experiments
    if not experiments.compiled:
        raise Declined(503, "kernels are being compiled")
    store = experiments.health.state
    if store != "fine":
        raise Declined(503, WORDS[store])
    behind = state.writer.oldest(also_learning=False)
    if behind > SECONDS_BEHIND:
        raise Declined(503, f"the service is behind: a request waits for {behind:.1f} seconds already")
    return "".join(["ready\n", *(f"damaged: {name}\n" for name in experiments.damaged)])


@get("/metrics", before_request=needs("read"), responses=WHY_NOT, media_type=MediaType.TEXT, summary="For Prometheus")
async def metrics(request: AnyRequest, state: State) -> Response[bytes]:
    """Counts, open decisions, latencies, mean rewards; of the experiments that the token may read."""
    meters: Meters = state.meters
    return Response(
        meters.text(state.experiments, state.writer, caller_of(request).experiment),
        media_type="text/plain; version=0.0.4",
    )
