"""What every store does, whatever it is kept in."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import alembic.command
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paretozoom.records import Refused
from paretozoom.store import (
    Addition,
    Conflict,
    Damaged,
    Entry,
    Event,
    Locked,
    Store,
    StoreError,
    migrating,
    open_store,
    reading,
    sql,
)
from paretozoom.store.events import Activated, Cancelled, Paused, Rewarded, to_json
from tests.store.samples import EVENTS, LOCK, OPEN, decided, running

PATIENCE = 60.0  # seconds, for what another process does soon
NEXT_MIGRATION = """
import sqlalchemy as sa
from alembic import op

revision, down_revision = "3", "2"

def upgrade():
    op.create_table("news", sa.Column("id", sa.Integer, primary_key=True))
"""


def add(store: Store, log: str, *events: Event, after: int = 0, **more: Any) -> None:
    """Append to one log."""
    store.append([Addition(log, after, events, more.pop("time", 1.5), **more)])


def pauses(count: int, first: int = 1) -> list[Paused]:
    """Events that can be told apart."""
    return [Paused(str(k)) for k in range(first, first + count)]


def names(entries: Iterator[Entry]) -> list[str]:
    """By whom pauses were made."""
    return [entry.event.by for entry in entries if isinstance(entry.event, Paused)]


def places(entries: Iterator[Entry]) -> list[int]:
    """The numbers of entries."""
    return [entry.seq for entry in entries]


def with_migrations(config: Any, folder: Path) -> Any:
    """The settings of a version that has more migrations, which are in a folder."""
    here = config.get_main_option("script_location").replace("%", "%%")
    config.set_main_option("path_separator", "newline")
    config.set_main_option("version_locations", f"{here}/versions\n{folder}")
    return config


class StoreContract:
    """Tests that a subclass runs on its kind of store: `where` opens an empty one, `database` reaches its tables."""

    @pytest.fixture
    def where(self) -> str:
        raise NotImplementedError

    @pytest.fixture
    def database(self) -> sa.Engine:
        raise NotImplementedError

    @pytest.fixture
    def store(self, where: str) -> Iterator[Store]:
        opened = open_store(where)
        yield opened
        opened.close()

    @pytest.fixture
    def other(self, store: Store, where: str) -> Iterator[Store]:
        """A second store on the same database."""
        opened = open_store(where)
        yield opened
        opened.close()

    # Appending and reading.

    def test_a_new_store_is_empty(self, store: Store) -> None:
        assert store.logs() == {}
        assert list(store.read("prices")) == []
        assert list(store.read("prices", number=0)) == []
        assert list(store.read("prices", requests=["a"])) == []
        assert store.snapshot("prices") is None

    def test_every_kind_of_event_is_read_back_bit_for_bit(self, store: Store, other: Store) -> None:
        add(store, "prices", *EVENTS, time=0.1 + 0.2)
        assert {type(event) for event in EVENTS} == set(Event.__args__)
        entries = list(other.read("prices"))
        assert [to_json(entry.event) for entry in entries] == [to_json(event) for event in EVENTS]
        assert [entry.event for entry in entries] == EVENTS
        assert [type(entry.event) for entry in entries] == [type(event) for event in EVENTS]
        assert places(iter(entries)) == list(range(1, len(EVENTS) + 1))
        assert {entry.time for entry in entries} == {0.1 + 0.2}

    def test_times_are_read_back_bit_for_bit(self, store: Store) -> None:
        times = [5e-324, 1e300, 0.1 + 0.2, 0.0, -1 / 3, 1.7e9 + 1e-7]
        store.append([Addition("prices", k, pauses(1), time) for k, time in enumerate(times)])
        assert [entry.time.hex() for entry in store.read("prices")] == [time.hex() for time in times]

    def test_a_log_may_have_any_name_that_a_file_may_have(self, store: Store, other: Store) -> None:
        some = ["_admin", "a.b-c", "A.b-c", "Größe 国 🦓", "x" * 80, "'; DROP TABLE logs; --", "%", ".", "\n"]
        for log in some:
            store.lock(log).release()
            add(store, log, Paused(log))
        assert other.logs() == dict.fromkeys(sorted(some), 1)
        for log in some:
            assert names(other.read(log)) == [log]

    def test_a_log_has_no_other_name(self, store: Store) -> None:
        for log in ("", "a/b", "../a", "a\x00b", "x" * 81, "\ud800"):
            for after in (0, 1):
                with pytest.raises(Refused, match=r"log: .* is not a name"):
                    add(store, log, Paused("ops"), after=after)
            with pytest.raises(Refused, match=r"log: .* is not a name"):
                store.lock(log)
            assert list(store.read(log)) == []
            assert store.snapshot(log) is None
        assert store.logs() == {}

    def test_logs_are_in_the_order_of_their_names(self, store: Store) -> None:
        some = ["b", "a-1", "B", "ä", "a.1", "_admin", "a"]
        store.append([Addition(log, 0, pauses(k), 0.0) for k, log in enumerate(some, 1)])
        assert list(store.logs().items()) == sorted((log, k) for k, log in enumerate(some, 1))

    def test_appending_goes_on_where_the_log_ends(self, store: Store) -> None:
        add(store, "prices", *pauses(2), time=1.0)
        add(store, "prices", *pauses(3, 3), after=2, time=2.0)
        assert names(store.read("prices")) == ["1", "2", "3", "4", "5"]
        assert [entry.time for entry in store.read("prices")] == [1.0, 1.0, 2.0, 2.0, 2.0]
        assert store.logs() == {"prices": 5}

    def test_several_additions_to_a_log_may_share_a_transaction(self, store: Store) -> None:
        store.append([Addition("prices", 0, pauses(2), 1.0), Addition("prices", 2, pauses(1, 3), 2.0, snapshot=b"s")])
        assert names(store.read("prices")) == ["1", "2", "3"]
        assert [entry.time for entry in store.read("prices")] == [1.0, 1.0, 2.0]
        assert store.snapshot("prices") == (3, b"s")

    def test_nothing_to_append_changes_nothing(self, store: Store) -> None:
        store.append([])
        add(store, "prices", Paused("ops"))
        add(store, "prices", after=1)
        assert store.logs() == {"prices": 1}

    # All or nothing.

    def test_a_gap_and_a_repeat_are_refused(self, store: Store) -> None:
        add(store, "prices", *pauses(2))
        for after in (0, 1, 3, 4, -1):
            with pytest.raises(Conflict, match="log 'prices': "):
                add(store, "prices", Paused("late"), after=after)
        assert names(store.read("prices")) == ["1", "2"]
        assert store.logs() == {"prices": 2}

    def test_a_log_that_is_not_there_cannot_be_gone_on_with(self, store: Store) -> None:
        with pytest.raises(Conflict, match="log 'prices': does not exist"):
            add(store, "prices", Paused("late"), after=2)
        assert store.logs() == {}

    def test_a_new_log_begins_with_an_event(self, store: Store) -> None:
        with pytest.raises(Refused, match="log 'prices': begins with nothing"):
            add(store, "prices", snapshot=b"state")
        add(store, "prices", Paused("ops"))
        assert store.logs() == {"prices": 1}

    def test_one_conflict_among_several_additions_leaves_everything_as_it_was(self, store: Store) -> None:
        store.append([Addition(log, 0, pauses(2), 1.0) for log in ("a", "b")])
        for place in range(3):
            additions = [Addition("a", 2, pauses(1, 3), 2.0, snapshot=b"s"), Addition("new", 0, pauses(1), 2.0)]
            additions.insert(place, Addition("b", 1, pauses(1, 3), 2.0))
            with pytest.raises(Conflict, match="log 'b': ends at 2, but its writer believed 1"):
                store.append(additions)
            assert store.logs() == {"a": 2, "b": 2}
            assert names(store.read("a")) == names(store.read("b")) == ["1", "2"]
            assert store.snapshot("a") is None

    def test_a_log_that_was_not_begun_after_all_is_not_mixed_up_with_another(self, store: Store) -> None:
        with pytest.raises(Conflict):
            store.append([Addition("a", 0, pauses(1), 0.0), Addition("gone", 5, pauses(1), 0.0)])
        add(store, "b", Paused("of b"), snapshot=b"of b")
        add(store, "a", Paused("of a"), Paused("of a"), snapshot=b"of a")
        assert names(store.read("a")) == ["of a", "of a"]
        assert names(store.read("b")) == ["of b"]
        assert store.snapshot("a") == (2, b"of a")
        assert store.snapshot("b") == (1, b"of b")

    def test_a_request_has_one_decision_in_a_log(self, store: Store) -> None:
        store.append([Addition(log, 0, [decided(0, "same")], 0.0) for log in ("a", "b")])
        with pytest.raises(Conflict):
            add(store, "a", decided(1, "other"), decided(2, "same"), after=1)
        assert store.logs() == {"a": 1, "b": 1}
        add(store, "a", decided(1, "other"), decided(2), decided(3), after=1)
        assert store.logs() == {"a": 4, "b": 1}

    def test_a_request_that_not_every_database_can_hold_is_refused(self, store: Store) -> None:
        add(store, "prices", decided(0, "x" * 200))
        for strange in ("a\x00b", "x" * 201, "\udfff"):
            with pytest.raises(Refused, match="request: "):
                add(store, "prices", decided(1, "fine"), decided(2, strange), after=1)
            assert places(store.read("prices", requests=[strange, "fine", "x" * 200])) == [1]
        assert store.logs() == {"prices": 1}

    def test_what_could_not_be_read_back_is_not_written(self, store: Store) -> None:
        add(store, "prices", decided(0))
        for strange in (float("nan"), float("inf")):
            with pytest.raises(Refused, match="is not an event"):
                add(store, "prices", decided(1), Rewarded(0, {"r": strange}), after=1)
        assert places(store.read("prices")) == [1]

    def test_two_stores_see_what_the_other_writes(self, store: Store, other: Store) -> None:
        add(store, "a", *pauses(1), snapshot=b"one")
        assert other.logs() == {"a": 1}
        add(other, "a", *pauses(1, 2), after=1, snapshot=b"two")
        add(other, "b", Paused("ops"))
        assert names(store.read("a")) == ["1", "2"]
        assert store.snapshot("a") == (2, b"two")
        assert store.logs() == {"a": 2, "b": 1}
        with pytest.raises(Conflict):
            add(store, "a", Paused("late"), after=1)
        with pytest.raises(Conflict):
            add(store, "b", Paused("late"))

    def test_writers_at_the_same_time_lose_nothing(self, store: Store, other: Store) -> None:
        errors: list[BaseException] = []

        def write(to: Store, who: str) -> None:
            try:
                for k in range(10):
                    while True:
                        try:
                            add(to, "shared", Paused(f"{who}{k}"), after=to.logs().get("shared", 0))
                            break
                        except Conflict:
                            continue
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=write, args=pair) for pair in ((store, "a"), (other, "b"), (other, "c"))]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert errors == []
        written = names(store.read("shared"))
        assert sorted(written) == sorted(f"{who}{k}" for who in "abc" for k in range(10))
        for who in "abc":
            assert [name for name in written if name.startswith(who)] == [f"{who}{k}" for k in range(10)]

    # Reading parts.

    def test_a_part_of_a_log(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        add(store, "other", *pauses(3))
        add(store, "prices", *pauses(7))
        for at_once in (2, 7, 10):
            monkeypatch.setattr(reading, "AT_ONCE", at_once)
            for after in (-1, 0, 1, 4, 6, 7, 8, 2**63):
                for until in (None, 0, 1, 3, 6, 7, 8, 10**30):
                    last = 7 if until is None else min(until, 7)
                    assert places(store.read("prices", after, until)) == list(range(max(after, 0) + 1, last + 1))

    def test_what_is_said_of_a_decision(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "AT_ONCE", 2)
        about = [
            decided(0),
            decided(1),
            Activated(0),
            Rewarded(0, {"r": 1.0}),
            Paused("0"),
            Rewarded(1, {}),
            Cancelled(0),
        ]
        add(store, "other", decided(0))
        add(store, "prices", *about)
        assert [entry.event for entry in store.read("prices", number=0)] == [about[k] for k in (0, 2, 3, 6)]
        assert places(store.read("prices", 1, 4, number=0)) == [3, 4]
        both = sorted([*places(store.read("prices", number=0)), *places(store.read("prices", number=1))])
        assert places(store.read("prices", numbers={0, 1, 99})) == both
        assert places(store.read("prices", numbers=())) == []
        assert places(store.read("prices", 0, 0, number=0)) == []
        assert places(store.read("prices", 4, number=1)) == [6]
        for number in (2, -1, 2**63, -(2**63) - 1, 10**30):
            assert places(store.read("prices", number=number)) == []

    def test_the_decisions_of_requests(self, store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(reading, "AT_ONCE", 2)
        monkeypatch.setattr(reading, "SOUGHT_AT_ONCE", 2)
        requests = ["c", None, "a", "ä", "", "A", "b"]
        add(store, "other", decided(9, "z"))
        add(store, "prices", *(decided(k, request) for k, request in enumerate(requests)))
        assert places(store.read("prices", requests=["a", "b", "c", "d", "a", "z"])) == [1, 3, 7]
        assert places(store.read("prices", requests={"ä", ""})) == [4, 5]
        assert places(store.read("prices", 1, 6, requests=("a", "b", "c"))) == [3]
        assert places(store.read("prices", 0, 0, requests=("a", "b", "c"))) == []
        assert places(store.read("prices", requests=[])) == []

    def test_very_many_requests_at_once(self, store: Store) -> None:
        add(store, "prices", decided(0, "r7"), decided(1, "r65999"), decided(2, "other"))
        assert places(store.read("prices", requests=[f"r{k}" for k in range(66_000)])) == [1, 2]

    @pytest.mark.parametrize("column", ["time", "number", "request", "salt", "body", "chain"])
    @pytest.mark.parametrize("entry", [1, 3, 5])
    def test_a_changed_byte_anywhere_is_noticed(
        self, store: Store, database: sa.Engine, column: str, entry: int
    ) -> None:
        add(store, "prices", *(decided(k, f"r{k}") for k in range(5)))
        with database.begin() as connection:
            where = {"entry": entry}
            before = connection.execute(sa.text(f"SELECT {column} FROM events WHERE seq = :entry"), where).scalar()
            change = sa.text(f"UPDATE events SET {column} = :changed WHERE seq = :entry")
            connection.execute(change, {**where, "changed": CHANGES[column](before)})
        with pytest.raises(Damaged, match=f"log 'prices': entry {entry} is") as error:
            list(store.read("prices"))
        assert error.value.entry == entry

    def test_entries_that_are_missing_are_noticed(self, store: Store, database: sa.Engine) -> None:
        add(store, "prices", *pauses(5))
        for entry in (5, 3, 1):
            with database.begin() as connection:
                connection.execute(sa.text(f"DELETE FROM events WHERE seq = {entry}"))
            with pytest.raises(Damaged, match=f"entry {entry} is missing"):
                list(store.read("prices"))

    def test_an_end_that_was_changed_is_noticed(self, store: Store, database: sa.Engine) -> None:
        add(store, "prices", *pauses(5))
        with database.begin() as connection:
            connection.execute(sa.text("DELETE FROM events WHERE seq = 5"))
            connection.execute(sa.text("UPDATE logs SET head = 4"))
        with pytest.raises(Damaged, match="entry 4 is not the last that was written"):
            list(store.read("prices"))

    def test_who_believes_in_other_entries_cannot_go_on(self, store: Store, other: Store, database: sa.Engine) -> None:
        """Two logs may end at the same number and not be the same."""
        add(store, "prices", *pauses(2))
        with database.begin() as connection:  # restored from a copy, and gone on with
            connection.execute(sa.text("DELETE FROM events"))
            connection.execute(sa.text("DELETE FROM logs"))
        add(other, "prices", Paused("another"), Paused("another"))
        with pytest.raises(Conflict, match="entry 2 is not what its writer believed"):
            add(store, "prices", Paused("late"), after=2)
        assert names(other.read("prices")) == ["another", "another"]

    def test_a_changed_snapshot_is_noticed(self, store: Store, database: sa.Engine) -> None:
        add(store, "prices", *pauses(2), snapshot=b"good")
        add(store, "prices", *pauses(2), after=2, snapshot=b"state")
        with database.begin() as connection:
            connection.execute(sa.text("UPDATE snapshots SET body = :body WHERE seq = 4"), {"body": b"stale"})
        assert store.snapshots("prices") == [(4, False), (2, False)]
        assert store.snapshots("prices", 3) == [(2, False)]
        with pytest.raises(Damaged, match="log 'prices': the snapshot of entry 4 is damaged"):
            store.snapshot("prices")
        assert store.snapshot("prices", 3) == (2, b"good")

    def test_a_damaged_entry_is_refused_by_name(self, store: Store, database: sa.Engine) -> None:
        add(store, "fine", *pauses(3))
        add(store, "prices", *pauses(3))
        with database.begin() as connection:
            damage = (
                "UPDATE events SET body = :body WHERE seq = 2 AND log = (SELECT id FROM logs WHERE name = 'prices')"
            )
            connection.execute(sa.text(damage), {"body": b'{"type":"paused","by":'})
        assert names(store.read("fine")) == ["1", "2", "3"]
        with pytest.raises(Damaged, match="log 'prices': entry 2 is damaged"):
            list(store.read("prices"))
        assert names(store.read("prices", 2)) == ["3"]

    # Snapshots.

    def test_the_newest_snapshot_until_an_entry(self, store: Store) -> None:
        bodies = {2: bytes(range(256)), 5: b""}
        add(store, "other", *pauses(4), snapshot=b"other")
        add(store, "prices", *pauses(2), snapshot=bodies[2])
        add(store, "prices", *pauses(3), after=2, snapshot=bodies[5])
        add(store, "prices", *pauses(3), after=5)
        for until, seq in [(None, 5), (10**30, 5), (8, 5), (5, 5), (4, 2), (2, 2)]:
            assert store.snapshot("prices", until) == (seq, bodies[seq])
        for until in (1, 0, -1):
            assert store.snapshot("prices", until) is None

    def test_a_snapshot_without_events(self, store: Store) -> None:
        add(store, "prices", *pauses(3))
        add(store, "prices", after=3, snapshot=b"state")
        assert store.logs() == {"prices": 3}
        assert store.snapshot("prices") == (3, b"state")
        for after in (2, 4):
            with pytest.raises(Conflict):
                add(store, "prices", after=after, snapshot=b"late")
        assert store.snapshot("prices") == (3, b"state")

    def test_a_snapshot_takes_the_place_of_one_of_the_same_entry(self, store: Store) -> None:
        add(store, "prices", *pauses(3), snapshot=b"one")
        add(store, "prices", after=3, snapshot=b"two")
        assert store.snapshot("prices") == (3, b"two")
        assert store.snapshot("prices", 2) is None

    def test_only_the_newest_snapshots_stay(self, store: Store, database: sa.Engine) -> None:
        add(store, "other", *pauses(1), snapshot=b"other")
        for k in range(5):
            add(store, "prices", *pauses(1), after=k, snapshot=str(k + 1).encode())
        assert store.snapshot("prices") == (5, b"5")
        assert store.snapshot("prices", 4) == (4, b"4")
        assert store.snapshot("prices", 3) is None
        assert store.snapshot("other") == (1, b"other")
        with database.connect() as connection:
            assert connection.execute(sa.text("SELECT count(*) FROM snapshots")).scalar() == sql.KEPT_SNAPSHOTS + 1

    def test_pinned_snapshots_stay(self, store: Store) -> None:
        for k in range(8):
            add(store, "prices", *pauses(1), after=k, snapshot=str(k + 1).encode(), pinned=k in (0, 3))
        kept = [store.snapshot("prices", until) for until in range(1, 9)]
        assert kept == [(k, str(k).encode()) for k in (1, 1, 1, 4, 4, 4, 7, 8)]

    def test_a_passing_snapshot_does_not_take_the_place_of_a_pinned_one(self, store: Store) -> None:
        add(store, "prices", *pauses(1), snapshot=b"pinned", pinned=True)
        add(store, "prices", after=1, snapshot=b"passing")
        assert store.snapshot("prices") == (1, b"pinned")
        for k in range(1, 5):
            add(store, "prices", *pauses(1), after=k, snapshot=b"later")
        assert store.snapshot("prices", 1) == (1, b"pinned")

    def test_a_pinned_snapshot_takes_the_place_of_a_passing_one(self, store: Store) -> None:
        add(store, "prices", *pauses(1), snapshot=b"passing")
        add(store, "prices", after=1, snapshot=b"pinned", pinned=True)
        for k in range(1, 5):
            add(store, "prices", *pauses(1), after=k, snapshot=b"later")
        assert store.snapshot("prices", 3) == (1, b"pinned")

    def test_a_large_snapshot(self, store: Store) -> None:
        body = bytes(range(256)) * 20_000
        add(store, "prices", *pauses(1), snapshot=body)
        assert store.snapshot("prices") == (1, body)

    # Holds.

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

    # Opening.

    def test_a_store_that_is_opened_again_keeps_everything(
        self, store: Store, where: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add(store, "prices", *EVENTS, snapshot=b"pinned", pinned=True)
        add(store, "prices", Paused("ops"), after=len(EVENTS), snapshot=b"state")
        store.close()
        monkeypatch.setattr(alembic.command, "upgrade", None)
        again = open_store(where)
        assert again.logs() == {"prices": len(EVENTS) + 1}
        assert [entry.event for entry in again.read("prices")] == [*EVENTS, Paused("ops")]
        assert again.snapshot("prices") == (len(EVENTS) + 1, b"state")
        assert again.snapshot("prices", len(EVENTS)) == (len(EVENTS), b"pinned")
        again.close()

    def test_a_newer_version_migrates_a_store_and_an_older_one_refuses_it_then(
        self, store: Store, where: str, database: sa.Engine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add(store, "prices", *pauses(2))
        (tmp_path / "v3.py").write_text(NEXT_MIGRATION)
        usual = migrating.alembic_config
        with monkeypatch.context() as newer:
            newer.setattr(migrating, "alembic_config", lambda: with_migrations(usual(), tmp_path))
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

    # Against a model.

    @given(st.data())
    @settings(
        max_examples=25,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    def test_any_sequence_of_appends_is_what_a_dictionary_says(self, store: Store, data: st.DataObject) -> None:
        before = len(store.logs())
        both = [f"example {before} {which}" for which in "ab"]
        model: dict[str, Model] = {log: Model() for log in both}
        for step in range(data.draw(st.integers(1, 6))):
            after = {log: one.copy() for log, one in model.items()}
            additions, expected = [], None
            for log, count, off, body, pinned in data.draw(st.lists(ADDITIONS, max_size=3)):
                addition = Addition(
                    both[log], len(after[both[log]].entries) + off, pauses(count), float(step), body, pinned
                )
                additions.append(addition)
                expected = expected or after[both[log]].take(addition)
            if expected is None:
                store.append(additions)
                model = after
            else:
                with pytest.raises(expected):
                    store.append(additions)
            heads = {log: len(one.entries) for log, one in model.items() if one.entries}
            assert {log: head for log, head in store.logs().items() if log in both} == heads
            for log, one in model.items():
                assert [(e.time, e.event) for e in store.read(log)] == one.entries
                for until in range(len(one.entries) + 1):
                    assert store.snapshot(log, until) == one.snapshot(until)


CHANGES: dict[str, Callable[[Any], Any]] = {
    "time": lambda time: time + 1e-6,
    "number": lambda number: number + 1,
    "request": lambda request: f"{request}0",
    "salt": lambda salt: bytes(16),
    "body": lambda body: bytes(body).replace(b"0.25", b"0.26"),
    "chain": lambda chain: bytes(chain[:-1]) + bytes([chain[-1] ^ 1]),
}
ADDITIONS = st.tuples(
    st.integers(0, 1),
    st.integers(0, 3),
    st.sampled_from([0, 0, 0, 0, 0, 0, -1, 1]),
    st.none() | st.binary(max_size=3),
    st.booleans(),
)


class Model:
    """A log that is a list, with its snapshots."""

    def __init__(self) -> None:
        self.entries: list[tuple[float, Event]] = []
        self.snapshots: dict[int, tuple[bytes, bool]] = {}

    def copy(self) -> Model:
        """Another one that is the same."""
        other = Model()
        other.entries, other.snapshots = list(self.entries), dict(self.snapshots)
        return other

    def take(self, addition: Addition) -> type[Exception] | None:
        """Append, or tell how it is refused."""
        if addition.after == 0 and not addition.events:
            return Refused
        if addition.after != len(self.entries):
            return Conflict
        self.entries += [(addition.time, event) for event in addition.events]
        here = len(self.entries)
        if addition.snapshot is not None and (addition.pinned or not self.snapshots.get(here, (b"", False))[1]):
            self.snapshots[here] = addition.snapshot, addition.pinned
            passing = sorted(seq for seq, (_, pinned) in self.snapshots.items() if not pinned)
            for seq in passing[: -sql.KEPT_SNAPSHOTS]:
                del self.snapshots[seq]
        return None

    def snapshot(self, until: int) -> tuple[int, bytes] | None:
        """The newest until an entry."""
        seqs = [seq for seq in self.snapshots if seq <= until]
        return (max(seqs), self.snapshots[max(seqs)][0]) if seqs else None
