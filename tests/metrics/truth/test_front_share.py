"""The share of Pareto optimal pulls."""

from __future__ import annotations

import math

from paretozoom.metrics import FrontShare
from tests.metrics import slow
from tests.metrics.toy import Table, played


def test_gap_zero_is_not_enough(measure):
    task = Table()
    assert task.gap([0.5], "d") == 0.0
    result = measure(FrontShare, task, played(task, 0.5, [0, 1, 2, 3]))
    assert result == {"front_share": 0.5, "front_share_tail": 0.0}


def test_the_tail_is_the_last_fifth(paper, measure):
    arms = [0.5] * 7 + [0.9] * 3 + [0.5]  # of 11 rounds, the last 3 are the tail
    result = measure(FrontShare, paper, played(paper, 0.5, arms))
    assert result == {"front_share": 8 / 11, "front_share_tail": 1 / 3}


def test_against_the_slow_twin(paper, random_run, measure):
    rounds = random_run[:3001]
    assert measure(FrontShare, paper, rounds) == slow.front_share(paper, rounds)


def test_random_play_hits_a_fifth(paper, random_run, measure):
    result = measure(FrontShare, paper, random_run)
    error = math.sqrt(0.2 * 0.8 / len(random_run))
    assert abs(result["front_share"] - 0.2) < 4 * error
    assert abs(result["front_share_tail"] - 0.2) < 4 * error * math.sqrt(5)


def test_nothing_read_says_nothing(paper):
    assert FrontShare(paper, 10).result() == {"front_share": None, "front_share_tail": None}
