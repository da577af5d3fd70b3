"""Any sequence of appends does what a dictionary of lists does."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from paretozoom.records import Refused
from paretozoom.store import Addition, Conflict, Event, Store, sql
from tests.store.entries import pauses

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


class LikeAModel:
    """Tests against a model."""

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
