"""The definition of ParetoZoom is the mathematics that it claims: regression, processes, least squares, variances."""

from __future__ import annotations

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Objective, Problem, Real
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.pareto_zoom.committee import solve_shares
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.kernels.pareto_zoom.trend import UNKNOWN
from paretozoom.policies.pareto_zoom.directions import Directions
from paretozoom.policies.pareto_zoom.fixed import Smooth, Trend, posterior
from paretozoom.policies.pareto_zoom.model import Levels, Model, best_shares
from paretozoom.policies.pareto_zoom.space import Level, Sites, Space
from paretozoom.policies.pareto_zoom.terms import cheapest

ONE = [Objective("r", bounded=False)]
PLAIN = Settings()


def _told(space: Space, n: int, seed: int, labels: int = 0) -> tuple[Sites, Any, Any]:
    """Sites, the points in their middles (a row for each reward, some of them twice), and rewards."""
    rng, sites = np.random.default_rng(seed), Sites(space)
    z = rng.random((n, space.dim))
    z[:, 0] = rng.integers(labels, size=n) if labels else z[:, 0]
    z[n // 2 :] = z[: n - n // 2]
    digits = np.array([space.digits(row) for row in z])
    r = np.sin(5 * z.sum(axis=1)) + 0.3 * rng.standard_normal(n)
    for row, reward in zip(digits, r, strict=True):
        sites.add(row, np.array([reward]))
    return sites, space.middles(digits), r


def test_a_trend_is_a_regression_on_all_rewards() -> None:
    problem = Problem(context=[Categorical("c", list("uvw")), Real("x")], arm=[Real("y")], objectives=ONE)
    space = Space(problem, PLAIN)
    sites, z, r = _told(space, 90, 1, labels=3)
    z = z + 1e-4 * np.arange(len(z))[:, None] * (space.kinds[: space.dim] != CATEGORICAL)  # not in the middle of sites
    trend = Trend(space)
    for told, (place, reward) in enumerate(zip(z, r, strict=True)):
        trend.learn(place, np.array([reward]), told)
        if told == 20:
            trend.refit(sites, told, False, False)
    at_once = trend.w[0]
    assert at_once == pytest.approx(posterior(*trend.known.of[0][:2], trend.expected(trend.size[0]))[0], abs=1e-7)
    trend.refit(sites, 90, False, False)
    rows = space.phi(z, trend.factors)
    v = trend.expected(trend.size[0])
    inverse = rows.T @ rows + np.diag(1 / v)
    assert trend.w[0] == pytest.approx(np.linalg.solve(inverse, rows.T @ r), abs=1e-9)
    assert trend.C[0] @ inverse == pytest.approx(np.eye(len(v)), abs=1e-7)
    # The size that is kept makes the rewards likelier than the next ones, by a normal density.
    likely = [_log_density(rows, r, trend.expected(trend.size[0] + step)) for step in (-1, 0, 1)]
    assert len(trend.factors) > 15
    assert likely[1] == max(likely) or abs(trend.size[0]) == 1


def test_a_trend_that_stopped_learning_forgets_all_but_the_newest_sites() -> None:
    settings = replace(PLAIN, last_trend_fit=10.0)
    space = Space(Problem(context=[Real("x")], arm=[Real("y")], objectives=ONE), settings)
    sites, z, r = _told(space, 60, 1)
    trend = Trend(space)
    for told in range(60):
        trend.learn(z[told], np.array([1e3]), told)  # of an old world
    assert trend.known.of[0][2] == 16
    assert not trend.learns(60)
    trend.refit(sites, 30, True, True)
    rows = space.phi(np.tile(z[20:30], (2, 1)), trend.factors)
    again = np.concatenate([r[20:30], r[50:]])
    inverse = rows.T @ rows + np.diag(1 / trend.expected(trend.size[0]))
    assert trend.w[0] == pytest.approx(np.linalg.solve(inverse, rows.T @ again), abs=1e-6)


def _log_density(rows: Any, r: Any, v: Any) -> float:
    whole = np.eye(len(r)) + rows * v @ rows.T
    return float(-0.5 * np.linalg.slogdet(whole)[1] - 0.5 * len(r) * np.log(r @ np.linalg.solve(whole, r) / len(r)))


@pytest.mark.parametrize("scale", [2, 4])
def test_a_smooth_estimate_of_many_terms_is_a_gaussian_process(scale: int) -> None:
    """Whose rewards are alike by exp(-(distance / scale)^2 / 2), beside a constant of which nothing is known."""
    settings = replace(PLAIN, cosines=70, all_functions=80, most_terms=100, terms_per_coordinate=100)
    problem = Problem(context=[], arm=[Real("y")], objectives=ONE)
    space = Space(problem, settings)
    _, z, r = _told(space, 40, 2)
    z = 0.2 + 0.6 * z  # far from where cosines are mirrored, which is beyond the ends
    gaussian = Smooth(space)
    gaussian.theta[0] = 3, scale
    cost = gaussian.unlike(gaussian.theta[0][1:])
    gaussian.factors = cheapest(cost, space.coordinate, 50.0, space.smooth_room)
    places = np.linspace(0.2, 0.8, 21)[:, None]
    told, rows = (space.phi(where, gaussian.factors) for where in (z, places))
    v = gaussian.expected(gaussian.theta[0], 1.0)
    w, covariance = posterior(told.T @ told, told.T @ r, v)
    below = np.exp(-cost[gaussian.factors].sum(axis=1)).sum()

    def alike(a: Any, b: Any) -> Any:
        kernel = np.exp(-0.5 * ((a - b.T) * 32 / 2 ** (scale / 2)) ** 2)
        return 2.0**3 * ((below - 0.5) * kernel - 1) / below + UNKNOWN

    whole = np.eye(len(r)) + alike(z, z)
    across = alike(places, z)
    mean = across @ np.linalg.solve(whole, r)
    variance = np.diag(alike(places, places) - across @ np.linalg.solve(whole, across.T))
    assert rows @ w == pytest.approx(mean, abs=1e-5)
    assert ((rows @ covariance) * rows).sum(axis=1) == pytest.approx(variance, abs=1e-5)


def test_rewards_that_are_learned_one_by_one_are_learned_like_all_at_once() -> None:
    problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=ONE)
    space = Space(problem, PLAIN)
    sites, z, r = _told(space, 60, 3)
    gaussian, some = Smooth(space), Sites(space)
    for k in range(30):
        some.add(space.digits(z[k]), r[k : k + 1])
    gaussian.refit(some, Directions(space), 30, True, False)
    for k in range(30, 60):
        gaussian.learn(z[k], r[k : k + 1], k)
    rows = space.phi(z, gaussian.factors)
    inverse = rows.T @ rows + np.diag(1 / gaussian.expected(gaussian.theta[0], PLAIN.signal_boldness))
    assert gaussian.w[0] == pytest.approx(np.linalg.solve(inverse, rows.T @ r), abs=1e-9)
    assert len(sites.digits) == 30


def test_shares_are_those_of_least_squares() -> None:
    """Against a grid of shares, whose step is 1/40; and kernels find the same."""
    whole = [(a, b, c, 40 - a - b - c) for a in range(41) for b in range(41 - a) for c in range(41 - a - b)]
    grid, rng = np.array(whole) / 40, np.random.default_rng(1)
    for _ in range(300):
        off = rng.standard_normal((int(rng.integers(1, 8)), 4)) * rng.choice([0.1, 1.0, 3.0], 4)
        off += rng.standard_normal((len(off), 1)) * rng.choice([0.0, 1.0, 10.0])  # what all are off by alike
        products, penalty = off.T @ off, rng.choice([0.5, 2.0, 20.0], 4)
        error = products + np.diag(penalty)
        share = best_shares(error, range(4))
        assert share.min() >= 0
        assert share.sum() == pytest.approx(1)
        assert share @ error @ share <= ((grid @ error) * grid).sum(axis=1).min() + 1e-9
        found = np.zeros(4)
        solve_shares(products, penalty, found)
        assert found == pytest.approx(share, abs=1e-9)


def test_who_has_a_penalty_without_end_has_no_share() -> None:
    penalty, found = np.array([2.0, np.inf, np.inf, np.inf]), np.zeros(4)
    solve_shares(np.ones((4, 4)), penalty, found)
    assert found.tolist() == best_shares(np.ones((4, 4)), [0]).tolist() == [1, 0, 0, 0]


def _hierarchy(tau: float, sigma: float, seed: int) -> tuple[Levels, Sites]:
    """A level of 512 arms whose means differ by tau from 0, what is expected of them, with 2 to 9 rewards each."""
    problem = Problem(context=[], arm=Finite(list(range(512))), objectives=ONE)
    space, rng = Space(problem, PLAIN), np.random.default_rng(seed)
    levels, sites = Levels(space), Sites(space)
    fine = Level(space, 1, -1, np.array([0, 9]), Level(space, -1, -1, np.array([0, 0])))
    for arm in range(512):
        mean = np.sqrt(tau) * rng.standard_normal()
        for _ in range(int(rng.integers(2, 10))):
            digits = space.digits(space.arms[arm], arm)
            sites.add(digits, np.array([mean + sigma * rng.standard_normal()]))
    fine.before.add(sites.digits)
    fine.add(sites.digits)  # of the level before nothing is known but 0
    levels.levels = [fine.before, fine]
    return levels, sites


@pytest.mark.parametrize(("tau", "sigma"), [(1.0, 0.5), (0.04, 1.0), (0.0, 1.0)])
def test_noise_and_roughness_are_the_variances_of_what_was_drawn(tau: float, sigma: float) -> None:
    """Over 512 cells: bounds are five standard errors, of sums of squares of normal numbers.

    A pair of rewards tells tau with a variance of about 2 (tau + sigma2 / n)^2, where n is 5.5 on average.
    """
    levels, sites = _hierarchy(tau, sigma, 1)
    noise = levels.noise(sites)[0]
    told = sites.sums[0].sum() - 512
    assert abs(noise - sigma**2) < 5 * sigma**2 * np.sqrt(2 / told) + 4 * sites.variance()[0] / told
    prior = PLAIN.prior_fall * sites.variance()[0]
    roughness = levels.roughness(1, sites)[0]
    error = 5 * np.sqrt(2 / 512) * 1.3 * (tau + sigma**2 / 4) + 2 * prior / 512
    assert abs(roughness - tau) < error
    assert roughness >= PLAIN.least_roughness * prior


def test_the_front_by_comparing_all_pairs() -> None:
    rng = np.random.default_rng(1)
    for d, n in itertools.product((1, 2, 3), (1, 5, 40)):
        means = rng.integers(0, 8, (d, n)).astype(float)  # with ties
        expected = [
            not any((means[:, b] >= means[:, a]).all() and (means[:, b] > means[:, a]).any() for b in range(n))
            for a in range(n)
        ]
        model = Model(Problem(context=[], arm=[Real("y")], objectives=[Objective(f"r{o}") for o in range(d)]), PLAIN)
        assert model.choose(means, np.ones((d, n))).tolist() == expected
