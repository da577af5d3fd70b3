"""Fairness in every context slice."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paretozoom import Tents
from paretozoom.metrics import BinRatios, LocalEntropy
from tests.metrics import slow
from tests.metrics.toy import Table, played


def entropy(*counts: int) -> float:
    n = sum(counts)
    return -sum(c / n * math.log(c / n) for c in counts) + (len(counts) - 1) / (2 * n)


def test_hand_computed(measure):
    # Slice 2: 30 pulls of a and 10 of b. Slice 19: 60 of b. Slice 5: one short of 30 pulls, and arms that do not count.
    task = Table()
    contexts = [0.12] * 40 + [1.0] * 60 + [0.27] * 59
    arms = [0] * 30 + [1] * 10 + [1] * 60 + [1] * 29 + [2] * 15 + [3] * 15
    expected = (40 * entropy(30, 10) / math.log(2) + 60 * 0.0) / 100
    result = measure(LocalEntropy, task, played(task, contexts, arms))
    assert result["local_entropy"] == pytest.approx(expected, rel=1e-12)


def test_capped_at_one(measure):
    task = Table()
    assert measure(LocalEntropy, task, played(task, 0.5, [0, 1] * 15)) == {"local_entropy": 1.0}


@pytest.mark.parametrize("pulls", [0, 29])
def test_too_few_pulls_say_nothing(paper, measure, pulls):
    assert measure(LocalEntropy, paper, played(paper, 0.5, [0.5] * pulls)) == {"local_entropy": None}


def test_one_optimal_arm_says_nothing(measure):
    task = Table({"a": (1.0, 1.0), "b": (0.5, 0.5)})
    assert measure(LocalEntropy, task, played(task, 0.5, [0] * 50)) == {"local_entropy": None}


def test_against_the_slow_twin(paper, random_run, measure):
    rounds = random_run[:6000]  # about 60 Pareto optimal pulls in each slice
    twin = slow.paper_local_entropy(rounds)
    assert twin["local_entropy"] < 1
    assert measure(LocalEntropy, paper, rounds) == pytest.approx(twin, rel=1e-12)


@pytest.mark.parametrize(("rounds", "least"), [(7_000, 0.985), (100_000, 0.999)])
def test_fair_play_scores_one(paper, random_run, measure, rounds, least):
    # In a slice of n fair pulls the entropy over log 6 has standard deviation sqrt(5/2) / (n log 6).
    assert least < measure(LocalEntropy, paper, random_run[:rounds])["local_entropy"] <= 1


def test_a_constant_arm_looks_fair_only_when_contexts_are_pooled(paper, random_run, measure):
    rounds = played(paper, random_run.columns.point[:, 0], np.full(len(random_run), 0.77))
    assert measure(BinRatios, paper, rounds)["bin_ratio"] == pytest.approx(0.97, abs=0.03)
    assert measure(LocalEntropy, paper, rounds)["local_entropy"] == pytest.approx(0.28, abs=0.01)


def test_finite_arms_are_compared_with_those_that_are_optimal_in_the_slice(measure):
    task = Tents(arms=21)
    rng = np.random.default_rng(3)
    contexts = rng.random(100_000)
    rounds = played(task, contexts, rng.integers(21, size=len(contexts)))
    # About 5 of 21 arms are optimal at a time; one that is optimal in half of its slice is played half as often.
    assert 0.97 < measure(LocalEntropy, task, rounds)["local_entropy"] < 1
