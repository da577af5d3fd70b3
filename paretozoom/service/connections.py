"""Connections of clients: how many there may be, how large their heads, and how long they may be silent."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import Counter
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from paretozoom.service.limits import Limits

log = logging.getLogger("paretozoom")
SECONDS_BETWEEN_LOOKS = 0.5
SECONDS_BETWEEN_LINES = 10.0  # of the log
OTHER_FILES = 64  # that a process has open beside connections
SLOWEST = 20_000  # bytes per second of a body


class Connections:
    """The connections of a server. When there are too many, the one that was silent longest gives way.

    >>> Connections(Limits()).counts
    Counter()
    """

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.most = min(limits.connections, most_files(limits.connections + OTHER_FILES) - OTHER_FILES)
        self.open: dict[Connection, None] = {}  # the oldest first
        self.counts: Counter[str] = Counter()  # of what was cut off, and why
        self._said: Counter[str] = Counter()
        self._may_say = 0.0

    def begin(self, **given: Any) -> Connection:
        """A new one, as the server makes it."""
        return Connection(self, **given)

    async def watch(self) -> None:
        """Cut off who is silent for too long, for ever."""
        loop = asyncio.get_running_loop()
        while True:
            await asyncio.sleep(SECONDS_BETWEEN_LOOKS)
            now = loop.time()
            for connection in list(self.open):
                why = connection.fault(now)
                if why is not None:
                    self.cut(connection, why)
            if self.counts != self._said and now >= self._may_say:
                log.warning("connections were cut off", extra=dict(self.counts - self._said))
                self._said, self._may_say = self.counts.copy(), now + SECONDS_BETWEEN_LINES

    def cut(self, connection: Connection, why: str) -> None:
        """End a connection at once."""
        self.counts[why] += 1
        self.open.pop(connection, None)
        connection.transport.abort()

    def make_room(self) -> bool:
        """Let the oldest connection that is silent give way if there are too many; whether there is room now."""
        if len(self.open) < self.most:
            return True
        silent = next((one for one in self.open if one.is_silent()), None)
        if silent is None:
            self.counts["refused"] += 1
            return False
        self.cut(silent, "gave way")
        return True


class Connection(HttpToolsProtocol):
    """One of them. The server bounds nothing but the time between two requests."""

    def __init__(self, connections: Connections, **given: Any) -> None:
        super().__init__(**given)
        self._connections = connections
        self._limits = connections.limits
        self._since = self.loop.time()  # the request in hand began, or its body did, or the last answer was given
        self._taken = 0  # bytes of its head or body
        self._in_head = False
        self._unsent = 0
        self._unsent_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, if there is room."""
        super().connection_made(transport)
        if self._connections.make_room():
            self._connections.open[self] = None
        else:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        """End."""
        self._connections.open.pop(self, None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what was sent; a head may be so long and no longer."""
        self._taken += len(data)
        super().data_received(data)
        if self._in_head and self._taken > self._limits.head:
            self._connections.cut(self, "large head")

    def on_message_begin(self) -> None:
        """A request begins."""
        super().on_message_begin()
        self._since, self._in_head = self.loop.time(), True
        self.scope["state"]["left"] = self.transport.is_closing
        self.scope["state"]["began"] = time.time()

    def on_headers_complete(self) -> None:
        """Its head is complete."""
        large = self._taken > self._limits.head and sum(len(a) + len(b) for a, b in self.headers) > self._limits.head
        self._in_head, self._since, self._taken = False, self.loop.time(), 0
        app = self.app
        if large:
            self._connections.counts["large head"] += 1
            self.app = _refuse_head
        super().on_headers_complete()
        self.app = app
        if self.cycle is not None:
            self.cycle.transport = Together(self.transport, self.loop)  # type: ignore[assignment]  # as far as it is used

    def on_response_complete(self) -> None:
        """It was answered."""
        super().on_response_complete()
        self._since, self._taken = self.loop.time(), 0

    def is_silent(self) -> bool:
        """Whether nothing is to be done but wait for the client."""
        return self.cycle is None or self.cycle.response_complete

    def fault(self, now: float) -> str | None:
        """Why to cut it off, if there is a reason."""
        unsent = self.transport.get_write_buffer_size()
        if unsent != self._unsent:
            self._unsent, self._unsent_since = unsent, now
        elif unsent and now > self._unsent_since + self._limits.seconds_of_silence:
            return "does not read"
        waited = now - self._since
        if self.is_silent():
            return "no request" if waited > self._limits.seconds_of_silence else None
        if self.cycle.more_body and waited > self._limits.seconds_of_silence + self._taken / SLOWEST:
            return "no body"
        return None


class Together:
    """The transport of an answer: its head waits for its body, so that both are one packet. That takes half the time.

    The head of an answer that trickles in waits until the end of the step of the loop, and no longer.
    """

    def __init__(self, transport: asyncio.Transport, loop: asyncio.AbstractEventLoop) -> None:
        self._transport = transport
        self._loop = loop
        self._head = b""

    def write(self, data: bytes) -> None:
        """Send something, or keep it for a moment."""
        if self._head:
            self._head += data
            self._send()
        else:
            self._head = data
            self._loop.call_soon(self._send)

    def _send(self) -> None:
        data, self._head = self._head, b""
        if data and not self._transport.is_closing():
            self._transport.write(data)

    def is_closing(self) -> bool:
        """Whether nothing more is sent."""
        return self._transport.is_closing()

    def close(self) -> None:
        """Send what was written, and hang up."""
        self._send()
        self._transport.close()


async def _refuse_head(_scope: Any, _receive: Any, send: Any) -> None:
    """What is answered instead of the service."""
    headers = [(b"content-length", b"0"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": 431, "headers": headers})
    await send({"type": "http.response.body", "body": b""})


def most_files(wanted: int) -> int:
    """How many files this process may have open, after it has asked for so many.

    >>> most_files(16) >= 16
    True
    """
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return wanted
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    possible = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
    if soft == resource.RLIM_INFINITY or soft >= possible:
        return wanted if soft == resource.RLIM_INFINITY else soft
    resource.setrlimit(resource.RLIMIT_NOFILE, (possible, hard))
    return possible
