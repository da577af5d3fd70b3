"""Each request has an id, is counted by what became of it, and can be written to a log that says who asked."""

from __future__ import annotations

import itertools
import logging
import re
import secrets
import time
from typing import TYPE_CHECKING, Any

from paretozoom.service.access.tokens import ANYONE

if TYPE_CHECKING:
    from litestar.types import Message, Scope

    from paretozoom.service.access.tokens import Tokens
    from paretozoom.service.watching.meters import Meters

access_log = logging.getLogger("paretozoom.access")
GIVEN = re.compile(rb"[A-Za-z0-9._:/+=-]{1,128}")
_run, _numbers = secrets.token_hex(4), itertools.count()


def id_of(scope: Scope) -> str:
    """The id of a request: its header `x-request-id` if it has one that can be written down, or one of ours."""
    state: dict[str, Any] = scope["state"]
    found: str | None = state.get("request_id")
    if found is None:
        given = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
        found = given.decode() if GIVEN.fullmatch(given) else f"{_run}-{next(_numbers):x}"
        state["request_id"] = found
    return found


def note(scope: Scope, **more: Any) -> None:
    """Add something to what the log will say of a request."""
    scope["state"]["noted"] = more


class Watched:
    """Hears every answer before it is sent; with `lines` each is logged."""

    def __init__(self, meters: Meters, tokens: Tokens, lines: bool) -> None:
        self._meters = meters
        self._tokens = tokens
        self._lines = lines

    async def begin(self, message: Message, scope: Scope) -> None:
        """An answer begins."""
        if message["type"] != "http.response.start":
            return
        name = id_of(scope)
        message["headers"] = [*message.get("headers", ()), (b"x-request-id", name.encode())]
        method, path = scope.get("method"), scope.get("path_template")
        kind = f"{method} {path}" if path and method in KNOWN else "elsewhere"  # whoever asks cannot make up kinds
        self._meters.answered(kind, message["status"])
        if self._lines:
            state = scope["state"]
            parameters: dict[str, Any] = scope.get("path_params") or {}
            line = {
                "request": name,
                "by": getattr(state.get("caller", None if self._tokens.in_use else ANYONE), "id", None),
                "what": kind,
                "experiment": parameters.get("name"),
                "status": message["status"],
                "seconds": round(time.time() - state["began"], 6) if "began" in state else None,
                **state.get("noted", {}),
            }
            access_log.info("answered", extra={key: value for key, value in line.items() if value is not None})


KNOWN = frozenset({"GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "PATCH"})
