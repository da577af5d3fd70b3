"""The border of every policy: what it refuses, and late, partial, reordered and lost feedback."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import (
    PCZ,
    Asked,
    Categorical,
    ContextualZooming,
    Decision,
    Dropped,
    Finite,
    Integer,
    Objective,
    Problem,
    Random,
    Real,
    Refused,
    Snapshot,
    Told,
)
from paretozoom.policies.base import Policy
from paretozoom.records import Event

UNIT = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a"), Objective("b")])
SHOP = Problem(
    context=[Real("load", 1, 1000, scale="log"), Categorical("device", ["phone", "desk"])],
    arm=[Integer("level", 1, 4), Categorical("codec", ["fast", "small"])],
    objectives=[Objective("a", low=-10, high=90), Objective("b", goal="min", low=0, high=200)],
)
PROBLEMS = {"unit": UNIT, "shop": SHOP}
CONTEXTS: dict[str, Any] = {"unit": [0.3], "shop": [30, "desk"]}

# Little noise, so that balls split after a few rewards.
MAKERS: dict[str, Callable[..., Policy]] = {
    "random": Random,
    "pcz": lambda problem, **more: PCZ(problem, **{"horizon": 100, "noise": 0.05, **more}),
    "pcz-doubling": lambda problem, **more: PCZ(problem, **{"noise": 0.05, **more}),
    "contextual-zooming": lambda problem, **more: ContextualZooming(
        problem, **{"horizon": 100, "weights": [0.25, 0.75], "radius": "pcz", "noise": 0.05, **more}
    ),
}
every_policy = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)
every_zooming = pytest.mark.parametrize("make", list(MAKERS.values())[1:], ids=list(MAKERS)[1:])


def bytes_of(policy: Policy) -> bytes:
    """A policy's whole state."""
    return policy.dump().to_bytes()


@contextmanager
def refuses(policy: Policy | None, *fragments: str) -> Iterator[None]:
    """Expect a refusal whose message contains every fragment, and that leaves the policy as it was."""
    before = policy and bytes_of(policy)
    with pytest.raises(Refused) as refusal:
        yield
    for fragment in fragments:
        assert fragment in str(refusal.value)
    assert (policy and bytes_of(policy)) == before


def through_json(decision: Decision) -> Decision:
    """A decision after a journey."""
    return msgspec.json.decode(msgspec.json.encode(decision), type=Decision)


def used(make: Callable[..., Policy], problem: Problem = UNIT) -> Policy:
    """A policy with some balls, an open decision (the last), a partly told one and a dropped one."""
    policy = make(problem, seed=1)
    context = [0.3] if problem is UNIT else [30, "desk"]
    for _ in range(36):
        policy.tell(policy.ask(context), [0.5, 0.5])
    policy.drop(policy.ask(context))
    policy.tell(policy.ask(context), {"a": 0.25})
    policy.ask(context)
    return policy


# Refused at the verbs.


@every_policy
@pytest.mark.parametrize(
    ("context", "fragments"),
    [
        ({}, ["'x' is missing"]),
        ({"z": 0.5}, ["'x' is missing", "{'z': 0.5}"]),
        ({"x": 0.5, "z": 0.5}, ["'z'"]),
        ([], ["[]"]),
        ([0.5, 0.5], ["[0.5, 0.5]"]),
        ("x", ["'x'"]),
        (0.5, ["0.5"]),
        (None, ["None"]),
        (np.array([[0.5]]), ["array([[0.5]])"]),
        ({"x": "0.5"}, ["['x']", "'0.5'"]),
        ({"x": None}, ["['x']", "None"]),
        ({"x": True}, ["['x']", "True"]),
        ({"x": b"0.5"}, ["['x']", "b'0.5'"]),
        ([math.nan], ["['x']", "nan"]),
        ([math.inf], ["['x']", "inf"]),
        ([-math.inf], ["['x']", "-inf"]),
        ([-0.1], ["['x']", "-0.1", "[0, 1]"]),
        (np.array([1.5]), ["['x']", "1.5", "[0, 1]"]),
        ([10**400], ["['x']", "1000"]),
    ],
)
def test_bad_contexts_are_refused(make: Callable[..., Policy], context: Any, fragments: list[str]) -> None:
    policy = used(make)
    for verb in (policy.ask, policy.front):
        with refuses(policy, "context", *fragments):
            verb(context)


@every_policy
@pytest.mark.parametrize(
    ("reward", "fragments"),
    [
        ({}, ["{}"]),
        ([None, None], ["[None, None]"]),
        ([], ["[]"]),
        ([0.5], ["[0.5]"]),
        ([0.5] * 3, ["[0.5, 0.5, 0.5]"]),
        ({"c": 0.5}, ["'c'"]),
        ({"a": 0.5, "c": 0.5}, ["'c'"]),
        (0.5, ["0.5"]),
        (None, ["None"]),
        ({"a": "0.5"}, ["['a']", "'0.5'"]),
        ({"a": 0.5, "b": b"1"}, ["['b']", "b'1'"]),
        ([0.5, True], ["['b']", "True"]),
        ([0.5, math.nan], ["['b']", "nan"]),
        ([math.inf, 0.5], ["['a']", "inf"]),
        ({"b": 1.25}, ["['b']", "1.25", "[0, 1]"]),
        ({"b": -0.25}, ["['b']", "-0.25", "[0, 1]"]),
        ({"a": 0.5, "b": 10**400}, ["['b']", "1000"]),
    ],
)
def test_bad_rewards_are_refused(make: Callable[..., Policy], reward: Any, fragments: list[str]) -> None:
    policy = used(make)
    with refuses(policy, "reward", *fragments):
        policy.tell(policy.open[-1], reward)
    policy.tell(policy.open[-1], [0.5, 0.5])


def altered(decision: Decision, **changes: Any) -> Decision:
    """A decision with other fields."""
    return msgspec.structs.replace(decision, **changes)


@every_policy
@pytest.mark.parametrize("verb", ["tell", "drop"])
def test_foreign_decisions_are_refused(make: Callable[..., Policy], verb: str) -> None:
    policy, other = used(make), make(UNIT, seed=2)
    mine = policy.open[-1]
    for _ in range(mine.number + 1):
        foreign = other.ask([0.3])
    assert foreign.number == mine.number
    strangers = [
        foreign,
        altered(mine, arm={"y": 0.5}),
        altered(mine, arm=None),
        altered(mine, density=mine.density + 1),
        altered(mine, credit=mine.credit + 1),
        altered(mine, context={"x": 0.4}),
        altered(mine, number=mine.number + 1),
        altered(mine, number=-1),
        altered(mine, number=10**6),
    ]
    for stranger in strangers:
        with refuses(policy, f"decision {stranger.number}", "not of this policy"):
            policy.tell(stranger, [0.5, 0.5]) if verb == "tell" else policy.drop(stranger)
    policy.tell(mine, [0.5, 0.5])


@every_policy
@pytest.mark.parametrize("stranger", [None, 0, "0", {}, {"number": 38}], ids=repr)
def test_what_is_no_decision_is_refused(make: Callable[..., Policy], stranger: Any) -> None:
    policy = used(make)
    with refuses(policy, "decision", repr(stranger)):
        policy.tell(stranger, [0.5, 0.5])
    with refuses(policy, "decision", repr(stranger)):
        policy.drop(stranger)


@every_policy
@pytest.mark.parametrize(
    "change",
    [{"number": [0]}, {"number": None}, {"context": {"x": np.array([0.3, 0.3])}}, {"arm": np.array([1, 2])}],
    ids=lambda change: next(iter(change)),
)
def test_decisions_of_wrong_types_are_refused(make: Callable[..., Policy], change: dict[str, Any]) -> None:
    policy = used(make)
    stranger = altered(policy.open[-1], **change)
    with refuses(policy, "decision"):
        policy.tell(stranger, [0.5, 0.5])
    with refuses(policy, "decision"):
        policy.drop(stranger)


@every_policy
def test_telling_again_is_refused(make: Callable[..., Policy]) -> None:
    policy = make(UNIT)
    first, second, third = (policy.ask([0.3]) for _ in range(3))
    policy.tell(first, [0.5, 0.5])
    policy.tell(second, {"b": 0.5})
    policy.drop(third)
    for reward in ([0.5, 0.5], {"a": 0.5}):
        with refuses(policy, "decision 0", "already told"):
            policy.tell(first, reward)
        with refuses(policy, "decision 2", "dropped"):
            policy.tell(third, reward)
    for reward in ({"b": 0.5}, {"b": 0.1}, [0.5, 0.5]):
        with refuses(policy, "reward['b']", "decision 1"):
            policy.tell(second, reward)
    for closed in (first, third):
        with refuses(policy, f"decision {closed.number}", "dropped"):
            policy.drop(closed)
    policy.tell(second, {"a": 0.5})
    with refuses(policy, "decision 1", "already told"):
        policy.tell(second, {"a": 0.5})
    assert policy.open == []


# Refused constructions.

BAD_PARAMETERS: list[tuple[dict[str, Any], list[str]]] = [
    *(({"horizon": v}, ["horizon", repr(v)]) for v in (0, 1, -5, 2.5, True, "x", math.nan, [5])),
    *(({"delta": v}, ["delta", repr(v)]) for v in (0, 1, -0.5, 1.5, math.nan, math.inf, "x", True)),
    *(({"noise": v}, ["noise", repr(v)]) for v in (-1, 0, math.inf, math.nan, None, "1", True)),
    *(({"confidence": v}, ["confidence", repr(v)]) for v in (0, -1, math.inf, math.nan, None, "1", False)),
    *(({"centre": v}, ["centre", repr(v)]) for v in (0.5, "ab", [], [[0.5]], {"x": 0.5}, ([0.5], [0.5], [0.5]))),
    ({"centre": ([1.5], [0.5])}, ["centre", "1.5"]),
    ({"centre": ([0.5], [-0.5])}, ["centre", "-0.5"]),
    ({"centre": ([0.5], {"z": 0.5})}, ["centre", "'z'"]),
    ({"centre": (None, [0.5])}, ["centre", "None"]),
    ({"centre": ([0.5], [math.nan])}, ["centre", "nan"]),
]
BAD_SCALARISATIONS: list[tuple[dict[str, Any], list[str]]] = [
    *(({"radius": v}, ["radius", repr(v)]) for v in ("x", "PCZ", None, 5)),
    *(({"objective": v}, ["objective", repr(v)]) for v in ("c", "", 5, ["a"])),
    *(({"weights": v}, ["weights", repr(v)]) for v in ([1.0], [0.5, 0.3, 0.2], [], 0.5, "ab", {"a": 1})),
    *(({"weights": v}, ["weights", repr(v)]) for v in ([-0.5, 1.5], [0.5, 0.6], [0, 0], [2, 3])),
    *(({"weights": v}, ["weights", repr(v[1])]) for v in ([0.5, math.nan], [0.5, "0.5"], [0.5, None], [0, True])),
    ({"weights": [0.5, 0.5], "objective": "a"}, ["weights", "[0.5, 0.5]", "'a'"]),
]


def spelled(value: Any) -> str:
    """A test's id."""
    return " ".join(value) if isinstance(value, list) else ""


@pytest.mark.parametrize(("parameters", "fragments"), BAD_PARAMETERS, ids=spelled)
@pytest.mark.parametrize("kind", [PCZ, ContextualZooming])
def test_bad_parameters_are_refused(kind: Any, parameters: dict[str, Any], fragments: list[str]) -> None:
    with refuses(None, *fragments):
        kind(UNIT, **parameters)


@every_policy
@pytest.mark.parametrize("seed", [-1, True, 1.0, 1.5, "1", None], ids=repr)
def test_bad_seeds_are_refused(make: Callable[..., Policy], seed: Any) -> None:
    with refuses(None, "seed", repr(seed)):
        make(UNIT, seed=seed)
    policy = used(make)
    with refuses(policy, "seed", repr(seed)):
        policy.reseed(seed)


@pytest.mark.parametrize(("parameters", "fragments"), BAD_SCALARISATIONS, ids=spelled)
def test_bad_scalarisations_are_refused(parameters: dict[str, Any], fragments: list[str]) -> None:
    with refuses(None, *fragments):
        ContextualZooming(UNIT, **parameters)


@pytest.mark.parametrize(
    ("parameters", "fragment"), [({"horizon": 10**400}, "horizon"), ({"horizon": 100, "delta": 5e-324}, "delta")]
)
@pytest.mark.parametrize("kind", [PCZ, ContextualZooming])
def test_parameters_too_extreme_for_floats_are_refused(kind: Any, parameters: dict[str, Any], fragment: str) -> None:
    radius = {"radius": "pcz"} if kind is ContextualZooming else {}
    with refuses(None, fragment):
        kind(UNIT, **radius, **parameters)


@pytest.mark.parametrize("problem", [None, "unit", {}, [Real("x")]], ids=repr)
@pytest.mark.parametrize("kind", [Random, PCZ, ContextualZooming])
def test_what_is_no_problem_is_refused(kind: Any, problem: Any) -> None:
    with refuses(None, "problem", repr(problem)):
        kind(problem)


@pytest.mark.parametrize("kind", [PCZ, ContextualZooming])
def test_problems_that_zooming_does_not_cover_are_refused(kind: Any) -> None:
    unknown = Problem(context=[], arm=[Real("y")], objectives=[Objective("a"), Objective("w", low=None, high=None)])
    with refuses(None, "objectives['w']", "low", kind.name):
        kind(unknown)
    many = Problem(context=[], arm=[Real("y"), Integer("z", 1, 3000)], objectives=[Objective("a")])
    with refuses(None, "arm", "'z'", kind.name):
        kind(many)
    endless = Problem(context=[], arm=[Integer("n", 0, 10**6)], objectives=[Objective("a")])
    with refuses(None, "arm", "'n'", kind.name):
        kind(endless)


def test_random_plays_what_zooming_does_not_cover() -> None:
    problem = Problem(
        context=[], arm=[Real("y"), Integer("n", 0, 10**6)], objectives=[Objective("w", low=None, high=None)]
    )
    policy = Random(problem)
    decision = policy.ask()
    policy.tell(decision, {"w": -1e9})
    assert policy.open == []
    assert decision.density == pytest.approx(1 / (10**6 + 1))


@pytest.mark.parametrize(
    "parameters",
    [
        {"horizon": np.int64(100)},
        {"delta": np.float64(0.5)},
        {"noise": np.float32(0.5)},
        {"confidence": np.int64(2)},
        {"centre": (np.array([0.5]), np.array([0.25]))},
        {"centre": [{"x": np.float64(0.5)}, (0.25,)]},
        {"seed": np.int64(5)},
    ],
    ids=lambda parameters: next(iter(parameters)),
)
@pytest.mark.parametrize("kind", [PCZ, ContextualZooming])
def test_parameters_in_numpy_types_can_be_dumped_and_loaded(kind: Any, parameters: dict[str, Any]) -> None:
    policy = kind(UNIT, **parameters)
    decision = policy.ask([0.5])
    twin = kind(UNIT, **parameters)
    twin.load(Snapshot.from_bytes(bytes_of(policy)))
    twin.tell(decision, [0.5, 0.5])
    policy.tell(decision, [0.5, 0.5])
    assert bytes_of(twin) == bytes_of(policy)


def test_weights_in_numpy_types_can_be_dumped() -> None:
    whole = ContextualZooming(UNIT, weights=[0.25, 0.75])
    for weights in ([np.float64(0.25), np.float32(0.75)], (0.25, 0.75)):
        assert bytes_of(ContextualZooming(UNIT, weights=weights)) == bytes_of(whole)


# Refused snapshots.


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


# Refused events.


@every_policy
@pytest.mark.parametrize(
    ("changes", "fragments"),
    [
        ({"number": 38}, ["38", "39"]),
        ({"number": 40}, ["40", "39"]),
        ({"number": -1}, ["-1", "39"]),
        ({"number": "39"}, ["39"]),
        ({"number": 39.0}, ["39.0"]),
        ({"number": None}, ["None"]),
        ({"context": {"x": 1.5}}, ["context['x']", "1.5"]),
        ({"context": {}}, ["context", "'x'"]),
        ({"context": None}, ["context", "None"]),
        ({"arm": {"y": -0.5}}, ["arm['y']", "-0.5"]),
        ({"arm": "y"}, ["arm", "'y'"]),
        ({"density": math.nan}, ["density", "nan"]),
        ({"density": math.inf}, ["density", "inf"]),
        ({"density": -1.0}, ["density", "-1.0"]),
        ({"density": 0.0}, ["density", "0.0"]),
        ({"density": None}, ["density", "None"]),
        ({"credit": "0"}, ["credit", "'0'"]),
        ({"credit": None}, ["credit", "None"]),
        ({"credit": 0.5}, ["credit", "0.5"]),
    ],
    ids=" ".join,
)
def test_bad_asked_events_are_refused(
    make: Callable[..., Policy], changes: dict[str, Any], fragments: list[str]
) -> None:
    policy = used(make)
    good = Decision(39, {"x": 0.3}, {"y": 0.5}, 1.0, 0)
    with refuses(policy, *fragments):
        policy.replay(Asked(altered(good, **changes)))
    policy.replay(Asked(good))


@every_policy
@pytest.mark.parametrize(
    ("event", "fragments"),
    [
        (None, ["event", "None"]),
        ("asked", ["event", "'asked'"]),
        (Decision(39, {"x": 0.3}, {"y": 0.5}, 1.0, 0), ["event", "Decision"]),
        (Asked(None), ["None"]),
        (Told(0, {"a": 0.5}), ["decision 0"]),
        (Told(36, {"a": 0.5}), ["decision 36", "dropped"]),
        (Told(39, {"a": 0.5}), ["decision 39"]),
        (Told(-1, {"a": 0.5}), ["decision -1"]),
        (Told([38], {"a": 0.5}), ["[38]"]),
        (Told(38, {}), ["reward", "{}"]),
        (Told(38, None), ["reward", "None"]),
        (Told(38, {"c": 0.5}), ["reward", "'c'"]),
        (Told(38, {"a": math.nan}), ["reward['a']", "nan"]),
        (Told(38, {"a": 0.5, "b": 7.0}), ["reward['b']", "7.0"]),
        (Told(37, {"a": 0.5}), ["reward['a']", "37"]),
        (Dropped(0), ["decision 0"]),
        (Dropped(39), ["decision 39"]),
        (Dropped([38]), ["[38]"]),
    ],
)
def test_bad_events_are_refused(make: Callable[..., Policy], event: Any, fragments: list[str]) -> None:
    policy = used(make)
    with refuses(policy, *fragments):
        policy.replay(event)


@every_zooming
@pytest.mark.parametrize("credit", [-1, 999])
def test_replayed_decisions_of_balls_that_do_not_exist_are_refused(make: Callable[..., Policy], credit: int) -> None:
    policy = used(make)
    with refuses(policy, "39", str(credit)):
        policy.replay(Asked(Decision(39, {"x": 0.3}, {"y": 0.5}, 1.0, credit)))


def test_a_replayed_decision_cannot_credit_a_ball_of_the_last_epoch() -> None:
    policy = MAKERS["pcz-doubling"](UNIT)
    for _ in range(62):  # five whole epochs: the next decision begins with a root alone
        policy.tell(policy.ask([0.3]), [0.5, 0.5])
    assert len(policy.dump().arrays["radius"]) > 5
    with refuses(policy, "62", "5"):
        policy.replay(Asked(Decision(62, {"x": 0.3}, {"y": 0.5}, 1.0, 5)))


# Late, partial, reordered and lost feedback.


def told_counts(policy: Policy) -> list[int]:
    """How many rewards a zooming policy has learned from, per learned number."""
    return policy.dump().arrays["count"].sum(axis=0).tolist()


def test_pcz_learns_each_objective_when_it_comes() -> None:
    policy = MAKERS["pcz"](UNIT)
    decisions = [policy.ask([0.3]) for _ in range(4)]
    policy.tell(decisions[2], {"b": 0.5})
    assert told_counts(policy) == [0, 1]
    policy.tell(decisions[0], [0.25, None])
    assert told_counts(policy) == [1, 1]
    policy.tell(decisions[2], {"a": 0.5, "b": None})
    policy.tell(decisions[1], [0.5, 0.5])
    assert told_counts(policy) == [3, 2]
    assert policy.open == [decisions[0], decisions[3]]


@pytest.mark.parametrize(
    ("parameters", "needed", "learned"),
    [
        ({"weights": [0.25, 0.75]}, "ab", 0.25 * 0.5 + 0.75 * 1.0),
        ({"weights": [0.0, 1.0]}, "b", 1.0),
        ({"objective": "b"}, "b", 1.0),
        ({"weights": None}, "a", 0.5),
    ],
)
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_contextual_zooming_learns_when_every_weighted_objective_has_come(
    parameters: dict[str, Any], needed: str, learned: float, order: str
) -> None:
    reward = {"a": 0.5, "b": 1.0}
    policy, whole = (MAKERS["contextual-zooming"](UNIT, **{"weights": None, **parameters}) for _ in range(2))
    decision = policy.ask([0.3])
    assert whole.ask([0.3]) == decision
    whole.tell(decision, reward)
    came = ""
    for name in order:
        before = policy.dump().arrays["total"].sum()
        assert policy.open == [decision]
        policy.tell(decision, {name: reward[name]})
        came += name
        complete, was_complete = set(needed) <= set(came), set(needed) <= set(came[:-1])
        assert told_counts(policy) == [int(complete)]
        gained = policy.dump().arrays["total"].sum() - before
        assert gained == (pytest.approx(learned) if complete and not was_complete else 0)
    assert policy.open == []
    assert bytes_of(policy) == bytes_of(whole)


@every_policy
@pytest.mark.parametrize("name", PROBLEMS)
def test_dropping_teaches_nothing(make: Callable[..., Policy], name: str) -> None:
    policy, twin = make(PROBLEMS[name]), make(PROBLEMS[name])
    for k in range(40):
        decision = policy.ask(CONTEXTS[name])
        assert twin.ask(CONTEXTS[name]) == decision
        learned = {k: v for k, v in policy.dump().arrays.items() if not k.startswith("open")}
        if k % 3 == 0:
            policy.drop(decision)
            assert decision not in policy.open
            for field, array in policy.dump().arrays.items():
                assert field.startswith("open") or np.array_equal(array, learned[field])
            twin.drop(decision)
        else:
            policy.tell(decision, [0.5, 0.5])
            twin.tell(decision, [0.5, 0.5])
    assert bytes_of(policy) == bytes_of(twin)
    assert policy.open == []


@pytest.mark.parametrize("make", [MAKERS["pcz"], MAKERS["contextual-zooming"]], ids=["pcz", "contextual-zooming"])
def test_dropping_the_rest_keeps_what_was_learned(make: Callable[..., Policy]) -> None:
    policy = make(UNIT)
    decision = policy.ask([0.3])
    policy.tell(decision, {"a": 0.5})
    counts = told_counts(policy)
    assert counts == ([1, 0] if policy.name == "pcz" else [0])
    policy.drop(decision)
    assert told_counts(policy) == counts
    assert policy.open == []


@every_policy
def test_asking_and_looking_teach_nothing(make: Callable[..., Policy]) -> None:
    policy = used(make)
    before = bytes_of(policy)
    for believed in (False, True):
        policy.front([0.7], believed=believed)
    assert bytes_of(policy) == before
    learned = {k: v for k, v in policy.dump().arrays.items() if not k.startswith("open")}
    for x in (0.0, 0.3, 1.0):
        policy.ask([x])
    for name, array in learned.items():
        assert np.array_equal(policy.dump().arrays[name], array)
    assert policy.number == 42


@every_policy
@pytest.mark.parametrize("name", PROBLEMS)
def test_open_decisions_survive_a_restart(make: Callable[..., Policy], name: str) -> None:
    policy = used(make, PROBLEMS[name])
    partly, untold = policy.open
    revived = make(PROBLEMS[name], seed=5)
    revived.load(Snapshot.from_bytes(bytes_of(policy)))
    assert revived.open == [partly, untold]
    with refuses(revived, "reward['a']"):
        revived.tell(through_json(partly), {"a": 0.5})
    for told, seen in ((policy, lambda d: d), (revived, through_json)):
        told.tell(seen(untold), {"b": 0.75})
        told.tell(seen(partly), {"b": 0.5})
        told.tell(seen(untold), {"a": 0.25})
        assert told.open == []
    assert bytes_of(revived) == bytes_of(policy)


def test_open_decisions_of_an_earlier_epoch_survive_a_restart() -> None:
    policy = MAKERS["pcz-doubling"](UNIT)
    for _ in range(61):
        policy.tell(policy.ask([0.3]), [0.5, 0.5])
    late, next_epoch = policy.ask([0.3]), policy.ask([0.3])
    assert late.credit > 0
    assert len(policy.dump().arrays["radius"]) == 1  # the ball that is credited was forgotten
    revived = MAKERS["pcz-doubling"](UNIT, seed=5)
    revived.load(Snapshot.from_bytes(bytes_of(policy)))
    learned = told_counts(revived)
    revived.tell(late, [0.5, 0.5])
    assert told_counts(revived) == learned == [0, 0]
    assert revived.open == [next_epoch]


def play(policy: Policy, contexts: list[Any], steps: list[tuple[str, int, float]]) -> Iterator[Event]:
    """Act on a policy by a script, giving the log it leaves; decisions pass through JSON on the way."""
    missing: dict[int, set[str]] = {}
    for verb, pick, u in steps:
        if verb == "ask" or not missing:
            decision = policy.ask(contexts[pick % len(contexts)])
            missing[decision.number] = {"a", "b"}
            yield Asked(decision)
            continue
        number = sorted(missing)[pick % len(missing)]
        decision = through_json(next(d for d in policy.open if d.number == number))
        if verb == "drop":
            policy.drop(decision)
            del missing[number]
            yield Dropped(number)
            continue
        reward = {name: u if name == "a" else 1 - u for name in sorted(missing[number]) if verb in ("tell", name)}
        if reward:
            policy.tell(decision, reward)
            missing[number] -= set(reward)
            if not missing[number]:
                del missing[number]
            yield Told(number, reward)


VERBS = st.sampled_from(["ask", "ask", "tell", "tell", "a", "b", "drop"])
SCRIPTS = st.lists(st.tuples(VERBS, st.integers(0, 50), st.floats(0, 1)), min_size=25, max_size=60)


@every_policy
@pytest.mark.parametrize("name", PROBLEMS)
@given(steps=SCRIPTS, cut=st.integers(0, 60))
@settings(max_examples=15)
def test_the_state_is_a_fold_over_the_log(
    make: Callable[..., Policy], name: str, steps: list[tuple[str, int, float]], cut: int
) -> None:
    contexts = [[0.3], [0.31], [0.9]] if name == "unit" else [[30, "desk"], [1000, "phone"]]
    policy, replica, revived = (make(PROBLEMS[name], seed=3) for _ in range(3))
    for k, event in enumerate(play(policy, contexts, steps)):
        if k == cut:
            late = make(PROBLEMS[name], seed=8)
            late.load(Snapshot.from_bytes(bytes_of(revived)))
            revived = late
        passed = msgspec.json.decode(msgspec.json.encode(event), type=Event)
        replica.replay(passed)
        revived.replay(passed)
        assert replica.number == policy.number
    assert bytes_of(replica) == bytes_of(policy)
    assert bytes_of(revived) == bytes_of(policy)
    assert replica.ask(contexts[0]) == policy.ask(contexts[0])


@given(order=st.permutations(range(12)))
def test_late_rewards_credit_the_decision_they_belong_to(order: list[int]) -> None:
    """With one ball the order of rewards cannot matter; each lands on its own decision."""
    policy = PCZ(UNIT, horizon=100, noise=5.0)
    decisions = [policy.ask([0.3]) for _ in range(12)]
    for k in order:
        policy.tell(decisions[k], [k / 16, 1 - k / 16])
    arrays = policy.dump().arrays
    assert arrays["count"].tolist() == [[12, 12]]
    assert arrays["total"].tolist() == [[66 / 16, 12 - 66 / 16]]
    assert policy.open == []


@every_policy
def test_rewards_in_the_users_units_teach_alike(make: Callable[..., Policy]) -> None:
    """A problem in other units is the same problem: equal decisions, equal arms once encoded."""
    other = Problem(
        context=[Real("x", -4, 4)],
        arm=[Real("y", 0, 16)],
        objectives=[Objective("a", low=-2, high=2), Objective("b", goal="min", low=0, high=8)],
    )
    policy, twin = make(UNIT, seed=4), make(other, seed=4)
    for k in range(30):
        mine, theirs = policy.ask([k % 4 / 4]), twin.ask([k % 4 * 2 - 4])
        assert theirs.arm["y"] / 16 == pytest.approx(mine.arm["y"], abs=1e-12)
        assert (theirs.credit, theirs.density) == (mine.credit, pytest.approx(mine.density, rel=1e-9))
        a, b = k % 3 / 2, k % 5 / 4
        policy.tell(mine, [a, b])
        twin.tell(theirs, [4 * a - 2, 8 - 8 * b])


def test_arms_of_labels_are_told_by_label() -> None:
    problem = Problem(context=[], arm=Finite(["s", 2, 2.5, True]), objectives=[Objective("a"), Objective("b")])
    for make in MAKERS.values():
        policy = make(problem)
        for _ in range(20):
            decision = policy.ask()
            assert decision.arm in ("s", 2, 2.5, True)
            policy.tell(through_json(decision), [0.5, 0.5])
        assert policy.open == []
