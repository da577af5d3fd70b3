"""The mean reward of each objective."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom import Objective
from paretozoom.metrics import MeanReward
from tests.metrics import slow
from tests.metrics.toy import Table, played


def test_in_the_user_s_units(measure):
    objectives = [Objective("cost", goal="min", low=0, high=200), Objective("speed", low=10, high=20)]
    task = Table(objectives=objectives)
    rounds = played(task, 0.5, [0, 1], [[0.75, 0.5], [0.25, 1.0]])  # costs 50 and 150, speeds 15 and 20
    assert measure(MeanReward, task, rounds) == {"mean_reward": {"cost": 100.0, "speed": 17.5}}


def test_unknown_scale(measure):
    task = Table(objectives=[Objective("loss", goal="min", low=None, high=None), Objective("r")])
    rounds = played(task, 0.5, [0, 1], [[-3.0, 0.0], [-5.0, 1.0]])
    assert measure(MeanReward, task, rounds) == {"mean_reward": {"loss": 4.0, "r": 0.5}}


def test_silent_objectives_do_not_count(measure):
    task = Table()
    rounds = played(task, 0.5, [0, 0, 0], [[1.0, np.nan], [0.0, np.nan], [np.nan, np.nan]])
    assert measure(MeanReward, task, rounds) == {"mean_reward": {"r1": 0.5, "r2": None}}


def test_against_the_slow_twin(paper, random_run, measure):
    rounds = random_run[:3000]
    result = measure(MeanReward, paper, rounds)["mean_reward"]
    assert result == pytest.approx(slow.mean_reward(list(rounds))["mean_reward"], rel=1e-12)
