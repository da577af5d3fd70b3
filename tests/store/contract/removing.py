"""What every store does when something is taken out of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa

from paretozoom.records import Refused
from paretozoom.store import Addition, Conflict, Damaged, Store
from paretozoom.store.copying import copy_store
from paretozoom.store.events import Erased, Paused, Removed, Resumed, Rewarded
from paretozoom.store.reading import Reading
from tests.store.entries import add, names, pauses, places
from tests.store.samples import decided, opened

GONE = Removed("ops", "erasure", (2,))


def addition(after: int, *events: Any, **more: Any) -> Addition:
    """One with a pinned snapshot."""
    return Addition("prices", after, events or (GONE,), 9.0, **{"snapshot": b"state", "pinned": True, **more})


class Removing:
    """Tests of what takes entries out."""

    def test_an_erased_entry_leaves_a_digest(self, store: Store, other: Store, database: sa.Engine) -> None:
        add(store, "doses", decided(0, "mine"))
        add(store, "prices", decided(0, "a"), decided(1, "b"), Rewarded(1, {"r": 0.5}), snapshot=b"old")
        before = list(store.read("prices"))
        store.erase(addition(3), [2, 3])
        for one in (store, other):
            entries = list(one.read("prices"))
            assert [entries[0], entries[3].event] == [before[0], GONE]
            assert [type(entry.event) for entry in entries[1:3]] == [Erased, Erased]
            assert [entry.seq for entry in one.read("prices", number=1)] == [2, 3]
            assert list(one.read("prices", requests=["b"])) == []
            assert one.snapshots("prices") == [(4, True)]
            assert one.damage("prices") == []
        assert places(store.read("doses", requests=["mine"])) == [1]
        with database.connect() as connection:
            assert connection.execute(sa.text("SELECT count(*) FROM events WHERE request = 'b'")).scalar() == 0
        add(store, "prices", decided(2, "b"), after=4)
        assert places(other.read("prices", requests=["b"])) == [5]

    def test_an_erasure_is_whole_or_nothing(self, store: Store) -> None:
        add(store, "prices", *pauses(3), snapshot=b"old")
        with pytest.raises(Conflict):
            store.erase(addition(2), [2])
        with pytest.raises(Refused, match="a snapshot is needed"):
            store.erase(addition(3, snapshot=None), [2])
        assert names(store.read("prices")) == ["1", "2", "3"]
        assert store.snapshot("prices") == (3, b"old")
        add(store, "prices", Paused("4"), after=3)

    def test_damage_is_found_and_mended(self, store: Store, other: Store, database: sa.Engine) -> None:
        add(store, "prices", *(decided(k, f"r{k}") for k in range(9)))
        assert store.damage("prices") == []
        with database.begin() as connection:
            connection.execute(sa.text("UPDATE events SET body = :body WHERE seq = 2"), {"body": b"{"})
            connection.execute(sa.text("UPDATE events SET salt = :salt WHERE seq = 4"), {"salt": bytes(16)})
            connection.execute(sa.text("UPDATE events SET chain = :chain WHERE seq = 6"), {"chain": bytes(32)})
            connection.execute(sa.text("DELETE FROM events WHERE seq IN (8, 9)"))
        assert store.damage("prices") == [2, 4, 8, 9]  # of the sixth only the checksum is another
        store.erase(addition(9), [2, 4, 8, 9], mend=True)
        for one in (store, other):
            assert one.damage("prices") == []
            kinds = [type(entry.event).__name__[0] for entry in one.read("prices")]
            assert "".join(kinds) == "DEDEDDDEER"
        add(store, "prices", decided(9), after=10)
        assert len(list(other.read("prices"))) == 11

    def test_a_log_can_be_cut(self, store: Store, other: Store) -> None:
        add(store, "prices", *pauses(2), snapshot=b"two")
        add(store, "prices", *pauses(3, 3), after=2, snapshot=b"five")
        store.cut("prices", 3)
        assert store.logs() == {"prices": 3}
        assert names(other.read("prices")) == ["1", "2", "3"]
        assert store.snapshots("prices") == [(2, False)]
        add(store, "prices", Paused("again"), after=3)
        assert names(other.read("prices")) == ["1", "2", "3", "again"]
        with pytest.raises(Refused, match="after: 9 is not an entry"):
            store.cut("prices", 9)

    def test_a_log_can_be_pruned(self, store: Store, other: Store, database: sa.Engine) -> None:
        add(store, "prices", *pauses(5), snapshot=b"old")
        assert store.beginning("prices")[0] == 0
        store.prune(addition(5, Resumed("ops")), 3)
        for one in (store, other):
            assert places(one.read("prices")) == places(one.read("prices", 2)) == [4, 5, 6]
            assert places(one.read("prices", 4)) == [5, 6]
            assert one.beginning("prices")[0] == 3
            assert one.damage("prices") == []
            assert one.snapshots("prices") == [(6, True)]
        with pytest.raises(Refused, match="until: 2 is not an entry"):
            store.prune(addition(6), 2)
        with database.begin() as connection:
            connection.execute(sa.text("DELETE FROM events WHERE seq = 4"))
        with pytest.raises(Damaged, match="entry 4 is missing"):
            list(store.read("prices"))
        assert store.damage("prices") == [4]

    def test_a_log_that_is_pruned_or_deleted_while_it_is_read_is_not_damaged(
        self, store: Store, other: Store, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        add(store, "prices", *pauses(5))
        meanwhile = [lambda: store.prune(addition(5, Resumed("ops")), 3), lambda: store.delete("prices")]
        whole = Reading._beginning

        def beginning(self: Reading, log: str, after: int) -> Any:
            found = whole(self, log, after)
            if self is other and meanwhile:
                meanwhile.pop(0)()
            return found

        monkeypatch.setattr(Reading, "_beginning", beginning)
        first = next(other.read("prices"), None)
        assert first is None
        assert not meanwhile

    def test_a_deleted_log_leaves_its_name(self, store: Store, other: Store, database: sa.Engine) -> None:
        add(store, "doses", Paused("doses"), snapshot=b"doses")
        add(store, "prices", *pauses(5), snapshot=b"old")
        store.delete("prices")
        for one in (store, other):
            assert one.logs() == {"doses": 1}
            assert list(one.read("prices")) == []
            assert one.snapshot("prices") is None
        with pytest.raises(Conflict, match="does not exist"):
            store.delete("prices")
        with pytest.raises(Conflict, match="does not exist"):
            add(store, "prices", Paused("late"), after=5)
        add(store, "prices", Paused("new"))
        assert names(store.read("prices")) == ["new"]
        with database.connect() as connection:
            assert connection.execute(sa.text("SELECT count(*) FROM events")).scalar() == 2
            assert connection.execute(sa.text("SELECT count(*) FROM snapshots")).scalar() == 1

    def test_a_copy_has_what_is_left(self, store: Store, tmp_path: Path) -> None:
        add(store, "pruned", *pauses(5))
        store.prune(Addition("pruned", 5, [GONE], 9.0, b"six", pinned=True), 3)
        add(store, "pruned", Paused("7"), after=6, snapshot=b"seven")
        add(store, "prices", decided(0, "a"), decided(1, "b"))
        store.erase(addition(2), [2])
        with opened(tmp_path / "copy") as copy:
            copy_store(store, copy)
            for log in ("pruned", "prices"):
                assert list(copy.read(log)) == list(store.read(log))
                assert copy.damage(log) == []
            assert copy.snapshots("prices") == [(3, True)]
            assert copy.snapshots("pruned") == [(7, False), (6, True)]
