"""Who may make a request."""

from __future__ import annotations

import ipaddress
import time
from collections.abc import Awaitable, Callable
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from litestar.connection import ASGIConnection

from paretozoom.records import Refused
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
            _check_here(connection)
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


def _check_here(connection: Connection) -> None:
    """Without tokens, refuse pages from elsewhere that a browser on this machine happens to show.

    They say where they are from, or by which name they have found this machine: a name of theirs may lead here.
    """
    origin, host = connection.headers.get("origin"), connection.headers.get("host")
    if origin is not None and not _is_here(origin, "origin"):
        raise Declined(403, f"pages of {origin[:80]!r} may not send requests to a service without tokens")
    if host is not None and not _is_here(f"//{host}", "host"):
        raise Declined(
            403, f"host: {host[:80]!r} is not this machine, and a service without tokens answers nobody else"
        )


@lru_cache(maxsize=1_000)  # there are few, and to read an address takes long
def _is_here(address: str, field: str) -> bool:
    """Whether an address names this machine."""
    try:
        host = urlsplit(address).hostname or ""
    except ValueError as error:
        raise Refused(f"{field}: {address.removeprefix('//')[:80]!r} is not an address ({error})") from error
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
