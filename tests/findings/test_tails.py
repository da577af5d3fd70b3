"""Few rewards that make most of the variance, or that are other than the rest: found where they are, else not."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from paretozoom import Finite, Objective, Problem
from paretozoom.findings import look_at_rounds
from paretozoom.findings.tails import OF_NORMAL, Tails, largest_share, largest_share_of_sums
from paretozoom.problem.dimensions import Floats
from tests.findings.drawing import drawn, numbers

SEEDS = 50
ANY = Objective("r", bounded=False)
Draw = Callable[[np.random.Generator, int], Floats]

HEAVY: dict[str, Draw] = {
    "student": lambda rng, n: rng.standard_t(2.1, n),
    "outliers": lambda rng, n: rng.normal(size=n) * np.where(rng.random(n) < 0.01, 100.0, 1.0),
    "lognormal": lambda rng, n: rng.lognormal(0, 1.5, n),
}
LIGHT: dict[str, Draw] = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.random(n),
    "logistic": lambda rng, n: rng.logistic(size=n),
    "coin": lambda rng, n: (rng.random(n) < 0.3).astype(float),
    "rate of 1 %": lambda rng, n: (rng.random(n) < 0.01).astype(float),
    "rate of 0.1 %": lambda rng, n: (rng.random(n) < 0.001).astype(float),
    "counts": lambda rng, n: rng.poisson(2.0, n).astype(float),
    "constant": lambda rng, n: np.full(n, 3.0),
}


def found(draw: Draw, seed: int, n: int = 2000) -> Tails:
    return Tails.of(ANY, draw(np.random.default_rng(seed), n))


@pytest.mark.parametrize("name", HEAVY)
def test_heavy_tails_are_found(name: str) -> None:
    """All but 5 of 50: more misses of what is found with 97 % have a probability of 1 %."""
    assert sum(found(HEAVY[name], seed).is_heavy for seed in range(SEEDS)) >= SEEDS - 5


@pytest.mark.parametrize("name", LIGHT)
def test_others_are_not_called_heavy(name: str) -> None:
    """At most 2 of 50: 3 false alarms would have a probability of 1.4 % if one had 1 %."""
    assert sum(found(LIGHT[name], seed).is_heavy for seed in range(SEEDS)) <= 2


def test_rare_rewards_are_counted_and_not_called_heavy() -> None:
    tails = Tails.of(Objective("sold"), np.repeat([0.0, 1.0], [9913, 87]))
    (finding,) = tails.findings
    assert (finding.code, finding.objective, finding.number) == ("rare-rewards", "sold", 0.0087)
    assert "87 of 10,000 rewards are other than 0" in finding.text
    assert "2,800 rounds" in finding.advice  # 25 (1 - p) / p
    assert finding.numbers == {"rounds": 10_000, "others": 87, "rate": 0.0087}
    assert not any(found(LIGHT["coin"], seed).findings for seed in range(SEEDS))


def test_rare_and_heavy_at_once() -> None:
    """Few spend anything, and of these few spend most."""

    def spend(rng: np.random.Generator, n: int) -> Floats:
        return np.where(rng.random(n) < 0.04, rng.lognormal(3, 1.5, n), 0.0)

    codes = [finding.code for finding in found(spend, 1, 20_000).findings]
    assert codes == ["rare-rewards", "few-rewards"]

    def even(rng: np.random.Generator, n: int) -> Floats:
        return np.where(rng.random(n) < 0.04, rng.normal(20, 3, n), 0.0)

    assert [finding.code for finding in found(even, 1, 20_000).findings] == ["rare-rewards"]


def test_numbers_are_in_the_user_s_units() -> None:
    luck = np.random.default_rng(1)
    delay = luck.lognormal(2, 1.5, 20_000)
    objective = Objective("delay", goal="min", low=0, high=100, bounded=False)
    tails = Tails.of(objective, 1 - delay / 100)
    assert tails.mean == pytest.approx(delay.mean())
    assert tails.percentiles == pytest.approx(np.quantile(delay, [0.01, 0.5, 0.99]))
    low, _, high = tails.percentiles
    assert tails.cut_mean == pytest.approx(np.clip(delay, low, high).mean())
    (finding,) = tails.findings
    assert f"it would be {tails.cut_mean:.4g} instead of {tails.mean:.4g}" in finding.advice


def test_the_share_of_a_normal_is_that_of_the_formula() -> None:
    share = largest_share(np.random.default_rng(2).normal(size=1_000_000))
    assert share == pytest.approx(OF_NORMAL, abs=0.001)
    assert largest_share(np.zeros(0)) == 0
    assert largest_share(np.ones(50)) == 0


def test_few_arms_that_pay_much_are_no_noise() -> None:
    problem = Problem([], Finite(list(range(50))), [Objective("r", bounded=False)])
    rounds = drawn(problem, [lambda p, rng: 30.0 * (p[:, 0] == 7) + rng.normal(size=len(p))], 5000, seed=1)
    look = look_at_rounds(rounds)
    assert look.tails[0].largest_share > 0.4
    assert [finding.code for finding in look.findings] == []


def test_few_rounds_say_nothing() -> None:
    rounds = drawn(numbers(1), [lambda p, rng: rng.standard_t(2.1, len(p))], 400, seed=1)
    assert look_at_rounds(rounds).findings == []
    assert look_at_rounds(rounds[:50]).tails == []


def test_sums_of_groups_say_as_much_or_less() -> None:
    rng = np.random.default_rng(3)
    reward, group = rng.standard_t(2.1, 3000), rng.integers(1000, size=3000)
    exact = largest_share(reward)
    assert largest_share_of_sums(np.ones(3000, np.int64), reward, reward**2) == pytest.approx(exact)
    count, total, square = (np.bincount(group, column, 1000) for column in (np.ones(3000), reward, reward**2))
    assert 0.3 * exact < largest_share_of_sums(count.astype(np.int64), total, square) <= exact
    assert largest_share_of_sums(np.zeros(4, np.int64), np.zeros(4), np.zeros(4)) == 0
