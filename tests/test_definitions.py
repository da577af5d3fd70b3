"""Definitions of dimensions, objectives and problems that are refused, and those in numpy's types."""

from __future__ import annotations

import math
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgspec
import numpy as np
import pytest

from paretozoom import Categorical, Finite, Integer, Objective, Problem, Real
from tests.borders import PROBLEMS, encoded, refuses


def spelled(value: Any) -> str | None:
    """The fragments of a message as a test's id."""
    return " ".join(value) if isinstance(value, list) else None


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


@pytest.mark.parametrize(
    ("part", "typo"),
    [("context", {"Scale": "log"}), ("arm", {"periodc": True}), ("objectives", {"gaol": "min"}), (None, {"norm": 3})],
)
def test_misspelled_fields_in_json_are_refused(part: str | None, typo: dict[str, Any]) -> None:
    plain: dict[str, Any] = {
        "context": [{"type": "real", "name": "x"}],
        "arm": [{"type": "real", "name": "y"}],
        "objectives": [{"name": "r"}],
    }
    assert msgspec.convert(plain, Problem).objective_names == ("r",)
    (plain if part is None else plain[part][0]).update(typo)
    with pytest.raises(msgspec.ValidationError, match=next(iter(typo))):
        msgspec.convert(plain, Problem)
