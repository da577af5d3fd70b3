"""The service as a process: where it listens, what it logs, how it ends."""

from __future__ import annotations

import asyncio
import ipaddress
import logging
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any

import msgspec

from paretozoom.records import Refused
from paretozoom.service.access.tokens import Tokens
from paretozoom.service.allocator import give_back_large_blocks
from paretozoom.service.app import create_app, life
from paretozoom.store import Store

log = logging.getLogger("paretozoom")
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


def serve(store: Store, host: str, port: int) -> None:
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
    give_back_large_blocks()
    app = create_app(store)
    config = uvicorn.Config(
        app,
        lifespan="off",  # what a start raises would be in a traceback
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=10,
    )
    server = uvicorn.Server(config)

    async def live() -> None:
        async with life(app):
            _on_signals(lambda *_: setattr(server, "should_exit", True))  # from here on the end is in order
            where = {"at": url, "docs": f"{url}/docs"}
            if tokens.in_use:
                log.info("serving", extra={**where, "tokens": len(tokens.by_id)})
            else:
                log.info("serving without tokens, on loopback only", extra=where)
            await server.serve(sockets=[listener])

    with _listen(host, port) as listener, asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
        url = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
        _on_signals(lambda *_: sys.exit(0))
        runner.run(live())


def _on_signals(act: Callable[..., None]) -> None:
    for which in (signal.SIGTERM, signal.SIGINT):
        signal.signal(which, act)


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
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for noisy in ("httpx", "alembic", "uvicorn.error"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
