"""What bodies of several requests are made of; a body of one request stands beside it."""

from __future__ import annotations

from typing import Annotated, Any

import msgspec
from msgspec import Meta

from paretozoom.policies import DEFAULT_POLICY
from paretozoom.problem import Problem
from paretozoom.service.clock import DAY
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.experiments.state import Counts, Status
from paretozoom.service.writing.live_experiment import LiveExperiment

NAME = r"^[a-z0-9][a-z0-9._-]{0,63}$(?!\n)"  # "$" alone allows a line's end after it
REQUEST = r"^[^\x00]+$"
ID = r"^[0-9a-z]{10}-(0|[1-9][0-9]{0,15})$(?!\n)"
IN_WORDS = {
    NAME: "1 to 64 lower-case letters, digits, dots, dashes and underscores, the first a letter or a digit",
    REQUEST: "a text without the character 0",
    ID: "the id of a decision, as it was given, such as k3f9x2a7bq-17",
}
USUAL_WAIT = 30 * 86_400.0  # seconds: rewards that come later are rare, and what is open takes memory
LARGEST = (1 << 53) - 1  # what every reader of JSON takes for a whole number

Name = Annotated[str, Meta(pattern=NAME, description=f"of an experiment: {IN_WORDS[NAME]}")]
Id = Annotated[str, Meta(pattern=ID, description=f"of a decision: {IN_WORDS[ID]}")]
RequestId = Annotated[
    str,
    Meta(pattern=REQUEST, min_length=1, max_length=200, description="the same id gets the same decision"),
]
Seconds = Annotated[float, Meta(gt=0, le=1e9)]
Subject = Annotated[
    str,
    Meta(pattern=REQUEST, min_length=1, max_length=200, description="whom a decision is about: can be erased by it"),
]
Reward = Annotated[dict[str, float | None], Meta(description="by objective; others may follow")]


class NewExperiment(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """An experiment that is to begin."""

    name: Name
    problem: Problem
    policy: Annotated[str, Meta(max_length=64)] = DEFAULT_POLICY.name
    parameters: dict[str, Any] = {}
    seed: Annotated[int, Meta(ge=0, le=LARGEST)] | None = None
    wait: Annotated[
        Seconds | None, Meta(description="seconds until a decision without rewards expires; null: it may wait for ever")
    ] = USUAL_WAIT
    default: Annotated[
        dict[str, float] | None,
        Meta(description="with wait: told for what is missing when a decision expires; else that teaches nothing"),
    ] = None


class NewWait(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What becomes of decisions without rewards, also of those that are open now; what is left out stays."""

    wait: Seconds | msgspec.UnsetType | None = msgspec.UNSET
    default: dict[str, float] | msgspec.UnsetType | None = msgspec.UNSET


class ExperimentAnswer(msgspec.Struct, frozen=True):
    """An experiment and how far it is."""

    name: str
    status: Status
    ready: bool
    problem: Problem
    policy: str
    version: int
    parameters: dict[str, Any]
    seed: str
    wait: float | None
    default: dict[str, float] | None
    jumps: Annotated[list[tuple[float, float]], Meta(description="of the clock, not judged yet: from, to")]
    created: float
    events: int
    open: int
    counts: Counts
    notes: list[str]
    bytes: int

    @classmethod
    def of(cls, live: LiveExperiment) -> ExperimentAnswer:
        """From the experiment."""
        experiment, policy = live.state(), live.about_policy()
        created = experiment.created
        return cls(
            name=experiment.name,
            status=experiment.status,
            ready=live.compiled,
            problem=experiment.problem,
            policy=created.policy,
            version=created.version,
            parameters=created.parameters,
            seed=str(policy.seed),
            wait=experiment.wait,
            default=experiment.default,
            jumps=experiment.jumps,
            created=experiment.created_at,
            events=experiment.seq,
            open=len(experiment.open_decisions),
            counts=experiment.counts,
            notes=[*policy.notes, *_notes_on(experiment)],
            bytes=policy.nbytes,
        )


def _notes_on(experiment: Experiment) -> list[str]:
    """What whoever begins an experiment should know of its open decisions."""
    notes = []
    if experiment.wait is None:
        notes.append("decisions wait for their rewards for ever")
    elif experiment.wait >= DAY:
        notes.append(f"decisions wait for their rewards for {experiment.wait / DAY:g} days")
    for before, after in experiment.jumps:
        notes.append(f"the clock jumped by {(after - before) / DAY:.1f} days, nothing expires until it is judged")
    return notes


class Failure(msgspec.Struct, frozen=True):
    """Why a request was not met."""

    status: int
    detail: str
