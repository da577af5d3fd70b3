"""Requests that export an experiment and import it."""

from __future__ import annotations

from dataclasses import dataclass

import msgspec
from litestar import get, put
from litestar.datastructures import State
from litestar.openapi.spec import OpenAPIFormat, OpenAPIMediaType, OpenAPIType, Operation, RequestBody, Schema
from litestar.response import Response

from paretozoom.records import Refused
from paretozoom.service.access.guard import caller_of, needs
from paretozoom.service.experiments.carrying import read_export, with_carried
from paretozoom.service.http.bodies import ExperimentAnswer, NewExperiment
from paretozoom.service.http.decoding import BYTES, check_type
from paretozoom.service.http.shared import ONE, WHY_NOT, AnyRequest, Named, check_wait
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.live_experiment import LiveExperiment
from paretozoom.store import Damaged

LARGEST_SNAPSHOT = 256_000_000
GIVEN = ("problem", "policy", "parameters", "seed", "wait", "default")


@get(ONE + "/snapshot", before_request=needs("admin"), responses=WHY_NOT, summary="Export", media_type=BYTES)
async def export_snapshot(name: Named, state: State) -> Response[bytes]:
    """The whole state, as safetensors with a JSON header, open decisions included."""
    experiments: LiveExperiments = state.experiments

    async def exported(_: LiveExperiment | None = None) -> bytes:
        experiment = await experiments.find_at_rest(name)
        snapshot, numbers = experiment.dump(), experiment.open_decisions.numbers()

        def encoded() -> bytes:
            entries = experiments.store.read(name, numbers=numbers) if numbers else ()
            return with_carried(snapshot, entries).to_bytes()

        return await experiments.threads.read(encoded)

    try:
        data = await exported()
    except (Damaged, Refused):  # perhaps as something was erased while the log was read: not between two groups
        data = await state.writer.between_groups(name, exported)
    return Response(data, media_type=BYTES)


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
    check_type(request, BYTES, or_none=True)  # no page can send a PUT without asking
    data = await request.body()
    experiments: LiveExperiments = state.experiments
    loaded, carried = await experiments.threads.read(read_export, name, data)
    found = msgspec.structs.replace(loaded.created, wait=loaded.wait, default=loaded.default)
    try:  # it might come from anywhere, so it is held to what a request may say
        msgspec.convert({"name": name, **{f: getattr(found, f) for f in GIVEN}}, NewExperiment)
    except msgspec.ValidationError as error:
        raise Refused(f"snapshot: experiment: {error}") from error
    check_wait(found.problem, found.wait, found.default)
    created = msgspec.structs.replace(found, by=caller_of(request).id, snapshot=True)
    await experiments.create(name, created, loaded, carried)
    return ExperimentAnswer.of(experiments.get(name))
