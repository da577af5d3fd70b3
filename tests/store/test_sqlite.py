"""The store in a file."""

from __future__ import annotations

import os
import resource
import signal
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from paretozoom.records import Refused
from paretozoom.store import Addition, Away, Busy, Full, ReadOnly, Store, StoreError, open_store, sqlite
from paretozoom.store.events import Paused
from tests.store.contract import StoreContract
from tests.store.entries import add, names, pauses, places
from tests.store.samples import decided, opened, resident


class TestSqlite(StoreContract):
    """The contract, in a folder."""

    @pytest.fixture
    def where(self, tmp_path: Path) -> str:
        return str(tmp_path / "what? 100% 国" / "store")

    @pytest.fixture
    def database(self, where: str) -> Iterator[sa.Engine]:
        engine = sa.create_engine(sa.URL.create("sqlite", database=f"{where}/paretozoom.db"))
        yield engine
        engine.dispose()


@contextmanager
def listening(event: str, function: Callable[..., None]) -> Iterator[None]:
    """Hear what every engine does."""
    sa.event.listen(sa.Engine, event, function)
    try:
        yield
    finally:
        sa.event.remove(sa.Engine, event, function)


@pytest.fixture
def connections() -> Iterator[list[sqlite3.Connection]]:
    """Every connection that is made, in order."""
    made: list[sqlite3.Connection] = []
    with listening("connect", lambda connection, _: made.append(connection)):
        yield made


@pytest.mark.parametrize(("durability", "synchronous"), [("commit", 1), ("fsync", 2)])
def test_a_write_ahead_log_that_waits_for_the_disk_if_asked(
    tmp_path: Path, connections: list[sqlite3.Connection], durability: str, synchronous: int
) -> None:
    with opened(tmp_path, durability=durability) as store:
        add(store, "prices", Paused("ops"))
        connection = connections[-1]
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (synchronous,)
        assert connection.execute("PRAGMA foreign_keys").fetchone() == (1,)


def test_what_is_sought_in_a_long_log_is_found_by_an_index(tmp_path: Path) -> None:
    """By whoever made the tables, and by whoever opens them later."""
    plans: list[str] = []

    def explain(_: Any, cursor: Any, statement: str, parameters: Any, *__: Any) -> None:
        if "FROM events" in statement:
            plans.extend(row[3] for row in cursor.connection.execute(f"EXPLAIN QUERY PLAN {statement}", parameters))

    for again in (False, True):
        with opened(tmp_path) as store:
            if not again:
                add(store, "prices", *(decided(k, f"r{k}") for k in range(20_000)))
            plans.clear()
            with listening("before_cursor_execute", explain):
                assert places(store.read("prices", number=777)) == [778]
                assert places(store.read("prices", requests=[f"r{k}" for k in range(64)])) == list(range(1, 65))
                assert places(store.read("prices", 7, 9)) == [8, 9]
        assert plans == [
            "SEARCH events USING INDEX events_by_number (log=? AND number=?)",
            "SEARCH events USING INDEX events_by_request (log=? AND request=?)",
            "SEARCH events USING PRIMARY KEY (log=? AND seq=?)",
            "SEARCH events USING PRIMARY KEY (log=? AND seq>? AND seq<?)",
        ]


def check_that_a_full_disk_changes_nothing(store: Store, fill: Callable[[], None], empty: Callable[[], None]) -> None:
    """Nothing is written while there is no space, and everything can be read; then it goes on."""
    large = [Paused("x" * 1000) for _ in range(1000)]
    add(store, "a", *pauses(2), snapshot=b"state")
    fill()
    for additions in (
        [Addition("a", 2, large, 0.0)],
        [Addition("new", 0, pauses(1), 0.0), Addition("a", 2, (), 0.0, snapshot=bytes(1_000_000))],
    ):
        with pytest.raises(Full):
            store.append(additions)
        assert store.logs() == {"a": 2}
        assert names(store.read("a")) == ["1", "2"]
        assert store.snapshot("a") == (2, b"state")
    empty()
    add(store, "new", *pauses(1))
    add(store, "a", *large, after=2, snapshot=bytes(1_000_000))
    assert store.logs() == {"a": 1002, "new": 1}
    assert store.snapshot("a") == (1002, bytes(1_000_000))


def test_a_full_database(tmp_path: Path, connections: list[sqlite3.Connection]) -> None:
    def limit(pages: int) -> None:
        for connection in connections[1:]:  # the first made the tables, and is closed
            connection.execute(f"PRAGMA max_page_count = {pages}")

    with opened(tmp_path) as store:
        check_that_a_full_disk_changes_nothing(store, lambda: limit(1), lambda: limit(1_000_000))


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    before = resource.getrlimit(resource.RLIMIT_FSIZE)

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (300_000, before[1]))

    def free() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)

    try:
        with opened(tmp_path) as store:
            check_that_a_full_disk_changes_nothing(store, limit, free)
    finally:
        free()


def test_a_file_that_is_not_a_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / sqlite.FILE
    path.write_bytes(b"no database at all\n" * 1000)
    with pytest.raises(StoreError, match=r"paretozoom\.db: file is not a database") as refusal:
        open_store(tmp_path)
    assert not isinstance(refusal.value, Away)
    assert path.read_bytes() == b"no database at all\n" * 1000


def test_a_database_with_holes_is_an_error_of_the_store(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        add(store, "prices", *(Paused("x" * 1000) for _ in range(500)))
    path = tmp_path / sqlite.FILE
    whole = path.read_bytes()
    path.write_bytes(whole[:100_000] + bytes(200_000) + whole[300_000:])
    with opened(tmp_path) as store, pytest.raises((StoreError, Refused)) as error:
        list(store.read("prices"))
    assert not isinstance(error.value, Away)


def test_a_file_is_not_a_folder(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.write_text("mine")
    for folder in (path, path / "below"):
        with pytest.raises(StoreError, match="is not a folder, and cannot be made one"):
            open_store(folder)
    assert path.read_text() == "mine"


@pytest.fixture
def foreign_folder() -> Iterator[Path]:
    """A folder that this process may read but not write, until the test is over."""
    me = os.geteuid()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with opened(folder) as store:
            add(store, "prices", *pauses(2))
        for path in (folder, *folder.iterdir()):
            path.chmod(0o555 if path.is_dir() else 0o444)
        if me == 0:
            os.seteuid(65534)  # nothing is forbidden to root
        try:
            if not os.access(sqlite.__file__, os.R_OK, effective_ids=True):
                pytest.skip("only root may read these files")
            yield folder
        finally:
            os.seteuid(me)
            folder.chmod(0o755)


def test_a_folder_that_may_not_be_written(foreign_folder: Path) -> None:
    with pytest.raises(StoreError, match="cannot be made one"):
        open_store(foreign_folder / "below")
    with pytest.raises(StoreError, match=r"paretozoom\.db: "), opened(foreign_folder) as store:
        add(store, "prices", Paused("ops"), after=2)
    with pytest.raises(Away, match="Permission denied"):
        sqlite.Sqlite(foreign_folder, "commit").lock("prices")


def test_a_writer_that_takes_too_long_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite, "PATIENCE", 0.05)
    with opened(tmp_path) as store:
        add(store, "prices", *pauses(1))
        other = sqlite3.connect(tmp_path / sqlite.FILE)
        other.execute("BEGIN IMMEDIATE")
        for ask in (lambda: add(store, "prices", *pauses(1, 2), after=1), store.check):
            with pytest.raises(Busy, match="locked"):
                ask()
        assert places(store.read("prices")) == [1]
        other.rollback()
        other.close()
        store.check(by_writing=True)
        add(store, "prices", *pauses(1, 2), after=1)
        assert places(store.read("prices")) == [1, 2]


def test_a_store_that_is_opened_for_reading_only_says_so(foreign_folder: Path) -> None:
    with pytest.raises(ReadOnly), opened(foreign_folder) as store:
        store.check()


def test_a_full_disk_is_seen_by_writing(tmp_path: Path) -> None:
    with opened(tmp_path) as store:
        add(store, "prices", *pauses(1))
        store.check(by_writing=True)
        size = max(path.stat().st_size for path in tmp_path.iterdir())
        most = resource.getrlimit(resource.RLIMIT_FSIZE)
        before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, most[1]))
        try:
            store.check()
            with pytest.raises(Full):
                [store.check(by_writing=True) for _ in range(100)]
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, most)
            signal.signal(signal.SIGXFSZ, before)
        store.check(by_writing=True)


def test_a_snapshot_leaves_no_copy_in_memory(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    add(store, "a", *pauses(1), snapshot=b"small")
    before = resident()
    add(store, "a", *pauses(1, 2), after=1, snapshot=bytes(range(250)) * 240_001)
    assert resident() - before < 20  # of 60
    assert store.snapshot("a") == (2, bytes(range(250)) * 240_001)
    store.close()
