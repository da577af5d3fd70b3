"""Dimensions and objectives: encoding, orientation and scaling, there and back."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from paretozoom import Categorical, Finite, Integer, Objective, Real, Refused
from tests.borders import PROBLEMS

EPS = float(np.finfo(float).eps)


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


@pytest.mark.parametrize("labels", [{"a": [1.0], "b": [2.0]}, {"a": 1}, {}], ids=repr)
def test_labels_with_features_in_one_mapping_are_refused(labels: Any) -> None:
    """A mapping would otherwise count as its keys, and the features be gone."""
    with pytest.raises(Refused) as refusal:
        Finite(labels)
    assert repr(labels) in str(refusal.value)
    assert f"Finite({list(labels)!r}, features=[...])" in str(refusal.value)


def test_choices_in_a_mapping_are_refused() -> None:
    with pytest.raises(Refused, match="expected a list"):
        Categorical("codec", {"x": 1, "y": 2})  # type: ignore[arg-type]
