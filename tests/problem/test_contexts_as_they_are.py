"""What contexts may leave out, exceed or have never listed: encoded once, and kept as it was given."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any

import msgspec
import numpy as np
import pytest

from paretozoom import Categorical, Finite, Integer, Objective, Problem, Random, Real
from paretozoom.problem import random_points
from tests.borders import refuses

ONE = [Objective("r")]
ARM = Finite(["a", "b"])
ODD = Problem(
    context=[
        Real("age", 0, 100, missing=True),
        Categorical("country", ["cz", "tr", 7], other=True),
        Real("income", 1, 10_000, scale="log", missing=True, outside="clip"),
        Integer("threads", 1, 9, outside="clip"),
        Real("load", -1, 1, outside="clip"),
    ],
    arm=ARM,
    objectives=ONE,
)
USUAL = {"age": 50, "country": "tr", "income": 100.0, "threads": 5, "load": 0.0}
ENCODED = [0.5, 0, 1, 0.5, 0, 0.5, 0.5]


def encoded(context: Any, problem: Problem = ODD) -> tuple[list[float], dict[str, Any]]:
    point = np.full(problem.dim, math.nan)
    plain = problem.encode_context(context, point)
    return point[: problem.encoding.context].tolist(), plain


def test_usual_values_are_as_ever() -> None:
    point, plain = encoded(USUAL)
    assert point == ENCODED
    assert plain == USUAL
    assert encoded(list(USUAL.values())) == (point, plain)
    assert ODD.encoding.missing.tolist() == [1, 4]
    assert ODD.encoding.values.tolist() == [0, -2, -4, 0, -2, 9, 0, 0]


NAN = [None, math.nan, np.float64("nan"), np.float32("nan"), np.array(math.nan)]


@pytest.mark.parametrize("nothing", NAN, ids=repr)
@pytest.mark.parametrize(("name", "place"), [("age", 0), ("income", 3)])
def test_a_missing_number_is_none_and_a_coordinate_says_so(name: str, place: int, nothing: Any) -> None:
    point, plain = encoded({**USUAL, name: nothing})
    expected = [*ENCODED]
    expected[place : place + 2] = 0.5, 1
    assert point == expected
    assert plain == {**USUAL, name: None}
    assert ODD.decode_context(np.array([*point, 0]))[name] is None


@pytest.mark.parametrize("nothing", [*NAN, Decimal("NaN")], ids=repr)
@pytest.mark.parametrize("name", ["threads", "load"])
def test_what_may_not_be_missing_is_refused(name: str, nothing: Any) -> None:
    policy = Random(ODD, seed=1)
    before = policy.dump().to_bytes()
    with refuses(f"context[{name!r}]"):
        policy.ask({**USUAL, name: nothing})
    assert policy.dump().to_bytes() == before


@pytest.mark.parametrize("wrong", ["", "NaN", [None], np.array([math.nan, 1]), False], ids=repr)
def test_only_none_and_nan_are_missing(wrong: Any) -> None:
    with refuses("context['age']"):
        encoded({**USUAL, "age": wrong})
    with refuses("context: 'age' is missing in"):
        encoded({name: value for name, value in USUAL.items() if name != "age"})


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("at", "at"),
        ("", ""),
        (np.str_("at"), "at"),
        (3, 3),
        (np.int8(3), 3),
        (2.5, 2.5),
        (False, False),
        (None, None),
        (math.nan, None),
        (np.float32("nan"), None),
    ],
    ids=repr,
)
def test_what_was_never_listed_is_one_more_choice(given: Any, kept: Any) -> None:
    point, plain = encoded({**USUAL, "country": given})
    assert point[2] == 3
    assert plain["country"] == kept
    assert type(plain["country"]) is type(kept)
    assert encoded(plain) == (point, plain), "what the log says is encoded alike"
    assert ODD.decode_context(np.array([*point, 0]))["country"] == "other"
    assert encoded({**USUAL, "country": "other"})[0] == point


def test_listed_choices_stay_what_they_are() -> None:
    for number, choice in enumerate(["cz", np.str_("tr"), np.int64(7)]):
        point, plain = encoded({**USUAL, "country": choice})
        assert (point[2], plain["country"]) == (number, ["cz", "tr", 7][number])


@pytest.mark.parametrize("wrong", [["cz"], {}, math.inf, b"cz", "\ud800", np.array(["cz", "tr"]), 1j], ids=ascii)
def test_what_a_log_cannot_say_is_refused(wrong: Any) -> None:
    with refuses("context['country']", "not a string, a number, a boolean or None"):
        encoded({**USUAL, "country": wrong})


@pytest.mark.parametrize(
    ("name", "value", "place", "coordinate"),
    [
        ("load", 1.5, 6, 1),
        ("load", -7, 6, 0),
        ("load", np.float32(3), 6, 1),
        ("threads", 0, 5, 0),
        ("threads", 10**30, 5, 1),
        ("income", 1e9, 3, 1),
        ("income", 0, 3, 0),
        ("income", -5.0, 3, 0),
    ],
)
def test_values_outside_count_as_the_nearest_bound(name: str, value: Any, place: int, coordinate: float) -> None:
    point, plain = encoded({**USUAL, name: value})
    assert point[place] == coordinate
    assert plain == {**USUAL, name: value}, "the log has them as they were given"
    assert msgspec.json.decode(msgspec.json.encode(plain)) == plain


@pytest.mark.parametrize("value", [math.inf, -math.inf, "2", True], ids=repr)
@pytest.mark.parametrize("name", ["load", "threads", "income"])
def test_what_is_no_finite_number_is_not_clipped(name: str, value: Any) -> None:
    with refuses(f"context[{name!r}]", repr(value)):
        encoded({**USUAL, name: value})


def test_many_contexts_are_those_of_one_after_another() -> None:
    task = Problem([Real("x", outside="clip"), Real("y", -1, 1)], ARM, ONE)
    gaps = Problem([Real("x", outside="clip", missing=True), Real("y", -1, 1)], ARM, ONE)
    rows = np.array([[0.5, 1], [-3, 0.1], [1e9, -1], [0.3, 0.7]])
    for problem, contexts in ((task, rows), (gaps, np.vstack([rows, [math.nan, 0]]))):
        many, one = Random(problem, seed=1), Random(problem, seed=1)
        asked = many.ask_many(contexts)
        assert list(asked) == [one.ask(row) for row in contexts]
        assert asked[2].context == {"x": 1e9, "y": -1.0}
        assert many.dump().to_bytes() == one.dump().to_bytes()
        for row, words in (([math.inf, 0.0], ["contexts[0]['x']", "inf"]), ([0.5, 2.0], ["contexts[0]['y']", "2.0"])):
            with refuses(*words):
                many.ask_many(np.array([row]))
        assert many.dump().to_bytes() == one.dump().to_bytes()


def test_random_points_are_points_that_there_are() -> None:
    for point in random_points(ODD.encoding, 100, np.random.default_rng(0)):
        again = np.empty(ODD.dim)
        ODD.encode_context(ODD.decode_context(point), again)
        assert again[:-1] == pytest.approx(point[:-1], abs=1e-12)


def test_such_a_problem_survives_json() -> None:
    assert msgspec.json.decode(msgspec.json.encode(ODD), type=Problem) == ODD
    plain = {"type": "real", "name": "age", "low": 0, "high": 100, "missing": True}
    assert msgspec.convert(plain, Real) == ODD.context[0]


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (lambda: Real("v", missing="yes"), ["v: missing", "'yes'"]),
        (lambda: Real("v", outside="wrap"), ["v: outside", "'wrap'", "'clip'"]),
        (lambda: Integer("v", 0, 5, outside=True), ["v: outside", "True"]),
        (lambda: Categorical("v", ["a", "b"], other=1), ["v: other", "1"]),
        (lambda: Categorical("v", ["a", "other"], other=True), ["v", "'other'", "stands for the others"]),
        (lambda: Problem([], [Real("v", missing=True)], ONE), ["arm: 'v'", "missing", "always has a value"]),
        (lambda: Problem([], [Real("v", outside="clip")], ONE), ["arm: 'v'", "clips"]),
        (lambda: Problem([], [Integer("v", 0, 5, outside="clip")], ONE), ["arm: 'v'", "clips"]),
        (lambda: Problem([], [Categorical("v", ["a", "b"], other=True)], ONE), ["arm: 'v'", "listed"]),
    ],
)
def test_impossible_definitions_are_refused(make: Any, fragments: list[str]) -> None:
    with refuses(*fragments):
        make()
