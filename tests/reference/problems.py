"""Problems of every shape that the zooming policies take, chosen by hand and at random, and similarities for them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st

from paretozoom import Categorical, Finite, Integer, Objective, Problem, Real

TWO = [Objective("a"), Objective("b")]

PROBLEMS = {
    "plane": Problem(context=[Real("x")], arm=[Real("y")], objectives=TWO),
    "one objective": Problem(context=[Real("x")], arm=[Real("y")], objectives=TWO[:1]),
    "five objectives": Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective(f"r{i}") for i in range(5)]),
    "no context": Problem(context=[], arm=[Real("y")], objectives=TWO),
    "periodic arm": Problem(context=[Real("x")], arm=[Real("y", periodic=True)], objectives=TWO),
    "periodic everywhere": Problem(
        context=[Real("hour", 0, 24, periodic=True)], arm=[Real("y", 0, 360, periodic=True)], objectives=TWO
    ),
    "two contexts": Problem(context=[Real("x1"), Real("x2", -3, 5)], arm=[Real("y")], objectives=TWO),
    "mixed contexts": Problem(
        context=[
            Categorical("country", ["cz", "tr", "de"]),
            Integer("threads", 1, 5),
            Real("x"),
            Real("hour", 0, 24, periodic=True),
            Real("size", 1, 1000, scale="log"),
        ],
        arm=[Real("y")],
        objectives=TWO,
    ),
    "user's units": Problem(
        context=[Integer("threads", 1, 8)],
        arm=[Real("price", 1, 100, scale="log")],
        objectives=[Objective("cost", goal="min", low=-2, high=7), Objective("gain", low=0, high=50, bounded=False)],
    ),
    "labels": Problem(context=[Real("x")], arm=Finite(["a", "b", "c", "d", "e"]), objectives=TWO),
    "features": Problem(
        context=[Real("x")],
        arm=Finite(list(range(9)), features=[[k % 3, 10.0 * (k // 3) ** 2] for k in range(9)]),
        objectives=TWO,
    ),
    "product of arms": Problem(
        context=[Categorical("country", ["cz", "tr"])],
        arm=[Integer("threads", 1, 4), Categorical("codec", ["x", "y", "z"])],
        objectives=TWO,
    ),
}

# Arms of these are no interval and not finitely many.
LATTICE_PROBLEMS = {
    "plane of arms": Problem(context=[Real("x")], arm=[Real("y1"), Real("y2")], objectives=TWO),
    "three and two": Problem(
        context=[Real("x1"), Real("x2"), Real("x3", -1, 1)], arm=[Real("y1"), Real("y2", 2, 7)], objectives=TWO
    ),
    "mixed arms": Problem(
        context=[Real("x")],
        arm=[Categorical("codec", ["x", "y", "z"]), Real("rate", 1, 100, scale="log"), Integer("threads", 1, 4)],
        objectives=TWO,
    ),
    "three arms": Problem(
        context=[Real("x1"), Real("x2")],
        arm=[Real("y1"), Real("angle", 0, 360, periodic=True), Real("y3")],
        objectives=TWO,
    ),
    # Four random numbers come at once; more coordinates take a second stream.
    "six arms": Problem(context=[], arm=[Real(f"y{j}") for j in range(6)], objectives=TWO),
}

SHAPES = ("slices", "finite", "lattice")
WEIGHT = st.sampled_from([0.25, 1.0, 3.0]) | st.floats(0.1, 5.0)


def _discrete(name: str) -> st.SearchStrategy[Any]:
    integers = st.integers(1, 4).map(lambda span: Integer(name, -1, span - 1))
    return integers | st.integers(2, 4).map(lambda choices: Categorical(name, list("abcd"[:choices])))


def _real(name: str) -> st.SearchStrategy[Real]:
    cycle, year = Real(name, periodic=True), Real(name, -3, 362, periodic=True)
    return st.sampled_from([Real(name), Real(name, -3, 5), Real(name, 1, 1000, scale="log"), cycle, year])


def _finite() -> st.SearchStrategy[Any]:
    """Labels, labels with features, or dimensions with finitely many values."""
    labels = st.integers(1, 7).map(lambda k: Finite(list("abcdefg"[:k])))
    rows = st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=7, unique=True)
    features = rows.map(lambda rows: Finite(list(range(len(rows))), features=rows))
    products = st.integers(1, 3).flatmap(lambda n: st.tuples(*(_discrete(f"y{j}") for j in range(n))))
    return labels | features | products


@st.composite
def problems(draw: st.DrawFn, shape: str, discrete: bool = False) -> Problem:
    """Any problem whose arms are of a shape; its contexts may have to be discrete."""
    kinds = _discrete if discrete else lambda name: _real(name) | _discrete(name)
    context = [draw(kinds(f"x{j}")) for j in range(draw(st.integers(0, 2 if discrete else 4)))]
    if shape == "finite":
        arm = draw(_finite())
    elif shape == "slices":
        arm = [draw(_real("y"))]
    else:
        others = [draw(_real(f"y{j}") | _discrete(f"y{j}")) for j in range(1, draw(st.integers(2, 3)))]
        arm = draw(st.permutations([draw(_real("y0")), *others]))
    objectives = [Objective("a"), Objective("b", goal="min", low=-1, high=4), Objective("c")]
    return Problem(context=context, arm=arm, objectives=objectives[: draw(st.integers(1, 3))])


def scales() -> st.SearchStrategy[float]:
    """Factors of a similarity; round ones bring exact ties."""
    return st.sampled_from([1.0, 2.0, 4.0]) | st.floats(0.3, 8.0)


@st.composite
def norms(draw: st.DrawFn, problem: Problem) -> dict[str, Any]:
    """Any norm, with weights by place or by name or without, and any scale."""
    chosen: dict[str, Any] = {"norm": draw(st.sampled_from([1, 2, math.inf, "inf"])), "scale": draw(scales())}
    names = [d.name for d in problem.context]
    names += ["arm"] if isinstance(problem.arm, Finite) else [d.name for d in problem.arm]
    given = draw(st.sampled_from(["none", "places", "names"]))
    if given == "places":
        chosen["weights"] = draw(st.lists(WEIGHT, min_size=problem.dim, max_size=problem.dim))
    elif given == "names":
        chosen["weights"] = draw(st.dictionaries(st.sampled_from(names), WEIGHT))
    return chosen


@st.composite
def matrices(draw: st.DrawFn, problem: Problem) -> dict[str, Any]:
    """A metric on finitely many contexts and arms: of random places in a square, as it is or in steps."""
    pairs = math.prod(d.values for d in problem.context) * len(problem.encoding.arms)
    places = np.random.default_rng(draw(st.integers(0, 1000))).random((pairs, 2))
    apart = np.sqrt(((places[:, None] - places) ** 2).mean(axis=-1))
    if draw(st.booleans()):
        apart = np.ceil(8 * apart) / 8  # rounded up, so that there is still no short cut
    return {"matrix": apart, "scale": draw(scales())}


def snowflake(a: Any, b: Any) -> float:
    """The root of a mean of differences: a metric with room for very many balls."""
    total = 0.0
    for j in range(len(a)):
        total += min(1.0, abs(a[j] - b[j]))
    return math.sqrt(total / len(a))


def tilted(a: Any, b: Any) -> float:
    """The largest of differences that count ever less."""
    most = 0.0
    for j in range(len(a)):
        most = max(most, min(1.0, abs(a[j] - b[j])) / (1.0 + j))
    return most


def interpreted(a: Any, b: Any) -> float:
    """The exact mean of differences, by a function that no compiler knows."""
    return math.fsum(min(1.0, abs(x - y)) for x, y in zip(a.tolist(), b.tolist(), strict=True)) / len(a)


FUNCTIONS = [snowflake, tilted, interpreted]


def feasible_sets(problem: Problem, seed: int) -> Callable[[], Any]:
    """A function that draws a feasible set, or None, each time it is called."""
    rng = np.random.default_rng(seed)

    def some(choices: Any) -> list[Any]:
        kept = [choice for choice in choices if rng.random() < 0.5]
        return kept or [choices[int(rng.integers(len(choices)))]]

    def side(d: Any) -> Any:
        if isinstance(d, Categorical):
            kept = some(d.choices)
            return kept[0] if len(kept) == 1 else kept
        if isinstance(d, Integer):
            low, high = sorted(rng.integers(d.low, d.high + 1, 2).tolist())
            return low if low == high else (low, high)
        low, high = rng.random(2)
        ends = (low, high) if d.periodic else (min(low, high), max(low, high))
        return tuple(d.decode(end) for end in ends)

    def drawn() -> Any:
        if rng.random() < 0.4:
            return None
        if isinstance(problem.arm, Finite):
            return some(problem.arm.labels)
        boxes = [{d.name: side(d) for d in problem.arm if rng.random() < 0.8} for _ in range(int(rng.integers(1, 4)))]
        return boxes[0] if len(boxes) == 1 else boxes

    return drawn


def is_allowed(problem: Problem, feasible: Any, arm: Any) -> bool:
    """Whether an arm is in a feasible set, in the user's words; a bound may be missed by a rounding error."""
    if feasible is None:
        return True
    if isinstance(problem.arm, Finite):
        return arm in feasible
    boxes = feasible if isinstance(feasible, list) else [feasible]
    return any(all(_fits(d, arm[d.name], box[d.name]) for d in problem.arm if d.name in box) for box in boxes)


def _fits(dimension: Any, value: Any, allowed: Any) -> bool:
    if isinstance(dimension, Categorical):
        return value in (allowed if isinstance(allowed, list) else [allowed])
    low, high = allowed if isinstance(allowed, tuple) else (allowed, allowed)
    if isinstance(dimension, Integer):
        return low <= value <= high
    slack = 1e-12 * (dimension.high - dimension.low)
    if low > high:  # a period goes through its end
        return value >= low - slack or value <= high + slack
    return low - slack <= value <= high + slack
