"""The service as a process: where it listens, what it logs, how it ends."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import msgspec

from paretozoom.records import Refused
from paretozoom.service.access.tokens import Tokens
from paretozoom.service.allocator import give_back_large_blocks
from paretozoom.service.app import create_app, life
from paretozoom.service.connections import Connections
from paretozoom.service.limits import Limits
from paretozoom.service.notifying import notify, stay_awake
from paretozoom.store import Store

log = logging.getLogger("paretozoom")
SECONDS_OF_A_THREAD = 0.0001  # while one encodes what is written, the loop waits for the interpreter
NEW_OBJECTS = 10_000  # until cycles among them are looked for: requests leave hardly any
USUAL = set(vars(logging.makeLogRecord({}))) | {"message", "asctime", "color_message", "taskName"}


class JsonLines(logging.Formatter):
    """A log record as one line of JSON.

    >>> record = logging.makeLogRecord({"levelname": "INFO", "msg": "hello", "created": 0.0, "experiment": "prices"})
    >>> JsonLines().format(record)
    '{"time":"1970-01-01T00:00:00.000Z","level":"info","message":"hello","experiment":"prices"}'
    """

    def format(self, record: logging.LogRecord) -> str:
        """The line."""
        when = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line: dict[str, Any] = {
            "time": f"{when}.{int(record.created % 1 * 1000):03d}Z",
            "level": record.levelname.lower(),
            "message": record.getMessage(),
        }
        line.update({name: value for name, value in vars(record).items() if name not in USUAL})
        if record.exc_info:
            line["traceback"] = self.formatException(record.exc_info)
        return msgspec.json.encode(line, enc_hook=str).decode()


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address.

    >>> is_loopback("127.0.0.1"), is_loopback("localhost"), is_loopback("0.0.0.0")
    (True, True, False)
    """
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


class Seldom(logging.Filter):
    """Lets a warning through a few times, and then says how many more there were once the time is over.

    >>> seldom = Seldom()
    >>> record = logging.makeLogRecord({"levelno": logging.WARNING, "msg": "no", "created": 0.0})
    >>> [seldom.filter(record) for _ in range(7)]
    [True, True, True, True, True, False, False]
    >>> later = logging.makeLogRecord({"levelno": logging.WARNING, "msg": "no", "created": 99.0})
    >>> seldom.filter(later), later.left_out
    (True, 2)
    """

    AT_ONCE, SECONDS = 5, 10.0

    def __init__(self) -> None:
        super().__init__()
        self._began: dict[str, float] = {}
        self._seen: dict[str, int] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether a line is written."""
        what = record.msg if isinstance(record.msg, str) else str(record.msg)
        if record.levelno < logging.WARNING:
            return True
        if len(self._began) > 1_000:  # messages with something in them: none is told from another
            self._began.clear()
            self._seen.clear()
        if record.created >= self._began.get(what, -self.SECONDS) + self.SECONDS:
            left_out = self._seen.get(what, 0) - self.AT_ONCE
            self._began[what], self._seen[what] = record.created, 1
            if left_out > 0:
                record.left_out = left_out
            return True
        self._seen[what] += 1
        return self._seen[what] <= self.AT_ONCE


def serve(store: Store, host: str, port: int, *, limits: Limits | None = None, access_log: bool = False) -> None:
    """Serve a store until a signal ends it; what was acknowledged is finished first.

    A start that fails raises why, `Refused` or a `StoreError`, before anything is served.
    """
    import uvicorn

    tokens = Tokens()
    tokens.refresh(store)
    if not tokens.in_use and not is_loopback(host):
        raise Refused(
            f"host: {host!r} can be reached from elsewhere, but there are no tokens, so anyone could do anything; "
            "create one first: paretozoom token create --scope admin, with the same --store"
        )
    log_in_json()
    sys.setswitchinterval(SECONDS_OF_A_THREAD)
    give_back_large_blocks()
    gc.set_threshold(NEW_OBJECTS)
    limits = limits or Limits()
    app = create_app(store, limits=limits, access_log=access_log)
    connections = Connections(limits)
    app.state.connections = connections
    config = uvicorn.Config(
        app,
        http=connections.begin,  # type: ignore[arg-type]  # it is called like the class of a protocol
        lifespan="off",  # what a start raises would be in a traceback
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=10,  # of seconds_to_end
    )
    server = uvicorn.Server(config)
    server.handle_exit = lambda *_: end()  # type: ignore[method-assign]

    def end() -> None:
        if not server.should_exit:
            notify("STOPPING=1")
            _end_within(limits.seconds_to_end)
        server.should_exit = True

    async def live() -> None:
        async with life(app):
            _on_signals(lambda *_: end())  # from here on the end is in order
            where = {"at": url, "docs": f"{url}/docs"}
            if tokens.in_use:
                log.info("serving", extra={**where, "tokens": len(tokens.by_id)})
            else:
                log.info("serving without tokens, on loopback only", extra=where)
            watching = [asyncio.create_task(connections.watch()), asyncio.create_task(stay_awake())]
            notify("READY=1")  # it listens already; /ready says when it can decide
            await server.serve(sockets=[listener])
            watching[0].cancel()  # awake until all is saved

    with _listen(host, port) as listener, asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        url = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        _on_signals(lambda *_: _leave(0))  # nothing was acknowledged yet, and a log may take long to be folded
        runner.run(live())
    if app.state.experiments.compilations.is_busy:
        _leave(0)  # a compiler cannot be interrupted, and nothing else is left to do


def _on_signals(act: Callable[..., None]) -> None:
    for which in (signal.SIGTERM, signal.SIGINT):
        signal.signal(which, act)


def _end_within(seconds: float) -> None:
    """End the process after so long, whatever it waits for then: what was acknowledged is in the store."""

    def leave() -> None:
        log.error("the end took too long", extra={"seconds": seconds})
        _leave(1)

    timer = threading.Timer(seconds, leave)
    timer.daemon = True
    timer.start()


def _leave(code: int) -> None:
    """End the process with whatever its threads are doing."""
    logging.shutdown()
    os._exit(code)


def _listen(host: str, port: int) -> socket.socket:
    if not 0 <= port < 1 << 16:
        raise Refused(f"port: {port} is not from 0 to 65535")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        return socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise Refused(f"port: {port} of {host!r} cannot be listened on ({error})") from error


def log_in_json() -> None:
    """Send everything that is logged to standard error, a line of JSON each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(Seldom())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for noisy in ("httpx", "alembic", "uvicorn.error"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
