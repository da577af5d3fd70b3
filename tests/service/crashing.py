"""A service under load that is killed, and what must be true of its store afterwards."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paretozoom import Objective, Problem, Real
from paretozoom.remote.client import Client
from paretozoom.remote.errors import ServiceError
from paretozoom.service.writing.loading import load_experiment, replay_experiment
from paretozoom.store import Store, open_store
from paretozoom.store.events import Decided, Rewarded

if TYPE_CHECKING:
    from collections.abc import Iterator

PROBLEM = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a"), Objective("b")])
NAME = "load"
LONGEST_START = 120.0


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


class Service:
    """`paretozoom serve` as a process."""

    def __init__(self, where: Path | str, port: int | None = None) -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        command = [sys.executable, "-m", "paretozoom", "serve", "--store", str(where), "--port", str(self.port)]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE)
        self.said: list[bytes] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        assert self.process.stderr is not None
        self.said.extend(self.process.stderr)

    def wait(self) -> Service:
        """Until it is ready."""
        until = time.monotonic() + LONGEST_START
        with Client(self.url, tries=1, timeout=2.0) as client:  # to make one reads all certificates that there are
            while time.monotonic() < until:
                assert self.process.poll() is None, b"".join(self.said).decode()
                try:
                    client._http.get("/ready").raise_for_status()
                    return self
                except Exception:
                    time.sleep(0.05)
        raise TimeoutError(b"".join(self.said).decode())

    def end(self, how: signal.Signals) -> None:
        """End it and wait."""
        self.process.send_signal(how)
        self.process.wait(60)
        assert self.process.stderr is not None
        self.process.stderr.close()


@contextmanager
def serving(where: Path | str) -> Iterator[Service]:
    """A service that is ready, and ends with the block."""
    service = Service(where)
    try:
        yield service.wait()
    finally:
        if service.process.poll() is None:
            service.end(signal.SIGTERM)


class Acknowledged:
    """What clients were told: decisions with their arms, and rewards."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.decisions: dict[int, Any] = {}
        self.rewards: dict[int, dict[str, float]] = {}
        self.twice: list[int] = []
        self.statuses: Counter[int] = Counter()

    def decided(self, number: int, arm: Any) -> None:
        """A decision was answered."""
        with self.lock:
            if number in self.decisions:
                self.twice.append(number)
            self.decisions[number] = arm

    def check(self, store: Store) -> None:
        """All that was acknowledged is in the log, nothing twice, and all ways to read it give the same bytes."""
        decided: dict[int, Any] = {}
        told: dict[int, dict[str, float]] = {}
        requests: Counter[str | None] = Counter()
        for entry in store.read(NAME):
            event = entry.event
            if isinstance(event, Decided):
                assert event.decision.number not in decided
                decided[event.decision.number] = event.decision.arm
                requests[event.request] += 1
            elif isinstance(event, Rewarded):
                before = told.setdefault(event.number, {})
                assert not set(before) & set(event.reward)
                before.update(event.reward)
        assert not self.twice
        assert sorted(decided) == list(range(len(decided)))
        assert all(count == 1 for request, count in requests.items())
        for number, arm in self.decisions.items():
            assert decided[number] == arm
        for number, reward in self.rewards.items():
            assert told[number] == reward
        assert load_experiment(store, NAME)[0].digest() == replay_experiment(store, NAME).digest()


def load(url: str, book: Acknowledged, stop: threading.Event, seed: int) -> None:
    """Decide and reward until told to stop; whatever fails is asked again with the same id, as a client does."""
    luck = random.Random(seed)
    with Client(url, timeout=5.0, tries=1) as client:
        experiment = client.experiment(NAME)
        while not stop.is_set():
            try:
                decision = experiment.ask([luck.random()])
                book.decided(decision.number, decision.arm)
                reward = {"a": luck.random(), "b": luck.random()}
                experiment.tell(decision, reward)
                with book.lock:
                    book.rewards[decision.number] = reward
            except ServiceError as error:
                with book.lock:
                    book.statuses[error.status] += 1
                time.sleep(0.01)


@contextmanager
def under_load(url: str, book: Acknowledged, clients: int, seed: int) -> Iterator[None]:
    """Some clients at work while the block runs."""
    stop = threading.Event()
    workers = [threading.Thread(target=load, args=(url, book, stop, 1000 * seed + k)) for k in range(clients)]
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        stop.set()
        for worker in workers:
            worker.join()


def kill_under_load(where: Path | str, *, kills: int, clients: int, policy: str, seed: int = 0) -> Acknowledged:
    """Kill a service at random moments under load, check its store each time; returns what was acknowledged."""
    luck = random.Random(seed)
    book, store = Acknowledged(), open_store(where)
    with serving(where) as service, Client(service.url) as client:
        client.create(NAME, PROBLEM, policy=policy, seed=1)
        client.wait_until_ready(LONGEST_START)
    for turn in range(kills):
        service = Service(where).wait()
        with under_load(service.url, book, clients, seed=100 * seed + turn):
            time.sleep(luck.uniform(0.2, 1.5))
            service.end(signal.SIGKILL)
        book.check(store)
    store.close()
    return book
