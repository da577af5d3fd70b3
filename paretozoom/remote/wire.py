"""How the verbs of a policy look when they are sent to the service."""

from __future__ import annotations

import math
import secrets
import uuid
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec

from paretozoom.records import Decision
from paretozoom.remote.errors import RequestRefused

if TYPE_CHECKING:
    from paretozoom.problem import Problem


def plain(value: Any) -> Any:
    """What JSON can hold: numpy's numbers and arrays in Python's own types."""
    if hasattr(value, "tolist"):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    return [plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def context_of(given: Any) -> Any:
    """A context as JSON can hold it: NaN becomes null, which is a missing number; infinity would become that, too.

    >>> context_of({"x": float("inf")})
    Traceback (most recent call last):
    paretozoom.remote.errors.RequestRefused: 400: context['x']: inf is not a finite number
    """
    value = plain(given)
    _check_finite(value, "context")
    return value


def _check_finite(value: Any, field: str) -> None:
    if isinstance(value, float):
        if math.isinf(value):
            raise RequestRefused(f"{field}: {value!r} is not a finite number")
    elif isinstance(value, (dict, list)):
        for key, entry in value.items() if isinstance(value, dict) else enumerate(value):
            _check_finite(entry, f"{field}[{key!r}]")


NOT_AVAILABLE = (0, 429, 500, 502, 503, 504, 507)  # of no fault of the request


class RemoteDecision(Decision, frozen=True):
    """A decision of a service, which knows it by its `id`.

    >>> RemoteDecision(17, {}, "a", 0.5, -1, "k3f9x2a7bq-17").id
    'k3f9x2a7bq-17'
    """

    id: str


class LocalDecision(Decision, frozen=True):
    """A decision that was made here, since the service did not answer: it is not in the log, and why.

    >>> local({"x": 0.5}, "a", "no answer within 1 s").reason
    'no answer within 1 s'
    """

    reason: str


def local(context: Any, arm: Any, reason: str) -> LocalDecision:
    """The decision for an arm that was settled beforehand, with certainty."""
    named = plain(context)
    return LocalDecision(-1, named if isinstance(named, dict) else {}, arm, 1.0, -1, reason)


def without_local(decisions: Sequence[Any], rewards: Sequence[Any]) -> tuple[list[Any], list[Any]]:
    """Decisions that the service knows, and their rewards."""
    _check_pairs(decisions, rewards)
    known = [(d, r) for d, r in zip(decisions, rewards, strict=True) if not isinstance(d, LocalDecision)]
    return [decision for decision, _ in known], [reward for _, reward in known]


def id_of(decision: Decision | str) -> str:
    """A decision's id; one that no service made has none."""
    if isinstance(decision, RemoteDecision):
        return decision.id
    if isinstance(decision, str):
        return str(decision)  # numpy's texts too
    raise RequestRefused(f"decision: {decision!r} is not one of a service, nor the id of one")


def asked(context: Any, feasible: Any, deferred: bool, subject: str | None = None) -> dict[str, Any]:
    """A request for a decision, with an id of its own so that it can be sent again."""
    body = {"context": context_of(context), "request_id": uuid.uuid4().hex}
    if feasible is not None:
        body["feasible"] = plain(feasible)
    if subject is not None:
        body["subject"] = subject
    return {**body, "deferred": True} if deferred else body


def asked_many(contexts: Sequence[Any], feasible: Any, subjects: Sequence[str | None] | None) -> dict[str, Any]:
    """Requests for many decisions, for one subject each or for none."""
    subjects = [None] * len(contexts) if subjects is None else subjects
    if isinstance(subjects, str) or len(subjects) != len(contexts):
        raise RequestRefused(f"subjects: {subjects!r} given for {len(contexts)} contexts, expected one for each")
    return {"decisions": [asked(one, feasible, False, who) for one, who in zip(contexts, subjects, strict=True)]}


def told(decision: Decision | str, reward: Any, names: list[str]) -> dict[str, Any]:
    """A reward; what JSON cannot say is refused here, or it would arrive as silence.

    >>> told("k3f9x2a7bq-3", [0.5, 1], ["a", "b"])
    {'decision': 'k3f9x2a7bq-3', 'reward': {'a': 0.5, 'b': 1}}
    """
    values = plain(reward)
    if not isinstance(values, Mapping):
        if not isinstance(values, list) or len(values) != len(names):
            raise RequestRefused(f"reward: {reward!r} is not a value for each of {names!r}")
        values = dict(zip(names, values, strict=True))
    for name, value in values.items():
        if isinstance(value, float) and not math.isfinite(value):
            raise RequestRefused(f"reward[{name!r}]: {value!r} is not a finite number")
    return {"decision": id_of(decision), "reward": values}


def told_many(decisions: Sequence[Decision | str], rewards: Sequence[Any], names: list[str]) -> dict[str, Any]:
    """Rewards of many decisions."""
    _check_pairs(decisions, rewards)
    return {"rewards": [told(d, r, names) for d, r in zip(decisions, rewards, strict=True)]}


def _check_pairs(decisions: Sequence[Any], rewards: Sequence[Any]) -> None:
    if len(decisions) != len(rewards):
        raise RequestRefused(f"rewards: {len(rewards)} given for {len(decisions)} decisions")


def decision(answer: dict[str, Any]) -> RemoteDecision:
    """A decision; what the policy credits stays with the service."""
    number = int(answer["id"].rpartition("-")[2])
    return RemoteDecision(number, answer["context"], answer["arm"], answer["density"], -1, answer["id"])


def new(name: str, problem: Problem, more: Mapping[str, Any]) -> dict[str, Any]:
    """An experiment that is to begin; with a seed, by which it is known again."""
    given = {key: plain(value) for key, value in more.items() if value is not None or key == "wait"}
    return {"name": name, "problem": msgspec.to_builtins(problem), "seed": secrets.randbits(48), **given}


def is_what_was_wanted(described: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
    """Whether an experiment that is there is the one that somebody wanted to begin."""
    mine: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(wanted))
    mine["seed"] = str(mine["seed"])
    return all(described.get(key) == value for key, value in mine.items())
