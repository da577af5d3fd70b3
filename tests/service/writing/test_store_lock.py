"""One service runs on a store, also while the store is empty."""

from __future__ import annotations

import asyncio
import re
from pathlib import Path

import psycopg
import pytest

from paretozoom.service import app as app_module
from paretozoom.service import create_app
from paretozoom.service.http.bodies import NAME
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.store_lock import RESERVED, StoreLock
from paretozoom.store import Locked, Store, open_store
from tests.postgres import postgres_server, postgres_url
from tests.service.remote import begin, command, serving, until
from tests.store.entries import add, pauses
from tests.store.samples import opened

__all__ = ["postgres_server", "postgres_url"]  # fixtures

HOLDERS = "SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted"


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Path | str:
    """An empty store of each kind."""
    return tmp_path if request.param == "sqlite" else str(request.getfixturevalue("postgres_url"))


def holders(url: str, *, end: bool = False) -> set[int]:
    """The connections that hold a lock, by their processes; end them, which takes a moment, if asked."""
    with psycopg.connect(url, autocommit=True) as connection:
        pids = {pid for (pid,) in connection.execute(HOLDERS).fetchall()}
        for pid in pids if end else ():
            connection.execute("SELECT pg_terminate_backend(%s)", [pid])
    return pids


def test_an_empty_store_is_served_once(where: Path | str) -> None:
    async def start(store: Store) -> LiveExperiments:
        experiments = LiveExperiments(store)
        await experiments.start()
        return experiments

    async def scenario() -> None:
        with opened(where) as store, opened(where) as other:
            first = await start(store)
            await first.lock_store_again()  # it is locked already
            with pytest.raises(Locked, match=r"another service is running on it; log '_service'"):
                await start(other)
            assert other.logs() == {}
            await first.stop()
            await (await start(other)).stop()

    asyncio.run(scenario())


def test_no_experiment_can_have_the_reserved_name() -> None:
    assert not re.search(NAME, RESERVED)


def test_a_start_that_fails_holds_nothing(tmp_path: Path) -> None:
    async def fail(store: Store) -> None:
        async with app_module.life(create_app(store)):
            pass

    with opened(tmp_path) as store:
        experiment = store.lock("kept")
        add(store, "kept", *pauses(1))
        with pytest.raises(Locked, match="log 'kept'"):
            asyncio.run(fail(open_store(tmp_path)))
        experiment.release()
        StoreLock(store).acquire()


def test_the_reason_is_all_that_a_start_that_fails_says(tmp_path: Path, lightly: None) -> None:
    with serving(tmp_path):
        done = command("serve", "--port", "0", "--store", str(tmp_path))
    assert done.returncode == 2
    assert done.stdout == ""
    lock = tmp_path / "locks" / "_service.lock"
    assert done.stderr == (
        "paretozoom: store: another service is running on it; "
        f"log '_service': another process has it open (it holds {lock})\n"
    )


def test_a_service_takes_its_store_again_after_it_was_lost(
    postgres_url: str, lightly: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app_module, "SECONDS_BETWEEN_LOOKS", 0.02)
    with serving(open_store(postgres_url)), opened(postgres_url) as other:
        (before,) = holders(postgres_url, end=True)
        until(lambda: len(holders(postgres_url) - {before}) == 1, patience=20)
        with pytest.raises(Locked):
            StoreLock(other).acquire()
    until(lambda: not holders(postgres_url), patience=20)


def test_a_service_that_lost_its_store_to_another_goes_on_looking(
    postgres_url: str, lightly: None, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(app_module, "SECONDS_BETWEEN_LOOKS", 0.02)
    with opened(postgres_url) as other, serving(open_store(postgres_url)) as client:
        faster = StoreLock(other)
        monkeypatch.setattr(client.app.state.experiments, "_stopping", True)  # it does not look
        holders(postgres_url, end=True)
        until(lambda: not holders(postgres_url), patience=20)
        faster.acquire()
        monkeypatch.setattr(client.app.state.experiments, "_stopping", False)
        until(lambda: "the store cannot be held" in caplog.text, patience=20)
        faster.release()
        until(lambda: len(holders(postgres_url)) == 1, patience=20)
        assert begin(client).number() == 0


def test_services_of_two_schemas_do_not_meet(postgres_url: str) -> None:
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute("CREATE SCHEMA elsewhere")
    elsewhere = f"{postgres_url}&options=-c%20search_path%3Delsewhere"
    with opened(postgres_url) as store, opened(elsewhere) as other, opened(elsewhere) as third:
        StoreLock(store).acquire()
        StoreLock(other).acquire()
        with pytest.raises(Locked):
            StoreLock(third).acquire()
