"""Contexts that carry nothing, and coordinates that matter: found where it is so, and false alarms counted."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Integer, Objective, Problem, Real, Rounds
from paretozoom.findings import Finding, Look, look_at_rounds
from paretozoom.problem.dimensions import Floats
from tests.findings.drawing import drawn, numbers

SEEDS = 30
FALSE = 6  # alarms of 5 % among 30, at most: more have a probability of 0.06 %


@cache
def idle(seed: int) -> Look:
    """Five numbers that say nothing; the arm explains a quarter."""
    return look_at_rounds(drawn(numbers(5), [lambda p, rng: p[:, -1] + 0.5 * rng.normal(size=len(p))], 3000, seed))


@cache
def ridge(seed: int) -> Look:
    """A ridge that follows the second of five numbers."""

    def reward(p: Floats, rng: np.random.Generator) -> Floats:
        return np.exp(-(((p[:, 1] - p[:, -1]) / 0.3) ** 2)) + 0.4 * rng.normal(size=len(p))

    return look_at_rounds(drawn(numbers(5), [reward], 3000, seed))


def of(look: Look, code: str) -> list[Finding]:
    return [finding for finding in look.findings if finding.code == code]


def test_idle_contexts_are_found() -> None:
    """Missed where chance looks like an effect, which happens in 5 %."""
    assert sum(bool(of(idle(seed), "idle-contexts")) for seed in range(SEEDS)) >= SEEDS - FALSE
    (finding,) = of(idle(0), "idle-contexts")
    assert finding.objective is None
    assert finding.number < 0.03
    assert "contexts carry nothing" in finding.text
    assert finding.numbers["arms"] == pytest.approx(0.25, abs=0.05)


def test_contexts_that_matter_are_never_called_idle() -> None:
    assert not any(of(ridge(seed), "idle-contexts") for seed in range(SEEDS))


def test_weak_contexts_are_not_called_idle_beside_weak_arms() -> None:
    """Arms explain 4 % of the variance, contexts 1 %: what a fit cannot see it must not say is not there."""

    def reward(p: Floats, rng: np.random.Generator) -> Floats:
        return 0.2 * math.sqrt(12) * p[:, -1] + 0.1 * math.sqrt(12) * p[:, 0] + rng.normal(size=len(p))

    found = [look_at_rounds(drawn(numbers(5), [reward], 1500, seed)) for seed in range(20)]
    assert not any(of(look, "idle-contexts") for look in found)
    for look in found:
        for finding in of(look, "coordinates"):
            assert "x1" in finding.numbers or "too few to tell" in finding.advice


def test_p_values_are_those_of_chance() -> None:
    assert sum(idle(seed).causes[0].p <= 0.05 for seed in range(SEEDS)) <= FALSE
    assert all(ridge(seed).causes[0].p == 1 / 200 for seed in range(SEEDS))


def test_coordinates_that_matter_are_found_and_no_others() -> None:
    wrong = 0
    for seed in range(SEEDS):
        (finding,) = of(ridge(seed), "coordinates")
        assert {"x2", "y"} <= set(finding.numbers)
        wrong += len(finding.numbers) > 2
    assert wrong <= FALSE
    (finding,) = of(ridge(0), "coordinates")
    assert "of 6 coordinates 2 matter" in finding.text
    assert "Nothing is seen of x1, x3, x4, x5" in finding.advice


def test_where_nothing_matters_no_coordinate_is_named() -> None:
    found = [
        look_at_rounds(drawn(numbers(5), [lambda p, rng: rng.normal(size=len(p))], 2000, seed)) for seed in range(SEEDS)
    ]
    assert sum(bool(of(look, "coordinates")) for look in found) <= FALSE


@pytest.mark.parametrize("matters", ["hour", "colour", "count", "arm"])
def test_every_kind_of_coordinate(matters: str) -> None:
    problem = Problem(
        [Real("hour", 0, 24, periodic=True), Categorical("colour", ["r", "g", "b"]), Integer("count", 1, 5)],
        Finite(["p", "q", "s"], features=[[0, 1], [1, 0], [1, 5]]),
        [Objective("r", bounded=False)],
    )

    def reward(p: Floats, rng: np.random.Generator) -> Floats:
        effect = {
            "hour": np.cos(2 * math.pi * p[:, 0]),
            "colour": 1.5 * (p[:, 1] == 1),
            "count": 2 * p[:, 2],
            "arm": 2 * p[:, 3],
        }
        return np.asarray(effect[matters] + rng.normal(size=len(p)))

    (finding,) = of(look_at_rounds(drawn(problem, [reward], 3000, 1)), "coordinates")
    assert list(finding.numbers) == [matters]


def test_labels_with_forms_of_their_own() -> None:
    problem = Problem([Real(f"x{k}") for k in range(12)], Finite(list("abcdef")), [Objective("r", bounded=False)])

    def reward(p: Floats, rng: np.random.Generator) -> Floats:
        return (p[:, 3] - 0.5) * (p[:, -1] - 2.5) + 0.3 * rng.normal(size=len(p))

    (finding,) = of(look_at_rounds(drawn(problem, [reward], 4000, 1)), "coordinates")
    assert set(finding.numbers) == {"x3", "arm"}


def test_objectives_apart_and_rewards_in_parts() -> None:
    """The first depends on the context, the second does not, and each is told in half of the rounds."""

    def first(p: Floats, rng: np.random.Generator) -> Floats:
        return np.where(np.arange(len(p)) % 2, p[:, 0] + 0.3 * rng.normal(size=len(p)), np.nan)

    def second(p: Floats, rng: np.random.Generator) -> Floats:
        return np.where(np.arange(len(p)) % 2, np.nan, p[:, -1] + 0.3 * rng.normal(size=len(p)))

    look = look_at_rounds(drawn(numbers(2, 2), [first, second], 6000, 1))
    assert [cause.rounds for cause in look.causes] == [3000, 3000]
    (quiet,) = of(look, "idle-contexts")
    assert quiet.objective == "r2"
    (finding,) = of(look, "coordinates")
    assert set(finding.numbers) == {"x1", "y"}
    assert "of r1" in finding.text


def test_rare_rewards_are_not_called_idle_where_rates_double() -> None:
    """A rate of 0 to 6 % explains but 1 % of the variance; to say that contexts carry nothing would be wrong."""

    def reward(p: Floats, rng: np.random.Generator) -> Floats:
        return (rng.random(len(p)) < 0.06 * p[:, 0]).astype(float)

    found = [look_at_rounds(drawn(numbers(3), [reward], 6000, seed)) for seed in range(20)]
    assert not any(of(look, "idle-contexts") for look in found)


def test_heavy_tails_do_not_drown_what_matters() -> None:
    def reward(p: Floats, rng: np.random.Generator) -> Floats:
        return 3 * p[:, 0] + rng.standard_t(2.1, len(p)) * np.where(rng.random(len(p)) < 0.01, 100.0, 1.0)

    for seed in range(10):
        (finding,) = of(look_at_rounds(drawn(numbers(3), [reward], 3000, seed)), "coordinates")
        assert next(iter(finding.numbers)) == "x1"


def test_numbers_are_there_without_findings() -> None:
    found = idle(0).numbers()["r1"]
    assert found["explained_by_arms"] == pytest.approx(0.25, abs=0.05)
    assert abs(found["explained_by_contexts"]) < 0.01
    assert set(found["coordinates"]) == {"x1", "x2", "x3", "x4", "x5", "y"}
    assert 0.06 < found["largest_share"] < 0.11


def test_no_context_and_no_rounds() -> None:
    problem = Problem([], [Real("y")], [Objective("r", bounded=False)])
    look = look_at_rounds(drawn(problem, [lambda p, rng: p[:, 0] + rng.normal(size=len(p))], 1000, 1))
    assert look.findings == []
    empty = Rounds.of(problem, [])
    assert look_at_rounds(empty) == Look(problem, [], [])
