"""The hard zoo: its truth against the grid, its bins and slices, and that no constant arm solves it."""

from __future__ import annotations

import doctest
import math
import re
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from moocore import is_nondominated

from paretozoom.environments import (
    ZOO,
    ConcaveFront,
    ConvexFront,
    Crowds,
    DriftingRidges,
    Islands,
    PaddedPaperTask,
    PaperTask,
    Pentagon,
    SmoothRidges,
    Task,
    ThreePeaks,
    TwoOfFour,
)
from paretozoom.environments.base import BINS, SLICES
from paretozoom.environments.shapes.grid import GRID, is_line
from paretozoom.environments.tasks.pentagon import AREA, RADIUS, area_near_corner
from paretozoom.problem.dimensions import Floats
from paretozoom.registry import find_members

TASKS = find_members("paretozoom.environments", Task)
PAGE = Path(__file__).parents[3] / "docs" / "reference" / "zoo.md"
LINES = [name for name in ZOO if is_line(TASKS[name]().problem)]
# The paper's task is what it is: a constant arm has 0.16 of random's gap.
GIVEN = {"paper": 0.14, "paper-padded": 0.14}


@cache
def task_of(name: str) -> Task:
    return TASKS[name]()


def moments(task: Task, n: int) -> Task:
    """The task in n different rounds, if it drifts."""
    return task.at(np.random.default_rng(9).integers(0, 300_000, n))


def shares_of_random() -> dict[str, float]:
    """The last column of the table in the documentation, by task."""
    rows = re.findall(r"^\| `([\w-]+)` \|.*\| ([\d.]+) \|$", PAGE.read_text(), re.MULTILINE)
    return {name: float(share) for name, share in rows}


def test_the_page_names_every_task_and_its_example_runs() -> None:
    assert list(shares_of_random()) == list(ZOO)
    assert set(ZOO) <= set(TASKS)
    found = doctest.testfile(str(PAGE), module_relative=False)
    assert found.attempted > 0
    assert found.failed == 0


@pytest.mark.parametrize("name", ZOO)
def test_no_constant_arm_solves_a_task(name: str) -> None:
    task, contexts, rng = task_of(name), 400, np.random.default_rng(1)
    arms = task._grid if len(task.problem.encoding.arms) else task._grid[::50]
    if not is_line(task.problem) and not len(task.problem.encoding.arms):
        arms = task._grid.reshape(45, 45, 2)[::4, ::4].reshape(-1, 2)
    points = task.sample(contexts, rng).repeat(len(arms), axis=0)
    points[:, task.problem.encoding.context :] = np.tile(arms, (contexts, 1))
    there = task.at(rng.integers(100_000, size=contexts).repeat(len(arms)))
    gaps = there.gaps(points).reshape(contexts, len(arms))
    best, random = int(gaps.mean(axis=0).argmin()), task.random_gap(20_000)
    share, error = gaps.mean(axis=0)[best] / random, gaps[:, best].std() / random / math.sqrt(contexts)
    assert share >= GIVEN.get(name, 0.25)
    # The page has the best of all arms, over 1,000 contexts.
    assert share == pytest.approx(shares_of_random()[name], abs=4 * math.sqrt(1.4) * error + 0.02)


def on_the_grid(name: str, n: int, seed: int) -> tuple[Task, Floats, Floats]:
    """n random points, the task in their rounds, and the mean vectors of all arms of the grid above each point."""
    task = task_of(name)
    points = task.sample(n, np.random.default_rng(seed))
    there, arms = moments(task, n), task._grid
    above = points.repeat(len(arms), axis=0)
    above[:, task.problem.encoding.context :] = np.tile(arms, (n, 1))
    each = there.at(there._numbers.repeat(len(arms) if len(there._numbers) > 1 else 1))
    return there, points, each.means(above).reshape(n, len(arms), -1)


@pytest.mark.parametrize("name", [*LINES, "pentagon"])
def test_truth_agrees_with_the_grid(name: str) -> None:
    task, points, vectors = on_the_grid(name, 100, seed=1)
    own, exact, optimal = task.means(points), task.gaps(points), task.are_optimal(points)
    better = vectors - own[:, None]
    sought = np.maximum(0, (better / task.gap_scale).min(axis=2).max(axis=1))
    dominated = ((better >= 0).all(axis=2) & (better > 0).any(axis=2)).any(axis=1)
    # Arms are less than a step of the grid apart from its arms, on a line; half a step in both directions, in a plane.
    error = 2 * 0.48 * math.sqrt(2) * math.hypot(0.5, 0.5) / 45
    if is_line(task.problem):
        error = float(np.abs(np.diff(vectors, axis=1) / task.gap_scale).max())
    assert np.all(sought <= exact + task.gap_error)
    assert np.all(exact <= sought + error + 1e-12)
    assert np.median(exact) > 2 * error
    assert np.all(exact[optimal] <= 1e-9)
    sure = optimal | (exact > error)
    assert sure.mean() > (0.9 if is_line(task.problem) else 0.7)
    assert np.array_equal(~dominated[sure], optimal[sure])


@pytest.mark.parametrize("name", LINES)
def test_fronts_agree_with_the_grid(name: str) -> None:
    task, points, vectors = on_the_grid(name, 8, seed=2)
    step = 1 / (GRID - 1)
    for exact, means in zip(task.front_intervals(points), vectors, strict=True):
        best = np.flatnonzero(is_nondominated(means, maximise=True, keep_weakly=True)) * step
        parts = np.split(best, np.flatnonzero(np.diff(best) > 1.5 * step) + 1)
        assert len(parts) == len(exact)
        for part, (low, high) in zip(parts, exact, strict=True):
            assert (part[0], part[-1]) == pytest.approx((low, high), abs=step + 1e-12)


def test_the_grid_knows_the_round() -> None:
    n, arms = 60, np.full(60, -1)
    points = np.random.default_rng(12).random((n, 2))
    task = moments(DriftingRidges(), n)
    assert Task.gaps(task, points) == pytest.approx(task.gaps(points), abs=0.01)
    inside = task.are_optimal(points)
    assert np.array_equal(Task.are_optimal(task, points)[inside], inside[inside])
    ours, theirs = task.bin_of(points, arms), Task.bin_of(task, points, arms)
    assert inside.sum() > 5
    assert np.abs(ours - theirs).max() <= 1  # a step of the grid from the edge of a bin


@pytest.mark.parametrize("name", [*LINES, "pentagon"])
def test_bins_are_equal_parts_of_the_pareto_set(name: str) -> None:
    task, n = task_of(name), 40_000 if name == "pentagon" else 8_000
    points = np.random.default_rng(3).random((n, task.problem.dim))
    points[:, : task.problem.encoding.context] = task.sample(1, np.random.default_rng(4))[
        0, : task.problem.encoding.context
    ]
    task = task.at(70_000)
    points = points[task.are_optimal(points)]
    bins = task.bin_of(points, np.full(len(points), -1))
    assert len(points) > 400
    shares = np.bincount(bins, minlength=BINS) / len(bins)
    assert np.abs(shares - 1 / BINS).max() < 4 * math.sqrt(5 / 36 / len(bins))
    along = points[:, -1] if is_line(task.problem) else task.means(points)[:, 0]
    assert np.all(np.diff(bins[np.argsort(along)]) >= 0)


@pytest.mark.parametrize("name", ZOO)
def test_every_slice_has_its_share_of_contexts(name: str) -> None:
    task = task_of(name)
    found = np.bincount(task.slice_of(task.sample(20_000, np.random.default_rng(5))), minlength=SLICES)
    assert len(found) == SLICES
    assert found.min() > 20_000 / SLICES / 10


@pytest.mark.parametrize("name", ZOO)
def test_means_are_in_scale(name: str) -> None:
    means = task_of(name).means(task_of(name).sample(20_000, np.random.default_rng(6)))
    assert means.min() >= 0
    assert means.max() <= 1


# Some by hand


def test_idle_contexts_change_nothing() -> None:
    padded, plain = PaddedPaperTask(), PaperTask()
    points = np.random.default_rng(7).random((500, 4))
    few = points[:, [0, 3]]
    assert np.array_equal(padded.means(points), plain.means(few))
    assert np.array_equal(padded.gaps(points), plain.gaps(few))
    assert np.array_equal(padded.bin_of(points, np.full(500, -1)), plain.bin_of(few, np.full(500, -1)))
    for k in (1, 3):
        moved = points[:100].copy()
        moved = np.column_stack([moved, moved[:, :1]])  # four contexts and an arm
        before = TwoOfFour().means(moved)
        moved[:, k] = 1 - moved[:, k]
        assert np.array_equal(TwoOfFour().means(moved), before)


def test_the_islands_by_hand() -> None:
    task = Islands()
    assert task.mean([0.5], [0.3]) == pytest.approx({"first": 0.9, "second": 0.1 + 0.4 * 0.6})
    assert task.mean([0.5], [0.7]) == pytest.approx({"first": 0.1 + 0.4 * 0.6, "second": 0.9})
    assert task.mean([0.5], [0.5]) == {"first": 0.1, "second": 0.1}
    # From nothing to where the two advantages of an island meet: 0.8 - 0.32 u = 0.24 + 0.16 u beyond u = 1, so 0.4.
    assert task.gap([0.5], [0.5]) == pytest.approx(0.4)
    points = np.array([[0.5, y] for y in (0.301, 0.339, 0.5, 0.661, 0.699)])
    assert task.bin_of(points, np.full(5, -1)).tolist() == [0, 2, -1, 3, 5]


@pytest.mark.parametrize(("task", "outwards"), [(ConcaveFront(), True), (ConvexFront(), False)])
def test_fronts_bend_as_they_are_called(task: Task, outwards: bool) -> None:
    low, high = task.front_intervals(np.array([[0.3, 0.0]]))[0][0]
    first, second = task.means(np.column_stack([np.full(200, 0.3), np.linspace(low, high, 200)])).T
    slopes = np.diff(second) / np.diff(first)  # along the front, from its right end to its left
    assert np.all(np.diff(slopes) > 0) if outwards else np.all(np.diff(slopes) < 0)


def test_three_peaks_by_hand() -> None:
    task = ThreePeaks()
    crest = 0.5 + 0.33 * math.cos(3 * math.pi * 0.2)
    expected = [0.05 + h * math.exp(-(((0.4 - crest - s) / w) ** 2)) for h, s, w in zip(
        (0.9, 0.5, 0.8), (-0.12, 0.02, 0.12), (0.1, 0.2, 0.15), strict=True
    )]  # fmt: skip
    assert list(task.mean([0.2], [0.4]).values()) == pytest.approx(expected)


def test_the_pentagon_by_hand() -> None:
    task = Pentagon()
    corners = [(0.5 + 0.12 * math.sin(a), 0.5 + 0.12 * math.cos(a)) for a in -np.arange(5) * 2 * math.pi / 5]
    for o, corner in enumerate(corners):
        assert list(task.mean([0.5, 0.5], corner).values())[o] == pytest.approx(0.95)
    inner = 0.12 * math.cos(math.pi / 5)
    assert task.optimal([0.5, 0.5], [0.5, 0.5 - inner + 1e-9])
    assert not task.optimal([0.5, 0.5], [0.5, 0.5 - inner - 1e-9])
    assert task.gap([0.5, 0.5], [0.5, 0.3]) == pytest.approx(0.48 * (0.2 - inner) ** 2)


@pytest.mark.parametrize("reach", [0.05, 0.12, 0.16, 0.2])
def test_the_area_near_a_corner(reach: float) -> None:
    n = 40_000
    places = np.random.default_rng(8).random((n, 4))
    places[:, :2] = 0.5
    places[:, 2:] = 0.5 + RADIUS * (2 * places[:, 2:] - 1)
    inside = Pentagon().are_optimal(places)
    near = np.hypot(places[:, 2] - 0.5, places[:, 3] - 0.5 - RADIUS) < reach
    share = area_near_corner(reach) / (2 * RADIUS) ** 2
    assert np.mean(inside & near) == pytest.approx(share, abs=4 * math.sqrt(share * (1 - share) / n))
    assert np.mean(inside) == pytest.approx(AREA / (2 * RADIUS) ** 2, abs=0.01)


def test_drifting_ridges_are_smooth_ridges_shifted() -> None:
    points, numbers = np.random.default_rng(10).random((200, 2)), np.arange(200) * 1_517
    shifted: Floats = np.column_stack([(points[:, 0] + numbers / 200_000) % 1.0, points[:, 1]])
    there, still = DriftingRidges().at(numbers), SmoothRidges()
    assert there.means(points) == pytest.approx(still.means(shifted), abs=1e-12)
    assert there.gaps(points) == pytest.approx(still.gaps(shifted), abs=1e-9)
    assert np.array_equal(there.are_optimal(points), still.are_optimal(shifted))
    assert there.bin_of(points, np.full(200, -1)).tolist() == still.bin_of(shifted, np.full(200, -1)).tolist()


def test_crowds_are_where_they_are_said_to_be() -> None:
    n = 20_000
    points = Crowds().sample(n, np.random.default_rng(11))
    for share, east, north, reach in ((0.4, 0.1, 0.2, 0.08), (0.25, 0.62, 0.15, 0.05), (0.05, 0.35, 0.9, 0.03)):
        near = (np.abs(points[:, 0] - east) <= reach) & (np.abs(points[:, 1] - north) <= reach)
        stragglers = 0.2 * _straggler_mass(east, reach, 2) * _straggler_mass(north, reach, 3)
        expected = share + stragglers
        assert near.mean() == pytest.approx(expected, abs=4 * math.sqrt(expected * (1 - expected) / n))


def _straggler_mass(middle: float, reach: float, power: int) -> float:
    return min(1.0, middle + reach) ** (1 / power) - (middle - reach) ** (1 / power)
