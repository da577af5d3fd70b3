"""What the requests have in common."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Annotated, Any, TypeVar

import numpy as np
from litestar import Request
from litestar.datastructures import State
from litestar.openapi.datastructures import ResponseSpec
from litestar.params import PathParameter

from paretozoom.problem import Problem
from paretozoom.records import Refused
from paretozoom.service.access.guard import caller_of
from paretozoom.service.access.quotas import Quotas
from paretozoom.service.http.bodies import ID, IN_WORDS, NAME, Failure
from paretozoom.service.writing.submission import nobody_left

ALL = "/v1/experiments"
ONE = "/v1/experiments/{name:str}"

Entry = TypeVar("Entry")
AnyRequest = Request[Any, Any, State]
Named = Annotated[str, PathParameter(pattern=NAME, description="of the experiment")]
Identified = Annotated[str, PathParameter(pattern=ID, description=IN_WORDS[ID])]
BEFORE = "is not in this log, which begins later"  # it was imported, or pruned

FAILURES = {
    400: "the request is malformed, or says what the problem does not allow",
    401: "no token, or one that is unknown, revoked or expired",
    403: "the token does not allow this",
    404: "there is no such experiment or decision",
    409: "it contradicts what was said before",
    410: "it is over: expired, cancelled, erased or retired",
    413: "the body is too large",
    415: "the body is not of the type that is wanted",
    429: "a limit is reached",
    503: "the store cannot be reached, the experiment is damaged, or kernels are compiled; nothing was acknowledged",
    507: "the store has no space left; nothing was written",
}
WHY_NOT = {
    status: ResponseSpec(Failure, generate_examples=False, description=text) for status, text in FAILURES.items()
}


def checked_batch(most: int, field: str, given: list[Entry]) -> dict[str, Entry]:
    """The entries of a batch by their places, `rewards[0]` and so on; more than one request may hold is refused."""
    if not 1 <= len(given) <= most:
        raise Refused(f"{field}: {len(given)} given, expected 1 to {most}")
    return {f"{field}[{k}]": entry for k, entry in enumerate(given)}


def has_left(request: AnyRequest) -> Callable[[], bool]:
    """Whether the caller of a request has left, at any later time; never, where the server does not say it."""
    found: Callable[[], bool] = request.scope["state"].get("left", nobody_left)
    return found


def spend(request: AnyRequest, size: int) -> None:
    """Take decisions or rewards from what the caller's token is good for."""
    quotas: Quotas = request.app.state.quotas
    quotas.spend(caller_of(request), size, time.monotonic())


def check_wait(problem: Problem, wait: float | None, default: dict[str, float] | None) -> None:
    """Refuse a reward that decisions could not get when they expire, or that none would get as none does."""
    if default is None:
        return
    try:
        problem.encode_reward(default, np.empty(len(problem.objectives)))
    except Refused as error:
        raise Refused(f"default{str(error).removeprefix('reward')}") from error
    if wait is None:
        raise Refused(f"default: {default!r} given without wait, so no decision would ever expire and get it")
