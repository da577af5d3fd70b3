"""Requests about experiments as a whole."""

from __future__ import annotations

import logging
import secrets
from typing import Annotated, Literal

import msgspec
from litestar import get, patch, post
from litestar.datastructures import State
from litestar.params import FromPath, JSONBody
from msgspec import Meta

from paretozoom.service.access.guard import caller_of, needs
from paretozoom.service.experiments.policies import make_policy
from paretozoom.service.http.bodies import ExperimentAnswer, NewExperiment, NewWait
from paretozoom.service.http.shared import ALL, ONE, WHY_NOT, AnyRequest, Named, check_wait
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.store.events import Created

log = logging.getLogger("paretozoom")
PAST = {"pause": "paused", "resume": "resumed", "retire": "retired"}


class ExperimentAnswers(msgspec.Struct, frozen=True):
    """All experiments."""

    experiments: list[ExperimentAnswer]
    damaged: Annotated[dict[str, str], Meta(description="those that cannot be read, and why")] = {}


@post(ALL, before_request=needs("admin"), responses=WHY_NOT, summary="Begin an experiment")
async def create_experiment(data: JSONBody[NewExperiment], request: AnyRequest, state: State) -> ExperimentAnswer:
    """The problem says what contexts, arms and objectives are; nothing else is needed."""
    seed = secrets.randbits(48) if data.seed is None else data.seed
    policy = make_policy(data.policy, data.problem, data.parameters, seed)
    check_wait(data.problem, data.wait, data.default)
    created = Created(
        data.problem,
        data.policy,
        data.parameters,
        seed,
        policy.version,
        by=caller_of(request).id,
        wait=data.wait,
        default=data.default,
    )
    experiments: LiveExperiments = state.experiments
    await experiments.create(data.name, created)
    return ExperimentAnswer.of(experiments.get(data.name))


@get(ALL, before_request=needs("read"), responses=WHY_NOT, summary="List experiments")
async def list_experiments(request: AnyRequest, state: State) -> ExperimentAnswers:
    """Those that the token may read."""
    only = caller_of(request).experiment
    found = [live for name, live in sorted(state.experiments.by_name.items()) if only in (None, name)]
    return ExperimentAnswers(
        [ExperimentAnswer.of(live) for live in found if live.experiment is not None],
        {live.name: live.damage for live in found if live.damage is not None},
    )


@get(ONE, before_request=needs("read"), responses=WHY_NOT, summary="Describe an experiment")
async def describe_experiment(name: Named, state: State) -> ExperimentAnswer:
    """How far it is, and what it was made of."""
    return _described(state.experiments, name)


@patch(ONE, before_request=needs("admin"), responses=WHY_NOT, summary="Change how long decisions wait")
async def change_experiment(
    name: Named, data: JSONBody[NewWait], request: AnyRequest, state: State
) -> ExperimentAnswer:
    """Another `wait` or `default`: also for what is open now, counted from its own beginning."""
    experiment = state.experiments.find(name)
    wait = experiment.wait if data.wait is msgspec.UNSET else data.wait
    default = experiment.default if data.default is msgspec.UNSET else data.default
    check_wait(experiment.problem, wait, default)
    by = caller_of(request).id
    if await state.writer.submit(name, lambda pending: pending.change_wait(wait, default, by)):
        log.info("experiment changed", extra={"experiment": name, "by": by, "wait": wait})
    return _described(state.experiments, name)


@post(
    ONE + "/{act:str}",
    before_request=needs("admin"),
    responses=WHY_NOT,
    status_code=200,
    summary="Pause, resume, retire",
)
async def move_experiment(
    name: Named,
    act: FromPath[Literal["pause", "resume", "retire"]],
    request: AnyRequest,
    state: State,
) -> ExperimentAnswer:
    """A paused experiment decides nothing but takes rewards; a retired one takes nothing any more."""
    by = caller_of(request).id
    if await state.writer.submit(name, lambda pending: getattr(pending, act)(by)):
        log.info(f"experiment {PAST[act]}", extra={"experiment": name, "by": by})
    return _described(state.experiments, name)


def _described(experiments: LiveExperiments, name: str) -> ExperimentAnswer:
    return ExperimentAnswer.of(experiments.get(name))
