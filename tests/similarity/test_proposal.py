"""The similarity that rewards bear out: what is proposed, when, and that PCZ does better with it."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import (
    PCZ,
    Bridge,
    Crowds,
    Objective,
    PaddedPaperTask,
    Problem,
    Random,
    Real,
    Rounds,
    Similarity,
    Task,
    Tents,
    TwoOfFour,
    diagnose,
    simulate_in_chunks,
)
from paretozoom.metrics.truth.regret import ParetoRegret
from paretozoom.problem.dimensions import Floats
from paretozoom.similarity.diagnosis import Diagnosis
from tests.findings.drawing import drawn


def played(task: Task, n: int = 20_000, seed: int = 99) -> Rounds:
    (rounds,) = simulate_in_chunks(Random(task.problem), task, n, seed=seed, chunk=n)
    return rounds


def regret(task: Task, seed: int, **parameters: Any) -> float:
    n = 20_000
    metric = ParetoRegret(task, n)
    for rounds in simulate_in_chunks(PCZ(task.problem, horizon=n, **parameters), task, n, seed=seed):
        metric.update(rounds)
    return float(metric.result()["regret"])


@pytest.mark.parametrize("task", [PaddedPaperTask(), TwoOfFour(), Crowds()], ids=["padded", "two of four", "crowds"])
def test_pcz_has_less_regret_with_what_is_proposed_than_with_defaults(task: Task) -> None:
    found = diagnose(task.problem, None, played(task))
    assert found.findings[0].code == "flat-similarity"
    assert repr(found.proposal["similarity"]) in found.findings[0].advice
    for seed in range(3):
        usual = regret(task, seed)
        assert regret(task, seed, similarity=found.proposal["similarity"]) < 0.97 * usual
        assert regret(task, seed, **found.proposal) < 0.9 * usual


def test_and_than_with_what_is_too_steep() -> None:
    task = Tents()
    found = diagnose(task.problem, {"scale": 6}, played(task))
    assert found.findings[0].code == "steep-similarity"
    for seed in range(3):
        assert regret(task, seed, **found.proposal) < 0.95 * regret(task, seed, similarity={"scale": 6})


def test_a_scale_that_is_right_is_too_steep_where_coordinates_are_idle() -> None:
    task = PaddedPaperTask()
    assert codes(diagnose(task.problem, {"scale": 13}, played(task))) == {"steep-similarity"}


def test_weights_follow_slopes() -> None:
    """r = 0.5 x - 0.25 y, and z idle: weights 1, 1/4 and next to nothing."""
    problem = Problem([Real("x"), Real("z")], [Real("y")], [Objective("r", bounded=False)])

    def reward(p: Floats, rng: np.random.Generator) -> Floats:
        return 0.5 * p[:, 0] - 0.25 * p[:, 2] + 0.1 * rng.normal(size=len(p))

    found = diagnose(problem, {"scale": 4}, drawn(problem, [reward], 20_000, 1))
    assert found.findings[0].code == "steep-similarity"
    similarity = Similarity.of(problem, **found.proposal["similarity"])
    _, z, y = similarity.weights / similarity.weights[0]
    assert z == pytest.approx(0.01)
    assert y == pytest.approx(0.25, abs=0.06)
    # By Cauchy and Schwarz the largest |change| / D with scale 1 is the root of W times the sum of slope^2 / weight.
    truth = math.sqrt(float(similarity.weights.sum() / similarity.weights[0]) * (0.5**2 + 0.25**2 / y))
    assert similarity.scale == pytest.approx(truth, rel=0.1)
    assert found.proposal["noise"] == pytest.approx(0.1, abs=0.011)
    again = diagnose(problem, similarity, drawn(problem, [reward], 20_000, 2))
    assert again.proposal == {}


def codes(found: Diagnosis) -> set[str]:
    return {finding.code for finding in found.findings} & {"steep-similarity", "flat-similarity"}


def test_a_similarity_that_rewards_bear_out_is_never_called_flat() -> None:
    """The truth is 1, and it is said above 1.25."""
    for seed in range(20):
        task = Tents()
        assert "flat-similarity" not in codes(diagnose(task.problem, None, played(task, 5000, seed)))


def test_of_one_that_is_just_right_nothing_is_said() -> None:
    """r = 0.5 x + 0.5 y changes exactly as fast as the default allows: at most 5 of 50; 6 of 2 % have 0.3 %."""
    problem = Problem([Real("x")], [Real("y")], [Objective("r", bounded=False)])

    def reward(p: Floats, rng: np.random.Generator) -> Floats:
        return 0.5 * p.sum(axis=1) + 0.2 * rng.normal(size=len(p))

    assert sum(bool(codes(diagnose(problem, None, drawn(problem, [reward], 3000, seed)))) for seed in range(50)) <= 5


def test_one_that_is_much_too_steep_is() -> None:
    task = Tents()
    for seed in range(10):
        assert codes(diagnose(task.problem, {"scale": 6}, played(task, 5000, seed))) == {"steep-similarity"}


def test_nothing_is_proposed_in_place_of_a_function_or_from_too_little() -> None:
    bridge, tents = Bridge(), Tents()
    assert codes(diagnose(bridge.problem, bridge.similarity, played(bridge, 5000))) == set()
    few = diagnose(tents.problem, {"scale": 6}, played(tents, 200))
    assert (codes(few), few.proposal) == (set(), {})


def test_findings_are_those_of_the_rounds_whatever_their_chunks() -> None:
    task = PaddedPaperTask()
    rounds = played(task, 5000)
    found = diagnose(task.problem, None, rounds)
    assert diagnose(task.problem, None, [rounds[:1700], rounds[1700:]]) == found
    assert {finding.code for finding in found.findings} == {"flat-similarity", "coordinates"}
    assert "Nothing is seen of idle1, idle2" in str(found)
    assert found.numbers["first"]["coordinates"].keys() == {"x", "idle1", "idle2", "y"}
