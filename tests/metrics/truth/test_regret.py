"""Pareto regret."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom.metrics import ParetoRegret
from tests.metrics import slow
from tests.metrics.toy import Table, played


def test_hand_computed(paper, measure):
    # At x = 0.5 the Pareto set is [0.4, 0.6]; the gaps of these arms are 0, 0.25, 0.5, 0.025 and 0.
    rounds = played(paper, 0.5, [0.5, 0.3, 0.1, 0.8, 0.6])
    result = measure(ParetoRegret, paper, rounds)
    assert result == pytest.approx({"regret": 0.775, "mean_gap": 0.155, "tail_gap": 0.0}, abs=1e-12)


def test_curve_at_every_round_of_a_short_run():
    task = Table()
    metric = ParetoRegret(task, 4)
    metric.update(played(task, 0.5, [2, 0, 3]))  # gap of c: max(min(.75, .25), min(.25, .75)) = .25
    assert metric.curves()["rounds"].tolist() == [1, 2, 3, 4]
    assert metric.curves()["regret"][:3].tolist() == [0.25, 0.25, 0.25]
    assert np.isnan(metric.curves()["regret"][3])


@pytest.mark.parametrize("rounds", [0, 1, 7, 199, 200, 201, 333, 100_000])
def test_checkpoints_are_even_and_end_in_the_last_round(paper, rounds):
    checkpoints = ParetoRegret(paper, rounds).checkpoints
    assert len(checkpoints) == min(rounds, 200)
    assert checkpoints.tolist() == sorted(set(checkpoints.tolist()))
    if rounds:
        assert checkpoints[-1] == rounds
        assert np.ptp(np.diff(checkpoints, prepend=0)) <= 1


def test_against_the_slow_twin(paper, random_run, measure):
    rounds = random_run[:3001]
    assert measure(ParetoRegret, paper, rounds) == pytest.approx(slow.regret(paper, rounds), rel=1e-12)


def test_curve_is_the_cumulative_sum(paper, random_run):
    metric = ParetoRegret(paper, len(random_run))
    metric.update(random_run)
    cumulative = np.cumsum(paper.gaps(random_run.columns.point))
    assert metric.curves()["regret"].tolist() == pytest.approx(cumulative[499::500].tolist(), rel=1e-12)
    assert metric.result()["regret"] == metric.curves()["regret"][-1]


def test_random_play_has_the_mean_gap_of_the_paper_s_task(paper, random_run, measure):
    error = paper.gaps(random_run.columns.point).std() / np.sqrt(len(random_run))
    assert abs(measure(ParetoRegret, paper, random_run)["mean_gap"] - 0.1675) < 4 * error


def test_nothing_read_says_nothing(paper):
    assert ParetoRegret(paper, 10).result() == {"regret": 0.0, "mean_gap": None, "tail_gap": None}
