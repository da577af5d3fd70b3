"""The truth of tasks: closed forms against the grid, and Assumption 1."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import Finite, PaperTask, SmoothRidges, Tents
from paretozoom.environments.base import BINS, Task
from paretozoom.environments.shapes.grid import GRID
from paretozoom.problem.dimensions import Floats
from tests.environments.points import PAPER_LIPSCHITZ, grid_error, random_points

# A Gaussian bump of height 0.9 and width 0.15, over a crest that moves by at most 0.6 pi per unit of context.
RIDGES_LIPSCHITZ = 0.9 * math.sqrt(2 / math.e) / 0.15 * math.hypot(1, 0.6 * math.pi) * math.sqrt(2)


class OnGrid(Task):
    """The paper's task with nothing in closed form."""

    name = "on-grid"
    mean_kernel = PaperTask.mean_kernel

    def __init__(self) -> None:
        super().__init__(PaperTask().problem)


@pytest.mark.parametrize(
    ("task", "lipschitz"),
    [
        (PaperTask(), PAPER_LIPSCHITZ),
        (SmoothRidges(), RIDGES_LIPSCHITZ),
        *((task, 1.0) for task in (Tents(1), Tents(2), Tents(3), Tents(2, width=0.4))),
    ],
)
def test_gaps_in_closed_form_agree_with_the_grid(task: Task, lipschitz: float) -> None:
    points = random_points(400)
    exact, sought = task.gaps(points), Task.gaps(task, points)
    error = grid_error(task, lipschitz)
    assert task.gap_error <= 1e-12
    assert np.all(sought <= exact + 1e-12)
    assert np.all(exact <= sought + error + 1e-12)
    assert np.any(exact > 100 * error)
    inside = task.are_optimal(points)
    assert np.array_equal(inside, exact <= 1e-12)
    sure = inside | (exact > error)
    assert np.array_equal(Task.are_optimal(task, points)[sure], inside[sure])


@pytest.mark.parametrize("task", [PaperTask(), SmoothRidges(), Tents(2), Tents(3, width=0.3)])
def test_fronts_and_bins_in_closed_form_agree_with_the_grid(task: Task) -> None:
    class Sought(Task):
        name = "sought"
        mean_kernel = type(task).mean_kernel

    sought = Sought(task.problem, world=task.world)
    assert sought.gap_error == pytest.approx(grid_error(task, 1.0))
    points = random_points(60)
    ends = np.array([intervals[0] for intervals in task.front_intervals(points)])
    points[:, 1] = ends[:, 0] + points[:, 1] * (ends[:, 1] - ends[:, 0])
    step = 1 / (GRID - 1)
    for exact, found in zip(task.front_intervals(points[:8]), sought.front_intervals(points[:8]), strict=True):
        assert len(found) == 1
        # The grid's best arm may lie one step beyond the front, where no other arm of the grid dominates it.
        assert found[0] == pytest.approx(exact[0], abs=step + 1e-12)
        assert sought.front([0.5]) == [pytest.approx(task.front([0.5])[0], abs=step + 1e-12)]
    arms, width = np.full(8, -1), ends[0, 1] - ends[0, 0]
    place = (points[:8, 1] - ends[:8, 0]) / width * BINS
    away_from_edges = np.abs(place - np.round(place)) > 3 * BINS * step / width
    assert away_from_edges.sum() >= 5
    ours, theirs = task.bin_of(points[:8], arms), sought.bin_of(points[:8], arms)
    assert np.array_equal(ours[away_from_edges], theirs[away_from_edges])
    assert np.array_equal(Task.bin_of(task, points, np.full(60, -1)) >= 0, task.bin_of(points, np.full(60, -1)) >= 0)


def test_the_grid_of_the_paper_task_is_the_paper_task() -> None:
    task, grid = PaperTask(), OnGrid()
    assert grid.gap([0.5], [0.3]) == pytest.approx(task.gap([0.5], [0.3]), abs=grid_error(task, PAPER_LIPSCHITZ))
    assert grid.optimal([0.5], [0.501])
    assert not grid.optimal([0.5], [0.301])
    assert grid.means(random_points(5)) == pytest.approx(task.means(random_points(5)))


def brute_force(means: Floats) -> tuple[Floats, list[bool]]:
    """(gaps, optimality) of finitely many mean vectors, by definition."""
    gaps = np.array([max(0.0, max(min(other - own) for other in means)) for own in means])
    optimal = [not any(np.all(other >= own) and np.any(other > own) for other in means) for own in means]
    return gaps, optimal


@pytest.mark.parametrize("objectives", [1, 2, 3])
@pytest.mark.parametrize("arms", [2, 7, 11])
def test_finite_tents_agree_with_enumeration(objectives: int, arms: int) -> None:
    task = Tents(objectives, arms=arms)
    assert isinstance(task.problem.arm, Finite)
    labels = task.problem.arm.labels
    assert task.bins == arms
    for x in (0.0, 0.3, 0.77, 1.0):
        points = np.array([[x, k / (arms - 1)] for k in range(arms)])
        gaps, optimal = brute_force(task.means(points))
        assert task.gaps(points) == pytest.approx(gaps, abs=1e-15)
        assert task.are_optimal(points).tolist() == optimal
        assert task.front([x]) == [label for label, best in zip(labels, optimal, strict=True) if best]
        expected = [k if best else -1 for k, best in enumerate(optimal)]
        assert task.bin_of(points, np.arange(arms)).tolist() == expected
        assert task.gap([x], labels[-1]) == pytest.approx(gaps[-1], abs=1e-15)


@pytest.mark.parametrize("x", [0.0, 0.1, 0.6])
def test_ridges_by_hand(x: float) -> None:
    task = SmoothRidges()
    crest = 0.5 + 0.3 * math.sin(2 * math.pi * x)
    for y in (0.0, 0.3, crest, crest + 0.08, 1.0):
        means = [0.9 * math.exp(-(((y - crest + shift) / 0.15) ** 2)) + 0.05 for shift in (0.08, -0.08)]
        assert list(task.mean([x], [y]).values()) == pytest.approx(means, abs=1e-12)
    assert task.front([x]) == [pytest.approx((crest - 0.08, crest + 0.08), abs=1e-12)]
    points = np.array([[x, crest - 0.08 + (k + 0.5) * 0.16 / 6] for k in range(-1, 7)])
    assert task.bin_of(points, np.full(8, -1)).tolist() == [-1, 0, 1, 2, 3, 4, 5, -1]
    assert 10 < task.lipschitz() <= RIDGES_LIPSCHITZ + 1e-9


@pytest.mark.parametrize("objectives", [1, 2, 3])
@pytest.mark.parametrize("arms", [None, 9])
def test_tents_keep_assumption_1(objectives: int, arms: int | None) -> None:
    found = Tents(objectives, arms=arms).lipschitz()
    assert 0.99 < found <= 1 + 1e-9
    assert Tents(objectives, arms=arms, slope=0.3).lipschitz() < found / 2
    assert Tents(objectives, arms=arms, slope=0.7).lipschitz() > 1.05


def test_tents_stay_between_zero_and_one() -> None:
    corners = np.array([[x, y] for x in (0.0, 0.5, 1.0) for y in (0.0, 0.5, 1.0)])
    for task in (Tents(1), Tents(3), Tents(2, arms=5)):
        means = task.means(corners)
        assert means.min() >= 0
        assert means.max() <= 1


@given(st.floats(0, 1), st.floats(0, 1))
def test_tents_by_hand(x: float, y: float) -> None:
    task = Tents(2)
    low, high = 0.15 + 0.4 * x, 0.35 + 0.4 * x
    expected = [0.9 - task.slope * abs(y - peak) for peak in (low, high)]
    assert list(task.mean([x], [y]).values()) == pytest.approx(expected, abs=1e-12)
    assert task.gap([x], [y]) == pytest.approx(task.slope * max(0, low - y, y - high), abs=1e-12)
    if abs(y - low) > 1e-9 and abs(y - high) > 1e-9:
        assert task.optimal([x], [y]) == (low < y < high)
        expected_bin = int((y - low) / 0.2 * 6) if low < y < high else -1
        place = (y - low) / 0.2 * 6
        if abs(place - round(place)) > 1e-9:
            assert task.bin_of(np.array([[x, y]]), np.array([-1])).tolist() == [expected_bin]
