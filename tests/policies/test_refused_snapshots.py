"""Snapshots that are damaged or of another policy are refused, and whole ones are loaded."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paretozoom import PCZ, Refused, Snapshot
from paretozoom.policies.base import Policy
from tests.policies.border import (
    CONTEXTS,
    MAKERS,
    PROBLEMS,
    SHOP,
    UNIT,
    bytes_of,
    every_policy,
    every_zooming,
    refuses,
    used,
)


def put(array: Any, place: Any, value: Any) -> Any:
    """A copy of an array with another value in a place."""
    changed = array.copy()
    changed[place] = value
    return changed


def with_open(snapshot: Snapshot, **changes: Any) -> dict[str, Any]:
    """A header whose first open decision is changed."""
    first, *others = snapshot.header["open"]
    return {"open": [{**first, **changes}, *others]}


Change = Callable[[Snapshot], dict[str, Any]]
BAD_HEADERS: dict[str, Change] = {
    "number": lambda _: {"number": -1},
    "number below open ones": lambda _: {"number": 38},
    "number of rounds": lambda _: {"number": 40.5},
    "number as text": lambda _: {"number": "40"},
    "no number": lambda _: {"number": None},
    "seed": lambda _: {"seed": "-1"},
    "seed as text": lambda _: {"seed": "x"},
    "seed as float": lambda _: {"seed": 1.5},
    "no seed": lambda _: {"seed": None},
    "no open": lambda _: {"open": None},
    "open": lambda _: {"open": [5]},
    "one more open": lambda s: {"open": [*s.header["open"], s.header["open"][0]]},
    "one less open": lambda s: {"open": s.header["open"][1:]},
    "open number not yet asked": lambda s: with_open(s, number=999),
    "open number below 0": lambda s: with_open(s, number=-1),
    "open number twice": lambda s: with_open(s, number=s.header["open"][1]["number"]),
    "open context": lambda s: with_open(s, context={"x": 7.0}),
    "open arm": lambda s: with_open(s, arm="zzz"),
    "open density": lambda s: with_open(s, density=-1.0),
    "format": lambda _: {"format": 99},
    "version": lambda _: {"version": 99},
    "policy": lambda _: {"policy": "other"},
    "parameters": lambda _: {"parameters": {"horizon": 7}},
    "problem": lambda _: {"problem": {}},
}
BAD_OPEN: dict[str, Change] = {
    "open_reward too narrow": lambda s: {"open_reward": s.arrays["open_reward"][:, :1]},
    "open_reward inf": lambda s: {"open_reward": put(s.arrays["open_reward"], (0, 0), math.inf)},
    "open_told negative": lambda s: {"open_told": put(s.arrays["open_told"], 0, -1)},
    "open_told complete": lambda s: {"open_told": put(s.arrays["open_told"], 0, 3)},
    "open_told unknown bit": lambda s: {"open_told": put(s.arrays["open_told"], 0, 4)},
    "open_told floats": lambda s: {"open_told": s.arrays["open_told"] + 0.5},
    "no open_told": lambda s: {"open_told": None},
}
BAD_BALLS: dict[str, Change] = {
    "radius nan": lambda s: {"radius": put(s.arrays["radius"], 1, math.nan)},
    "radius inf": lambda s: {"radius": put(s.arrays["radius"], 1, math.inf)},
    "radius negative": lambda s: {"radius": put(s.arrays["radius"], 1, -0.5)},
    "radius zero": lambda s: {"radius": put(s.arrays["radius"], 1, 0.0)},
    "radius one less": lambda s: {"radius": s.arrays["radius"][:-1]},
    "radius as table": lambda s: {"radius": s.arrays["radius"][:, None]},
    "radius as number": lambda _: {"radius": np.array(1.0)},
    "radius as ints": lambda s: {"radius": np.ones(len(s.arrays["radius"]), np.int64)},
    "no radius": lambda _: {"radius": None},
    "no balls": lambda s: {n: s.arrays[n][:0] for n in ("radius", "centre", "parent", "count", "total")},
    "count negative": lambda s: {"count": put(s.arrays["count"], (1, 0), -1)},
    "count as floats": lambda s: {"count": s.arrays["count"] + 0.5},
    "count too narrow": lambda s: {"count": s.arrays["count"][:1]},
    "centre nan": lambda s: {"centre": put(s.arrays["centre"], (1, 0), math.nan)},
    "centre outside": lambda s: {"centre": put(s.arrays["centre"], (1, 0), 3.0)},
    "centre too narrow": lambda s: {"centre": s.arrays["centre"][:, :1]},
    "total nan": lambda s: {"total": put(s.arrays["total"], (1, 0), math.nan)},
    "total inf": lambda s: {"total": put(s.arrays["total"], (1, 0), math.inf)},
    "total one row": lambda s: {"total": s.arrays["total"][:1]},
    "total as number": lambda _: {"total": np.array(1.0)},
    "total in single precision": lambda s: {"total": s.arrays["total"].astype(np.float32)},
    "parent later": lambda s: {"parent": put(s.arrays["parent"], 1, 1)},
    "parent unknown": lambda s: {"parent": put(s.arrays["parent"], 1, 999)},
    "parent of the root": lambda s: {"parent": put(s.arrays["parent"], 0, 0)},
    "epoch": lambda _: {"epoch": np.array([59])},
    "epoch negative": lambda _: {"epoch": np.array([-1])},
    "epoch twice": lambda s: {"epoch": np.repeat(s.arrays["epoch"], 2)},
    "epoch as float": lambda s: {"epoch": s.arrays["epoch"] + 0.5},
    "no epoch": lambda _: {"epoch": None},
}


def refuse_load(policy: Policy, snapshot: Any, *fragments: str) -> None:
    """Loading must be refused and leave the policy as it was, also when the snapshot came as bytes."""
    with refuses(policy, "snapshot", *fragments):
        policy.load(snapshot)
    with refuses(policy, "snapshot", *fragments):
        policy.load(Snapshot.from_bytes(snapshot.to_bytes()))


@every_policy
@pytest.mark.parametrize("what", BAD_HEADERS)
def test_damaged_headers_are_refused(make: Callable[..., Policy], what: str) -> None:
    whole = used(make).dump()
    changes = BAD_HEADERS[what](whole)
    header = {k: v for k, v in {**whole.header, **changes}.items() if v is not None}
    field = next(iter(changes))
    refuse_load(used(make), Snapshot(header, whole.arrays), field)


@every_policy
@pytest.mark.parametrize("what", BAD_OPEN)
def test_damaged_open_decisions_are_refused(make: Callable[..., Policy], what: str) -> None:
    whole = used(make).dump()
    arrays = {k: v for k, v in {**whole.arrays, **BAD_OPEN[what](whole)}.items() if v is not None}
    refuse_load(used(make), Snapshot(whole.header, arrays), "open")


@every_zooming
@pytest.mark.parametrize("what", BAD_BALLS)
def test_damaged_balls_are_refused(make: Callable[..., Policy], what: str) -> None:
    policy = used(make)
    whole = policy.dump()
    assert len(whole.arrays["radius"]) > 3
    arrays = {k: v for k, v in {**whole.arrays, **BAD_BALLS[what](whole)}.items() if v is not None}
    refuse_load(policy, Snapshot(whole.header, arrays))


@every_zooming
@pytest.mark.parametrize("credit", [-1, 999])
def test_open_decisions_of_balls_that_do_not_exist_are_refused(make: Callable[..., Policy], credit: int) -> None:
    whole = used(make).dump()
    header = {**whole.header, **with_open(whole, credit=credit)}
    refuse_load(used(make), Snapshot(header, whole.arrays), str(credit))


@every_policy
def test_foreign_snapshots_are_refused(make: Callable[..., Policy]) -> None:
    policy = used(make)
    for other in MAKERS.values():
        if other is not make:
            field = "policy" if other(UNIT).name != policy.name else "parameters"
            refuse_load(policy, used(other).dump(), field)
    refuse_load(policy, used(make, SHOP).dump(), "problem", "'load'")
    if policy.name != "random":
        refuse_load(policy, make(UNIT, noise=0.5).dump(), "parameters", "0.5")


@every_policy
@pytest.mark.parametrize("strange", [None, b"abc", {}, Snapshot({}, {})], ids=repr)
def test_what_is_no_snapshot_is_refused(make: Callable[..., Policy], strange: Any) -> None:
    policy = used(make)
    with refuses(policy, "snapshot"):
        policy.load(strange)


@every_policy
@pytest.mark.parametrize("name", PROBLEMS)
def test_a_whole_snapshot_is_loaded(make: Callable[..., Policy], name: str) -> None:
    policy, twin = used(make, PROBLEMS[name]), make(PROBLEMS[name], seed=99)
    twin.load(Snapshot.from_bytes(bytes_of(policy)))
    assert bytes_of(twin) == bytes_of(policy)
    assert (twin.seed, twin.number, twin.open) == (policy.seed, policy.number, policy.open)
    for _ in range(30):
        decision = policy.ask(CONTEXTS[name])
        assert twin.ask(CONTEXTS[name]) == decision
        policy.tell(decision, [0.5, 0.25])
        twin.tell(decision, [0.5, 0.25])
    assert bytes_of(twin) == bytes_of(policy)


def test_only_parameters_that_differ_are_named() -> None:
    with pytest.raises(Refused) as refusal:
        PCZ(UNIT, horizon=10).load(PCZ(UNIT, horizon=20, noise=0.5).dump())
    assert str(refusal.value) == (
        "snapshot: parameters['horizon'] is 20, expected 10; parameters['noise'] is 0.5, expected 1.0"
    )
