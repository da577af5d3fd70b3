"""The border: encoding, orientation and scaling of contexts, arms and rewards, and what is refused there."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paretozoom import Categorical, Finite, Integer, Objective, Problem, Real, Refused

EPS = float(np.finfo(float).eps)
NOT_NUMBERS = ["0.5", None, True, False, b"0.5", [0.5], {}, 0.5j]
NOT_FINITE = [math.nan, math.inf, -math.inf, np.float64(math.nan), np.float32(math.inf)]

MIXED = Problem(
    context=[
        Real("load", -5, 5),
        Real("price", 1, 1000, scale="log"),
        Real("hour", 0, 24, periodic=True),
        Integer("threads", 1, 9),
        Categorical("country", ["cz", "tr", "at"]),
    ],
    arm=[Integer("level", 0, 4), Categorical("codec", ["a", "b", "c"])],
    objectives=[Objective("speed", high=100), Objective("delay", goal="min", low=-1, high=3, bounded=False)],
)
PLAIN = {"load": 2.5, "price": 10.0, "hour": 6.0, "threads": 3, "country": "tr"}
PROBLEMS = {
    "mixed": MIXED,
    "unit": Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a"), Objective("b")]),
    "no-context": Problem(context=[], arm=Finite(["a", 1, 2.5, True][:3]), objectives=[Objective("r")]),
    "features": Problem(
        context=[Categorical("c", [0, 1.5, "x"])],
        arm=Finite(["s", "m", "l"], features=[[1, 7], [2, 7], [5, 7]]),
        objectives=[Objective("r", low=None, high=None), Objective("q", goal="min", bounded=False)],
    ),
    "two-arms": Problem(context=[], arm=[Real("y"), Integer("n", 0, 3)], objectives=[Objective("r")]),
}


@contextmanager
def refuses(*fragments: str) -> Iterator[None]:
    """Expect a refusal whose message contains every fragment."""
    with pytest.raises(Refused) as refusal:
        yield
    for fragment in fragments:
        assert fragment in str(refusal.value)


def spelled(value: Any) -> str | None:
    """The fragments of a message as a test's id."""
    return " ".join(value) if isinstance(value, list) else None


def encoded(problem: Problem, context: Any) -> tuple[list[float], dict[str, Any]]:
    """The coordinates of a context and the context in plain types."""
    point = np.full(problem.dim, math.nan)
    plain = problem.encode_context(context, point)
    return point[: len(problem.context)].tolist(), plain


# Dimensions


@st.composite
def spans(draw: st.DrawFn, floor: float = -1e6) -> tuple[float, float, float]:
    """(low, high, a value between them)."""
    low = draw(st.floats(floor, 1e6))
    high = low + draw(st.floats(1e-3, 1e6))
    return low, high, draw(st.floats(low, high))


@given(spans(), st.booleans())
@example((0.0, 1.0, 1.0), True)
@example((-3.0, 7.0, 7.0), False)
def test_linear_reals_make_the_round_trip(span: tuple[float, float, float], periodic: bool) -> None:
    low, high, value = span
    dimension = Real("v", low, high, periodic=periodic)
    coordinate = dimension.encode(value, "v")
    assert 0 <= coordinate <= 1
    # One subtraction, one division, one product and one sum, each off by half an ulp of at most |low| + |high|.
    assert abs(dimension.decode(coordinate) - value) <= 4 * EPS * (abs(low) + abs(high))
    assert low <= dimension.decode(coordinate) <= high
    assert dimension.encode(low, "v") == 0
    assert dimension.encode(high, "v") == 1
    assert dimension.decode(0.0) == low
    assert dimension.decode(1.0) == pytest.approx(high, rel=4 * EPS)


@given(st.floats(1e-6, 1e3), st.floats(1.001, 1e9), st.floats(0, 1))
@example(1.0, 100.0, 1.0)
@example(1.0, 100.0, 0.0)
def test_log_reals_make_the_round_trip(low: float, ratio: float, u: float) -> None:
    high = low * ratio
    dimension = Real("v", low, high, scale="log")
    value = min(max(low * ratio**u, low), high)
    coordinate = dimension.encode(value, "v")
    assert 0 <= coordinate <= 1
    # The coordinate is off by some ulps, which the exponent log(ratio) turns into a relative error.
    assert dimension.decode(coordinate) == pytest.approx(value, rel=8 * EPS * (1 + math.log(ratio) + 1 / (ratio - 1)))
    assert low <= dimension.decode(coordinate) <= high
    assert (dimension.encode(low, "v"), dimension.encode(high, "v")) == (0, 1)


def test_a_log_scale_makes_equal_ratios_equal_steps() -> None:
    dimension = Real("price", 1, 10_000, scale="log")
    assert [dimension.encode(10.0**k, "price") for k in range(5)] == pytest.approx([0, 0.25, 0.5, 0.75, 1], abs=1e-15)


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**9), st.data())
def test_integers_make_the_round_trip_exactly(low: int, width: int, data: st.DataObject) -> None:
    dimension = Integer("n", low, low + width)
    value = data.draw(st.integers(low, low + width))
    coordinate = dimension.encode(value, "n")
    assert 0 <= coordinate <= 1
    assert dimension.decode(coordinate) == value
    assert type(dimension.decode(coordinate)) is int
    assert dimension.encode(np.int32(low), "n") == 0
    assert dimension.encode(low + width, "n") == 1
    assert dimension.values == width + 1


@given(st.lists(st.one_of(st.text(), st.integers(), st.booleans()), min_size=2, max_size=9, unique=True))
def test_choices_are_numbered_in_order(choices: list[Any]) -> None:
    dimension = Categorical("c", choices)
    assert [dimension.encode(choice, "c") for choice in choices] == list(range(len(choices)))
    assert [dimension.decode(float(k)) for k in range(len(choices))] == choices


@given(st.data())
def test_features_are_scaled_to_the_unit_interval(data: st.DataObject) -> None:
    arms, columns = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 3))
    row = st.lists(st.floats(-1e6, 1e6), min_size=columns, max_size=columns)
    features = data.draw(st.lists(row, min_size=arms, max_size=arms))
    table = Finite(list(range(arms)), features).table
    assert table.shape == (arms, columns)
    assert table.min() == 0
    assert table.max() <= 1
    for column, given_column in zip(table.T, np.array(features).T, strict=True):
        assert column.max() == (1 if np.ptp(given_column) > 0 else 0)
        ranks = np.argsort(given_column, kind="stable")
        assert np.all(np.diff(column[ranks]) >= 0)


def test_arms_without_features_are_equally_unlike() -> None:
    assert Finite(["a", "b", "c"]).table.tolist() == [[0.0], [1.0], [2.0]]
    assert PROBLEMS["no-context"].encoding.arms.shape == (3, 1)


# Objectives


@pytest.mark.parametrize(
    ("objective", "value", "inside"),
    [
        (Objective("r"), 0.25, 0.25),
        (Objective("r", low=-10, high=10), 5, 0.75),
        (Objective("r", goal="min", low=0, high=200), 50, 0.75),
        (Objective("r", goal="min", low=0, high=200), 200, 0.0),
        (Objective("r", bounded=False), 1.5, 1.5),
        (Objective("r", goal="min", bounded=False, low=1, high=3), 4, -0.5),
        (Objective("r", low=None, high=None), -7.5, -7.5),
        (Objective("r", goal="min", low=None, high=None), -7.5, 7.5),
    ],
)
def test_rewards_are_oriented_and_scaled(objective: Objective, value: float, inside: float) -> None:
    for same in (value, np.float64(value), np.float32(value)):
        assert objective.encode(same, "r") == inside
    assert objective.decode(inside) == value
    assert type(objective.decode(inside)) is float


@given(spans(), st.sampled_from(["max", "min"]), st.booleans(), st.booleans())
def test_rewards_make_the_round_trip(span: tuple[float, float, float], goal: Any, bounded: bool, unknown: bool) -> None:
    low, high, value = span
    objective = Objective("r", goal, None if unknown else low, None if unknown else high, bounded)
    inside = objective.encode(value, "r")
    assert abs(objective.decode(inside) - value) <= 4 * EPS * (abs(low) + abs(high))
    if not unknown:
        assert 0 <= inside <= 1
        best, worst = (high, low) if goal == "max" else (low, high)
        assert (objective.encode(worst, "r"), objective.encode(best, "r")) == (0, 1)
    else:
        assert objective.encode(value + 1, "r") > inside or goal == "min"
        assert not objective.bounded
        assert objective.span == 1


# Problems


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


# Refusals


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


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (lambda: Real(""), ["Real", "''"]),
        (lambda: Real(5), ["Real", "5"]),
        (lambda: Real("v", 1, 1), ["v", "1.0"]),
        (lambda: Real("v", 2, 1), ["v", "2.0", "1.0"]),
        (lambda: Real("v", "0", 1), ["v", "'0'"]),
        (lambda: Real("v", True, 2), ["v", "True"]),
        (lambda: Real("v", 0, math.inf), ["v", "inf"]),
        (lambda: Real("v", math.nan, 1), ["v", "nan"]),
        (lambda: Real("v", 0, 10**400), ["v", "high"]),
        (lambda: Real("v", scale="cubic"), ["v", "'cubic'"]),
        (lambda: Real("v", 0, 1, scale="log"), ["v", "0.0", "log"]),
        (lambda: Real("v", 1, 2, scale="log", periodic=True), ["v", "periodic"]),
        (lambda: Integer("", 0, 1), ["Integer", "''"]),
        (lambda: Integer("n", 0, 0), ["n", "0"]),
        (lambda: Integer("n", 0.0, 1), ["n", "0.0"]),
        (lambda: Integer("n", False, 5), ["n", "False"]),
        (lambda: Categorical("", ["a", "b"]), ["Categorical", "''"]),
        (lambda: Categorical("c", []), ["c", "()"]),
        (lambda: Categorical("c", ["a"]), ["c", "('a',)"]),
        (lambda: Categorical("c", ["a", "a"]), ["c", "('a', 'a')"]),
        (lambda: Categorical("c", [True, 1]), ["c", "(True, 1)"]),
        (lambda: Finite([]), ["labels", "()"]),
        (lambda: Finite(["a", "a"]), ["labels", "('a', 'a')"]),
        (lambda: Finite(["a", "b"], features=[[1]]), ["features", "1 rows", "2 rows"]),
        (lambda: Finite(["a", "b"], features=[[1], [1, 2]]), ["features", "[1, 2]"]),
        (lambda: Finite(["a"], features=[[]]), ["features", "[0]"]),
        (lambda: Finite(["a"], features=[["1"]]), ["features", "'1'"]),
        (lambda: Finite(["a"], features=[[math.nan]]), ["features", "nan"]),
        (lambda: Objective(""), ["Objective", "''"]),
        (lambda: Objective("r", goal="MAX"), ["r", "'MAX'"]),
        (lambda: Objective("r", low=None), ["r", "None"]),
        (lambda: Objective("r", low=2), ["r", "2.0"]),
        (lambda: Objective("r", low="0"), ["r", "'0'"]),
        (lambda: Objective("r", high=math.inf), ["r", "inf"]),
        (lambda: Problem(context=5, arm=[Real("y")], objectives=[Objective("r")]), ["context", "5"]),
        (lambda: Problem(context="x", arm=[Real("y")], objectives=[Objective("r")]), ["context", "'x'"]),
        (lambda: Problem(context=[Objective("x")], arm=[Real("y")], objectives=[Objective("r")]), ["context", "'x'"]),
        (lambda: Problem(context=[Real("x")] * 2, arm=[Real("y")], objectives=[Objective("r")]), ["context", "'x'"]),
        (lambda: Problem(context=[], arm=[], objectives=[Objective("r")]), ["arm"]),
        (lambda: Problem(context=[], arm=None, objectives=[Objective("r")]), ["arm", "None"]),
        (lambda: Problem(context=[], arm=[Finite(["a"])], objectives=[Objective("r")]), ["arm", "Finite"]),
        (lambda: Problem(context=[], arm=[Real("y")], objectives=[]), ["objectives", "0"]),
        (lambda: Problem(context=[], arm=[Real("y")], objectives=Objective("r")), ["objectives", "'r'"]),
        (lambda: Problem(context=[], arm=[Real("y")], objectives=[Objective("r")] * 2), ["objectives", "'r'"]),
        (
            lambda: Problem(context=[], arm=[Real("y")], objectives=[Objective(str(k)) for k in range(33)]),
            ["objectives", "33"],
        ),
    ],
    ids=spelled,
)
def test_impossible_definitions_are_refused(make: Callable[[], Any], fragments: list[str]) -> None:
    with refuses(*fragments):
        make()


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (lambda: Categorical("c", 5), ["c", "5"]),
        (lambda: Categorical("c", [[1], [2]]), ["c", "[1]"]),
        (lambda: Categorical("c", [None, 1]), ["c", "None"]),
        (lambda: Categorical("c", [math.nan, 1]), ["c", "nan"]),
        (lambda: Finite(5), ["labels", "5"]),
        (lambda: Finite(None), ["labels", "None"]),
        (lambda: Finite([["a"], ["b"]]), ["labels", "['a']"]),
        (lambda: Finite(["a", "b"], features=5), ["features", "5"]),
        (lambda: Finite(["a", "b"], features=[1, 2]), ["features", "1"]),
        (lambda: Real("v", periodic="yes"), ["periodic", "'yes'"]),
        (lambda: Objective("r", bounded="yes"), ["bounded", "'yes'"]),
    ],
    ids=spelled,
)
def test_definitions_of_wrong_types_are_refused(make: Callable[[], Any], fragments: list[str]) -> None:
    with refuses(*fragments):
        make()


@pytest.mark.parametrize(
    "make",
    [
        lambda: Real("v", -1e308, 1e308),
        lambda: Real("v", 1e-300, 1e300, scale="log"),
        lambda: Finite(["a", "b"], features=[[-1e308], [1e308]]),
        lambda: Objective("r", low=-1e308, high=1e308),
    ],
)
def test_a_scale_too_wide_for_floats_is_refused(make: Callable[[], Any]) -> None:
    with refuses("e+30"):
        make()


@pytest.mark.parametrize(
    ("wide", "expected"),
    [
        (lambda: Real("v", np.float64(1), np.float64(9)), Real("v", 1, 9)),
        (lambda: Real("v", np.int64(1), np.float32(9)), Real("v", 1, 9)),
        (lambda: Integer("v", np.int64(1), np.int64(9)), Integer("v", 1, 9)),
        (lambda: Categorical("v", np.array(["a", "b"])), Categorical("v", ["a", "b"])),
        (lambda: Categorical("v", np.arange(3)), Categorical("v", [0, 1, 2])),
    ],
)
def test_definitions_in_numpy_types_become_plain(wide: Callable[[], Any], expected: Any) -> None:
    problem = Problem(context=[wide()], arm=[Real("y")], objectives=[Objective("r")])
    assert problem.context == (expected,)
    assert msgspec.json.decode(msgspec.json.encode(problem), type=Problem) == problem
    assert type(problem.context[0].decode(1.0)) is type(expected.decode(1.0))


def test_objectives_and_labels_in_numpy_types_become_plain() -> None:
    problem = Problem(
        context=[], arm=Finite(np.arange(2)), objectives=[Objective("r", low=np.float64(0), high=np.int64(3))]
    )
    assert msgspec.json.decode(msgspec.json.encode(problem), type=Problem) == problem
    assert type(problem.decode_arm(1, np.zeros(1))) is int


@pytest.mark.parametrize("value", [Decimal("0.5"), Fraction(1, 2), np.longdouble(0.5), np.array(0.5)], ids=repr)
def test_other_numbers_become_plain(value: Any) -> None:
    point, plain = encoded(PROBLEMS["unit"], {"x": value})
    assert point == [0.5]
    assert msgspec.json.encode(plain) == b'{"x":0.5}'
