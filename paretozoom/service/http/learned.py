"""Requests for what was learned, the log, and snapshots."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any

import msgspec
import numpy as np
from litestar import get, put
from litestar.datastructures import State
from litestar.openapi.spec import OpenAPIFormat, OpenAPIMediaType, OpenAPIType, Operation, RequestBody, Schema
from litestar.params import QueryParameter
from litestar.response import Response

from paretozoom.records import Refused
from paretozoom.service.access.guard import caller_of, needs
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.http.bodies import LARGEST, ExperimentAnswer, FrontAnswer, NewExperiment
from paretozoom.service.http.shared import ONE, WHY_NOT, AnyRequest, Named, check_default
from paretozoom.service.writing.live import LiveExperiments

MOST_EVENTS = 10_000
LINES = "application/x-ndjson"
BYTES = "application/octet-stream"
LARGEST_SNAPSHOT = 256_000_000
GIVEN = ("problem", "policy", "parameters", "seed", "wait", "default")


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
    experiment = state.experiments.find(name)
    plain = experiment.problem.encode_context(given, np.empty(experiment.problem.dim))
    return FrontAnswer(plain, experiment.policy.front(given, believed=believed))


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

    return Response(await asyncio.to_thread(lines), media_type=LINES)


@get(ONE + "/snapshot", before_request=needs("admin"), responses=WHY_NOT, summary="Export", media_type=BYTES)
async def export_snapshot(name: Named, state: State) -> Response[bytes]:
    """The whole state, as safetensors with a JSON header."""
    return Response(state.experiments.find(name).dump().to_bytes(), media_type=BYTES)


@dataclass
class _Import(Operation):
    """What the document says of an import: its body is not JSON."""

    def __post_init__(self) -> None:
        bytes_ = Schema(type=OpenAPIType.STRING, format=OpenAPIFormat.BINARY)
        self.request_body = RequestBody({BYTES: OpenAPIMediaType(schema=bytes_)}, required=True)


@put(
    ONE + "/snapshot",
    before_request=needs("admin"),
    responses=WHY_NOT,
    status_code=201,
    summary="Import",
    request_max_body_size=LARGEST_SNAPSHOT,
    operation_class=_Import,
)
async def import_snapshot(name: Named, request: AnyRequest, state: State) -> ExperimentAnswer:
    """Begin an experiment from a snapshot that was exported before, here or elsewhere."""
    data = await request.body()
    loaded = await asyncio.to_thread(Experiment.load, name, data)
    found = loaded.created
    try:  # it might come from anywhere, so it is held to what a request may say
        msgspec.convert({"name": name, **{f: getattr(found, f) for f in GIVEN}}, NewExperiment)
    except msgspec.ValidationError as error:
        raise Refused(f"snapshot: experiment: {error}") from error
    check_default(found.problem, found.default)
    created = msgspec.structs.replace(found, by=caller_of(request).id, snapshot=True)
    experiments: LiveExperiments = state.experiments
    experiment = await experiments.create(name, created, data)
    return ExperimentAnswer.of(experiment, experiments.get(name).compiled)
