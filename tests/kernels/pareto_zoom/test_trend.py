"""The trend of ParetoZoom: its functions and terms, what it finds, and when it is not used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR
from paretozoom.kernels.pareto_zoom import pareto_zoom, pyramid
from paretozoom.kernels.pareto_zoom.functions import MOST_FUNCTIONS
from paretozoom.policies.pareto_zoom.terms import MOST_TERMS, terms_of
from tests.kernels.pareto_zoom.feeding import places
from tests.reference.pareto_zoom import ParetoZoom as ParetoZoomTwin

ONE = [Objective("r", bounded=False)]


@pytest.mark.parametrize("context", [Real("x"), Real("x", periodic=True), Categorical("x", list("abcde"))], ids=str)
def test_functions_have_mean_square_one(context: Any) -> None:
    """And they are orthogonal; labels are as likely as each other. By the midpoint rule.

    Of a number that is so of line and parabola; its cosines have a longer stretch.
    """
    twin = ParetoZoomTwin(Problem(context=[context], arm=[Real("y")], objectives=ONE))
    labels = twin.kinds[0] == CATEGORICAL
    where = np.arange(5) if labels else (np.arange(4_000) + 0.5) / 4_000
    functions = [k for k, (j, _) in enumerate(twin.functions) if k > 0 and j == 0]
    assert len(functions) == (5 if labels else MOST_FUNCTIONS)
    functions = functions[:2] if twin.kinds[0] == LINEAR else functions
    table = np.array([twin.values_at([float(x), 0.5]) for x in where]).T[functions]
    assert table @ table.T / len(where) == pytest.approx(np.eye(len(functions)), abs=1e-3)
    if not labels:
        assert table.mean(axis=1) == pytest.approx(0, abs=1e-3)


def test_terms_are_products_of_two_coordinates_and_curves_of_labels() -> None:
    contexts = [Real("x"), Categorical("c", list("uvw")), Real("angle", periodic=True)]
    terms = terms_of(Problem(context=contexts, arm=[Real("y")], objectives=ONE))
    assert len(terms.functions) == 1 + MOST_FUNCTIONS + 3 + MOST_FUNCTIONS + MOST_FUNCTIONS
    assert terms.of_contexts == 1 + MOST_FUNCTIONS + 3 + MOST_FUNCTIONS
    # x, y, three labels and two waves: all pairs of different coordinates
    pairs = 1 * 3 + 1 * 2 + 1 * 1 + 3 * 2 + 3 * 1 + 2 * 1
    # for each of three labels two squares, and the products of x, y and two waves
    curves = 3 * (2 + 1 * 1 + 1 * 2 + 1 * 2)
    assert len(set(terms.factors)) == len(terms.factors) == 1 + 2 + 3 + 2 + 2 + pairs + curves


def test_many_labels_are_not_told_apart() -> None:
    few = terms_of(Problem(context=[], arm=Finite(list(range(16))), objectives=ONE))
    many = terms_of(Problem(context=[], arm=Finite(list(range(17))), objectives=ONE))
    assert (len(few.functions), len(many.functions)) == (17, 1)


def test_too_many_products_are_left_out() -> None:
    contexts = [Categorical(f"c{k}", list("abcdefgh")) for k in range(4)]
    terms = terms_of(Problem(context=contexts, arm=[Real("y")], objectives=ONE))
    assert len(terms.factors) == 1 + 32 + 2 < MOST_TERMS


def _told(problem: Problem, reward: Any, rounds: int, seed: int, noise: float) -> tuple[Any, Any, pyramid.Pyramid]:
    """The arrays of a policy that was told of random places."""
    policy, rng = ParetoZoom(problem), np.random.default_rng(seed)
    f, i = policy._floats, policy._ints
    for number, point in enumerate(places(problem, rounds, rng)):
        f, i = pareto_zoom.room(f, i)
        noisy = reward(point) + noise * rng.standard_normal(len(problem.objectives))
        pareto_zoom.tell(f, i, number, point, -1, noisy, 0)
    return f, i, pyramid.pyramid(i)


CONTEXTS = [Real("x"), Categorical("c", list("uvw")), Real("angle", periodic=True)]
TWO = [Objective("a", bounded=False), Objective("b", bounded=False)]


def _bowl(point: Any) -> Any:
    wave = np.cos(2 * np.pi * point[2])
    low = (point[3] - 0.3 - 0.4 * point[0]) ** 2 + 0.2 * point[0] * (point[1] == 1) + 0.1 * wave * point[3]
    return np.array([3.0 - low, 100.0 * low])


def test_a_quadratic_is_found() -> None:
    """Of rewards with little noise, the trend and what the levels add to it are right to within that noise."""
    problem = Problem(context=CONTEXTS, arm=[Real("y")], objectives=TWO)
    f, i, at = _told(problem, _bowl, 400, 1, noise=0.01)
    assert i[pyramid.USES_TREND] == 1
    rng = np.random.default_rng(2)
    for point in places(problem, 20, rng):
        listed = pareto_zoom.look(f, i, at, -1, point, np.zeros((0, 0)), 0.0)
        found = f[at.indices : at.indices + 2 * listed].reshape(2, listed) + f[at.offset : at.offset + 2, None]
        laid = np.column_stack([np.tile(point[:3], (listed, 1)), f[at.arm : at.arm + listed]])
        wrong = np.abs(found.T - [_bowl(row) for row in laid])
        # 36 terms of 400 rewards leave an error of about 0.3 times the noise; more at the rims
        assert (wrong < [0.05, 0.2]).all()


def test_a_narrow_ridge_is_left_to_the_levels() -> None:
    problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=ONE)

    def ridge(point: Any) -> Any:
        return np.array([np.exp(-(((point[1] - 0.5 - 0.3 * np.sin(6.3 * point[0])) / 0.1) ** 2))])

    _, i, _ = _told(problem, ridge, 2000, 1, noise=0.3)
    assert i[pyramid.USES_TREND] == 0
