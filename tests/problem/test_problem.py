"""Problems: contexts, arms and rewards in every form they may have, and in JSON."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import Categorical, Finite, Integer, Objective, Problem, Real
from tests.borders import MIXED, PROBLEMS, encoded, refuses

PLAIN = {"load": 2.5, "price": 10.0, "hour": 6.0, "threads": 3, "country": "tr"}


@pytest.mark.parametrize(
    "context",
    [
        PLAIN,
        dict(reversed(PLAIN.items())),
        list(PLAIN.values()),
        tuple(PLAIN.values()),
        np.array(list(PLAIN.values()), dtype=object),
        [np.float64(2.5), np.float32(10), np.int64(6), np.int16(3), np.str_("tr")],
        {**PLAIN, "price": 10, "hour": np.uint8(6)},
    ],
)
def test_contexts_are_taken_by_name_in_order_and_from_numpy_alike(context: Any) -> None:
    point, plain = encoded(MIXED, context)
    assert point == pytest.approx([0.75, 1 / 3, 0.25, 0.25, 1.0], abs=1e-15)
    assert plain == PLAIN
    assert list(plain) == list(PLAIN)
    assert {type(value) for value in plain.values()} <= {float, int, str}
    assert msgspec.json.decode(msgspec.json.encode(plain)) == PLAIN


def test_a_float_array_is_a_context_of_reals() -> None:
    problem = PROBLEMS["unit"]
    for context in (np.array([0.25]), np.array([0.25], np.float32), [0.25], {"x": np.float16(0.25)}):
        assert encoded(problem, context) == ([0.25], {"x": 0.25})


@given(st.integers(0, 14))
def test_an_arm_of_integers_and_choices_has_a_number(number: int) -> None:
    point = np.full(MIXED.dim, math.nan)
    arm = {"level": number // 3, "codec": "abc"[number % 3]}
    assert MIXED.encode_arm(arm, point) == number
    assert point[5:].tolist() == MIXED.encoding.arms[number].tolist()
    assert MIXED.decode_arm(number, point) == arm
    for same in (list(arm.values()), tuple(arm.values()), [np.int64(number // 3), np.str_("abc"[number % 3])]):
        again = np.full(MIXED.dim, math.nan)
        assert MIXED.encode_arm(same, again) == number
        assert again[5:].tolist() == point[5:].tolist()


@pytest.mark.parametrize("name", ["no-context", "features"])
def test_a_finite_arm_is_known_by_its_label(name: str) -> None:
    problem = PROBLEMS[name]
    assert isinstance(problem.arm, Finite)
    for number, label in enumerate(problem.arm.labels):
        point = np.full(problem.dim, math.nan)
        assert problem.encode_arm(label, point) == number
        assert point[len(problem.context) :].tolist() == problem.arm.table[number].tolist()
        assert problem.decode_arm(number, point) == label


def test_a_continuous_arm_has_no_number() -> None:
    point = np.zeros(2)
    assert PROBLEMS["two-arms"].encode_arm({"y": 0.5, "n": 3}, point) == -1
    assert point.tolist() == [0.5, 1.0]
    assert PROBLEMS["two-arms"].decode_arm(-1, point) == {"y": 0.5, "n": 3}


@pytest.mark.parametrize(
    "reward",
    [
        {"speed": 25, "delay": 2},
        {"delay": 2.0, "speed": np.int64(25)},
        [25, 2],
        (25.0, 2.0),
        np.array([25, 2]),
        np.array([25.0, 2.0], np.float32),
    ],
)
def test_rewards_are_taken_by_name_in_order_and_from_numpy_alike(reward: Any) -> None:
    out = np.empty(2)
    assert MIXED.encode_reward(reward, out) == 0b11
    assert out.tolist() == [0.25, 0.25]
    assert MIXED.decode_reward(out) == {"speed": 25.0, "delay": 2.0}


@pytest.mark.parametrize("reward", [{"delay": 2}, {"delay": 2, "speed": None}, [None, 2], (None, np.float64(2))])
def test_a_reward_may_be_partial(reward: Any) -> None:
    out = np.empty(2)
    assert MIXED.encode_reward(reward, out) == 0b10
    assert math.isnan(out[0])
    assert out[1] == 0.25


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_problem_survives_json(name: str) -> None:
    problem = PROBLEMS[name]
    back = msgspec.json.decode(msgspec.json.encode(problem), type=Problem)
    assert back == problem
    assert msgspec.json.encode(back) == msgspec.json.encode(problem)
    for mine, theirs in zip(problem.encoding, back.encoding, strict=True):
        assert np.array_equal(mine, theirs)
    assert back != PROBLEMS["unit" if name == "mixed" else "mixed"]


def test_json_of_an_impossible_problem_is_refused() -> None:
    text = msgspec.json.encode(PROBLEMS["unit"]).replace(b'"high":1.0', b'"high":-1.0')
    with pytest.raises(msgspec.ValidationError, match="must be below high"):
        msgspec.json.decode(text, type=Problem)


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 1))
def test_an_exact_problem_changes_no_number(x: float, y: float, r: float) -> None:
    problem = PROBLEMS["unit"]
    point, out = np.empty(2), np.empty(2)
    problem.encode_context([x], point)
    problem.encode_arm([y], point)
    problem.encode_reward([r, 1 - r], out)
    assert problem.exact
    assert [*point.tolist(), *out.tolist()] == [x, y, r, 1 - r]
    assert (problem.decode_context(point), problem.decode_arm(-1, point)) == ({"x": x}, {"y": y})
    assert problem.decode_reward(out) == {"a": r, "b": 1 - r}


@pytest.mark.parametrize(
    ("change", "exact"),
    [
        ({}, True),
        ({"context": [Real("x", periodic=True)]}, True),
        ({"context": [Real("x", 0, 2)]}, False),
        ({"context": [Integer("x", 0, 1)]}, False),
        ({"context": [Categorical("x", ["a", "b"])]}, False),
        ({"arm": [Real("y", 1, 2)]}, False),
        ({"arm": Finite(["a", "b"])}, True),
        ({"arm": [Integer("y", 3, 9)]}, True),
        ({"objectives": [Objective("r", goal="min")]}, False),
        ({"objectives": [Objective("r", high=2)]}, False),
        ({"objectives": [Objective("r", bounded=False)]}, True),
    ],
)
def test_which_problems_are_exact(change: dict[str, Any], exact: bool) -> None:
    parts: dict[str, Any] = {"context": [Real("x")], "arm": [Real("y")], "objectives": [Objective("r")]}
    assert Problem(**{**parts, **change}).exact == exact


def test_what_is_no_dimension_is_refused_with_a_remedy() -> None:
    with refuses("arm: 'a' is not a Real", "; for labels use Finite([...])"):
        Problem(context=[], arm=["a", "b"], objectives=[Objective("r")])  # type: ignore[list-item]
    with refuses("objectives: 'r' is not an Objective"):
        Problem(context=[], arm=Finite(["a"]), objectives=["r"])  # type: ignore[list-item]
    with refuses("context: 'x' is not a Real or Integer or Categorical"):
        Problem(context=["x"], arm=Finite(["a"]), objectives=[Objective("r")])  # type: ignore[list-item]
