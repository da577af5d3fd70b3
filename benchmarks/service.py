"""How fast is the service, beside a bare echo of the same framework in the same run?

An application that sends back what it gets and decide+reward pairs, in turn, on SQLite and on PostgreSQL, at 1, 16 and
64 connections, then batches of 100; then how long it takes to replay a long log, and to start from a snapshot with that
log behind it. Before that: what a client of one experiment hears of large batches for another, beside the same load on
an echo in a process of its own. Client and server are processes of their own.
Run: python benchmarks/service.py [events to replay], or only the neighbours: python benchmarks/service.py --neighbours
"""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import msgspec
import numpy as np
from load import NOTHING, Load, batches, echoes, pairs, play
from rich.console import Console
from rich.table import Table

from paretozoom import Objective, ParetoZoom, Problem, Real
from paretozoom.records import Asked, Told
from paretozoom.remote.client import Client
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.writing.loading import load_experiment, replay_experiment
from paretozoom.store import Addition, open_store
from paretozoom.store.events import Created, Decided, Entry, Event, Rewarded

SECONDS = 6.0
TURNS = 3
CONNECTIONS = (1, 16, 64)
BATCH = 100
LOUD, LARGE = 4, 1_000  # neighbours
NAME = "bench"
PROBLEM = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a"), Objective("b")])
LARGER = Problem([Real("x"), Real("v"), Real("w")], [Real("y"), Real("z")], [Objective(name) for name in "abc"])


class Echo(msgspec.Struct):
    """What the bare application takes and sends back."""

    context: dict[str, Any]
    request_id: str


class Echoes(msgspec.Struct):
    """Many of these."""

    decisions: list[Echo]


def run_echo(port: int) -> None:
    """The bare application, with what it needs and nothing else."""
    import uvicorn
    from litestar import Litestar, post

    @post("/echo")
    async def echo(data: Echo) -> Echo:
        return data

    @post("/echo/batch")
    async def echo_batch(data: Echoes) -> Echoes:
        return data

    uvicorn.run(Litestar([echo, echo_batch], logging_config=None), port=port, access_log=False, log_level="warning")


@contextmanager
def process(*command: str) -> Iterator[subprocess.Popen[bytes]]:
    """A process that ends with the block."""
    running = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        yield running
    finally:
        running.send_signal(signal.SIGTERM)
        running.wait(30)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def wait_for(port: int) -> None:
    """Until somebody listens."""
    for _ in range(600):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.1)
    raise TimeoutError(f"nobody listens on port {port}")


def load_service(where: str, table: Table, echo: int, label: str) -> None:
    """Pairs and batches on one store; pairs in turn with the echo, so that a slow moment of the machine slows both."""
    port = free_port()
    with process(sys.executable, "-m", "paretozoom", "serve", "--store", where, "--port", str(port)):
        wait_for(port)
        with Client(f"http://127.0.0.1:{port}") as client:
            client.create(NAME, PROBLEM, seed=1)
            client.wait_until_ready(600)
        for connections in CONNECTIONS:
            bare = found = NOTHING
            for _ in range(TURNS):
                bare = bare.then(play(echo, echoes(), connections, SECONDS / TURNS))
                found = found.then(play(port, pairs(NAME), connections, SECONDS / TURNS))
            add_row(table, "bare echo", connections, bare, None)
            add_row(table, label, connections, found, bare)
        for connections in (1, 4):
            found = play(port, batches(NAME, BATCH), connections, SECONDS)
            add_row(table, f"{label}, {BATCH} pairs each", connections, found, None, BATCH / 2)
        found = play(port, batches(NAME, BATCH, rewarded=False), 4, SECONDS)
        add_row(table, f"{label}, {BATCH} decisions each", 4, found, None, BATCH)


def neighbours(console: Console) -> None:
    """What one experiment hears of another: its latencies alone, beside large batches, and beside a loaded echo."""
    port, echo = free_port(), free_port()
    serve = (sys.executable, "-m", "paretozoom", "serve", "--port", str(port), "--store")
    table = Table(title=f"A client of A, while {LOUD} clients send batches of {LARGE} for B; latencies in ms")
    for head in ("beside", "p50", "p99", "p99/echo", "longest silence of /live"):
        table.add_column(head, justify="left" if head == "beside" else "right")
    with (
        tempfile.TemporaryDirectory() as folder,
        process(*serve, folder),
        process(sys.executable, __file__, "--echo", str(echo)),
    ):
        wait_for(port)
        wait_for(echo)
        with Client(f"http://127.0.0.1:{port}") as client:
            for name, problem in (("a", PROBLEM), ("b", LARGER)):
                client.create(name, problem, seed=1)
            client.wait_until_ready(600)
        found = {}
        for beside, loud in (("nobody", None), ("an echo", echo), ("B", port), ("B, decisions only", port)):
            with ExitStack() as stack:
                if loud is not None:
                    kind = "echo" if loud == echo else "pairs" if beside == "B" else "decisions"
                    stack.enter_context(process(sys.executable, __file__, "--loud", str(loud), kind))
                    time.sleep(2.0)
                with ThreadPoolExecutor(1) as pool:
                    silence = pool.submit(longest_silence, port, SECONDS)
                    found[beside] = play(port, pairs("a"), 1, SECONDS)
            p50, p99 = (found[beside].percentile(p) for p in (50, 99))
            share = f"{p99 / found['an echo'].percentile(99):.1f}" if "an echo" in found else ""
            table.add_row(beside, f"{p50:.2f}", f"{p99:.2f}", share, f"{silence.result() * 1e3:.0f}")
    console.print(table)


def be_loud(port: int, kind: str) -> None:
    """Send large batches until ended, to an echo or to the experiment b."""
    turns = echoes(LARGE) if kind == "echo" else batches("b", LARGE, rewarded=kind == "pairs", of=LARGER)
    play(port, turns, LOUD, 3_600)


def longest_silence(port: int, seconds: float) -> float:
    """The longest time without an answer of /live, asked every few milliseconds."""
    longest, end = 0.0, time.monotonic() + seconds
    with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=60) as client:
        while time.monotonic() < end:
            began = time.perf_counter()
            client.get("/live").raise_for_status()
            longest = max(longest, time.perf_counter() - began)
            time.sleep(0.01)
    return longest


def add_row(table: Table, label: str, connections: int, found: Load, echo: Load | None, each: float = 1.0) -> None:
    """One line; of batches also the decisions per second, half of the requests being rewards."""
    share = "" if echo is None else f"{found.rate / echo.rate:.0%}"
    tail = "" if echo is None else f"{found.percentile(99) / echo.percentile(99):.1f}"
    decisions = "" if each == 1.0 else f"{found.rate * each:,.0f}"
    latencies = [f"{found.percentile(p):.2f}" for p in (50, 95, 99)]
    table.add_row(label, str(connections), f"{found.rate:,.0f}", share, *latencies, tail, decisions, str(found.refused))


def replaying(events: int, console: Console) -> None:
    """A long log: how long until it is replayed, and until a service over it is ready."""
    with tempfile.TemporaryDirectory() as folder:
        store = open_store(Path(folder))
        policy = ParetoZoom(PROBLEM, seed=1)
        first = Entry(1, 0.0, Created(PROBLEM, "pareto-zoom", {}, 1, policy.version, by="bench"))
        store.append([Addition(NAME, 0, [first.event], 0.0)])
        luck = np.random.default_rng(0)
        written = 1
        while written < events:
            chunk: list[Event] = []
            for x in luck.random(2_500):
                decision = policy.propose([x])
                y = decision.arm["y"]
                reward = {"a": float(luck.random() < 1 - abs(y - x)), "b": float(luck.random() < abs(y - x / 2))}
                policy.replay(Asked(decision))
                policy.replay(Told(decision.number, reward))
                chunk += [Decided(decision), Rewarded(decision.number, reward)]
            store.append([Addition(NAME, written, chunk, 0.0)])
            written += len(chunk)
        began = time.perf_counter()
        whole = replay_experiment(store, NAME)
        replayed = time.perf_counter() - began
        data = whole.dump().to_bytes()
        store.append([Addition(NAME, written, (), 0.0, snapshot=data)])
        began = time.perf_counter()
        same = load_experiment(store, NAME)[0].digest() == whole.digest()
        loaded = time.perf_counter() - began
        assert isinstance(Experiment.load(NAME, data), Experiment)
        store.close()
        port = free_port()
        began = time.perf_counter()
        with process(sys.executable, "-m", "paretozoom", "serve", "--store", folder, "--port", str(port)):
            wait_for(port)
            with Client(f"http://127.0.0.1:{port}") as client:
                client.wait_until_ready()
                client.experiment(NAME).ask([0.5])
            started = time.perf_counter() - began
        size = sum(file.stat().st_size for file in Path(folder).rglob("*") if file.is_file()) / 1e6
    console.print(
        f"{written:,} events: replayed in {replayed:.1f} s ({replayed / written * 1e6:.1f} us each), read from a "
        f"snapshot of {len(data) / 1e6:.1f} MB in {loaded:.2f} s, {'the same' if same else 'ANOTHER'} state; from "
        f"starting the process to its first decision {started:.2f} s; {size:.0f} MB on disk"
    )


def main() -> None:
    """Print the table."""
    if "--help" in sys.argv:
        print(__doc__)
        return
    if sys.argv[1:2] == ["--echo"]:
        run_echo(int(sys.argv[2]))
        return
    if sys.argv[1:2] == ["--loud"]:
        be_loud(int(sys.argv[2]), sys.argv[3])
        return
    console = Console(width=max(130, Console().width))
    table = Table(title=f"Closed loops of {SECONDS:g} s on {os.cpu_count()} cores, durability commit; latencies in ms")
    for head in (
        "what",
        "at once",
        "requests/s",
        "/echo",
        "p50",
        "p95",
        "p99",
        "p99/echo",
        "decisions/s",
        "refused",
    ):
        table.add_column(head, justify="left" if head == "what" else "right", no_wrap=True)
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from tests.postgres import BY_SOCKET, fresh_database, started

    neighbours(console)
    if sys.argv[1:2] == ["--neighbours"]:
        return
    echo = free_port()
    with process(sys.executable, __file__, "--echo", str(echo)):
        wait_for(echo)
        with tempfile.TemporaryDirectory() as folder:
            load_service(folder, table, echo, "SQLite")
        with started(BY_SOCKET) as server, fresh_database(server) as url:
            load_service(url, table, echo, "PostgreSQL")
    console.print(table)
    replaying(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000, console)


if __name__ == "__main__":
    main()
