"""Stores that are copied."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from paretozoom.store import Addition, Conflict, Store, copying
from paretozoom.store.copying import copy_store
from paretozoom.store.events import Created, Event, Paused, to_json
from tests.store.entries import add, names, pauses
from tests.store.samples import EVENTS, LABELS, opened

BEGUN = Created(LABELS, "random", {}, 0, 1, by="ops", snapshot=True)


@pytest.fixture
def stores(tmp_path: Path) -> Iterator[list[Store]]:
    """Three stores in folders."""
    with ExitStack() as stack:
        yield [stack.enter_context(opened(tmp_path / name)) for name in "abc"]


def contents(store: Store) -> dict[str, list[tuple[int, str, bytes]]]:
    """All entries of all logs, bit for bit."""
    return {
        log: [(entry.seq, entry.time.hex(), to_json(entry.event)) for entry in store.read(log)] for log in store.logs()
    }


def saved(store: Store, log: str) -> dict[int, bytes]:
    """All snapshots of a log."""
    found, until = {}, store.snapshot(log)
    while until is not None:
        found[until[0]] = until[1]
        until = store.snapshot(log, until[0] - 1)
    return found


def write(store: Store, log: str, *pieces: tuple[float, list[Event], bytes | None, bool]) -> None:
    """Append pieces: a time, events, a snapshot, and whether it is pinned."""
    after = 0
    for time, events, snapshot, pinned in pieces:
        store.append([Addition(log, after, events, time, snapshot, pinned)])
        after += len(events)


def fill(store: Store) -> None:
    """Logs of several kinds."""
    write(store, "all", (0.1 + 0.2, EVENTS, None, False), (5e-324, pauses(2), b"\x00state", False))
    write(
        store,
        "imported",
        (1.0, [BEGUN], b"first", True),
        (1.0, pauses(2), None, False),
        (1.0, pauses(3), b"passing", False),
        (2.0, pauses(3), b"newest", False),
        (2.0, pauses(2), None, False),
        (3.0, pauses(1), None, False),
    )
    write(store, "_admin", (1.5, pauses(1), None, False))


@pytest.mark.parametrize("at_once", [1, 2, 3, 5_000])
def test_a_copy_has_the_same_entries_and_the_snapshots_it_needs(
    stores: list[Store], monkeypatch: pytest.MonkeyPatch, at_once: int
) -> None:
    monkeypatch.setattr(copying, "AT_ONCE", at_once)
    source, target, _ = stores
    fill(source)
    assert copy_store(source, target) == source.logs() == target.logs()
    assert contents(target) == contents(source)
    assert saved(target, "all") == {len(EVENTS) + 2: b"\x00state"}
    assert saved(target, "imported") == {1: b"first", 9: b"newest"}
    assert saved(target, "_admin") == {}


def test_from_a_file_to_a_server_and_back_keeps_every_byte(stores: list[Store], postgres_url: str) -> None:
    source, _, back = stores
    fill(source)
    with opened(postgres_url) as server:
        copy_store(source, server)
        assert contents(server) == contents(source)
        copy_store(server, back)
    assert contents(back) == contents(source)
    for log in source.logs():
        assert saved(back, log).items() <= saved(source, log).items()
        assert back.snapshot(log) == source.snapshot(log)


def test_a_pinned_snapshot_of_the_last_entry_stays_pinned(stores: list[Store]) -> None:
    source, target, _ = stores
    write(source, "prices", (1.0, [BEGUN], b"pinned", True))
    copy_store(source, target)
    for k in range(4):
        add(target, "prices", *pauses(1), after=1 + k, snapshot=b"later")
    assert target.snapshot("prices", 1) == (1, b"pinned")


def test_a_snapshot_that_is_missing_is_not_made_up(stores: list[Store]) -> None:
    source, target, _ = stores
    write(source, "prices", (1.0, [BEGUN], None, False), (1.0, pauses(1), None, False))
    copy_store(source, target)
    assert saved(target, "prices") == {}
    assert contents(target) == contents(source)


def test_a_copy_can_be_written_to(stores: list[Store]) -> None:
    source, target, _ = stores
    fill(source)
    copy_store(source, target)
    for log, head in target.logs().items():
        with pytest.raises(Conflict):
            add(target, log, Paused("late"), after=head - 1)
        add(target, log, Paused("next"), after=head, snapshot=b"next")
        assert names(target.read(log))[-1] == "next"


def test_logs_that_are_there_are_not_written_over(stores: list[Store]) -> None:
    source, target, _ = stores
    fill(source)
    add(target, "imported", *pauses(1))
    with pytest.raises(Conflict, match="log 'imported': exists already where it is to be copied to"):
        copy_store(source, target)
    assert target.logs() == {"imported": 1}


def test_an_empty_store_has_an_empty_copy(stores: list[Store]) -> None:
    assert copy_store(stores[0], stores[1]) == stores[1].logs() == {}


@pytest.mark.parametrize("engine", ["file", "server"])
def test_the_copy_of_a_store_that_is_written_to_is_a_prefix(
    stores: list[Store], engine: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both logs grow in the same transactions, so both end where the same transaction did."""
    monkeypatch.setattr(copying, "AT_ONCE", 7)
    with ExitStack() as stack:
        url = request.getfixturevalue("postgres_url") if engine == "server" else None
        source = stores[0] if url is None else stack.enter_context(opened(url))
        grown, over = threading.Event(), threading.Event()

        def grow() -> None:
            after = 0
            while not over.is_set():
                both = [
                    Addition(log, after, pauses(3, after + 1), float(after), snapshot=f"{log} {after + 3}".encode())
                    for log in ("a", "b")
                ]
                source.append(both)
                after += 3
                if after == 30:
                    grown.set()

        writer = threading.Thread(target=grow)
        writer.start()
        try:
            assert grown.wait(20)
            copies = [(copy_store(source, target), target) for target in stores[1:]]
        finally:
            over.set()
            writer.join()
        ends = source.logs()
        for copied, target in copies:
            assert copied == target.logs()
            assert copied["a"] == copied["b"] >= 30
            assert copied["a"] % 3 == 0
            for log, head in copied.items():
                assert names(target.read(log)) == [str(k) for k in range(1, head + 1)]
                assert contents(target)[log] == contents(source)[log][:head]
                found = target.snapshot(log)
                assert found is None or found == (found[0], f"{log} {found[0]}".encode())
        assert copies[0][0]["a"] <= copies[1][0]["a"] <= ends["a"]
