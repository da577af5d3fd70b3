"""The service as a process: where it listens, what it logs, how it ends."""

from __future__ import annotations

import ipaddress
import logging
import signal
import socket
import sys
import time
from typing import Any

import msgspec

from paretozoom.records import Refused
from paretozoom.service.app import create_app
from paretozoom.service.memory import give_back_large_blocks
from paretozoom.service.tokens import Tokens
from paretozoom.store import Store

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
    """Serve a store until a signal ends it; what was acknowledged is finished first."""
    import uvicorn

    known = Tokens()
    known.refresh(store)
    if not known.in_use and not is_loopback(host):
        raise Refused(
            f"host: {host!r} can be reached from elsewhere, but there are no tokens, so anyone could do anything; "
            "create one first: paretozoom token create --scope admin, with the same --store"
        )
    log_in_json()
    give_back_large_blocks()
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    if not 0 <= port < 1 << 16:
        raise Refused(f"port: {port} is not from 0 to 65535")
    try:
        listener = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        raise Refused(f"port: {port} of {host!r} cannot be listened on ({error})") from error
    where = f"http://{f'[{host}]' if ':' in host else host}:{listener.getsockname()[1]}"
    config = uvicorn.Config(
        create_app(store),
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=10,
    )
    log = logging.getLogger("paretozoom")
    if known.in_use:
        log.info("serving", extra={"at": where, "docs": f"{where}/docs", "tokens": len(known.known)})
    else:
        log.info("serving without tokens, on loopback only", extra={"at": where, "docs": f"{where}/docs"})
    server = uvicorn.Server(config)
    for end in (signal.SIGTERM, signal.SIGINT):  # uvicorn raises these again when everything is finished
        signal.signal(end, lambda *_: sys.exit(0))
    server.run(sockets=[listener])


def log_in_json() -> None:
    """Send everything that is logged to standard error, a line of JSON each."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    for noisy in ("httpx", "alembic", "uvicorn.error"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
