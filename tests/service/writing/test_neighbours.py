"""One experiment does not wait for another, and nothing is done for nobody."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from paretozoom.records import Snapshot
from paretozoom.service import Limits
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.pending import Pending
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.loading import replay_experiment
from paretozoom.service.writing.writer import Writer
from paretozoom.store import Addition, Store, open_store
from paretozoom.store.events import Created, Paused
from tests.service.remote import begin, serving
from tests.service.writing.test_writer import PROBLEM

Act = Callable[[Pending], Any]


class Held:
    """A store whose appends can be held."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._free = threading.Event()
        self._free.set()

    @contextmanager
    def held(self) -> Iterator[None]:
        self._free.clear()
        try:
            yield
        finally:
            self._free.set()

    def append(self, additions: list[Addition]) -> None:
        assert self._free.wait(60)
        self._store.append(additions)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def play(folder: Path, scenario: Callable[[Writer, Held], Awaitable[None]], **limits: Any) -> None:
    """A writer with experiments "a", "b" and "c", and what happens to it; afterwards the logs say what is known."""

    async def run() -> None:
        store = Held(open_store(folder))
        experiments = LiveExperiments(store, Limits(**limits))
        writer = Writer(experiments)
        await experiments.start()
        writer.start()
        for name in "abc":
            await experiments.create(name, Created(PROBLEM, "random", {}, 1, 1, by="test"))
            while not experiments.get(name).compiled:
                await asyncio.sleep(0.001)
        await scenario(writer, store)
        live = {name: experiments.find(name).digest() for name in "abc"}
        assert live == {name: replay_experiment(store, name).digest() for name in "abc"}
        await writer.stop()
        await experiments.stop()
        store.close()

    asyncio.run(run())


def decide(pending: Pending) -> Any:
    return pending.decide([0.5])


def many(count: int) -> Act:
    return lambda pending: pending.all_or_none(
        lambda pending, x: pending.decide([x]), {f"{k}": 0.5 for k in range(count)}
    )


def length(writer: Writer, name: str) -> int:
    return writer._experiments.find(name).seq


def test_a_batch_of_a_neighbour_is_not_waited_for(tmp_path: Path) -> None:
    async def scenario(writer: Writer, _: Held) -> None:
        done: list[str] = []

        async def ask(name: str, act: Act, size: int) -> None:
            await writer.submit(name, act, size=size)
            done.append(name)

        def slowly(pending: Pending, x: float) -> Any:
            time.sleep(0.001)
            return pending.decide([x])

        batch = {f"{k}": 0.5 for k in range(1_000)}
        first = asyncio.create_task(ask("b", lambda pending: pending.all_or_none(slowly, batch), 1_000))
        await asyncio.sleep(0)
        for _ in range(3):
            await ask("a", decide, 1)
        await first
        assert done == ["a", "a", "a", "b"]
        assert length(writer, "b") == 1_001

    play(tmp_path, scenario)


@pytest.mark.parametrize("patience", [0, 10])
def test_what_nobody_waits_for_is_not_done(tmp_path: Path, patience: int) -> None:
    """Neither if the caller left before it was begun, nor if between two steps."""

    async def scenario(writer: Writer, _: Held) -> None:
        looks: list[int] = []

        def left() -> bool:
            looks.append(1)
            return len(looks) > patience

        def slowly(pending: Pending, x: float) -> Any:
            time.sleep(0.001)
            return pending.decide([x])

        batch = {f"{k}": 0.5 for k in range(100)}
        with pytest.raises(Declined, match="has left"):
            await writer.submit("b", lambda pending: pending.all_or_none(slowly, batch), left=left, size=100)
        assert length(writer, "b") == 1
        assert len(looks) == patience + 1
        assert (await writer.submit("b", decide)).decision.number == 0

    play(tmp_path, scenario)


def test_only_so_much_may_wait(tmp_path: Path) -> None:
    async def scenario(writer: Writer, store: Held) -> None:
        with store.held():
            first = asyncio.create_task(writer.submit("b", decide))
            await asyncio.sleep(0.05)
            others = [asyncio.create_task(writer.submit("b", many(20), size=20)) for _ in range(8)]
            await asyncio.sleep(0.05)
            assert [one.done() for one in others] == [False] * 5 + [True] * 3
            free = asyncio.create_task(writer.submit("a", decide))
            await asyncio.sleep(0.05)
            assert not free.done()
        answers = await asyncio.gather(first, free, *others, return_exceptions=True)
        refused = [one for one in answers if isinstance(one, Declined)]
        assert [one.status for one in refused] == [429] * 3
        assert length(writer, "b") == 1 + 1 + 5 * 20

    play(tmp_path, scenario, waiting=100)


def test_a_store_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    """What was asked may be written all the same; the same id finds it."""

    async def scenario(writer: Writer, store: Held) -> None:
        async def ask() -> Any:
            return await writer.submit("a", lambda pending: pending.decide([0.5], request="q"), ["q"])

        with store.held():
            with pytest.raises(Declined, match="in time") as slow:
                await ask()
            assert slow.value.status == 503
            assert writer._experiments.health.state == "hung"
            with pytest.raises(Declined, match="does not answer"):
                await ask()
        while writer._experiments.health.state != "fine":
            await asyncio.sleep(0.01)
        assert (await ask()).decision.number == 0
        assert length(writer, "a") == 2

    play(tmp_path, scenario, seconds_to_answer=0.3)


def test_a_neighbour_that_cannot_be_written_harms_nobody(tmp_path: Path) -> None:
    """Though they share a transaction."""

    async def scenario(writer: Writer, store: Held) -> None:
        with store.held():
            first = asyncio.create_task(writer.submit("c", decide))
            await asyncio.sleep(0.05)
            others = [asyncio.create_task(writer.submit(name, decide)) for name in "ab"]
            await asyncio.sleep(0.05)
            store._store.append([Addition("b", 1, [Paused("somebody else")], 1.0)])
        await first
        fine, harmed = await asyncio.gather(*others, return_exceptions=True)
        assert fine.decision.number == 0
        assert isinstance(harmed, Declined)
        assert "another process has written" in harmed.detail
        await writer.submit("b", lambda pending: pending.resume("ops"))

    play(tmp_path, scenario)


def test_states_are_encoded_beside_the_loop(tmp_path: Path, lightly: None, monkeypatch: pytest.MonkeyPatch) -> None:
    threads: list[str] = []
    encode = Snapshot.to_bytes
    monkeypatch.setattr(
        Snapshot, "to_bytes", lambda self: threads.append(threading.current_thread().name) or encode(self)
    )
    with serving(tmp_path, snapshot_every=2) as client:
        experiment = begin(client)
        data = experiment.get("/snapshot").content
        assert client.put("/v1/experiments/other/snapshot", content=data).status_code == 201
        experiment.number()
        last = experiment.number()
        assert experiment.post("/erase", {"decisions": [experiment.id(last)]}).json() == {"entries": 1}
        assert experiment.post("/prune", {"before": 9e9}).json() == {"entries": 1}
    assert len(threads) >= 3 + 2 * 2
    assert all(name.startswith("paretozoom-read") for name in threads)
