"""The trend of ParetoZoom: its functions and terms, what it finds, and when it is not used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR
from paretozoom.kernels.core.memory import REFIT
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom import policy
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.policies.pareto_zoom.space import Space
from paretozoom.policies.pareto_zoom.terms import terms_of

ONE = [Objective("r", bounded=False)]


@pytest.mark.parametrize("context", [Real("x"), Real("x", periodic=True), Categorical("x", list("abcde"))], ids=str)
def test_functions_have_mean_square_one(context: Any) -> None:
    """And they are orthogonal; labels are as likely as each other. By the midpoint rule.

    Of a number that is so of line and parabola, and of its cosines over their longer stretch.
    """
    space = Space(Problem(context=[context], arm=[Real("y")], objectives=ONE), Settings())
    own = [k for k, (j, _) in enumerate(space.functions) if k > 0 and j == 0]
    kind, margin = space.kinds[0], Settings().margin
    middles = (np.arange(4_000) + 0.5) / 4_000
    where, stretched = (np.arange(5) if kind == CATEGORICAL else middles), middles * (1 + 2 * margin) - margin
    parts = [(where, own)] if kind != LINEAR else [(where, own[:2]), (stretched, own[2:])]
    for places, functions in parts:
        z = np.column_stack([places, np.full(len(places), 0.5)])
        table = space.phi(z, np.array([(0, 0, k) for k in functions]))
        assert table.T @ table / len(places) == pytest.approx(np.eye(len(functions)), abs=1e-3)
        if kind != CATEGORICAL:
            assert table.mean(axis=0) == pytest.approx(0, abs=1e-3)
    assert len(own) == (5 if kind == CATEGORICAL else 2 + int(Settings().cosines))


def test_terms_are_products_of_two_coordinates_and_curves_of_labels() -> None:
    contexts = [Real("x"), Categorical("c", list("uvw")), Real("angle", periodic=True)]
    terms = terms_of(Problem(context=contexts, arm=[Real("y")], objectives=ONE), Settings())
    of_number = 2 + int(Settings().cosines)
    assert terms.of_contexts == terms.raw == 1 + of_number + 3 + of_number
    assert len(terms.functions) == terms.of_contexts + of_number
    # x, y, three labels and two waves: all pairs of different coordinates
    pairs = 1 * 3 + 1 * 2 + 1 * 1 + 3 * 2 + 3 * 1 + 2 * 1
    # for each of three labels two squares, and the products of x, y and two waves
    curves = 3 * (2 + 1 * 1 + 1 * 2 + 1 * 2)
    assert len(set(terms.factors)) == len(terms.factors) == 1 + 2 + 3 + 2 + 2 + pairs + curves


def test_many_contexts_have_axes_and_no_cosines_of_their_own() -> None:
    cosines = int(Settings().cosines)
    for numbers, axes, own in ((8, 0, 2 + 96 // 9 - 2), (9, 2, 2)):
        contexts = [Real(f"x{j}") for j in range(numbers)]
        terms = terms_of(Problem(context=contexts, arm=[Real("y")], objectives=ONE), Settings())
        assert terms.raw == 1 + numbers * own
        assert terms.of_contexts == terms.raw + axes * cosines
        along = [functions for functions in terms.functions if functions[0] > numbers]
        assert along == [(numbers + 1 + k, 2 + which) for k in range(axes) for which in range(cosines)]


def test_many_labels_are_not_told_apart() -> None:
    few = terms_of(Problem(context=[], arm=Finite(list(range(16))), objectives=ONE), Settings())
    many = terms_of(Problem(context=[], arm=Finite(list(range(17))), objectives=ONE), Settings())
    assert (len(few.functions), len(many.functions)) == (17, 1)


def test_too_many_products_are_left_out() -> None:
    contexts = [Categorical(f"c{k}", list("abcdefgh")) for k in range(4)]
    terms = terms_of(Problem(context=contexts, arm=[Real("y")], objectives=ONE), Settings())
    # Functions of the arm, labels, labels times the arm; pairs of labels would be 6 * 64.
    assert len(terms.factors) == 1 + 2 + 32 + 32 < Settings().most_trend_terms < 67 + 6 * 64


def test_what_tells_arms_apart_comes_first() -> None:
    """As terms are fewer, groups of them are left out from the end."""
    problem = Problem(context=[Real("x1"), Real("x2")], arm=[Real("y1"), Real("y2")], objectives=ONE)
    known = terms_of(problem, Settings())
    kinds = {k: "xxyy"[j] for k, (j, _) in enumerate(known.functions) if k > 0}
    kinds[0] = ""
    groups = []
    for most in range(1, 15):
        factors = terms_of(problem, Settings(most_trend_terms=most)).factors
        groups.append("".join(kinds[k] for k in factors[-1]) if len(factors) == most else "")
    # 1; y1, y2 and their squares; x1, x2; x times y; y1 y2; squares of x; x1 x2, which is the 15th
    assert groups == ["", "", "", "", "y", "", "x", "", "", "", "xy", "yy", "", "x"]
    assert len(known.factors) == 15


def _told(problem: Problem, reward: Any, rounds: int, seed: int, noise: float) -> tuple[Any, Any]:
    """The arrays of a policy that was told of random places."""
    fed, rng = ParetoZoom(problem), np.random.default_rng(seed)
    f, i = fed._floats, fed._ints
    for number, point in enumerate(_places(problem, rounds, rng)):
        f, i = policy.room(f, i)
        noisy = reward(point) + noise * rng.standard_normal(len(problem.objectives))
        policy.tell(f, i, number, point, -1, noisy, 0)
        if i[REFIT] == 1:
            f, i = policy.refit(f, i)
    return f, i


def _places(problem: Problem, n: int, rng: np.random.Generator) -> Any:
    """(n, coordinates) Random contexts and arms, encoded."""
    points, encoding = rng.random((n, problem.dim)), problem.encoding
    for j in np.flatnonzero(encoding.kinds == CATEGORICAL):
        points[:, j] = rng.integers(max(1, abs(encoding.values[j])), size=n)
    return points


CONTEXTS = [Real("x"), Categorical("c", list("uvw")), Real("angle", periodic=True)]
TWO = [Objective("a", bounded=False), Objective("b", bounded=False)]


def _bowl(point: Any) -> Any:
    wave = np.cos(2 * np.pi * point[2])
    low = (point[3] - 0.3 - 0.4 * point[0]) ** 2 + 0.2 * point[0] * (point[1] == 1) + 0.1 * wave * point[3]
    return np.array([3.0 - low, 100.0 * low])


def test_a_quadratic_is_found() -> None:
    """Of rewards with little noise, the trend is right to within that noise."""
    problem = Problem(context=CONTEXTS, arm=[Real("y")], objectives=TWO)
    f, i = _told(problem, _bowl, 400, 1, noise=0.01)
    m.memory.view("share", f, i)[:] = np.eye(m.MEMBERS)[m.TREND_]
    rng, offset = np.random.default_rng(2), m.memory.view("offset", f, i)
    for point in _places(problem, 20, rng):
        listed = policy.look(f, i, -1, point, np.zeros((0, 0)), False)
        found = m.memory.view("mean", f, i).ravel()[: 2 * listed].reshape(2, listed) + offset[:, None]
        laid = np.column_stack([np.tile(point[:3], (listed, 1)), m.memory.view("arm", f, i)[:listed]])
        wrong = np.abs(found.T - [_bowl(row) for row in laid])
        # 36 terms of 400 rewards leave an error of about 0.3 times the noise; more at the rims
        assert (wrong < [0.05, 0.2]).all()


def test_a_narrow_ridge_is_left_to_the_levels() -> None:
    problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=ONE)

    def ridge(point: Any) -> Any:
        return np.array([np.exp(-(((point[1] - 0.5 - 0.3 * np.sin(6.3 * point[0])) / 0.1) ** 2))])

    share = m.memory.view("share", *_told(problem, ridge, 2000, 1, noise=0.3))
    assert share[0, m.TREND_] < 0.05
