"""The metric D: a metric, of diameter at most 1, and the same in the kernels."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import PCZ, Categorical, Finite, Integer, Objective, Problem, Real, Vector
from paretozoom.kernels.zooming import balls, distances
from paretozoom.problem.dimensions import Floats
from paretozoom.similarity import Similarity

REWARD = [Objective("r")]
PROBLEMS = {
    "paper": Problem(context=[Real("x")], arm=[Real("y")], objectives=REWARD),
    "periodic": Problem(context=[Real("hour", 0, 24, periodic=True)], arm=[Real("y", 1, 9)], objectives=REWARD),
    "periodic-arm": Problem(context=[Real("x")], arm=[Real("angle", 0, 360, periodic=True)], objectives=REWARD),
    "mixed": Problem(
        context=[
            Real("price", 1, 100, scale="log"),
            Real("hour", 0, 24, periodic=True),
            Integer("n", 0, 5),
            Categorical("c", ["a", "b", "c"]),
        ],
        arm=Finite(["s", "m", "l"], features=[[1, 0], [2, 5], [9, 1]]),
        objectives=REWARD,
    ),
    "gaps": Problem(
        context=[
            Real("x", missing=True),
            Real("hour", 0, 24, periodic=True, missing=True),
            Categorical("c", ["a", "b"], other=True),
        ],
        arm=[Real("y")],
        objectives=REWARD,
    ),
    "vector": Problem(context=[Vector("v", 3), Real("x", missing=True)], arm=Finite(["s", "m"]), objectives=REWARD),
    "labels": Problem(context=[Categorical("c", ["a", "b"])], arm=Finite(["s", "m", "l"]), objectives=REWARD),
    "no-context": Problem(context=[], arm=[Integer("n", 0, 3), Categorical("c", ["a", "b"])], objectives=REWARD),
}


def random_points(problem: Problem, n: int, seed: int) -> Floats:
    """Encoded points of a problem, its corners among them."""
    rng = np.random.default_rng(seed)
    encoding = problem.encoding
    points = rng.random((n, problem.dim))
    points[rng.random(points.shape) < 0.2] = 0.0
    points[rng.random(points.shape) < 0.2] = 1.0
    for j, values in enumerate(encoding.values):
        if values:
            chosen = rng.integers(abs(values), size=n)
            points[:, j] = chosen / (values - 1) if values > 0 else chosen
    for j in encoding.missing:
        points[points[:, j] == 1, j - 1] = 0.5
    if len(encoding.arms):
        points[:, encoding.context :] = encoding.arms[rng.integers(len(encoding.arms), size=n)]
    return points


@pytest.mark.parametrize("name", PROBLEMS)
@given(seed=st.integers(0, 2**32))
def test_it_is_a_metric_of_diameter_one(name: str, seed: int) -> None:
    points = random_points(PROBLEMS[name], 12, seed)
    apart = Similarity.of(PROBLEMS[name]).distances(points, points)
    assert np.all(np.diag(apart) == 0)
    assert np.array_equal(apart, apart.T)
    assert apart.min() >= 0
    assert apart.max() <= 1 + 1e-12
    through = (apart[:, :, None] + apart[None, :, :]).min(axis=1)
    assert np.all(apart <= through + 1e-12)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_diameter_is_reached(name: str) -> None:
    points = random_points(PROBLEMS[name], 400, 0)
    assert Similarity.of(PROBLEMS[name]).distances(points, points).max() > 0.9


@pytest.mark.parametrize(("norm", "least"), [(1, 0.5), (2, 0.75**0.5), (math.inf, 1.0)])
@given(st.floats(0, 1), st.floats(0, 1))
def test_a_missing_number_is_far_from_every_number(norm: float, least: float, x: float, other: float) -> None:
    task = Problem(context=[Real("x", missing=True)], arm=Finite(["a"]), objectives=REWARD)
    similarity = Similarity.of(task, norm=norm, weights={"arm": 1e-9})
    known, another, missing = (np.array([[*place, 0.0]]) for place in ((x, 0), (other, 0), (0.5, 1)))
    assert similarity.distances(known, another)[0, 0] == pytest.approx(abs(x - other), abs=1e-6)
    assert least - 1e-6 <= similarity.distances(known, missing)[0, 0] <= 1
    assert similarity.distances(missing, missing)[0, 0] == 0


@pytest.mark.parametrize("norm", [1, 2, math.inf])
def test_a_missing_hour_is_no_further_than_the_whole(norm: float) -> None:
    task = Problem(context=[Real("h", 0, 24, periodic=True, missing=True)], arm=Finite(["a"]), objectives=REWARD)
    similarity = Similarity.of(task, norm=norm, weights={"arm": 1e-9})
    points = np.array([[h, 0, 0] for h in np.linspace(0, 1, 25)] + [[0.5, 1, 0]])
    apart = similarity.uncut(points[:, None], points[None])
    assert apart.max() <= 1
    assert apart[-1, :-1].min() >= 0.5 - 1e-6
    assert apart[0, 12] >= 0.5 - 1e-6


@given(st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_on_the_unit_square_it_is_the_distance_of_the_paper(point: list[float]) -> None:
    x, y, other_x, other_y = point
    paper = math.sqrt((x - other_x) ** 2 + (y - other_y) ** 2) / math.sqrt(2)
    ours = Similarity.of(PROBLEMS["paper"]).distances(np.array([[x, y]]), np.array([[other_x, other_y]]))
    assert ours.shape == (1, 1)
    assert ours[0, 0] == pytest.approx(paper, abs=1e-15)


@pytest.mark.parametrize(
    ("one", "other", "gap"),
    [(23, 1, 2 * 2 / 24), (0, 24, 0.0), (0, 12, 1.0), (3, 9, 0.5), (6, 6, 0.0), (1, 23, 2 * 2 / 24)],
)
def test_a_periodic_dimension_has_no_ends(one: float, other: float, gap: float) -> None:
    problem = PROBLEMS["periodic"]
    points = np.zeros((2, 2))
    for point, hour in zip(points, (one, other), strict=True):
        problem.encode_context([hour], point)
    ours = Similarity.of(problem).distances(points[:1], points[1:])[0, 0]
    assert ours == pytest.approx(gap / math.sqrt(2), abs=1e-15)


def test_choices_and_labels_are_equally_far_apart() -> None:
    problem = PROBLEMS["labels"]
    points = np.array([[c, k] for c in range(2) for k in range(3)], float)
    apart = Similarity.of(problem).distances(points, points)
    for k, one in enumerate(points):
        for m, other in enumerate(points):
            assert apart[k, m] == pytest.approx(math.sqrt(np.sum(one != other) / 2), abs=1e-15)


@pytest.mark.parametrize("name", PROBLEMS)
def test_the_kernel_measures_balls_alike(name: str) -> None:
    problem = PROBLEMS[name]
    policy = PCZ(problem, horizon=200, noise=0.01, seed=3)
    points = random_points(problem, 150, 1)
    for point in points:
        policy.tell(policy.ask(problem.decode_context(point)), [0.5])
    centres = policy.balls.centre
    assert len(centres) > 5
    floats, ints = policy._floats.copy(), policy._ints
    at = balls.layout(ints)
    similarity = Similarity.of(problem)
    for point in points[:20]:
        compiled = [distances.distance(floats, ints, at, ball, point, 0, 0) for ball in range(len(centres))]
        assert compiled == similarity.distances(point[None], centres)[0].tolist()
