"""Contexts, arms and rewards that a problem refuses."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Integer, Objective, Real
from tests.borders import PROBLEMS, encoded, refuses

NOT_NUMBERS = ["0.5", None, True, False, b"0.5", [0.5], {}, 0.5j]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float64(math.nan), np.float32(math.inf)]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=repr)
@pytest.mark.parametrize("dimension", [Real("v"), Real("v", 0.1, 9, scale="log"), Integer("v", 0, 5), Objective("v")])
def test_wrong_units_are_refused(dimension: Any, value: Any) -> None:
    with refuses("field", repr(value)):
        dimension.encode(value, "field")


@pytest.mark.parametrize("value", [bytearray(b"0.5"), memoryview(b"0.5"), np.array("0.5"), np.array(True)], ids=type)
@pytest.mark.parametrize("dimension", [Real("v"), Objective("v")])
def test_text_and_truth_in_other_clothes_are_refused(dimension: Any, value: Any) -> None:
    with refuses("field", repr(value)):
        dimension.encode(value, "field")


def test_complex_numbers_are_refused() -> None:
    with refuses("field", repr(np.complex128(0.5))):
        Real("v").encode(np.complex128(0.5), "field")


@pytest.mark.parametrize("value", [*NOT_FINITE, 10**400, -(10**400)], ids=lambda v: repr(v)[:6])
@pytest.mark.parametrize("dimension", [Real("v"), Objective("v"), Objective("v", low=None, high=None)])
def test_numbers_that_are_not_finite_are_refused(dimension: Any, value: Any) -> None:
    with refuses("field", "1000" if isinstance(value, int) else repr(float(value))):
        dimension.encode(value, "field")


@pytest.mark.parametrize(
    ("dimension", "value"),
    [
        (Real("v"), -1e-9),
        (Real("v"), 1.0000001),
        (Real("v"), np.float64(2)),
        (Real("v", 1, 10, scale="log"), 0.0),
        (Real("v", 0, 24, periodic=True), 25),
        (Integer("v", 1, 9), 0),
        (Integer("v", 1, 9), np.int64(10)),
        (Integer("v", 1, 9), 10**30),
        (Integer("v", 1, 9), 2.5),
        (Categorical("v", ["a", "b"]), "c"),
        (Categorical("v", ["a", "b"]), None),
        (Categorical("v", [1, 2]), 3),
        (Categorical("v", ["a", "b"]), ["a"]),
        (Objective("v"), -0.1),
        (Objective("v"), 1.1),
        (Objective("v", goal="min", low=5, high=6), 4),
    ],
)
def test_values_out_of_range_are_refused(dimension: Any, value: Any) -> None:
    with refuses("field", repr(value)):
        dimension.encode(value, "field")


@pytest.mark.parametrize("context", ["x", b"x", None, 0.5, {0.5}, np.array(0.5), np.array([[0.5]])], ids=repr)
def test_contexts_that_are_no_collection_are_refused(context: Any) -> None:
    with refuses("context", repr(context)):
        encoded(PROBLEMS["unit"], context)


@pytest.mark.parametrize(
    ("context", "fragments"),
    [
        ({}, ["'x' is missing", "{}"]),
        ({"z": 0.5}, ["'x' is missing", "{'z': 0.5}"]),
        ({"x": 0.5, "z": 0.5}, ["'z' is not a known name"]),
        ({1: 0.5, "x": 0.5}, ["1 is not a known name"]),
        ([], ["[] has 0 entries", "expected 1"]),
        ([0.5, 0.5], ["[0.5, 0.5] has 2 entries", "expected 1"]),
        (np.zeros(3), ["array([0., 0., 0.]) has 3 entries"]),
        ({"x": "0.5"}, ["['x']", "'0.5'"]),
        ([None], ["['x']", "None"]),
        ([math.nan], ["['x']", "nan"]),
        (np.array([2.0]), ["['x']", "2.0", "[0, 1]"]),
    ],
)
def test_bad_contexts_are_refused(context: Any, fragments: list[str]) -> None:
    with refuses("context", *fragments):
        encoded(PROBLEMS["unit"], context)


@pytest.mark.parametrize(
    ("problem", "arm", "fragments"),
    [
        ("unit", {"z": 1}, ["'y' is missing", "{'z': 1}"]),
        ("unit", [0.5, 0.5], ["[0.5, 0.5]", "expected 1"]),
        ("unit", 0.5, ["0.5", "neither"]),
        ("unit", {"y": 1.5}, ["['y']", "1.5"]),
        ("unit", {"y": math.nan}, ["['y']", "nan"]),
        ("mixed", {"level": 5, "codec": "a"}, ["['level']", "5"]),
        ("mixed", [1, "z"], ["['codec']", "'z'"]),
        ("features", "xl", ["'xl'", "['s', 'm', 'l']"]),
        ("features", ["s"], ["['s']"]),
        ("features", None, ["None"]),
    ],
)
def test_bad_arms_are_refused(problem: str, arm: Any, fragments: list[str]) -> None:
    with refuses("arm", *fragments):
        PROBLEMS[problem].encode_arm(arm, np.empty(PROBLEMS[problem].dim))


@pytest.mark.parametrize(
    ("reward", "fragments"),
    [
        ({}, ["{}", "['a', 'b']"]),
        ([None, None], ["[None, None]"]),
        ({"a": None}, ["{'a': None}"]),
        ([], ["[]", "expected 2"]),
        ([0.5], ["[0.5]", "expected 2"]),
        ([0.5, 0.5, 0.5], ["3 entries"]),
        ({"a": 0.5, "c": 0.5}, ["'c'", "['a', 'b']"]),
        (0.5, ["0.5"]),
        ("ab", ["'ab'"]),
        (None, ["None"]),
        ({"a": "0.5"}, ["['a']", "'0.5'"]),
        ([0.5, True], ["['b']", "True"]),
        ([0.5, math.nan], ["['b']", "nan"]),
        (np.array([0.5, math.inf]), ["['b']", "inf"]),
        ({"b": 1.5}, ["['b']", "1.5", "[0, 1]"]),
        ([-0.25, 0.5], ["['a']", "-0.25"]),
    ],
)
def test_bad_rewards_are_refused(reward: Any, fragments: list[str]) -> None:
    with refuses("reward", *fragments):
        PROBLEMS["unit"].encode_reward(reward, np.empty(2))
