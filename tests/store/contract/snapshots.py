"""Which snapshots every store keeps."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from paretozoom.store import Conflict, Store, sql
from tests.store.entries import add, pauses


class Snapshots:
    """Tests of `snapshot`."""

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
