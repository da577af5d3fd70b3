"""ParetoZoom: rewards that are far beyond the usual are brought nearer, and means are right in the long run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paretozoom import Finite, Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.outliers import AWAY, COUNT, SAME
from tests.policies.pareto_zoom.side_by_side import Both
from tests.reference.play import World

ONE = [Objective("r", bounded=False)]
LINE = Problem(context=[Real("x")], arm=[Real("y")], objectives=[*ONE, Objective("b")])


class Wild(World):
    """One reward in ten is a hundred times as large."""

    def reward(self, decision: Any) -> Any:
        told = super().reward(decision)
        return {**told, "r": told["r"] * (100 if decision.number % 10 == 7 else 1)}


@pytest.mark.parametrize("scrambled", [False, True], ids=["at once", "late and in parts"])
def test_kernels_agree_with_the_definition(scrambled: bool) -> None:
    both, world = Both(LINE, seed=3), Wild(LINE, seed=5)
    for rounds in (40, 300):
        both.play(world, rounds, scrambled=scrambled)
        both.agree([np.array([x]) for x in (0.2, 0.7)])
        np.testing.assert_allclose(both.part("usual").T, both.model.usual, rtol=1e-9)


def _told(rewards: Any, **settings: float) -> ParetoZoom:
    """A policy with one arm that was told rewards."""
    policy = ParetoZoom(Problem(context=[], arm=Finite(["a"]), objectives=ONE), settings=settings)
    for reward in rewards:
        policy.tell(policy.ask([]), [float(reward)])
    return policy


def _mean(policy: ParetoZoom) -> float:
    return float(policy.front([])[0].mean["r"])


def _learned(policy: ParetoZoom) -> float:
    """The mean of all rewards as they were learned."""
    part = {
        name: m.memory.view(name, policy._floats, policy._ints)[0] for name in ("offset", "site_total", "site_count")
    }
    return float(part["offset"] + part["site_total"].sum() / part["site_count"].sum())


def _outliers(rng: np.random.Generator, n: int) -> Any:
    return rng.standard_normal(n) + 100 * rng.standard_normal(n) * (rng.random(n) < 0.01)


def test_a_few_outliers_do_not_spoil_a_mean() -> None:
    """The mean of 2,000 rewards, 1 % of them with 100 standard deviations, has a standard error of 0.22; ours 0.03."""
    means = [_mean(_told(_outliers(np.random.default_rng(seed), 2_000))) for seed in range(12)]
    plain = [_outliers(np.random.default_rng(seed), 2_000).mean() for seed in range(12)]
    assert np.square(means).mean() < 0.25 * np.square(plain).mean()


def test_a_mean_is_unbiased_in_the_long_run() -> None:
    """Rewards are exponential, so that what is brought nearer is on one side: the limit grows, and the bias goes."""
    biases = []
    for n in (200, 3_000, 40_000):
        rewards = np.random.default_rng(1).exponential(size=(20 if n < 40_000 else 2, n))
        biases.append(np.mean([_mean(_told(row, outlier=1.0)) for row in rewards]) - rewards.mean())
    assert -0.12 < biases[0] < biases[1] < biases[2] <= 1e-3
    assert biases[2] > -0.01


@pytest.mark.parametrize(
    "draw",
    [
        lambda rng: float(rng.random() < 0.02),
        lambda rng: float(rng.exponential(50) if rng.random() < 0.02 else 0),
        lambda rng: 5.0,
    ],
    ids=["rare", "rare amounts", "constant"],
)
def test_where_most_rewards_are_the_same_all_count(draw: Callable[[np.random.Generator], float]) -> None:
    rng = np.random.default_rng(2)
    rewards = [0.0, *(draw(rng) for _ in range(500))] if draw(rng) != 5.0 else [5.0] * 500
    assert _learned(_told(rewards)) == pytest.approx(np.mean(rewards), rel=1e-9)


def test_bounded_rewards_stay_as_they_are() -> None:
    problem = Problem(context=[], arm=Finite(["a"]), objectives=[Objective("r")])
    policy, rng = ParetoZoom(problem), np.random.default_rng(3)
    rewards = np.where(rng.random(400) < 0.03, 1.0, 0.1 * rng.random(400))
    for reward in rewards:
        policy.tell(policy.ask([]), [float(reward)])
    assert _learned(policy) == pytest.approx(rewards.mean(), rel=1e-9)


def test_what_is_usual_is_counted() -> None:
    usual = _told([0.0] * 30 + [1.0] * 10)
    known = m.memory.view("usual", usual._floats, usual._ints)[0]
    assert known[SAME] == 30
    assert 0 < known[COUNT] < 40  # nothing is predicted before the first fit
    assert known[AWAY] > 0
