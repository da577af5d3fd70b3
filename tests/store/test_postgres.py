"""The store in PostgreSQL."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any
from urllib.parse import quote

import psycopg
import pytest
import sqlalchemy as sa

from paretozoom.store import Addition, Away, Busy, Full, Locked, ReadOnly, StoreError, open_store, postgres
from paretozoom.store.events import Paused
from paretozoom.store.postgres import CONNECTIONS
from tests.postgres import OwnServer, Server
from tests.store.contract import StoreContract
from tests.store.entries import add, names, pauses, places
from tests.store.samples import decided, opened
from tests.store.test_sqlite import listening

OURS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'paretozoom'"


def run(url: str, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    """Run a statement, beside the store."""
    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement, values)
        return cursor.fetchall() if cursor.description else []


class TestPostgres(StoreContract):
    """The contract, on a server."""

    @pytest.fixture
    def where(self, postgres_url: str) -> str:
        return postgres_url

    @pytest.fixture
    def database(self, where: str) -> Iterator[sa.Engine]:
        engine = sa.create_engine(sa.make_url(where).set(drivername="postgresql+psycopg"))
        yield engine
        engine.dispose()


@pytest.fixture
def own_server(postgres_server: Server) -> OwnServer:
    """The server, if it may be stopped."""
    if not isinstance(postgres_server, OwnServer):
        pytest.skip("the server is not the tests' own")
    return postgres_server


@pytest.fixture
def impatiently(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores wait for less than they usually do."""
    monkeypatch.setattr(postgres, "PATIENCE_FOR_LOCKS", 0.5)
    monkeypatch.setattr(postgres, "PATIENCE_FOR_STATEMENTS", 2)
    monkeypatch.setattr(postgres, "PATIENCE_WITH_SILENCE", 0)


@pytest.mark.parametrize("mode", ["fast", "immediate"])
def test_a_server_that_was_away(own_server: OwnServer, postgres_url: str, mode: str) -> None:
    with opened(postgres_url) as store:
        add(store, "prices", *pauses(2), snapshot=b"state")
        lock = store.lock("prices")
        own_server.stop(mode)
        try:
            for _ in range(2):
                with pytest.raises(Away):
                    add(store, "prices", *pauses(1, 3), after=2)
            for ask in (store.logs, lambda: list(store.read("prices")), lambda: store.lock("doses")):
                with pytest.raises(Away):
                    ask()
            with pytest.raises(Away):
                open_store(postgres_url)
            assert not lock.is_held()
        finally:
            own_server.start()
        assert not lock.is_held()
        lock.release()
        assert not lock.is_held()
        add(store, "prices", *pauses(1, 3), after=2)
        assert names(store.read("prices")) == ["1", "2", "3"]
        assert store.snapshot("prices") == (2, b"state")
        again = store.lock("prices")
        assert again.is_held()
        with opened(postgres_url) as other, pytest.raises(Locked):
            other.lock("prices")


def test_a_server_that_was_away_for_a_moment(own_server: OwnServer, postgres_url: str) -> None:
    with opened(postgres_url) as store:
        lock = store.lock("prices")
        add(store, "prices", *pauses(2))
        own_server.stop()
        own_server.start()
        with opened(postgres_url) as other:
            taken = other.lock("prices")
            assert not lock.is_held()
            lock.release()
            assert taken.is_held()
        with suppress(Away):  # once, if at all
            store.logs()
        add(store, "prices", *pauses(1, 3), after=2)
        assert store.lock("prices").is_held()


def test_a_hold_whose_connection_broke_is_lost_and_can_be_taken_again(postgres_url: str) -> None:
    with opened(postgres_url) as store, opened(postgres_url) as other:
        for _ in range(3):
            lock = store.lock("prices")
            run(postgres_url, "SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'")
            while run(postgres_url, "SELECT 1 FROM pg_locks WHERE locktype = 'advisory'"):
                pass
            taken = other.lock("prices")
            for _ in range(2):
                assert not lock.is_held()
                lock.release()
            assert taken.is_held()
            taken.release()


def test_a_connection_that_breaks_off_while_it_writes(postgres_url: str) -> None:
    with opened(postgres_url) as store:
        add(store, "prices", *pauses(1))
        suicide = "BEGIN PERFORM pg_terminate_backend(pg_backend_pid()); RETURN NEW; END"
        run(postgres_url, f"CREATE FUNCTION fail() RETURNS trigger AS '{suicide}' LANGUAGE plpgsql")
        run(postgres_url, "CREATE TRIGGER fail BEFORE INSERT ON events EXECUTE FUNCTION fail()")
        with pytest.raises(Away):
            store.append([Addition("prices", 1, pauses(1, 2), 0.0), Addition("new", 0, pauses(1), 0.0)])
        run(postgres_url, "DROP TRIGGER fail ON events")
        assert store.logs() == {"prices": 1}
        add(store, "new", *pauses(1))
        add(store, "prices", *pauses(1, 2), after=1)
        assert names(store.read("prices")) == ["1", "2"]


@pytest.mark.parametrize(
    ("state", "kind"), [("53100", Full), ("57014", Busy), ("25006", ReadOnly), ("42501", StoreError)]
)
def test_an_error_of_the_server_changes_nothing(postgres_url: str, state: str, kind: type[StoreError]) -> None:
    with opened(postgres_url) as store:
        add(store, "prices", *pauses(1), snapshot=b"state")
        body = f"BEGIN RAISE EXCEPTION ''as asked'' USING ERRCODE = ''{state}''; END"
        run(postgres_url, f"CREATE FUNCTION fail() RETURNS trigger AS '{body}' LANGUAGE plpgsql")
        run(postgres_url, "CREATE TRIGGER fail BEFORE INSERT ON snapshots EXECUTE FUNCTION fail()")
        with pytest.raises(StoreError, match="as asked") as error:
            add(store, "prices", *pauses(1, 2), after=1, snapshot=b"other")
        assert type(error.value) is kind
        assert store.logs() == {"prices": 1}
        assert store.snapshot("prices") == (1, b"state")
        run(postgres_url, "DROP TRIGGER fail ON snapshots")
        add(store, "prices", *pauses(1, 2), after=1, snapshot=b"other")
        assert names(store.read("prices")) == ["1", "2"]


@pytest.mark.parametrize(("durability", "waits"), [("commit", "off"), ("fsync", "on")])
def test_commits_wait_for_the_disk_if_asked_whatever_the_server_says(
    postgres_url: str, durability: str, waits: str
) -> None:
    run(postgres_url, f"ALTER DATABASE {sa.make_url(postgres_url).database} SET synchronous_commit = off")
    with opened(postgres_url, durability=durability) as store:
        note = "BEGIN INSERT INTO notes VALUES (current_setting(''synchronous_commit'')); RETURN NEW; END"
        run(postgres_url, "CREATE TABLE notes (waits text)")
        run(postgres_url, f"CREATE FUNCTION note() RETURNS trigger AS '{note}' LANGUAGE plpgsql")
        run(postgres_url, "CREATE TRIGGER note BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION note()")
        add(store, "prices", *pauses(1))
    assert run(postgres_url, "SELECT waits FROM notes") == [(waits,)]


@pytest.mark.parametrize("durability", ["commit", "fsync"])
def test_options_in_the_address_are_kept(postgres_url: str, durability: str) -> None:
    run(postgres_url, "CREATE SCHEMA elsewhere")
    url = f"{postgres_url}&options={quote('-c search_path=elsewhere')}&application_name=mine"
    with opened(url, durability=durability) as store, opened(postgres_url) as other:
        add(store, "prices", Paused("ops"))
        assert other.logs() == {}
        assert run(postgres_url, "SELECT name, head FROM elsewhere.logs") == [("prices", 1)]
        assert run(postgres_url, "SELECT 1 FROM pg_stat_activity WHERE application_name = 'mine'")


def test_an_address_may_begin_with_postgres(postgres_url: str) -> None:
    with opened(postgres_url.replace("postgresql://", "postgres://")) as store:
        add(store, "prices", Paused("ops"))
    with opened(postgres_url) as store:
        assert store.logs() == {"prices": 1}


def test_no_server_at_an_address() -> None:
    with pytest.raises(Away):
        open_store("postgresql://postgres@/postgres?host=/nowhere")


def test_a_user_who_may_not_make_tables(postgres_url: str) -> None:
    role = sa.make_url(postgres_url).database
    run(postgres_url, f"CREATE ROLE {role} LOGIN PASSWORD 'known'")
    url = sa.make_url(postgres_url).set(username=role, password="known").render_as_string(hide_password=False)
    try:
        with pytest.raises(StoreError, match="permission denied") as error:
            open_store(url)
        assert not isinstance(error.value, Away)
        assert run(postgres_url, "SELECT 1 FROM pg_tables WHERE schemaname = 'public'") == []
    finally:
        run(postgres_url, f"DROP ROLE {role}")


def test_what_is_sought_in_a_long_log_is_found_by_an_index(postgres_url: str) -> None:
    with opened(postgres_url) as store:
        add(store, "prices", *(decided(k, f"r{k}") for k in range(5_000)))
        run(postgres_url, "ANALYZE")
        assert places(store.read("prices", number=777)) == [778]
        requests = [f"r{k}" for k in range(64)]
        assert places(store.read("prices", requests=requests)) == list(range(1, 65))
    for sought, value, index in (
        ("number =", 777, "events_by_number"),
        ("request = ANY", requests, "events_by_request"),
    ):
        plan = run(postgres_url, f"EXPLAIN SELECT body FROM events WHERE log = 1 AND {sought} (%s)", value)
        assert any(index in line for (line,) in plan)


def test_a_new_event_does_not_look_up_its_log(postgres_url: str) -> None:
    with opened(postgres_url):
        keys = "SELECT conrelid::regclass::text FROM pg_constraint WHERE contype = 'f' ORDER BY 1"
        assert run(postgres_url, keys) == [("snapshots",)]


def test_all_holds_are_on_one_connection(postgres_url: str) -> None:
    with opened(postgres_url) as store, opened(postgres_url) as other:
        locks = [store.lock(f"log{k}") for k in range(300)]
        owners = "SELECT count(DISTINCT pid), count(*) FROM pg_locks WHERE locktype = 'advisory'"
        assert run(postgres_url, owners) == [(1, 300)]
        for lock in locks[1:]:
            lock.release()
        assert locks[0].is_held()
        with pytest.raises(Locked):
            other.lock("log0")
        assert other.lock("log1").is_held()
        locks[0].release()
        assert other.lock("log0").is_held()


def test_connections_are_few_however_many_ask(postgres_url: str) -> None:
    made: list[Any] = []
    with opened(postgres_url) as store, listening("connect", lambda connection, _: made.append(connection)):
        add(store, "prices", *pauses(1))
        with psycopg.connect(postgres_url) as somebody, ThreadPoolExecutor(40) as pool:
            somebody.execute("LOCK TABLE logs IN ACCESS EXCLUSIVE MODE")  # so that they ask at the same time
            asked = [pool.submit(store.logs) for _ in range(400)]
            while len(run(postgres_url, "SELECT 1 FROM pg_locks WHERE NOT granted")) < CONNECTIONS - 1:
                pass
            somebody.rollback()
            assert [one.result() for one in asked] == [{"prices": 1}] * 400
        assert len(made) <= CONNECTIONS


@contextmanager
def stopped(url: str) -> Iterator[None]:
    """The server's processes for connections of the store are stopped while the block runs."""
    found = run(url, OURS)
    for (pid,) in found:
        os.kill(pid, signal.SIGSTOP)
    try:
        yield
    finally:
        for (pid,) in found:
            os.kill(pid, signal.SIGCONT)


@pytest.mark.usefixtures("impatiently")
def test_a_server_that_hangs_is_given_up(own_server: OwnServer, postgres_url: str) -> None:
    with opened(postgres_url) as store:
        lock = store.lock("prices")
        add(store, "prices", *pauses(1))
        with stopped(postgres_url):
            with pytest.raises(Away, match="silent"):
                add(store, "prices", *pauses(1, 2), after=1)
            assert not lock.is_held()
        add(store, "prices", *pauses(1, 2), after=1)
        assert names(store.read("prices")) == ["1", "2"]


@pytest.mark.usefixtures("impatiently")
@pytest.mark.parametrize("table", ["events", "logs"])
def test_a_table_that_somebody_has_locked_is_not_waited_for(postgres_url: str, table: str) -> None:
    with opened(postgres_url) as store:
        add(store, "prices", *pauses(1))
        store.check()
        with psycopg.connect(postgres_url) as somebody:
            somebody.execute(f"LOCK TABLE {table} IN ACCESS EXCLUSIVE MODE")
            with pytest.raises(Busy):
                add(store, "prices", *pauses(1, 2), after=1)
            with pytest.raises(Busy):
                store.check()
            with pytest.raises(Busy):
                list(store.read("prices")) if table == "events" else store.logs()
        store.check(by_writing=True)
        add(store, "prices", *pauses(1, 2), after=1)


def test_a_large_snapshot_may_take_longer(postgres_url: str) -> None:
    with opened(postgres_url) as store:
        seen = "BEGIN INSERT INTO notes VALUES (current_setting(''statement_timeout'')); RETURN NEW; END"
        run(postgres_url, "CREATE TABLE notes (allowed text)")
        run(postgres_url, f"CREATE FUNCTION note() RETURNS trigger AS '{seen}' LANGUAGE plpgsql")
        run(postgres_url, "CREATE TRIGGER note BEFORE INSERT ON events FOR EACH ROW EXECUTE FUNCTION note()")
        add(store, "prices", *pauses(1))
        add(store, "prices", *pauses(1, 2), after=1, snapshot=b"state")
        add(store, "prices", *pauses(1, 3), after=2)
    assert run(postgres_url, "SELECT allowed FROM notes") == [("4s",), ("1min",), ("4s",)]


def test_a_database_that_takes_no_writes(postgres_url: str) -> None:
    with opened(postgres_url) as store:
        add(store, "prices", *pauses(1))
    run(postgres_url, f"ALTER DATABASE {sa.make_url(postgres_url).database} SET default_transaction_read_only = on")
    with opened(postgres_url) as store:
        for ask in (store.check, lambda: add(store, "prices", *pauses(1, 2), after=1)):
            with pytest.raises(ReadOnly):
                ask()
        assert store.logs() == {"prices": 1}
