"""Whatever is in a log: an event, or refused."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import Decision
from paretozoom.records import Refused
from paretozoom.store import Event
from paretozoom.store.events import Created, Decided, Expired, Rewarded, from_json, number_of_decision, to_json
from tests.store.samples import EVENTS, LABELS

BODIES = [to_json(event) for event in EVENTS]
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["max", "log", "real", "created", 0, -1, 10**30, 1e300, [], {}]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)


def read_or_refuse(body: bytes) -> None:
    """What is read can be written, and comes to the same."""
    try:
        event = from_json(body)
    except Refused as refusal:
        message = str(refusal)
        assert message.startswith("log: ")
        assert len(message) < 5_000
    else:
        assert isinstance(event, Event)
        assert from_json(to_json(event)) == event


@pytest.mark.parametrize("event", EVENTS, ids=lambda event: type(event).__name__)
def test_events_survive_json(event: Event) -> None:
    again = from_json(to_json(event))
    assert type(again) is type(event)
    assert again == event
    assert to_json(again) == to_json(event)


@given(st.binary(max_size=60))
def test_any_bytes_are_refused(body: bytes) -> None:
    with pytest.raises(Refused, match=r"log: .* is not an event"):
        from_json(body)


@settings(max_examples=300)
@given(st.sampled_from(BODIES), st.data())
def test_damaged_bytes_are_refused_or_read(body: bytes, data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(body)))
    gone = data.draw(st.integers(0, 5))
    read_or_refuse(body[:place] + data.draw(st.binary(max_size=3)) + body[place + gone :])


@settings(max_examples=300)
@given(st.sampled_from(BODIES), st.data())
def test_other_values_are_refused_or_read(body: bytes, data: st.DataObject) -> None:
    tree = msgspec.json.decode(body)
    spot: Any = tree
    while True:
        key = data.draw(st.sampled_from(sorted(spot)) if isinstance(spot, dict) else st.integers(0, len(spot) - 1))
        if not spot[key] or not isinstance(spot[key], (dict, list)) or data.draw(st.booleans()):
            break
        spot = spot[key]
    if data.draw(st.booleans()):
        spot[key] = data.draw(VALUES)
    else:
        del spot[key]
    read_or_refuse(msgspec.json.encode(tree))


@settings(max_examples=100)
@given(st.sampled_from([msgspec.json.decode(body)["type"] for body in BODIES]), VALUES)
def test_any_values_under_a_known_name_are_refused_or_read(name: str, value: Any) -> None:
    fields = value if isinstance(value, dict) else {"number": value, "by": value, "version": value, "problem": value}
    read_or_refuse(msgspec.json.encode({**fields, "type": name}))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"null",
        b"[" * 100_000,
        b'{"type":"decided","decision":{"number":0,"context":{"x":' + b"[" * 100_000,
        b'{"type":"decided","decision":{"number":0,"context":' + b'{"x":' * 100_000,
        b'{"type":"cancelled","number":' + b"9" * 5_000 + b"}",
        b'{"type":"cancelled","number":1e400}',
        b'{"type":"cancelled","number":true}',
        b'{"type":"cancelled","number":3}{}',
        b'{"type":"asked","number":3}',
        b'{"type":"cancelled"}',
        b'{"type":"paused","by":"\xff"}',
        b'{"type":"paused","by":"\\ud800"}',
    ],
    ids=lambda body: body[:30].decode(errors="replace"),
)
def test_strange_bodies_are_refused(body: bytes) -> None:
    with pytest.raises(Refused, match=r"log: .* is not an event"):
        from_json(body)


@pytest.mark.parametrize("strange", [float("nan"), float("inf"), float("-inf")])
def test_numbers_that_json_cannot_hold_are_not_written(strange: float) -> None:
    for event in (
        Rewarded(0, {"a": 1.0, "b": strange}),
        Expired(0, {"a": strange}),
        Decided(Decision(0, {}, "a", strange, 0)),
        Created(LABELS, "random", {}, 0, 1, by="", default={"r": strange}),
    ):
        with pytest.raises(Refused, match="is not an event"):
            to_json(event)


def test_events_about_a_decision_have_its_number() -> None:
    numbers = {type(event).__name__ for event in EVENTS if number_of_decision(event) is not None}
    assert numbers == {"Decided", "Activated", "Rewarded", "Expired", "Cancelled", "Carried", "Erased"}
