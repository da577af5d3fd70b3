"""Whatever was acknowledged survives the end of the service or of its database, however they end."""

from __future__ import annotations

import resource
import signal
import time
from pathlib import Path

import pytest

from paretozoom.remote.client import Client, RemoteExperiment
from paretozoom.remote.errors import ServiceError
from paretozoom.service.writing.loading import replay_experiment
from paretozoom.store import open_store
from tests.postgres import OwnServer, Server, fresh_database, postgres_server, postgres_url
from tests.service.crashing import NAME, PROBLEM, Acknowledged, kill_under_load, serving, under_load

__all__ = ["postgres_server", "postgres_url"]  # fixtures


def test_nothing_acknowledged_is_lost_when_the_service_is_killed(tmp_path: Path) -> None:
    book = kill_under_load(tmp_path / "one", tmp_path / "other", kills=2, clients=4, policy="random")
    assert len(book.rewards) > 10
    assert book.turned_away > 0


def test_nor_with_postgresql(postgres_server: Server, postgres_url: str) -> None:
    with fresh_database(postgres_server) as other:
        book = kill_under_load(postgres_url, other, kills=2, clients=4, policy="random")
    assert len(book.rewards) > 10
    assert book.turned_away > 0


@pytest.mark.proof
def test_thirty_kills(tmp_path: Path) -> None:
    book = kill_under_load(tmp_path / "one", tmp_path / "other", kills=30, clients=8, policy="pareto-zoom")
    assert len(book.rewards) > 1000
    assert book.turned_away > 0


@pytest.mark.proof
def test_thirty_kills_with_postgresql(postgres_server: Server, postgres_url: str) -> None:
    with fresh_database(postgres_server) as other:
        book = kill_under_load(postgres_url, other, kills=30, clients=8, policy="pareto-zoom")
    assert len(book.rewards) > 1000
    assert book.turned_away > 0


def test_a_graceful_end_finishes_what_it_began_and_saves_a_snapshot(tmp_path: Path) -> None:
    book = Acknowledged()
    with serving(tmp_path) as service:
        with Client(service.url) as client:
            client.create(NAME, PROBLEM, policy="random", seed=1)
            client.wait_until_ready()
        with under_load(service.url, book, clients=4, seed=1):
            time.sleep(0.5)
            service.end(signal.SIGTERM)
    assert service.process.returncode == 0
    store = open_store(tmp_path)
    book.check(store)
    head = store.logs()[NAME]
    found = store.snapshot(NAME)
    assert found is not None
    assert found[0] == head == replay_experiment(store, NAME).seq
    store.close()


@pytest.mark.parametrize("mode", [pytest.param("fast", marks=pytest.mark.proof), "immediate"])
def test_the_database_ends_and_comes_back(postgres_server: Server, postgres_url: str, mode: str) -> None:
    if not isinstance(postgres_server, OwnServer):
        pytest.skip("the server that PARETOZOOM_TEST_POSTGRES names is not ours to stop")
    book = Acknowledged()
    with serving(postgres_url) as service, Client(service.url) as client:
        experiment = client.create(NAME, PROBLEM, policy="random", seed=1)
        client.wait_until_ready()
        with under_load(service.url, book, clients=4, seed=1):
            time.sleep(0.4)
            postgres_server.stop(mode)
            before = len(book.rewards)
            time.sleep(0.4)
            assert book.statuses[503] > 0
            postgres_server.start()
            time.sleep(1.0)
        assert before > 0
        assert len(book.rewards) > before
        assert set(book.statuses) == {503}
        experiment.tell(experiment.ask([0.5]), [1.0, 0.0])
    store = open_store(postgres_url)
    book.check(store)
    store.close()


def play_on(experiment: RemoteExperiment, book: list[int], ids: list[str]) -> None:
    """Decide and reward for ever, noting the numbers and ids of what was acknowledged."""
    while True:
        decisions = experiment.ask_many([[0.5]] * 50)
        experiment.tell_many(decisions, [[1.0, 0.0]] * 50)
        book.append(decisions[-1].number)
        ids.append(decisions[-1].id)


def test_a_full_disk_is_said_and_harms_nothing(tmp_path: Path) -> None:
    """As far as a process may be told: no file may grow beyond a limit, which is lifted later."""
    with serving(tmp_path) as service, Client(service.url, tries=1) as client:
        experiment = client.create(NAME, PROBLEM, policy="random", seed=1)
        client.wait_until_ready()
        largest = max(file.stat().st_size for file in tmp_path.iterdir() if file.is_file())
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (largest + 300_000, resource.RLIM_INFINITY))
        book: list[int] = []
        last: list[str] = []
        with pytest.raises(ServiceError, match="507: the store has no space left"):
            play_on(experiment, book, last)
        assert "no space left" in client._http.get("/ready").json()["detail"]
        assert book
        assert experiment.describe()["counts"]["decisions"] > book[-1]
        experiment.front([0.5])
        client._http.get(f"/v1/experiments/{NAME}/events").raise_for_status()
        client._http.get(f"/v1/experiments/{NAME}/decisions/{last[-1]}").raise_for_status()
        client._http.get("/v1/experiments").raise_for_status()
        resource.prlimit(service.process.pid, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        decision = experiment.ask([0.5])
        experiment.tell(decision, [1.0, 0.0])
        assert book[-1] < decision.number <= book[-1] + 51
    store = open_store(tmp_path)
    Acknowledged().check(store)
    store.close()
