"""What every store does with what is appended: all of it, bit for bit, or nothing."""

from __future__ import annotations

import threading

import pytest

from paretozoom.records import Refused
from paretozoom.store import Addition, Conflict, Event, Store
from paretozoom.store.events import Paused, Rewarded, to_json
from tests.store.entries import add, names, pauses, places
from tests.store.samples import EVENTS, decided


class Appending:
    """Tests of `append`."""

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
