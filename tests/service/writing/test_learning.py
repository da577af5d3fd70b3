"""Nobody but who asks an experiment waits while it learns for long."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

import pytest

from paretozoom import PlainPolicy
from paretozoom.service import Limits
from paretozoom.service.experiments import policies
from paretozoom.service.writing.loading import replay_experiment
from tests.service.remote import ALL, Remote, begin, refused, serving, until
from tests.store.samples import opened


class Slow(PlainPolicy):
    """Learns when it is let."""

    name = "slow"
    free = threading.Event()
    busy = threading.Event()
    threads: ClassVar[list[str]] = []

    def __init__(self, problem: Any, *, seed: int = 0) -> None:
        super().__init__(problem, seed=seed)
        self.sums = dict.fromkeys(problem.arm.labels, 1.0)

    def choose(self, context: Any, candidates: Any, luck: Any) -> Any:
        weights = [self.sums[arm] / sum(self.sums[arm] for arm in candidates) for arm in candidates]
        k = int(luck.choice(len(candidates), p=weights))
        return candidates[k], weights[k]

    def learn(self, context: Any, arm: Any, reward: dict[str, float]) -> None:
        self.threads.append(threading.current_thread().name)
        self.busy.set()
        assert self.free.wait(60)
        self.busy.clear()
        self.sums[arm] = 0.75 * self.sums[arm] + reward["left"] + 0.1

    def state(self) -> dict[str, Any]:
        return {"sums": self.sums}

    def restore(self, state: dict[str, Any]) -> None:
        self.sums = state["sums"]


@pytest.fixture(autouse=True)
def _admitted(monkeypatch: pytest.MonkeyPatch, lightly: None) -> None:
    monkeypatch.setitem(policies._admitted, "slow", Slow)
    Slow.free.set()
    Slow.busy.clear()
    Slow.threads.clear()


@contextmanager
def learning(experiment: Remote, pool: ThreadPoolExecutor) -> Iterator[list[Future[Any]]]:
    """While an experiment learns the reward of a decision; a request for another one waits for that."""
    number = experiment.number()
    Slow.free.clear()
    waiting = [pool.submit(experiment.reward, number)]
    try:
        until(Slow.busy.is_set)
        waiting.append(pool.submit(experiment.decide))
        yield waiting
    finally:
        Slow.free.set()


def test_all_others_are_answered_meanwhile(folder: Path) -> None:
    with serving(folder) as client, ThreadPoolExecutor(3) as pool:
        slow, other = begin(client, "slow-1", policy="slow"), begin(client)
        for k in range(4):
            before = slow.get().json()
            with learning(slow, pool) as waiting:
                assert client.get("/live").status_code == 200
                assert client.get("/ready").text == "ready\n"
                assert other.reward(other.number()).json() == {"accepted": 1, "repeated": 0}
                described = slow.get().json()
                assert described["counts"]["rewards"] == k + 1
                assert (described["bytes"], described["notes"]) == (before["bytes"], before["notes"])
                assert len(client.get(ALL).json()["experiments"]) == 2
                assert 'paretozoom_model_bytes{experiment="slow-1"}' in client.get("/metrics").text
                waiting.append(pool.submit(slow.get, "/front?context=%7B%22x%22:0.5%7D"))
                waiting.append(pool.submit(slow.get, "/snapshot"))
                assert not any(one.done() for one in waiting)
            assert [one.result().status_code for one in waiting] == [200, 201, 200, 200]
        state = client.app.state.experiments.find("slow-1").digest()
    assert all(name.startswith("paretozoom-learn") for name in Slow.threads)
    with opened(folder) as store:
        assert replay_experiment(store, "slow-1").digest() == state


def test_who_asks_it_does_not_wait_for_ever(folder: Path) -> None:
    with serving(folder, limits=Limits(seconds_to_answer=0.2)) as client, ThreadPoolExecutor(3) as pool:
        slow = begin(client, policy="slow")
        with learning(slow, pool) as waiting:
            refused(slow.get("/front?context=%7B%22x%22:0.5%7D"), 503, "is learning, which takes long")
            for one in waiting:
                refused(one.result(), 503, "not done in time", "request_id")
        until(lambda: slow.decide().status_code == 201)
        assert slow.get().json()["counts"]["rewards"] == 1


def test_what_cannot_be_begun_in_time_is_not_done(folder: Path) -> None:
    with serving(folder, limits=Limits(seconds_to_answer=0.2)) as client, ThreadPoolExecutor(3) as pool:
        slow = begin(client, policy="slow")
        with learning(slow, pool):
            refused(client.delete(slow.path), 503, "was not begun in time", "nothing was done")
            refused(slow.post("/erase", {"decisions": [slow.id(0)]}), 503, "was not begun in time")
            refused(slow.post("/prune", {"before": 1e10}), 503, "was not begun in time")
        until(lambda: slow.decide().status_code == 201)
        assert slow.get("/decisions/0").json()["state"] == "rewarded"
        assert {entry["event"]["type"] for entry in slow.events()} == {"created", "decided", "rewarded"}


def test_what_is_deleted_twice_is_deleted_once(folder: Path) -> None:
    with serving(folder) as client, ThreadPoolExecutor(6) as pool:
        slow = begin(client, policy="slow")
        with learning(slow, pool) as waiting:
            gone = [pool.submit(client.delete, slow.path) for _ in range(3)]
            lane = client.app.state.writer._lanes[slow.name]
            until(lambda: len(lane.chores) == 3)
            assert not any(one.done() for one in (*waiting, *gone))
        assert sorted(one.result().status_code for one in gone) == [204, 404, 404]
        assert begin(client, slow.name).number() == 0
