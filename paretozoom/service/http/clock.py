"""The request that says whether the time between two runs counts."""

from __future__ import annotations

import logging

import msgspec
from litestar import post
from litestar.datastructures import State
from litestar.params import JSONBody

from paretozoom.service.access.guard import caller_of, needs
from paretozoom.service.http.bodies import ExperimentAnswer
from paretozoom.service.http.shared import ONE, WHY_NOT, AnyRequest, Named

log = logging.getLogger("paretozoom")


class NewJudgement(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """Whether decisions waited during the time by which the clock jumped between two runs."""

    counts: bool


@post(ONE + "/clock", before_request=needs("admin"), responses=WHY_NOT, status_code=200, summary="Judge the clock")
async def judge_clock(name: Named, data: JSONBody[NewJudgement], request: AnyRequest, state: State) -> ExperimentAnswer:
    """After a jump of over a day nothing expires until this is said; where there was none, nothing changes."""
    by = caller_of(request).id
    if await state.writer.submit(name, lambda pending: pending.judge_clock(data.counts, by)):
        log.info("clock judged", extra={"experiment": name, "by": by, "counts": data.counts})
    return ExperimentAnswer.of(state.experiments.get(name))
