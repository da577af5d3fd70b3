"""The covered part of the front."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom import Tents
from paretozoom.metrics import Hypervolume
from tests.metrics import slow
from tests.metrics.toy import Table, played


def test_hand_computed(measure):
    # The front is a = (1, .5) and b = (.5, 1), of volume .75.
    task = Table()
    best = slow.hypervolume([(1, 0.5), (0.5, 1)])
    assert best == 0.75
    assert measure(Hypervolume, task, played(task, 0.5, [0] * 5))["hypervolume"] == pytest.approx(0.5 / best)
    assert measure(Hypervolume, task, played(task, 0.5, [2] * 5))["hypervolume"] == pytest.approx(0.0625 / best)
    assert measure(Hypervolume, task, played(task, 0.5, [2] * 8 + [0, 1]))["hypervolume"] == 1.0


def test_only_the_last_fifth_counts(measure):
    task = Table()
    result = measure(Hypervolume, task, played(task, 0.5, [0, 1, 0, 1, 0, 1, 0, 1, 2, 2]))
    assert result == pytest.approx({"hypervolume": 0.0625 / 0.75, "mean_gap_tail": 0.25})


def test_slices_are_weighted_by_pulls(measure):
    task = Table()
    contexts = [0.0] * 8 * 4 + [0.1] * 6 + [0.9] * 2
    arms = [2] * 8 * 4 + [0, 1] * 3 + [2, 2]
    result = measure(Hypervolume, task, played(task, contexts, arms))
    assert result["hypervolume"] == pytest.approx((6 * 1 + 2 * 0.0625 / 0.75) / 8)


def test_bad_arms_are_punished_by_the_gap_alone(measure):
    task = Table()
    result = measure(Hypervolume, task, played(task, 0.5, [2] * 18 + [0, 1]))
    assert result == pytest.approx({"hypervolume": 1.0, "mean_gap_tail": 0.125})


@pytest.mark.parametrize("count", [1, 3, 4, 5, 6])
def test_any_number_of_objectives(measure, count):
    rng = np.random.default_rng(count)
    vectors = np.round(rng.random((5, count)) * 256) / 256
    task = Table({f"arm {k}": tuple(vector) for k, vector in enumerate(vectors)})
    ratio = measure(Hypervolume, task, played(task, 0.5, [0] * 8 + [1, 2]))["hypervolume"]
    expected = slow.hypervolume(vectors[1:3].tolist()) / slow.hypervolume(vectors.tolist())
    assert ratio == pytest.approx(expected, rel=1e-9 if count < 6 else 0.03)


def test_the_yardstick_is_the_front_of_the_slice(measure):
    # Peaks at .15 + .4x and .55 + .4x, slope .5: mu1 + mu2 = 1.6 for mu1 in [.7, .9], the same for every x.
    task = Tents(slope=0.5, width=0.4)
    best = 0.9 * 0.7 + 0.2 * (0.7 + 0.9) / 2
    ratio = measure(Hypervolume, task, played(task, 0.0, [0.35] * 10))["hypervolume"]
    assert ratio == pytest.approx(0.8**2 / best, rel=1e-3)


def test_fair_play_on_the_paper_s_front_covers_it(paper, random_run, measure):
    n = len(random_run)
    x = random_run.columns.point[:, 0]
    rounds = played(paper, x, 0.8 - 0.8 * x + 0.2 * np.random.default_rng(0).random(n))
    result = measure(Hypervolume, paper, rounds)
    assert 0.998 < result["hypervolume"] <= 1
    assert result["mean_gap_tail"] < 1e-12
    # 1000 random pulls in a slice put 200 vectors on the front: a staircase that misses about 2/200 of its area.
    assert measure(Hypervolume, paper, random_run)["hypervolume"] == pytest.approx(0.99, abs=0.003)


def test_memory_is_bounded(paper):
    rng = np.random.default_rng(0)
    x = rng.random(400_000)
    metric = Hypervolume(paper, 1)
    metric.update(played(paper, x, 0.8 - 0.8 * x + 0.2 * rng.random(len(x))))
    assert 3_000 < max(len(front) for front in metric._fronts) <= 4_097


def test_nothing_read_says_nothing(paper):
    assert Hypervolume(paper, 10).result() == {"hypervolume": None, "mean_gap_tail": None}
    metric = Hypervolume(paper, 10)
    metric.update(played(paper, 0.5, [0.5] * 8))
    assert metric.result() == {"hypervolume": None, "mean_gap_tail": None}
