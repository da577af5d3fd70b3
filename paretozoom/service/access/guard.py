"""Who may make a request."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import urlsplit

from litestar.connection import ASGIConnection

from paretozoom.service.access.tokens import ANYONE, Caller, Tokens
from paretozoom.service.declined import Declined

Connection = ASGIConnection[Any, Any, Any, Any]


def needs(scope: str) -> Callable[[Connection], Awaitable[None]]:
    """Lets a request through if it brings a token of this scope for the experiment in the path.

    It is not one of the framework's guards: these copy the whole handler for each request.
    """

    async def guard(connection: Connection) -> None:
        tokens: Tokens = connection.app.state.tokens
        if not tokens.in_use:
            _check_origin(connection.headers.get("origin"))
            return
        caller = tokens.caller(connection.headers.get("authorization"), time.time())
        name = connection.path_params.get("name", caller.experiment if scope == "read" else None)
        if not caller.may(scope, name):
            raise Declined(403, f"this token does not allow {scope!r} here")
        connection.state.caller = caller

    return guard


def caller_of(connection: Connection) -> Caller:
    """Who makes a request."""
    return getattr(connection.state, "caller", ANYONE)


def _check_origin(origin: str | None) -> None:
    """Without tokens, refuse pages from elsewhere that a browser on this machine happens to show."""
    if origin is None:
        return
    host = urlsplit(origin).hostname or ""
    try:
        here = host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        here = False
    if not here:
        raise Declined(403, f"pages of {origin[:80]!r} may not send requests to a service without tokens")
