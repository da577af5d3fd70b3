"""Requests that take something out of a log."""

from __future__ import annotations

import logging
from typing import Annotated

import msgspec
from litestar import delete, post
from litestar.datastructures import State
from litestar.params import JSONBody
from msgspec import Meta

from paretozoom.records import Refused
from paretozoom.service.access.guard import caller_of, needs
from paretozoom.service.http.bodies import Id, RequestId, Subject
from paretozoom.service.http.shared import ONE, WHY_NOT, AnyRequest, Named
from paretozoom.service.writing import erasing
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.live_experiment import LiveExperiment

log = logging.getLogger("paretozoom")
MOST = 1_000  # decisions, requests or subjects in one request


class Erasure(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What is to be erased: decisions by their ids, by the requests or by the subjects they were made for."""

    decisions: Annotated[list[Id], Meta(max_length=MOST)] = []
    request_ids: Annotated[list[RequestId], Meta(max_length=MOST)] = []
    subjects: Annotated[list[Subject], Meta(max_length=MOST)] = []


class Retention(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """How much is to be kept."""

    before: Annotated[float, Meta(ge=0, description="seconds since 1970; what is older goes")]


class RemovedAnswer(msgspec.Struct, frozen=True):
    """How many entries of the log were taken out."""

    entries: int


@post(ONE + "/erase", before_request=needs("admin"), responses=WHY_NOT, status_code=200, summary="Erase decisions")
async def erase_decisions(name: Named, data: JSONBody[Erasure], request: AnyRequest, state: State) -> RemovedAnswer:
    """Take all that was said of some decisions out of the log; what a model summed, and backups, keep it."""
    if not (data.decisions or data.request_ids or data.subjects):
        raise Refused("erase: nothing given, expected decisions, request_ids or subjects")
    experiments: LiveExperiments = state.experiments
    experiment = experiments.find(name)
    ids = {*data.decisions, *(await experiments.ids_for(name, set(data.request_ids))).values()}
    numbers = {experiment.number_of(public) for public in ids}
    subjects = set(data.subjects)
    found, last = await erasing.find_subjects(experiments, name, subjects)
    by = caller_of(request).id

    async def work(live: LiveExperiment) -> int:
        late, _ = await erasing.find_subjects(experiments, name, subjects, last)
        return await erasing.erase(experiments, live, numbers | found | late, by)

    entries = await state.writer.between_groups(name, work)
    log.info("decisions erased", extra={"experiment": name, "by": by, "entries": entries})
    return RemovedAnswer(entries)


@post(ONE + "/prune", before_request=needs("admin"), responses=WHY_NOT, status_code=200, summary="Prune the log")
async def prune_log(name: Named, data: JSONBody[Retention], request: AnyRequest, state: State) -> RemovedAnswer:
    """Throw away the oldest entries of the log, as far as no open decision needs them."""
    experiments: LiveExperiments = state.experiments
    by = caller_of(request).id
    entries = await state.writer.between_groups(name, lambda live: erasing.prune(experiments, live, data.before, by))
    log.info("log pruned", extra={"experiment": name, "by": by, "entries": entries})
    return RemovedAnswer(entries)


@delete(ONE, before_request=needs("admin"), responses=WHY_NOT, summary="Delete an experiment")
async def delete_experiment(name: Named, request: AnyRequest, state: State) -> None:
    """Throw away an experiment, its log and its snapshots; its name is free again."""
    experiments: LiveExperiments = state.experiments
    await state.writer.between_groups(name, lambda live: erasing.delete(experiments, live))
    log.info("experiment deleted", extra={"experiment": name, "by": caller_of(request).id})
