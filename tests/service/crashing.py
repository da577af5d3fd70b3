"""A service under load that is killed, and what must be true of its store afterwards."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import threading
import time
from collections import Counter
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from paretozoom import Objective, Problem, Real
from paretozoom.remote.client import Client
from paretozoom.remote.errors import ServiceError
from paretozoom.service.writing.loading import verify
from paretozoom.store import Store, open_store
from paretozoom.store.copying import copy_store
from paretozoom.store.events import Created, Decided, EpochBegan, Rewarded
from tests.service.remote import number_in, served_at

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
        line = served_at(where, "--port", str(self.port))
        self.process = subprocess.Popen(line, stderr=subprocess.PIPE)
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
    """What clients were told, by the ids of decisions: arms, and rewards that were taken; and what they sent."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.decisions: dict[str, Any] = {}
        self.sent: dict[str, dict[str, float]] = {}
        self.rewards: dict[str, dict[str, float]] = {}
        self.lost: set[str] = set()  # decisions that a restore took away
        self.twice: list[str] = []
        self.late: list[str] = []  # lost decisions whose rewards were taken
        self.turned_away = 0  # how often such a reward was not
        self.statuses: Counter[int] = Counter()

    def decided(self, public: str, arm: Any) -> None:
        """A decision was answered."""
        with self.lock:
            if public in self.decisions:
                self.twice.append(public)
            self.decisions[public] = arm

    def restored(self, store: Store) -> None:
        """The store is another one now, which knows less."""
        known = Logged(store).decided
        self.lost = self.decisions.keys() - known.keys()
        for public in self.lost:
            self.rewards.pop(public, None)

    def check(self, store: Store) -> None:
        """All that was acknowledged is in the log, nothing twice, and all ways to read it give the same bytes."""
        log = Logged(store)
        assert not self.twice
        assert not self.late
        assert [number_in(public) for public in log.decided] == list(range(len(log.decided)))
        assert all(count == 1 for request, count in log.requests.items())
        assert not self.lost & log.decided.keys()
        for public in self.decisions.keys() - self.lost:
            assert log.decided[public] == self.decisions[public]
        for public, reward in log.told.items():  # of this very decision, not of another with its number
            assert self.sent.get(public, reward) == reward
        for public, reward in self.rewards.items():
            assert log.told[public] == reward
        assert verify(store, NAME).fine


class Logged:
    """What a log says of decisions, by their ids."""

    def __init__(self, store: Store) -> None:
        self.decided: dict[str, Any] = {}
        self.told: dict[str, dict[str, float]] = {}
        self.requests: Counter[str] = Counter()
        epoch, ids = "", {}
        for entry in store.read(NAME):
            event = entry.event
            if isinstance(event, (Created, EpochBegan)):
                epoch = str(event.epoch)
            elif isinstance(event, Decided):
                public = ids[event.decision.number] = f"{epoch}-{event.decision.number}"
                assert public not in self.decided
                self.decided[public] = event.decision.arm
                if event.request is not None:
                    self.requests[event.request] += 1
            elif isinstance(event, Rewarded):
                before = self.told.setdefault(ids[event.number], {})
                assert not set(before) & set(event.reward)
                before.update(event.reward)


def load(url: str, book: Acknowledged, stop: threading.Event, seed: int) -> None:
    """Decide and reward until told to stop; whatever fails is asked again with the same id, as a client does."""
    luck = random.Random(seed)
    with Client(url, timeout=5.0, tries=1) as client:
        experiment = client.experiment(NAME)
        while not stop.is_set():
            try:
                decision = experiment.ask([luck.random()])
                book.decided(decision.id, decision.arm)
                reward = {"a": luck.random(), "b": luck.random()}
                book.sent[decision.id] = reward
                if luck.random() < 0.9:  # some are told later, or never
                    experiment.tell(decision, reward)
                    with book.lock:
                        book.rewards[decision.id] = reward
            except ServiceError as error:
                with book.lock:
                    book.statuses[error.status] += 1
                time.sleep(0.01)


def come_late(url: str, book: Acknowledged, stop: threading.Event) -> None:
    """Reward decisions that are lost, again and again."""
    with Client(url, timeout=5.0, tries=1) as client:
        experiment = client.experiment(NAME)
        while not stop.is_set() and book.lost:
            for public in sorted(book.lost)[:200]:
                try:
                    experiment.tell(public, book.sent.get(public, {"a": 0.0, "b": 0.0}))
                    book.late.append(public)
                except ServiceError as error:
                    if error.status not in (0, 404, 503):
                        book.late.append(public)
                    book.turned_away += error.status == 404
                if stop.is_set():
                    return


@contextmanager
def under_load(url: str, book: Acknowledged, clients: int, seed: int) -> Iterator[None]:
    """Some clients at work while the block runs."""
    stop = threading.Event()
    workers = [threading.Thread(target=load, args=(url, book, stop, 1000 * seed + k)) for k in range(clients)]
    workers.append(threading.Thread(target=come_late, args=(url, book, stop)))
    for worker in workers:
        worker.start()
    try:
        yield
    finally:
        stop.set()
        for worker in workers:
            worker.join()


def kill_under_load(
    where: Path | str, other: Path | str, *, kills: int, clients: int, policy: str, seed: int = 0
) -> Acknowledged:
    """Kill a service at random moments under load, check its store each time; returns what was acknowledged.

    Half way a copy is made that misses the decisions of one turn, and serves on in place of the store.
    """
    luck = random.Random(seed)
    book, store = Acknowledged(), open_store(where)
    with serving(where) as service, Client(service.url) as client:
        client.create(NAME, PROBLEM, policy=policy, seed=1)
        client.wait_until_ready(LONGEST_START)
    copy, half = open_store(other), (kills - 1) // 2
    for turn in range(kills):
        if turn == half:
            copy_store(store, copy)
        service = Service(where).wait()
        with under_load(service.url, book, clients, seed=100 * seed + turn):
            time.sleep(luck.uniform(0.2, 1.5))
            service.end(signal.SIGKILL)
        book.check(store)
        if turn == half:
            store.close()
            store, where = copy, other
            book.restored(store)
    store.close()
    return book
