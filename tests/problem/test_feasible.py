"""Feasible sets: rows hold what the user's boxes and labels hold, once, and what cannot be one is refused."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Categorical, Dimension, Finite, Floats, Integer, Objective, Real
from paretozoom.problem.feasible import ANY, MOST_ROWS, encode_feasible
from paretozoom.records import Refused

STEPS = 6  # edges of drawn boxes lie on this grid, points to ask about between its lines
POOL: list[Dimension] = [
    Real("x", -3, 9),
    Real("price", 1, 1000, scale="log"),
    Real("hour", 0, 24, periodic=True),
    Integer("level", -2, 1),
    Categorical("codec", ["a", "b", "c"]),
]


def problem_of(arm: Finite | Sequence[Dimension]) -> Problem:
    return Problem(context=[Real("load"), Integer("queue", 0, 3)], arm=arm, objectives=[Objective("r")])


def rows_of(arm: Finite | Sequence[Dimension], feasible: Any) -> list[list[float]]:
    """The rows as lists, after a look at their form."""
    rows = encode_feasible(problem_of(arm), feasible)
    assert rows.dtype == np.float64
    assert rows.ndim == 2
    assert rows.flags.c_contiguous
    assert len(rows) > 0
    return rows.tolist()


def allows(dimension: Dimension, allowed: Any, value: Any) -> bool:
    """Whether the user's words allow the user's value."""
    if isinstance(dimension, Categorical):
        return bool(value in allowed if isinstance(allowed, (list, tuple, set)) else value == allowed)
    if not isinstance(allowed, (list, tuple)):
        return bool(value == allowed)
    low, high = allowed
    return bool(low <= value <= high if low <= high else value <= high or value >= low)


def in_boxes(arm: Sequence[Dimension], boxes: list[dict[str, Any]], value: dict[str, Any]) -> bool:
    return any(all(d.name not in box or allows(d, box[d.name], value[d.name]) for d in arm) for box in boxes)


def rows_with(rows: Floats, point: Floats) -> int:
    """How many rows hold a point of the arm space."""
    lows, highs = np.hsplit(rows, 2)
    return int(np.all((lows <= point) & (point <= highs), axis=1).sum())


def volume(rows: Floats, reals: Sequence[int]) -> float:
    lows, highs = np.hsplit(rows, 2)
    return float(np.prod((highs - lows)[:, list(reals)], axis=1).sum())


def assert_disjoint(rows: Floats, reals: Sequence[int]) -> None:
    lows, highs = np.hsplit(rows, 2)
    discrete = [j for j in range(lows.shape[1]) if j not in reals]
    assert np.array_equal(lows[:, discrete], highs[:, discrete])
    assert np.all(lows[:, list(reals)] < highs[:, list(reals)])
    assert lows.min() >= 0
    for a, b in itertools.combinations(range(len(rows)), 2):
        apart = (lows[a] >= highs[b]) | (lows[b] >= highs[a])
        differ = np.any(lows[a, discrete] != lows[b, discrete])
        assert differ or np.any(apart[list(reals)])


@st.composite
def allowed_of(draw: st.DrawFn, dimension: Dimension) -> Any:
    if isinstance(dimension, Real):
        low, high = draw(st.lists(st.integers(0, STEPS), min_size=2, max_size=2, unique=True).map(sorted))
        if dimension.periodic and (low, high) != (0, STEPS) and draw(st.booleans()):
            low, high = high, low
        return draw(st.sampled_from([tuple, list]))([dimension.decode(low / STEPS), dimension.decode(high / STEPS)])
    if isinstance(dimension, Integer):
        low, high = sorted(draw(st.integers(dimension.low, dimension.high)) for _ in range(2))
        return draw(st.sampled_from([low, np.int8(low), (low, high), [low, np.int64(high)]]))
    choices = draw(st.lists(st.sampled_from(dimension.choices), min_size=1, max_size=4))
    return draw(st.sampled_from([choices, tuple(choices), set(choices), choices[0]]))


@st.composite
def boxes_of(draw: st.DrawFn, arm: Sequence[Dimension], most: int = 4) -> list[dict[str, Any]]:
    boxes = []
    for _ in range(draw(st.integers(1, most))):
        named = draw(st.lists(st.sampled_from(arm), unique=True))
        boxes.append({d.name: draw(allowed_of(d)) for d in named})
    return boxes


# Rows against boxes


@given(st.data())
def test_rows_hold_once_what_the_boxes_hold(data: st.DataObject) -> None:
    others = data.draw(st.lists(st.sampled_from(POOL), max_size=2, unique=True))
    first = data.draw(st.sampled_from([d for d in POOL[:3] if d not in others] or POOL[:1]))
    arm = data.draw(st.permutations([first, *(d for d in others if d is not first)]))
    boxes = data.draw(boxes_of(arm))
    problem = problem_of(arm)
    rows = encode_feasible(problem, boxes)
    assert rows.shape[1] == 2 * len(arm)
    reals = [j for j, d in enumerate(arm) if isinstance(d, Real)]
    assert_disjoint(rows, reals)
    middles = [d.decode((k + 0.5) / STEPS) for d in arm if isinstance(d, Real) for k in range(STEPS)]
    every = [
        middles[reals.index(j) * STEPS :][:STEPS]
        if isinstance(d, Real)
        else range(d.low, d.high + 1)
        if isinstance(d, Integer)
        else d.choices
        for j, d in enumerate(arm)
    ]
    point, held = np.zeros(problem.dim), 0
    for values in itertools.product(*every):
        problem.encode_arm(values, point)
        inside = in_boxes(arm, boxes, dict(zip([d.name for d in arm], values, strict=True)))
        assert rows_with(rows, point[2:]) == inside
        held += inside
    assert volume(rows, reals) == pytest.approx(held / STEPS ** len(reals), abs=1e-9)


@given(st.data(), st.integers(1, 4))
def test_the_volume_is_that_of_inclusion_and_exclusion(data: st.DataObject, dim: int) -> None:
    arm = [Real(f"x{j}") for j in range(dim)]
    side = st.tuples(st.floats(0, 0.99), st.floats(1e-6, 1)).map(lambda s: (s[0], min(1.0, s[0] + s[1])))
    boxes = data.draw(st.lists(st.fixed_dictionaries({d.name: side for d in arm}), min_size=1, max_size=4))
    rows = encode_feasible(problem_of(arm), boxes)
    assert_disjoint(rows, range(dim))
    union = 0.0
    for size in range(1, len(boxes) + 1):
        for some in itertools.combinations(boxes, size):
            sides = [(max(b[d.name][0] for b in some), min(b[d.name][1] for b in some)) for d in arm]
            union -= (-1) ** size * math.prod(max(0.0, high - low) for low, high in sides)
    assert volume(rows, range(dim)) == pytest.approx(union, abs=1e-9)
    for point in np.random.default_rng(len(rows)).random((200, dim)):
        inside = in_boxes(arm, boxes, {d.name: point[j] for j, d in enumerate(arm)})
        assert rows_with(rows, point) == inside


@given(st.data())
def test_the_order_of_boxes_does_not_matter(data: st.DataObject) -> None:
    boxes = data.draw(boxes_of(POOL, 3))
    shuffled = data.draw(st.permutations([*boxes, boxes[0]]))
    assert rows_of(POOL, boxes) == rows_of(POOL, shuffled)


@given(st.data())
def test_numbers_of_arms_are_those_in_the_boxes(data: st.DataObject) -> None:
    arm = data.draw(st.sampled_from([POOL[3:], POOL[:2:-1], POOL[3:4], POOL[4:]]))
    boxes = data.draw(boxes_of(arm))
    problem = problem_of(arm)
    arms = [problem.decode_arm(k, np.append([0, 0], row)) for k, row in enumerate(problem.encoding.arms)]
    assert rows_of(arm, boxes) == [[k] for k, value in enumerate(arms) if in_boxes(arm, boxes, value)]


@given(st.data())
def test_integers_too_many_to_number_are_points(data: st.DataObject) -> None:
    arm = [Integer("m", 0, 999), Integer("n", -5, 995)]
    problem = problem_of(arm)
    assert len(problem.encoding.arms) == 0
    near = st.tuples(st.integers(0, 9), st.integers(0, 9)).map(lambda ends: tuple(sorted(ends)))
    boxes = data.draw(st.lists(st.fixed_dictionaries({"m": near, "n": near}), min_size=1, max_size=3))
    point, expected = np.zeros(problem.dim), []
    for m, n in itertools.product(range(10), range(10)):
        if in_boxes(arm, boxes, {"m": m, "n": n}):
            problem.encode_arm([m, n], point)
            expected.append([*point[2:], *point[2:]])
    assert rows_of(arm, boxes) == expected


# Forms


def test_none_is_the_shared_array_without_rows() -> None:
    for arm in (Finite(["a"]), POOL[:1], POOL):
        assert encode_feasible(problem_of(arm), None) is ANY
    assert ANY.shape == (0, 0)
    assert ANY.dtype == np.float64


@pytest.mark.parametrize(
    "labels", [["l", "s", "l"], ("s", "l"), {"l", "s"}, frozenset("sl"), np.array(["l", "s"]), [np.str_("s"), "l"]]
)
@pytest.mark.parametrize("features", [None, [[1, 2], [3, 4], [5, 7]]])
def test_labels_become_sorted_distinct_numbers(labels: Any, features: Any) -> None:
    assert rows_of(Finite(["s", "m", "l"], features), labels) == [[0], [2]]


def test_labels_may_be_numbers() -> None:
    assert rows_of(Finite([10, 20, 0.5]), [0.5, np.int64(10)]) == [[0], [2]]


def test_one_box_is_a_list_of_one() -> None:
    for arm in (POOL[:1], POOL, POOL[3:]):
        name = arm[0].name
        box = {name: 1} if name == "level" else {name: (0, 3)}
        assert rows_of(arm, box) == rows_of(arm, [box]) == rows_of(arm, (box, box))


def test_a_box_without_names_holds_every_arm_in_the_order_of_the_product() -> None:
    assert rows_of(POOL[3:], {}) == [[k] for k in range(12)]
    assert rows_of(POOL[:1], {}) == [[0, 1]]
    arm = [POOL[3], POOL[0], POOL[4]]
    cells = itertools.product([0, 1 / 3, 2 / 3, 1], [0, 1, 2])
    assert rows_of(arm, {}) == [[level, 0, codec, level, 1, codec] for level, codec in cells]


def test_intervals_of_one_dimension_are_merged_and_sorted() -> None:
    boxes = [{"y": (0.75, 1)}, {"y": (0.25, 0.375)}, {"y": (0, 0.125)}, {"y": (0.375, 0.5)}, {"y": (0.3125, 0.4375)}]
    assert rows_of([Real("y")], boxes) == [[0, 0.125], [0.25, 0.5], [0.75, 1]]
    assert rows_of([Real("y"), POOL[4]], [{**box, "codec": ["b"]} for box in boxes[1:]]) == [
        [0, 1, 0.125, 1],
        [0.25, 1, 0.5, 1],
    ]


def test_units_and_log_scales_are_those_of_the_dimension() -> None:
    assert rows_of([Real("x", -3, 9)], {"x": (0, np.float32(3))}) == [[0.25, 0.5]]
    assert rows_of([Real("x", -3, 9)], {"x": np.array([0, 3])}) == [[0.25, 0.5]]
    assert rows_of([Real("price", 1, 10_000, scale="log")], {"price": (10, 1000)}) == [pytest.approx([0.25, 0.75])]


@pytest.mark.parametrize(
    ("hours", "intervals"),
    [
        ((6, 12), [[0.25, 0.5]]),
        ((18, 6), [[0, 0.25], [0.75, 1]]),
        ((18, 0), [[0.75, 1]]),
        ((24, 6), [[0, 0.25]]),
        ((0, 24), [[0, 1]]),
        ((6.000001, 6), [[0, 0.25], [pytest.approx(0.25, abs=1e-6), 1]]),
    ],
)
def test_a_period_may_be_passed_through_its_end(hours: Any, intervals: list[list[float]]) -> None:
    assert rows_of([Real("hour", 0, 24, periodic=True)], {"hour": hours}) == intervals


def test_two_periods_through_their_ends_are_four_boxes() -> None:
    arm = [Real("hour", 0, 24, periodic=True), Real("angle", 0, 360, periodic=True)]
    rows = encode_feasible(problem_of(arm), {"hour": (18, 6), "angle": (270, 90)})
    assert len(rows) == 4
    assert volume(rows, [0, 1]) == 0.25


@pytest.mark.parametrize(
    ("box", "numbers"),
    [
        ({"level": 0}, [6, 7, 8]),
        ({"level": np.int16(0), "codec": "b"}, [7]),
        ({"level": (-1, 0), "codec": ["c", "a", "c"]}, [3, 5, 6, 8]),
        ({"level": np.array([1, 1]), "codec": np.array(["b"])}, [10]),
        ({"codec": {"c"}}, [2, 5, 8, 11]),
    ],
)
def test_integers_and_choices_are_given_alone_or_several(box: Any, numbers: list[int]) -> None:
    assert rows_of(POOL[3:], box) == [[k] for k in numbers]


def test_small_integer_types_do_not_overflow() -> None:
    arm = [Integer("n", -100, 300), Real("y")]
    assert rows_of(arm, {"n": np.int8(100)}) == rows_of(arm, {"n": (np.uint8(100), np.int8(100))}) == [[0.5, 0, 0.5, 1]]


def test_a_box_within_another_adds_nothing() -> None:
    arm = [Real("x"), Real("y")]
    small = [{"x": (k / 100, k / 100 + 0.01), "y": (0.3, 0.6)} for k in range(90)]
    assert rows_of(arm, [*small, {"x": (0, 0.95)}]) == [[0, 0, 0.95, 1]]


def test_slivers_are_dropped() -> None:
    arm = [Real("x"), Real("y")]
    assert rows_of(arm, [{"x": (0, 0.5)}, {"x": (0.25, 0.5 + 1e-13), "y": (0, 0.5)}]) == [[0, 0, 0.5, 1]]
    assert rows_of([Real("hour", periodic=True)], {"hour": (0.5, 1e-13)}) == [[0.5, 1]]


# Refusals

MIXED: list[Dimension] = [*POOL, Integer("huge", 0, 10**12)]
FINITE = Finite(["s", "m", "l"])
EMPTY = "the feasible set is empty"
LENGTH = "a Real dimension needs an interval of positive length"


@pytest.mark.parametrize(
    ("arm", "feasible", "fragments"),
    [
        (FINITE, "s", ["feasible: 's' is not a list of labels"]),
        (FINITE, {"s": 1}, ["feasible: {'s': 1} is not a list of labels"]),
        (FINITE, 3, ["feasible: 3 is not a list of labels"]),
        (FINITE, ["s", "x"], ["feasible: 'x' is not one of ['s', 'm', 'l']"]),
        (FINITE, [["s"]], ["feasible: ['s'] is not one of"]),
        (FINITE, [], ["feasible: []", EMPTY]),
        (FINITE, set(), [EMPTY]),
        (FINITE, np.array([]), [EMPTY]),
        (POOL, [], ["feasible: []", EMPTY]),
        (POOL[3:], (), ["feasible: ()", EMPTY]),
        (POOL, "x", ["feasible: 'x' is neither a box nor a list of boxes"]),
        (POOL, 0.5, ["feasible: 0.5 is neither a box nor a list of boxes"]),
        (POOL, [{}, (0, 1)], ["feasible[1]: (0, 1) is not a box", "'price'"]),
        (POOL[3:], [3], ["feasible[0]: 3 is not a box", "'level'"]),
        (POOL, {"cost": (0, 1)}, ["feasible: 'cost' is not one of the arm's dimensions ['x', 'price'"]),
        (POOL, [{}, {"load": 1}], ["feasible[1]: 'load' is not one of"]),
        (POOL, [{"price": (0, 5)}], ["feasible[0]['price']: 0 is outside [1, 1000]"]),
        (POOL, {"price": (5, 1001.0)}, ["feasible['price']: 1001.0 is outside [1, 1000]"]),
        (POOL, {"price": (5, "7")}, ["feasible['price']: '7' is not a number"]),
        (POOL, {"price": (5, math.nan)}, ["feasible['price']: nan is not a finite number"]),
        (POOL, {"price": 5}, ["feasible['price']: 5 is not (low, high)", LENGTH]),
        (POOL, {"price": None}, ["feasible['price']: None is not (low, high)", LENGTH]),
        (POOL, {"price": [1, 2, 3]}, ["feasible['price']: [1, 2, 3] is not (low, high)"]),
        (POOL, {"price": {1, 2}}, ["feasible['price']: {1, 2} is not (low, high)"]),
        (POOL, {"price": []}, ["feasible['price']: [] is not (low, high)"]),
        (POOL, [{}, {"price": (7, 7)}], ["feasible[1]['price']: (7, 7)", LENGTH]),
        (POOL, {"price": (7, 6)}, ["feasible['price']: (7, 6)", LENGTH, "low below high"]),
        (POOL, {"price": (7, 7 + 1e-8)}, ["feasible['price']: (7, 7.00000001)", LENGTH, "1e-09"]),
        (POOL, {"x": (0, 1e-8)}, ["feasible['x']: (0, 1e-08)", LENGTH]),
        (POOL, {"hour": (7, 7)}, ["feasible['hour']: (7, 7)", LENGTH]),
        (POOL, {"hour": (24, 0)}, ["feasible['hour']: (24, 0)", LENGTH]),
        (POOL, {"level": (1, 0)}, ["feasible['level']: (1, 0)", EMPTY]),
        (POOL[3:], [{"level": (1, 0)}], ["feasible[0]['level']: (1, 0)", EMPTY]),
        (POOL, {"level": 2}, ["feasible['level']: 2 is outside [-2, 1]"]),
        (POOL[3:], {"level": (-3, 0)}, ["feasible['level']: -3 is outside [-2, 1]"]),
        (POOL, {"level": 0.0}, ["feasible['level']: 0.0 is not an integer"]),
        (POOL, {"level": True}, ["feasible['level']: True is not an integer"]),
        (POOL, {"level": None}, ["feasible['level']: None is not an integer"]),
        (POOL, {"level": np.zeros((2, 2))}, ["feasible['level']: array(", "is not an integer"]),
        (POOL, {"level": [0, 1, 1]}, ["feasible['level']: [0, 1, 1] is neither (low, high) nor an integer"]),
        (POOL, {"level": {0, 99}}, ["feasible['level']: 99"]),
        (POOL, {"level": set()}, ["feasible['level']: set()"]),
        (POOL, {"codec": []}, ["feasible['codec']: []", EMPTY]),
        (POOL[3:], [{"codec": set()}], ["feasible[0]['codec']: set()", EMPTY]),
        (POOL, {"codec": "d"}, ["feasible['codec']: 'd' is not one of ['a', 'b', 'c']"]),
        (POOL, {"codec": "ab"}, ["feasible['codec']: 'ab' is not one of"]),
        (POOL[3:], {"codec": ["a", None]}, ["feasible['codec']: None is not one of"]),
        (MIXED, [{}], ["feasible[0]['huge']", f"expected at most {MOST_ROWS}"]),
        (MIXED, {"huge": (0, 2048)}, ["feasible", f"expected at most {MOST_ROWS}"]),
    ],
)
def test_what_is_no_feasible_set_is_refused(arm: Any, feasible: Any, fragments: list[str]) -> None:
    with pytest.raises(Refused) as refusal:
        encode_feasible(problem_of(arm), feasible)
    for fragment in fragments:
        assert fragment in str(refusal.value)


def test_rows_are_at_most_so_many() -> None:
    arm = [Integer("n", 0, 10**6), Real("y")]
    assert len(rows_of(arm, {"n": (1, MOST_ROWS)})) == MOST_ROWS
    assert len(rows_of(arm, [{"n": (1, MOST_ROWS)}, {"n": (7, 9), "y": (0, 0.5)}])) == MOST_ROWS
    for many in ({"n": (0, MOST_ROWS)}, [{"n": (1, MOST_ROWS)}, {"n": 0}]):
        with pytest.raises(Refused, match=f"more than {MOST_ROWS} disjoint boxes"):
            encode_feasible(problem_of(arm), many)
    spread = [{"y": (k / 4096, (k + 0.5) / 4096)} for k in range(MOST_ROWS + 1)]
    assert len(rows_of([Real("y")], spread[1:])) == MOST_ROWS
    with pytest.raises(Refused, match=f"more than {MOST_ROWS} disjoint boxes"):
        encode_feasible(problem_of([Real("y")]), spread)


def test_a_set_of_integers_is_just_these() -> None:
    arm = [Real("y"), Integer("n", 1, 9)]
    assert rows_of(arm, {"n": {2, 9}}) == rows_of(arm, [{"n": 2}, {"n": 9}])
