"""Snapshots from anywhere: what is not one is refused, leaves nothing behind and harms nobody."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from litestar.testing import TestClient

from paretozoom.records import Snapshot
from tests.service.remote import ALL, Remote, begin, refused, serving, until

Service = TestClient[Any]
_names = (f"fuzz-{k}" for k in itertools.count())
ANYTHING = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@pytest.fixture(scope="module")
def real(client: Service) -> bytes:
    """A snapshot of an experiment with open decisions, some of them rewarded in part."""
    experiment = begin(client, policy="pareto-ucb1", wait=3600, default={"left": 0.0})
    for k in range(6):
        experiment.reward(experiment.number(k / 6))
    experiment.number()
    experiment.reward(experiment.number(), left=0.5)
    experiment.number(deferred=True)
    return experiment.get("/snapshot").content


def send(client: Service, data: bytes) -> int:
    """Import bytes as a new experiment; if they are taken, it must be one that works."""
    name = next(_names)
    before = client.app.state.experiments.store.logs()
    answer = client.put(f"{ALL}/{name}/snapshot", content=data)
    if answer.status_code == 201:
        copy = Remote(client, name)
        until(lambda: copy.get().json()["ready"])
        loaded = copy.client.app.state.experiments.by_name[name].experiment
        for number in loaded.open_decisions:
            assert copy.reward(loaded.epochs.id_of(number), right=0.5).status_code in (200, 409, 410)
        made = copy.decide(0.25)
        if copy.get().json()["status"] == "running":
            assert made.status_code == 201, made.text
            assert copy.reward(made.json()["id"]).status_code == 200
        assert copy.get("/front?context=[0.5]").status_code == 200
        assert client.get("/metrics").status_code == 200
        copy.post("/retire")
    else:
        refused(answer, 400)
        assert client.get(f"{ALL}/{name}").status_code == 404
        assert client.app.state.experiments.store.logs() == before
    assert client.get("/live").status_code == 200
    return int(answer.status_code)


@pytest.fixture(autouse=True)
def still_works(client: Service) -> Any:
    """Whatever was sent, the service goes on for others."""
    yield
    assert begin(client).number() == 0


@given(data=st.binary(max_size=300))
def test_random_bytes_are_no_snapshot(client: Service, data: bytes) -> None:
    assert send(client, data) == 400


@settings(max_examples=60)
@given(share=st.floats(0, 1, exclude_max=True))
def test_half_a_snapshot_is_none(client: Service, real: bytes, share: float) -> None:
    assert send(client, real[: int(share * len(real))]) == 400


@settings(max_examples=80)
@given(place=st.floats(0, 1, exclude_max=True), bit=st.integers(0, 7))
def test_a_flipped_bit_does_no_harm(client: Service, real: bytes, place: float, bit: int) -> None:
    data = bytearray(real)
    data[int(place * len(data))] ^= 1 << bit
    send(client, bytes(data))


def with_header(real: bytes, *path: Any, value: Any) -> bytes:
    """The snapshot with another value somewhere in its header."""
    snapshot = Snapshot.from_bytes(real)
    header = json.loads(msgspec.json.encode(snapshot.header))
    at = header
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    return Snapshot(header, snapshot.arrays).to_bytes()


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place in a header."""
    if isinstance(value, dict):
        inner = [place for key, entry in value.items() for place in places(entry, (*path, key))]
    elif isinstance(value, list):
        inner = [place for key, entry in enumerate(value) for place in places(entry, (*path, key))]
    else:
        inner = []
    return [*([path] if path else []), *inner]


@settings(max_examples=150)
@given(data=st.data())
def test_a_header_with_other_values_does_no_harm(client: Service, real: bytes, data: st.DataObject) -> None:
    header = json.loads(msgspec.json.encode(Snapshot.from_bytes(real).header))
    path = data.draw(st.sampled_from(places(header)))
    send(client, with_header(real, *path, value=data.draw(ANYTHING)))


CREATED = ("experiment", "created")


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("experiment",), None),
        (("experiment", "seq"), "x"),
        (("experiment", "status"), "asleep"),
        (("experiment", "wait"), -1.0),
        (("experiment", "wait"), 0.0),
        (("experiment", "default"), {"up": 1.0}),
        (("experiment", "default"), {"left": 7.0}),
        (("carried",), []),
        (("carried",), [{"decision": {"number": 0}}]),
        (("carried", 0, "made"), 1.0),
        (("carried", 0, "deferred"), True),
        (("carried", 0, "decision", "arm"), "z"),
        (("carried", 0, "decision", "credit"), 10**8),
        (("carried", 0, "decision", "density"), 0.123),
        (("carried", 0, "reward"), {"left": 1.0}),
        (("carried", 1, "reward"), {}),
        (("experiment", "epochs"), []),
        (("experiment", "epochs", 0, 1), 3),
        (("policy",), "pcz"),
        (("version",), 99),
        (("number",), -1),
        ((*CREATED, "policy"), "os:system"),
        ((*CREATED, "policy"), "tests.service.remote:Remote"),
        ((*CREATED, "parameters"), {"similarity": {"function": "os:system"}}),
        ((*CREATED, "problem", "objectives"), []),
        ((*CREATED, "seed"), -1),
    ],
)
def test_a_header_that_cannot_be_is_refused(client: Service, real: bytes, path: tuple[Any, ...], value: Any) -> None:
    assert send(client, with_header(real, *path, value=value)) == 400


def test_what_the_header_says_of_counts_is_not_trusted(client: Service, real: bytes) -> None:
    for counts in (
        {"totals": {"left": 1.0}, "told": {}},
        {"totals": {}, "told": {"left": 0}},
        {"totals": {"left": 0.0}, "told": {"left": 0}},
        {"decisions": -5},
    ):
        send(client, with_header(real, "experiment", "counts", value=counts))


def test_a_version_in_the_header_that_the_policy_does_not_have_is_refused(client: TestClient[Any], real: bytes) -> None:
    answer = client.put(f"{ALL}/copy/snapshot", content=with_header(real, *CREATED, "version", value=99))
    refused(answer, 400, "version 99 of pareto-ucb1, this is version 1")


def test_rewards_that_the_columns_do_not_know_of_are_refused(folder: Path, lightly: None, real: bytes) -> None:
    """Number 6 is open and untold, 7 was told `left`; the header says otherwise."""
    with serving(folder) as client:
        for row, told in [(0, {"left": 1.0}), (1, {}), (1, {"up": 1.0}), (1, {"right": 0.0})]:
            data = with_header(real, "carried", row, "reward", value=told)
            refused(client.put(f"{ALL}/copy/snapshot", content=data), 400, "carried")
        data = with_header(real, "carried", 1, "reward", value={"left": 0.25})
        assert client.put(f"{ALL}/copy/snapshot", content=data).status_code == 201
        copy = Remote(client, "copy")
        until(lambda: copy.get().json()["ready"])
        id_of = client.app.state.experiments.by_name["copy"].experiment.epochs.id_of
        refused(copy.reward(id_of(7), left=0.5), 409, "0.25")
        assert copy.reward(id_of(7), right=0.5).status_code == copy.reward(id_of(6)).status_code == 200
        assert copy.number() == 9
    with serving(folder):
        pass
