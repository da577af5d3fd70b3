"""What every store does for several processes: who may write, who makes the tables, who migrates them."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import sqlalchemy as sa

from paretozoom.store import Locked, Store, StoreError, migrating, open_store
from paretozoom.store.events import Paused
from tests.store.entries import add, names, pauses
from tests.store.samples import EVENTS, LOCK, OPEN, running

PATIENCE = 60.0  # seconds, for what another process does soon
NEXT_MIGRATION = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "3", "2"

def upgrade():
    op.create_table("news", sa.Column("id", sa.Integer, primary_key=True))
"""


@contextmanager
def newer_version(folder: Path) -> Iterator[None]:
    """Let this be a version that has one more migration, which is put into a folder."""
    (folder / "v3.py").write_text(NEXT_MIGRATION)
    config = migrating.alembic_config()
    here = config.get_main_option("script_location").replace("%", "%%")
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", f"{here}/versions\n{folder}")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(migrating, "NEWEST", "3")
        patch.setattr(migrating, "alembic_config", lambda: config)
        yield


class Holding:
    """Tests of `lock`."""

    def test_one_hold_at_a_time(self, store: Store, other: Store) -> None:
        lock = store.lock("prices")
        assert lock.is_held()
        for somebody in (store, other):
            with pytest.raises(Locked, match="log 'prices': another process has it open"):
                somebody.lock("prices")
        free = other.lock("doses")
        assert lock.is_held()
        free.release()
        lock.release()
        assert not lock.is_held()
        again = other.lock("prices")
        assert again.is_held()
        again.release()

    def test_a_hold_that_was_given_back_can_be_given_back_again(self, store: Store, other: Store) -> None:
        lock = store.lock("prices")
        lock.release()
        lock.release()
        taken = other.lock("prices")
        lock.release()
        assert taken.is_held()
        assert not lock.is_held()
        with pytest.raises(Locked):
            store.lock("prices")

    def test_many_holds_at_once(self, store: Store, other: Store) -> None:
        locks = [store.lock(f"log{k}") for k in range(20)]
        assert all(lock.is_held() for lock in locks)
        add(store, "log0", Paused("ops"))
        for k in range(20):
            with pytest.raises(Locked):
                other.lock(f"log{k}")

    def test_closing_lets_go_of_every_hold(self, store: Store, other: Store) -> None:
        locks = [store.lock("a"), store.lock("b")]
        store.close()
        assert not any(lock.is_held() for lock in locks)
        assert other.lock("a").is_held()
        assert other.lock("b").is_held()

    def test_another_process_is_refused(self, store: Store, where: str) -> None:
        lock = store.lock("prices")
        with running(LOCK, where) as process:
            out, errors = process.communicate(timeout=PATIENCE)
        assert "taken" not in out
        assert "Locked: log 'prices': another process has it open" in errors
        assert lock.is_held()

    def test_a_hold_is_free_when_its_process_is_killed(self, store: Store, where: str) -> None:
        with running(LOCK, where) as process:
            assert process.stdout is not None
            assert process.stdout.readline() == "taken\n"
            with pytest.raises(Locked):
                store.lock("prices")
            process.kill()
            process.wait()
            until = time.monotonic() + PATIENCE
            while True:
                try:
                    lock = store.lock("prices")
                    break
                except Locked:
                    assert time.monotonic() < until
                    time.sleep(0.02)
        assert lock.is_held()


class Opening:
    """Tests of `open_store`."""

    def test_a_store_that_is_opened_again_keeps_everything(
        self, store: Store, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add(store, "prices", *EVENTS, snapshot=b"pinned", pinned=True)
        add(store, "prices", Paused("ops"), after=len(EVENTS), snapshot=b"state")
        store.close()
        monkeypatch.setattr(migrating, "alembic_config", None)
        again = open_store(where)
        assert again.logs() == {"prices": len(EVENTS) + 1}
        assert [entry.event for entry in again.read("prices")] == [*EVENTS, Paused("ops")]
        assert again.snapshot("prices") == (len(EVENTS) + 1, b"state")
        assert again.snapshot("prices", len(EVENTS)) == (len(EVENTS), b"pinned")
        again.close()

    def test_a_newer_version_migrates_a_store_and_an_older_one_refuses_it_then(
        self, store: Store, where: str, database: sa.Engine, tmp_path: Path
    ) -> None:
        add(store, "prices", *pauses(2))
        with newer_version(tmp_path):
            migrated = open_store(where)
            assert names(migrated.read("prices")) == ["1", "2"]
            migrated.close()
        assert sa.inspect(database).has_table("news")
        with pytest.raises(StoreError, match=r"the tables have the form '3', .* knows only \['2'\]"):
            open_store(where)
        with database.connect() as connection:
            assert connection.execute(sa.text("SELECT version_num FROM alembic_version")).scalar() == "3"

    def test_an_empty_database_can_be_opened_by_several_at_once(self, where: str) -> None:
        with running(OPEN, where) as one, running(OPEN, where) as other:
            for process in (one, other):
                assert process.stdout is not None
                assert process.stdout.readline() == "ready\n"
            for process in (one, other):
                assert process.stdin is not None
                process.stdin.write("\n")
                process.stdin.flush()
            for process in (one, other):
                out, errors = process.communicate(timeout=PATIENCE)
                assert (out, errors) == ("{}\n", "")
