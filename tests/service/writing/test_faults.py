"""Databases that hang, are locked by somebody, or are shared by many: answers come soon, and the service recovers."""

from __future__ import annotations

import signal
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

from paretozoom.service import Limits
from paretozoom.service.writing.loading import load_experiment, replay_experiment
from paretozoom.store import open_store
from paretozoom.store.sqlite import FILE
from tests.postgres import OwnServer, Server, postgres_server, postgres_url
from tests.service.crashing import Service
from tests.service.remote import PLAIN, begin, refused, serving, until
from tests.store.test_postgres import OURS, impatiently, own_server, run, stopped

__all__ = ["impatiently", "own_server", "postgres_server", "postgres_url"]

IMPATIENT = Limits(seconds_to_answer=1.5)


@contextmanager
def locked(url: str) -> Iterator[None]:
    """Somebody has locked a table of a store in PostgreSQL."""
    with psycopg.connect(url) as somebody:
        somebody.execute("LOCK TABLE events IN ACCESS EXCLUSIVE MODE")
        yield


@contextmanager
def written_to(folder: Path) -> Iterator[None]:
    """Another process writes to a store in a folder, and takes its time."""
    other = sqlite3.connect(folder / FILE)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield
    finally:
        other.rollback()
        other.close()


@contextmanager
def read_only(url: str) -> Iterator[None]:
    """A server takes no writes, as one whose place another has taken."""
    name = sa.make_url(url).database

    def become(how: str) -> None:
        somebody.execute(f"ALTER DATABASE {name} SET default_transaction_read_only = {how}")
        somebody.execute(f"SELECT pg_terminate_backend(pid) FROM ({OURS}) AS ours")

    with psycopg.connect(url, autocommit=True) as somebody:
        become("on")
        yield
        become("off")


def check_recovery(where: Path | str, fault: Callable[[Any], AbstractContextManager[None]], why: str) -> None:
    """While the store fails, all is declined, and nobody is sent here; afterwards all is as it was."""
    store = open_store(where)
    with serving(store, limits=IMPATIENT) as client:
        experiment = begin(client, "prices")
        number = experiment.number(request_id="before")
        with fault(where):
            refused(experiment.decide(request_id="during"), 503)
            until(lambda: why in client.get("/ready").text)
            refused(client.get("/ready"), 503, "the store", why)
            assert client.get("/live").status_code == 200
            assert experiment.reward(number).status_code == 503
        until(lambda: client.get("/ready").status_code == 200)
        until(lambda: experiment.reward(number).status_code == 200)
        assert experiment.number(request_id="before") == number
        assert experiment.number(request_id="during") == number + 1
        live = client.app.state.experiments.find("prices").digest()
        assert live == replay_experiment(store, "prices").digest() == load_experiment(store, "prices")[0].digest()


def test_a_table_that_somebody_has_locked(postgres_url: str, lightly: None, impatiently: None) -> None:
    check_recovery(postgres_url, locked, "somebody else has locked it")


def test_a_server_that_hangs(own_server: OwnServer, postgres_url: str, lightly: None, impatiently: None) -> None:
    check_recovery(postgres_url, stopped, "the store")


def test_a_server_that_takes_no_writes(postgres_url: str, lightly: None, impatiently: None) -> None:
    check_recovery(postgres_url, read_only, "the store takes no writes")


def test_another_writer_to_the_file(tmp_path: Path, lightly: None) -> None:
    check_recovery(tmp_path, written_to, "somebody else has locked it")


def test_a_store_that_hangs_does_not_keep_the_service_from_ending(own_server: OwnServer, postgres_url: str) -> None:
    service = Service(postgres_url).wait()
    with stopped(postgres_url):
        service.end(signal.SIGTERM)
    assert service.process.returncode is not None


def test_more_experiments_than_a_server_has_connections(
    postgres_server: Server, postgres_url: str, lightly: None
) -> None:
    most = int(run(postgres_url, "SHOW max_connections")[0][0])
    if most > 100:
        pytest.skip("the server takes more connections")
    names = [f"prices-{k}" for k in range(250)]
    with serving(open_store(postgres_url), limits=Limits(experiments=250)) as client:
        for name in names:
            body = {"name": name, "problem": PLAIN, "policy": "random", "seed": 7}
            assert client.post("/v1/experiments", json=body).status_code == 201
        refused(client.post("/v1/experiments", json={"name": "more", "problem": PLAIN, "policy": "random"}), 429)
    with serving(open_store(postgres_url)) as client:
        for name in names[::10]:
            answer = client.post(f"/v1/experiments/{name}/decisions", json={"context": {"x": 0.5}})
            assert answer.status_code == 201, answer.text
        assert len(client.get("/v1/experiments").json()["experiments"]) == 250
        assert client.get("/ready").status_code == 200
