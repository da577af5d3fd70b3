"""Clients that connect and say nothing, or half of it, keep nobody else out."""

from __future__ import annotations

import asyncio
import json
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from paretozoom.service import Limits
from paretozoom.service.connections import OTHER_FILES, Together
from paretozoom.store import open_store
from tests.service.remote import PLAIN, until

ROOT = Path(__file__).parents[2]
SERVE = """
import resource
import sys
import msgspec
from pathlib import Path
from paretozoom.service import Limits
from paretozoom.service.running import serve
from paretozoom.service.writing import live
from paretozoom.store import open_store

live.TYPICAL = msgspec.structs.replace(live.TYPICAL, policy="random")
if sys.argv[3] != "None":
    resource.setrlimit(resource.RLIMIT_NOFILE, (int(sys.argv[3]), int(sys.argv[3])))
serve(open_store(Path(sys.argv[1])), "127.0.0.1", 0, limits=Limits(**eval(sys.argv[2])))
"""
HALF = b"POST /v1/experiments HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
WHOLE = b"GET /live HTTP/1.1\r\nhost: 127.0.0.1\r\n\r\n"


class Served:
    """A service in a process of its own."""

    def __init__(self, folder: Path, files: int | None, limits: dict[str, Any]) -> None:
        open_store(folder).close()  # here, where everything that makes the tables is imported already
        self._log = folder.with_suffix(".log")
        with self._log.open("w") as log:
            line = [sys.executable, "-c", SERVE, str(folder), repr(limits), str(files)]
            self.process = subprocess.Popen(line, stderr=log, cwd=ROOT)
        until(lambda: self.lines() or self.process.poll() is not None)
        self.url = str(self.lines()[0]["at"])

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self._log.read_text().splitlines()]

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", int(self.url.rpartition(":")[2])), timeout=60)


@contextmanager
def served(folder: Path, files: int | None = None, **limits: Any) -> Iterator[Served]:
    """A service with some limits, while the block runs."""
    service = Served(folder, files, limits)
    try:
        yield service
    finally:
        service.process.terminate()
        assert service.process.wait(60) == 0


@pytest.fixture(scope="module")
def impatient(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service that bears little silence and short heads; some tests share it."""
    with served(tmp_path_factory.mktemp("served") / "impatient", seconds_of_silence=0.5, head=5_000) as service:
        yield service


@pytest.fixture(scope="module")
def usual(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service with the usual limits, which the others share."""
    with served(tmp_path_factory.mktemp("served") / "usual") as service:
        yield service


def ended(connection: socket.socket) -> bool:
    """Wait until the service ends a connection."""
    try:
        return connection.recv(1_000) == b""
    except ConnectionResetError:
        return True


def test_half_requests_shut_nobody_out(tmp_path: Path) -> None:
    with served(tmp_path / "data", files=200) as service, ExitStack() as stack:
        first = [stack.enter_context(service.connect()) for _ in range(300)]
        for connection in first:
            try:
                connection.sendall(HALF)
            except OSError:  # it gave way already
                continue
        assert httpx.get(f"{service.url}/live", timeout=60).text == "alive\n"
        assert ended(first[0])


def test_the_unit_allows_as_many_files_as_there_may_be_connections() -> None:
    lines = (ROOT / "deploy" / "paretozoom.service").read_text().splitlines()
    [files] = [line.removeprefix("LimitNOFILE=") for line in lines if line.startswith("LimitNOFILE=")]
    assert int(files) >= Limits().connections + OTHER_FILES


def test_silence_has_an_end(impatient: Served) -> None:
    pairs = []
    with ExitStack() as stack:
        for sent in (b"", HALF[:9], HALF, HALF + b"content-length: 100\r\n\r\n{", b"\r\n" * 9):
            connection, used = (stack.enter_context(impatient.connect()) for _ in range(2))
            connection.sendall(sent)
            used.sendall(WHOLE)
            assert used.recv(1_000).startswith(b"HTTP/1.1 200")
            used.sendall(sent)
            pairs.append((connection, used))
        for connection, used in pairs:
            assert ended(connection)
            while not ended(used):  # an answer to the half of it may come before
                pass
    until(lambda: any(line["message"] == "connections were cut off" for line in impatient.lines()))
    assert not [line for line in impatient.lines() if line["level"] == "error"]


def test_one_byte_at_a_time_is_silence_too(impatient: Served) -> None:
    with impatient.connect() as connection:
        connection.settimeout(0.05)
        for byte in HALF + b"x-more: " + b"a" * 1_000:  # never a mistake, nor too long
            try:
                connection.sendall(bytes([byte]))
                if connection.recv(1) == b"":
                    return
            except TimeoutError:
                continue
            except OSError:
                return
        raise AssertionError("it went on for ever")


def test_an_answer_that_nobody_reads_is_given_up(impatient: Served) -> None:
    with impatient.connect() as connection:
        for _ in range(20_000):  # more than both ends keep
            try:
                connection.sendall(WHOLE.replace(b"/live", b"/docs"))
            except OSError:
                break
        else:
            until(lambda: any("does not read" in line for line in impatient.lines()))


@pytest.mark.parametrize("pieces", [1, 20])
def test_a_head_has_a_longest(impatient: Served, pieces: int) -> None:
    with impatient.connect() as connection:
        for k in range(pieces):
            try:
                connection.sendall((HALF if k == 0 else b"") + b"x-more: " + b"a" * (20_000 // pieces) + b"\r\n")
            except OSError:
                break
        assert ended(connection)
    assert httpx.get(f"{impatient.url}/live", headers={"x-more": "a" * 3_000}, timeout=60).status_code == 200
    assert httpx.get(f"{impatient.url}/live", headers={"x-more": "a" * 9_000}, timeout=60).status_code == 431


def test_bad_requests_do_not_flood_the_log(usual: Served) -> None:
    before = len(usual.lines())
    for _ in range(60):
        with usual.connect() as connection:
            connection.sendall(b"NONSENSE\r\n\r\n")
            assert connection.recv(1_000).startswith(b"HTTP/1.1 400")
    assert len(usual.lines()) - before < 20


def test_batches_whose_callers_have_left_are_not_done(usual: Served) -> None:
    body = {"name": "prices", "problem": PLAIN, "policy": "random", "seed": 7}
    httpx.post(f"{usual.url}/v1/experiments", json=body, timeout=60).raise_for_status()
    path = "/v1/experiments/prices"
    until(lambda: httpx.get(usual.url + path, timeout=60).json()["ready"])
    data = json.dumps({"decisions": [{"context": [0.5]}] * 1_000}).encode()
    head = f"POST {path}/decisions/batch HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
    usual.process.send_signal(signal.SIGSTOP)
    try:
        for _ in range(30):
            with usual.connect() as connection:
                connection.sendall(head.encode() + f"content-length: {len(data)}\r\n\r\n".encode() + data)
    finally:
        usual.process.send_signal(signal.SIGCONT)
    answer = httpx.post(f"{usual.url}{path}/decisions", json={"context": [0.5]}, timeout=60)
    assert answer.status_code == 201
    assert httpx.get(usual.url + path, timeout=60).json()["counts"]["decisions"] < 5_000  # of 30,000


class Wire:
    """A transport that notes what is sent at once."""

    def __init__(self) -> None:
        self.sent: list[bytes] = []
        self.closed = False

    def write(self, data: bytes) -> None:
        assert not self.closed
        self.sent.append(data)

    def is_closing(self) -> bool:
        return self.closed

    def close(self) -> None:
        self.closed = True


def test_an_answer_is_sent_at_once() -> None:
    async def play() -> None:
        wire = Wire()
        answer = Together(wire, asyncio.get_running_loop())  # type: ignore[arg-type]
        answer.write(b"head,")
        assert wire.sent == []
        answer.write(b"body.")
        assert wire.sent == [b"head,body."]
        answer.write(b"more.")
        await asyncio.sleep(0)
        assert wire.sent == [b"head,body.", b"more."]  # it waits for nothing that may never come
        await asyncio.sleep(0)
        answer.write(b"last.")
        answer.close()
        await asyncio.sleep(0)
        assert wire.sent[2:] == [b"last."]
        assert answer.is_closing()
        answer.write(b"too late")
        await asyncio.sleep(0)
        assert len(wire.sent) == 3

    asyncio.run(play())
