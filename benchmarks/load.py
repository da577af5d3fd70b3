"""A load of HTTP requests over some connections, each of which sends the next request when it has the last answer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any, NamedTuple

import msgspec
import numpy as np

from paretozoom import Problem

Turn = Generator[tuple[str, Any], Any, None]  # yields (path, body), is sent the answer


class Load(NamedTuple):
    """How fast a service answered."""

    requests: int
    seconds: float
    latencies: Any  # (requests,) seconds
    refused: int

    @property
    def rate(self) -> float:
        """Requests per second."""
        return self.requests / self.seconds

    def percentile(self, percent: float) -> float:
        """Of the latencies, in milliseconds."""
        return float(np.percentile(self.latencies, percent)) * 1e3

    def then(self, more: Load) -> Load:
        """Both, one after the other."""
        latencies = np.concatenate([self.latencies, more.latencies])
        return Load(self.requests + more.requests, self.seconds + more.seconds, latencies, self.refused + more.refused)


NOTHING = Load(0, 0.0, np.empty(0), 0)


class _Connection(asyncio.Protocol):
    """One connection: HTTP/1.1, one request after another, answers with a content-length."""

    def __init__(self, turns: Any, host: str, until: float, latencies: list[float], done: asyncio.Future[int]) -> None:
        self._turns, self._host, self._until = turns, host, until
        self._latencies, self._done = latencies, done
        self._buffer = b""
        self._refused = 0

    def connection_made(self, transport: Any) -> None:
        self._transport = transport
        self._send(next(self._turns))

    def _send(self, request: tuple[str, Any]) -> None:
        path, body = request
        data = msgspec.json.encode(body)
        head = f"POST {path} HTTP/1.1\r\nhost: {self._host}\r\ncontent-type: application/json\r\n"
        head += f"content-length: {len(data)}\r\n\r\n"
        self._began = time.perf_counter()
        self._transport.write(head.encode() + data)

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        end = self._buffer.find(b"\r\n\r\n")
        if end < 0:
            return
        head = self._buffer[:end].lower()
        place = head.index(b"content-length:") + 15
        length = int(head[place : head.find(b"\r\n", place) if head.find(b"\r\n", place) > 0 else end])
        if len(self._buffer) < end + 4 + length:
            return
        now = time.perf_counter()
        self._latencies.append(now - self._began)
        body, self._buffer = self._buffer[end + 4 : end + 4 + length], b""
        if head[9:10] != b"2":
            self._refused += 1
        if now >= self._until:
            self._transport.close()
            self._done.set_result(self._refused)
            return
        self._send(self._turns.send(msgspec.json.decode(body)))

    def connection_lost(self, error: Exception | None) -> None:
        if not self._done.done():
            self._done.set_exception(error or ConnectionError("the service hung up"))


def _same(protocol: _Connection) -> _Connection:
    return protocol


async def _play(port: int, turns: Callable[[int], Turn], connections: int, seconds: float) -> Load:
    loop = asyncio.get_running_loop()
    began = time.perf_counter()
    latencies: list[float] = []
    ends: list[asyncio.Future[int]] = []
    for k in range(connections):
        ends.append(loop.create_future())
        protocol = _Connection(turns(k), f"127.0.0.1:{port}", began + seconds, latencies, ends[-1])
        await loop.create_connection(partial(_same, protocol), "127.0.0.1", port)
    refused = sum(await asyncio.gather(*ends))
    return Load(len(latencies), time.perf_counter() - began, np.array(latencies), refused)


def play(port: int, turns: Callable[[int], Turn], connections: int, seconds: float) -> Load:
    """Load a service on this machine; `turns(k)` makes the requests of connection k."""
    try:
        import uvloop

        return uvloop.run(_play(port, turns, connections, seconds))
    except ImportError:
        return asyncio.run(_play(port, turns, connections, seconds))


def _reward(decided: dict[str, Any], objectives: Sequence[str] = ("a", "b")) -> dict[str, float]:
    y = decided["arm"]["y"]
    return {name: 1 - abs(y - 0.2 - 0.5 * k) for k, name in enumerate(objectives)}


def pairs(experiment: str, with_ids: bool = True) -> Callable[[int], Turn]:
    """Turns that ask for a decision and reward it."""
    import secrets

    def turns(k: int) -> Turn:
        base = f"/v1/experiments/{experiment}"
        run, n = secrets.token_hex(4), 0
        while True:
            context = {"x": (k * 0.37 + n * 0.61803) % 1.0}
            body = {"context": context, "request_id": f"{run}-{k}-{n}"} if with_ids else {"context": context}
            decided = yield f"{base}/decisions", body
            yield f"{base}/rewards", {"decision": decided["id"], "reward": _reward(decided)}
            n += 1

    return turns


def batches(experiment: str, size: int, rewarded: bool = True, of: Problem | None = None) -> Callable[[int], Turn]:
    """Turns that ask for many decisions at once, and reward them at once if wanted; of a problem, or of x, a and b."""
    contexts = ["x"] if of is None else [dimension.name for dimension in of.context]
    objectives = ["a", "b"] if of is None else list(of.objective_names)

    def turns(k: int) -> Turn:
        base = f"/v1/experiments/{experiment}"
        n = 0
        while True:
            places = [(k * 0.37 + (n + j) * 0.61803) % 1.0 for j in range(size)]
            asked = [{"context": {name: (x * (m + 1)) % 1.0 for m, name in enumerate(contexts)}} for x in places]
            decided = yield f"{base}/decisions/batch", {"decisions": asked}
            if rewarded:
                rewards = [{"decision": one["id"], "reward": _reward(one, objectives)} for one in decided["decisions"]]
                yield f"{base}/rewards/batch", {"rewards": rewards}
            n += size

    return turns


def echoes(size: int | None = None) -> Callable[[int], Turn]:
    """Turns for a service that sends back what it gets, or so much of it at once."""

    def turns(k: int) -> Turn:
        n = 0
        while True:
            one = {"context": {"x": (k * 0.37 + n * 0.61803) % 1.0}, "request_id": f"{k}-{n}"}
            yield ("/echo", one) if size is None else ("/echo/batch", {"decisions": [one] * size})
            n += 1

    return turns
