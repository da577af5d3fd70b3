"""Parameters and problems that policies refuse when they are built, and those in numpy's types that they take."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paretozoom import PCZ, ContextualZooming, Integer, LinUCB, Objective, Problem, Random, Real, Snapshot
from paretozoom.policies.base import Policy
from paretozoom.registry import find_members
from tests.policies.border import UNIT, bytes_of, every_policy, refuses, used

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

HALF_SCALED = Problem(
    context=[Real("x")], arm=[Real("y")], objectives=[Objective("a"), Objective("b", low=None, high=None)]
)
UNSCALED = {"linucb", "kernel-ucb"}  # know no scale
ZOOMING = {"contextual-zooming"}  # wants every scale
SCALED = {
    name: member
    for name, member in find_members("paretozoom.policies", Policy).items()
    if "weights" in inspect.signature(member).parameters and name not in UNSCALED | ZOOMING
}


def spelled(value: Any) -> str:
    """A test's id."""
    return " ".join(value) if isinstance(value, list) else ""


@pytest.mark.parametrize(("parameters", "fragments"), BAD_PARAMETERS, ids=spelled)
@pytest.mark.parametrize("kind", [PCZ, ContextualZooming])
def test_bad_parameters_are_refused(kind: Any, parameters: dict[str, Any], fragments: list[str]) -> None:
    with refuses(None, *fragments):
        kind(UNIT, **parameters)


@pytest.mark.parametrize("name", SCALED)
def test_only_objectives_that_are_learned_need_a_scale(name: str) -> None:
    policy: Any = SCALED[name]
    for given in ({}, {"objective": "a"}, {"weights": [1.0, 0.0]}):
        player = policy(HALF_SCALED, seed=1, **given)
        for reward in (-1e6, 1e6):
            player.tell(player.ask([0.3]), [0.5, reward])
    for given in ({"objective": "b"}, {"weights": [0.5, 0.5]}):
        with refuses(None, "objectives['b']", name):
            policy(HALF_SCALED, **given)


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


MEMBERS = find_members("paretozoom.policies", Policy)


@pytest.mark.parametrize("kind", MEMBERS.values(), ids=MEMBERS)
def test_every_number_that_a_policy_takes_may_be_one_of_numpy(kind: Any) -> None:
    """The numbers that a fresh policy says it was given, given again in numpy's types: the same bytes."""
    taken = set(inspect.signature(kind).parameters) - {"problem", "seed"}
    more = {"rules": [[0], [1]], "weights": [0.25, 0.75], "alpha": 2.0, "horizon": 50, "arms": 4, "users": 3}
    given = {name: value for name, value in more.items() if name in taken}
    whole = kind(UNIT, **given)
    numbers = {n: v for n, v in whole.parameters.items() if n in taken and type(v) in (int, float)} | given
    for name, value in numbers.items():
        wrapped = np.array(value)[()] if isinstance(value, (int, float)) else [np.array(v)[()] for v in value]
        assert bytes_of(kind(UNIT, **{**given, name: wrapped})) == bytes_of(whole), name
    wrapped = {name: np.array(v)[()] for name, v in numbers.items() if isinstance(v, (int, float))}
    assert bytes_of(kind(UNIT, **{**given, **wrapped})) == bytes_of(whole)


@pytest.mark.parametrize("kind", [k for k in MEMBERS.values() if "weights" in inspect.signature(k).parameters])
def test_weights_may_be_a_list_an_array_or_a_mapping(kind: Any) -> None:
    whole = kind(UNIT, weights=[0.25, 0.75])
    given: list[Any] = [np.float64(0.25), np.float32(0.75)]
    for weights in (given, (0.25, 0.75), np.array([0.25, 0.75]), {"b": 0.75, "a": 0.25}):
        assert bytes_of(kind(UNIT, weights=weights)) == bytes_of(whole)


@pytest.mark.parametrize("weights", [[1.0], np.eye(2), {"a": 1}, {"a": 0.5, "b": 0.5, "c": 0}, 1.0], ids=repr)
def test_refused_weights_say_what_they_are_for(weights: Any) -> None:
    with refuses(None, "expected a list of 2 numbers, for ['a', 'b'] in this order", repr(weights)):
        LinUCB(UNIT, weights=weights)


def test_refusals_name_what_clashes_and_the_remedy() -> None:
    with refuses(None, "pareto: True given together with weights [0.5, 0.5]"):
        LinUCB(UNIT, pareto=True, weights=[0.5, 0.5])
    with refuses(None, "pareto: True given together with objective 'a'"):
        LinUCB(UNIT, pareto=True, objective="a")
    with refuses(None, "features: 'linear' given", "model='shared' or 'hybrid'"):
        LinUCB(UNIT, features="linear")
