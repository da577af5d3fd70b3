"""What every store does when a part of a log is read, and when somebody has changed it."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
import sqlalchemy as sa

from paretozoom.store import Conflict, Damaged, Store, reading
from paretozoom.store.events import Activated, Cancelled, Paused, Rewarded
from tests.store.entries import add, names, pauses, places
from tests.store.samples import decided

CHANGES: dict[str, Callable[[Any], Any]] = {
    "time": lambda time: time + 1e-6,
    "number": lambda number: number + 1,
    "request": lambda request: f"{request}0",
    "salt": lambda salt: bytes(16),
    "body": lambda body: bytes(body).replace(b"0.25", b"0.26"),
    "chain": lambda chain: bytes(chain[:-1]) + bytes([chain[-1] ^ 1]),
}


class Reading:
    """Tests of `read`."""

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

    def test_a_changed_byte_anywhere_is_noticed(self, store: Store, database: sa.Engine) -> None:
        add(store, "prices", *(decided(k, f"r{k}") for k in range(5)))
        whole = list(store.read("prices"))
        for column, entry in itertools.product(CHANGES, (1, 3, 5)):
            find = sa.text(f"SELECT {column} FROM events WHERE seq = {entry}")
            change = sa.text(f"UPDATE events SET {column} = :value WHERE seq = {entry}")
            with database.begin() as connection:
                before = connection.execute(find).scalar()
                connection.execute(change, {"value": CHANGES[column](before)})
            with pytest.raises(Damaged, match=f"log 'prices': entry {entry} is") as error:
                list(store.read("prices"))
            assert error.value.entry == entry, column
            with database.begin() as connection:
                connection.execute(change, {"value": before})
            assert list(store.read("prices")) == whole

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
