"""Records: JSON there and back, and snapshots as bytes."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import PCZ, Asked, Decision, Dropped, PaperTask, Refused, Round, Snapshot, Told, simulate
from paretozoom.records import Event

DECISION = Decision(7, {"x": 0.1, "country": "tr", "n": 3}, {"y": 1 / 3}, 2.5, 4)
EVENTS = [Asked(DECISION), Told(7, {"a": 0.1}), Dropped(7)]


def snapshot() -> Snapshot:
    """The state of a policy with some balls and some open decisions."""
    task = PaperTask()
    policy = PCZ(task.problem, horizon=100, noise=0.1)
    for _ in simulate(policy, task, 30, seed=1, delay=3):
        pass
    return policy.dump()


@pytest.mark.parametrize("event", EVENTS)
def test_events_survive_json(event: Any) -> None:
    back = msgspec.json.decode(msgspec.json.encode(event), type=Event)
    assert back == event
    assert type(back) is type(event)


@pytest.mark.parametrize("arm", [{"y": 0.1 + 0.2}, {"n": 3, "c": "x"}, "label", 3, 2.5, True])
def test_decisions_survive_json(arm: Any) -> None:
    decision = Decision(2**53 + 1, {"x": 5e-324, "z": 1 / 3}, arm, 1e300, 0)
    assert msgspec.json.decode(msgspec.json.encode(decision), type=Decision) == decision
    played = Round(decision, {"a": 0.1})
    assert msgspec.json.decode(msgspec.json.encode(played), type=Round) == played


@pytest.mark.parametrize("record", [DECISION, Round(DECISION, {"a": 1.0}), *EVENTS, Snapshot({}, {})], ids=type)
def test_records_are_frozen(record: Any) -> None:
    for field in record.__struct_fields__:
        with pytest.raises(AttributeError):
            setattr(record, field, 1)


def test_a_refusal_is_a_value_error() -> None:
    assert issubclass(Refused, ValueError)


def test_bytes_hold_the_whole_snapshot() -> None:
    before = snapshot()
    after = Snapshot.from_bytes(before.to_bytes())
    assert after.header == before.header
    assert set(after.arrays) == set(before.arrays)
    for name, array in before.arrays.items():
        assert after.arrays[name].dtype == array.dtype
        assert after.arrays[name].shape == array.shape
        assert after.arrays[name].tobytes() == array.tobytes()
    assert after.to_bytes() == before.to_bytes()


def test_the_same_state_has_the_same_bytes() -> None:
    table = np.arange(6.0).reshape(2, 3)
    one = Snapshot({"b": 1, "a": {"d": 2, "c": 3}}, {"p": table, "q": np.zeros((0, 2)), "r": np.arange(3)})
    other = Snapshot(
        {"a": {"c": 3, "d": 2}, "b": 1},
        {"r": np.arange(3), "q": np.zeros((0, 2)), "p": np.asfortranarray(table)},
    )
    assert one.to_bytes() == other.to_bytes()
    assert one.to_bytes() != Snapshot({**one.header, "b": 2}, one.arrays).to_bytes()
    assert one.to_bytes() != Snapshot(one.header, {**one.arrays, "r": np.arange(3) + 1}).to_bytes()


# Made by hand, with numbers of few digits: to damage the last of seventeen may change nothing.
WHOLE = Snapshot(
    {
        "policy": "pcz",
        "number": 30,
        "open": [{"number": 29, "context": {"x": 0.5}, "arm": {"y": 0.25}, "density": 2.5, "credit": 4}],
        "parameters": {"horizon": 100, "noise": 0.1, "delta": None},
    },
    {
        "centre": np.linspace(0, 1, 20).reshape(10, 2),
        "total": np.sqrt(np.arange(20)).reshape(10, 2),
        "count": np.arange(20).reshape(10, 2),
        "parent": np.arange(10) - 1,
        "open_reward": np.full((1, 2), np.nan),
        "open_told": np.zeros(1, np.int64),
    },
).to_bytes()


@given(st.integers(0, len(WHOLE) - 1))
def test_truncated_bytes_are_refused(length: int) -> None:
    with pytest.raises(Refused, match=f"snapshot: {length} bytes"):
        Snapshot.from_bytes(WHOLE[:length])


@given(st.binary(max_size=200))
def test_other_bytes_are_refused(data: bytes) -> None:
    for strange in (data, WHOLE + data + b"0"):
        with pytest.raises(Refused, match=f"snapshot: {len(strange)} bytes"):
            Snapshot.from_bytes(strange)


@given(st.integers(0, len(WHOLE) - 1), st.integers(1, 255))
def test_a_damaged_byte_is_refused_or_read(place: int, flip: int) -> None:
    """Damage may go unnoticed here (a policy looks closer when it loads), but is never another error."""
    damaged = bytearray(WHOLE)
    damaged[place] ^= flip
    try:
        after = Snapshot.from_bytes(bytes(damaged))
    except Refused as refusal:
        message = str(refusal)
        assert message.startswith("snapshot: ")
    else:
        assert after.to_bytes() != WHOLE


@pytest.mark.parametrize("header", [None, {}, {"header": "[1]"}, {"header": "{"}, {"other": "{}"}])
def test_arrays_without_a_header_are_refused(header: dict[str, str] | None) -> None:
    from safetensors.numpy import save

    with pytest.raises(Refused, match="snapshot: "):
        Snapshot.from_bytes(save({"a": np.zeros(1)}, metadata=header))


@pytest.mark.parametrize("data", [None, "abc", 5, {}, [b"abc"]], ids=repr)
def test_what_is_not_bytes_is_refused(data: Any) -> None:
    with pytest.raises(Refused, match="snapshot"):
        Snapshot.from_bytes(data)
