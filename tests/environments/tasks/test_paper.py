"""The paper's task by hand: means, gaps, bins, and what uniform play costs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paretozoom import PaperTask, Random, simulate
from paretozoom.environments.base import BINS
from tests.environments.points import PAPER_LIPSCHITZ, random_points


@pytest.mark.parametrize(
    ("y", "means", "gap"),
    [(0.5, (0.5, 0.5), 0.0), (0.3, (0.5, 0.0), 0.25), (0.1, (0.0, 0.0), 0.5), (0.8, (0.0, 0.95), 0.025)],
)
def test_the_paper_task_by_hand(y: float, means: tuple[float, float], gap: float) -> None:
    task = PaperTask()
    assert list(task.mean([0.5], [y]).values()) == pytest.approx(means, abs=1e-12)
    assert task.gap([0.5], [y]) == pytest.approx(gap, abs=1e-12)
    assert task.optimal([0.5], [y]) == (gap == 0)
    assert task.front([0.5]) == [(pytest.approx(0.4), pytest.approx(0.6))]


def test_the_gap_of_the_paper_task_at_its_extremes() -> None:
    task = PaperTask()
    assert task.gap([0], [0]) == 0.5
    assert task.gap([1], [1]) == pytest.approx(0.1, abs=1e-12)
    points = random_points(20_000)
    gaps = task.gaps(points)
    above = points[:, 1] > 1 - 0.8 * points[:, 0]
    assert gaps.max() <= 0.5
    assert gaps[above].max() <= 0.1 + 1e-12
    assert gaps[above] == pytest.approx((points[above, 1] - 1 + 0.8 * points[above, 0]) / 8, abs=1e-12)
    below = points[:, 1] < 0.8 - 0.8 * points[:, 0]
    short = 0.8 - 0.8 * points[below, 0] - points[below, 1]
    assert gaps[below] == pytest.approx(np.minimum(1, 5 * short) / 2, abs=1e-12)


def test_what_uniform_play_costs_on_the_paper_task() -> None:
    task = PaperTask()
    middles = (np.arange(500) + 0.5) / 500
    points = np.stack(np.meshgrid(middles, middles), axis=-1).reshape(-1, 2)
    # Midpoints: the gap changes by at most 2.5 * (0.8 + 1) per unit, and half a cell is 0.001 wide.
    assert task.gaps(points).mean() == pytest.approx(0.1675, abs=2.5 * 1.8 * 0.001)
    assert task.gaps(points).mean() == pytest.approx(0.1675, abs=1e-4)
    rounds = list(simulate(Random(task.problem), task, 10_000, seed=1))
    played = np.array([[r.decision.context["x"], r.decision.arm["y"]] for r in rounds])
    # Gaps lie in [0, 0.5], so their standard deviation is at most 0.25.
    assert abs(task.gaps(played).mean() - 0.1675) < 4 * 0.25 / 100
    inside = task.are_optimal(played)
    assert abs(inside.mean() - 0.2) < 4 * math.sqrt(0.2 * 0.8 / 10_000)
    bins = task.bin_of(played, np.full(len(played), -1))
    assert np.array_equal(bins >= 0, inside)
    shares = np.bincount(bins[inside], minlength=BINS) / inside.sum()
    assert np.abs(shares - 1 / 6).max() < 4 * math.sqrt(5 / 36 / inside.sum())


def test_the_lipschitz_constant_of_the_paper_task() -> None:
    task = PaperTask()
    assert abs(PAPER_LIPSCHITZ - 9.0554) < 1e-4
    assert 9.0 < task.lipschitz() <= PAPER_LIPSCHITZ + 1e-6
    steep = np.array([[0.5, 0.3], [0.5 + 0.08, 0.3 + 0.1]])  # along the gradient of the first mean
    change = np.abs(np.diff(task.means(steep), axis=0)).max()
    assert change / (math.hypot(0.08, 0.1) / math.sqrt(2)) <= PAPER_LIPSCHITZ + 1e-9
    near = np.array([[0.5, 0.3], [0.5 + 0.04, 0.3 + 0.05]])
    change = np.abs(np.diff(task.means(near), axis=0)).max()
    assert change / (math.hypot(0.04, 0.05) / math.sqrt(2)) == pytest.approx(PAPER_LIPSCHITZ)


@pytest.mark.parametrize("x", [0.0, 0.1, 0.5, 0.7, 1.0])
def test_the_bins_of_the_paper_are_closed_above(x: float) -> None:
    task = PaperTask()
    low = 0.8 - 0.8 * x

    def bins(offset: float) -> list[int]:
        points = np.array([[x, low + k / 30 + offset] for k in range(7)])
        return task.bin_of(points, np.full(7, -1)).tolist()

    assert bins(0) == [0, 0, 1, 2, 3, 4, 5]
    assert bins(1e-9) == [0, 1, 2, 3, 4, 5, -1]
    assert bins(-1e-9) == [-1, 0, 1, 2, 3, 4, 5]
    assert task.bins == 6
