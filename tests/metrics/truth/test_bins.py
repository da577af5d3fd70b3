"""The ratios of the bins."""

from __future__ import annotations

import math

import pytest

from paretozoom.metrics import BinRatios
from tests.metrics import slow
from tests.metrics.toy import Table, played


def test_arms_that_are_never_optimal_have_no_bin(measure):
    task = Table()
    result = measure(BinRatios, task, played(task, 0.5, [0, 0, 1, 2, 3]))
    assert result == {"bins": [2 / 3, 1 / 3], "bin_ratio": 0.5}


def test_an_optimal_arm_never_played_makes_the_ratio_zero(measure):
    task = Table()
    assert measure(BinRatios, task, played(task, 0.5, [1, 1])) == {"bins": [0.0, 1.0], "bin_ratio": 0.0}


def test_without_an_optimal_pull_there_is_no_ratio(paper, measure):
    result = measure(BinRatios, paper, played(paper, 0.5, [0.9, 0.1]))
    assert result == {"bins": [None] * 6, "bin_ratio": None}


def test_one_optimal_arm_is_fair(measure):
    task = Table({"a": (1.0, 1.0), "b": (0.5, 0.5)})
    assert measure(BinRatios, task, played(task, 0.5, [0, 1])) == {"bins": [1.0], "bin_ratio": 1.0}


def test_against_the_slow_twin(paper, random_run, measure):
    rounds = random_run[:3000]
    fast, twin = measure(BinRatios, paper, rounds), slow.paper_bins(rounds)
    assert fast["bins"] == pytest.approx(twin["bins"], rel=1e-12)
    assert fast["bin_ratio"] == pytest.approx(twin["bin_ratio"], rel=1e-12)


def test_random_play_fills_the_bins_evenly(paper, random_run, measure):
    result = measure(BinRatios, paper, random_run)
    pulls = paper.are_optimal(random_run.columns.point).sum()
    bound = 4 * math.sqrt(1 / 6 * 5 / 6 / pulls)
    assert all(abs(ratio - 1 / 6) < bound for ratio in result["bins"])
    assert sum(result["bins"]) == pytest.approx(1)
    assert result["bin_ratio"] >= (1 / 6 - bound) / (1 / 6 + bound)
