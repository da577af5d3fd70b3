"""The service as an ASGI application over a store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any

from litestar import Litestar, Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.openapi.config import OpenAPIConfig
from litestar.openapi.spec import Components, SecurityScheme
from litestar.types import Message, Scope

import paretozoom
from paretozoom.records import Refused
from paretozoom.service.access.quotas import Quotas
from paretozoom.service.access.tokens import Tokens
from paretozoom.service.declined import Declined
from paretozoom.service.http import ROUTES
from paretozoom.service.http.bodies import Failure
from paretozoom.service.http.decoding import StrictBody, in_words
from paretozoom.service.http.docs_page import PlainPage
from paretozoom.service.http.openapi import complete
from paretozoom.service.limits import Limits
from paretozoom.service.watching.looking import look_now_and_then
from paretozoom.service.watching.meters import Meters
from paretozoom.service.watching.requests import Watched, id_of
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.writer import Writer
from paretozoom.store import Damaged, Full, Locked, Store, StoreError

log = logging.getLogger("paretozoom")
HEADERS = {
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
}
ENCODED = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
SOON = {"retry-after": "1"}
FOR_PAGES = (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
LEFT = "client disconnected prematurely"  # in the framework's words
SECONDS_BETWEEN_LOOKS = 1.0  # at the log of tokens


def create_app(
    store: Store, *, limits: Limits | None = None, snapshot_every: int = 100_000, access_log: bool = False
) -> Litestar:
    """The service over a store; as long as it has no tokens, anyone who reaches it may do anything."""
    limits = limits or Limits()
    experiments = LiveExperiments(store, limits)
    meters, tokens = Meters(), Tokens()
    writer = Writer(experiments, snapshot_every=snapshot_every, timed=meters.timed)
    app = Litestar(
        ROUTES,
        lifespan=[life],
        state=State(
            {"experiments": experiments, "writer": writer, "tokens": tokens, "meters": meters, "quotas": Quotas()}
        ),
        exception_handlers={
            Declined: _decline,
            Refused: _refuse,
            StoreError: _store_failed,
            HTTPException: _http,
            Exception: _fail,
        },
        dto=StrictBody,
        return_dto=None,
        request_max_body_size=limits.body,
        before_send=[_secure, Watched(meters, tokens, access_log).begin],
        openapi_config=OpenAPIConfig(
            title="paretozoom",
            version=paretozoom.__version__,
            description="Decisions under several objectives: ask for an arm, tell its rewards.",
            path="/docs",
            render_plugins=[PlainPage()],
            components=Components(security_schemes={"token": SecurityScheme(type="http", scheme="bearer")}),
            security=[{}, {"token": []}],  # without tokens nobody needs one
        ),
        logging_config=None,
        debug=False,
    )
    complete(app.openapi_schema)
    return app


@asynccontextmanager
async def life(app: Litestar) -> AsyncIterator[None]:
    """From a service's start to its end; a start that fails raises why, and holds nothing."""
    experiments: LiveExperiments = app.state.experiments
    writer: Writer = app.state.writer
    tokens: Tokens = app.state.tokens
    store = experiments.store
    try:
        await asyncio.to_thread(tokens.refresh, store)
        await experiments.start()
    except BaseException:
        store.close()
        raise
    writer.start()
    works = (experiments.compile_all(), _watch(tokens, experiments), look_now_and_then(experiments))
    tasks = [asyncio.create_task(work) for work in works]
    try:
        yield
    finally:
        await writer.stop()
        await experiments.stop()
        for task in tasks:
            task.cancel()
            with suppress(asyncio.CancelledError, Exception):
                await task
        store.close()
        log.info("ended", extra={"experiments": len(experiments.by_name)})


async def _watch(tokens: Tokens, experiments: LiveExperiments) -> None:
    """See new and revoked tokens within a second; whether the store is there, and lock it again after it was away."""
    looks: list[tuple[str, Callable[[], Awaitable[None]]]] = [
        ("tokens cannot be read", lambda: experiments.threads.read(tokens.refresh, experiments.store)),
        ("the store cannot be held", experiments.lock_store_again),
        ("the store cannot be written to", experiments.check_store),
    ]
    while True:
        await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
        for otherwise, look in looks:
            try:
                await look()
            except Exception as error:  # whatever it is, looking must go on, or what is revoked would be let in
                log.warning(otherwise, extra={"error": str(error)})


async def _secure(message: Message, _: Scope) -> None:
    """Add the headers that every answer has, as they are sent: a response would encode them each time."""
    if message["type"] == "http.response.start":
        headers = list(message["headers"])
        if any(name == b"content-type" and value.startswith(b"text/html") for name, value in headers):
            headers.append(FOR_PAGES)
        given = {name for name, _ in headers}
        message["headers"] = headers + [header for header in ENCODED if header[0] not in given]


def _answer(status: int, detail: str, more: Mapping[str, str] | None = None) -> Response[Failure]:
    also = {429: SOON, 503: SOON, 401: {"www-authenticate": "Bearer"}}.get(status, {})
    headers = {**also, **(more or {})}
    return Response(Failure(status, detail), status_code=status, headers=headers, media_type="application/json")


def _decline(_: Request[Any, Any, Any], error: Declined) -> Response[Failure]:
    return _answer(error.status, error.detail, None if error.after is None else {"retry-after": str(error.after)})


def _refuse(_: Request[Any, Any, Any], error: Refused) -> Response[Failure]:
    return _answer(400, str(error))


def _store_failed(_: Request[Any, Any, Any], error: StoreError) -> Response[Failure]:
    log.error("the store failed", extra={"error": str(error)})
    if isinstance(error, Full):
        return _answer(507, "the store has no space left; nothing was written")
    if isinstance(error, Damaged):
        return _answer(503, f"what is stored is damaged: {error}")
    detail = "another process holds this experiment" if isinstance(error, Locked) else "the store cannot be reached"
    return _answer(503, detail)


def _http(request: Request[Any, Any, Any], error: HTTPException) -> Response[Failure]:
    """What the framework refuses: there is no such path, or a parameter is not what it must be."""
    if error.detail == LEFT:
        return _answer(400, "body: it did not arrive")  # and nobody is there to read this
    if error.status_code >= 500:
        return _fail(request, error)
    if error.status_code == 413:
        most = request.route_handler.resolve_request_max_body_size()
        return _answer(413, f"body: is longer than {most:,} bytes, the most that is taken here", error.headers)
    given = {**request.query_params.dict(), **request.path_params}
    parts = []
    for one in error.extra if isinstance(error.extra, list) else []:
        field, what = one.get("key", "body"), in_words(str(one.get("message", "")))
        parts.append(
            f"{field}: {given.get(field)!r}: {what[:1].lower()}{what[1:]}" if field in given else f"{field}: {what}"
        )
    return _answer(error.status_code, "; ".join(parts) if parts else error.detail, error.headers)


def _fail(request: Request[Any, Any, Any], error: Exception) -> Response[Failure]:
    log.error("a request failed", exc_info=error, extra={"path": request.url.path, "request": id_of(request.scope)})
    return _answer(500, "the service made a mistake; its log says which")
