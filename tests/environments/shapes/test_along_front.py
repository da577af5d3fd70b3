"""Bins of equal length along the front, in objective space."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from paretozoom.environments import (
    ZOO,
    Boxes,
    Bridge,
    Catalogue,
    Currencies,
    DriftingRidges,
    Islands,
    Pentagon,
    SmoothRidges,
    Task,
    Tents,
)
from paretozoom.environments.base import BINS
from paretozoom.environments.shapes import along_front
from paretozoom.environments.shapes.along_front import shares_of_length, shares_of_range
from paretozoom.environments.shapes.grid import is_line
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints, Objective, Real
from paretozoom.registry import find_members

TASKS = {name: member() for name, member in find_members("paretozoom.environments", Task).items() if name in ZOO}
LINES = [name for name in ZOO if is_line(TASKS[name].problem)]
ERROR = 1e-4  # of the length that steps may misplace


@kernel
def bent_mean(world, point, out):
    # A parabola, for which no arm is dominated, and an objective that is the same everywhere.
    out[0], out[1], out[2] = point[1], 1.0 - point[1] * point[1], world[0]


@kernel
def flat_mean(world, point, out):
    out[0] = out[1] = 0.5


class Bent(Task):
    name = "bent"
    mean_kernel = bent_mean

    def __init__(self, third: float) -> None:
        objectives = [Objective("a"), Objective("b"), Objective("c")]
        super().__init__(Problem(context=[Real("x")], arm=[Real("y")], objectives=objectives), world=np.array([third]))


class Flat(Task):
    name = "flat"
    mean_kernel = flat_mean

    def __init__(self, *arm: str) -> None:
        objectives = [Objective("a"), Objective("b")]
        super().__init__(Problem(context=[Real("x")], arm=[Real(name) for name in arm], objectives=objectives))


def optimal_points(task: Task, n: int, seed: int = 0) -> tuple[Floats, Ints]:
    """n Pareto optimal points, and the round of each."""
    rng = np.random.default_rng(seed)
    points, numbers = task.sample(200 * n, rng), rng.integers(0, 300_000, 200 * n)
    chosen = np.flatnonzero(task.at(numbers).are_optimal(points))[:n]
    return points[chosen], numbers[chosen]


def no_arms(points: Floats) -> Any:
    return np.full(len(points), -1)


def slow_share(task: Task, point: Floats) -> float:
    """Walk along the front in 4,000 steps per piece, by definition."""
    pieces = []
    for low, high in task.front_intervals(point[None])[0]:
        arms = np.linspace(low, high, 4_001)
        walk = np.repeat(point[None], len(arms), axis=0)
        walk[:, -1] = arms
        pieces.append((arms, task.means(walk)))
    every = np.vstack([vectors for _, vectors in pieces])
    ranges = every.max(axis=0) - every.min(axis=0)
    below = total = 0.0
    for arms, vectors in pieces:
        scaled = vectors[:, ranges > 1e-9] / ranges[ranges > 1e-9]
        lengths = np.sqrt((np.diff(scaled, axis=0) ** 2).sum(axis=1))
        total += lengths.sum()
        below += np.interp(point[-1], arms, np.concatenate([[0.0], np.cumsum(lengths)]))
    return below / total


ALIKE = ("paper-padded", "crowds", "loud-and-quiet", "heavy-tails", "currencies", "two-of-four", "convex-front")
LONGER = [pytest.param(TASKS[name], marks=pytest.mark.proof) if name in ALIKE else TASKS[name] for name in LINES]


@pytest.mark.parametrize("task", [*LONGER, Tents(), Tents(5)], ids=lambda task: task.name)
def test_lines_against_the_definition(task: Task) -> None:
    points, numbers = optimal_points(task, 24)
    there = task.at(numbers)
    walked = zip(points, numbers.tolist(), strict=True)
    expected = np.array([slow_share(task.at(number), point) for point, number in walked])
    assert shares_of_length(there, points) == pytest.approx(expected, abs=ERROR)
    sure = np.abs(BINS * expected - np.round(BINS * expected)) > BINS * ERROR
    assert sure.sum() > 18
    bins = there.front_bin_of(points, no_arms(points))
    assert bins[sure].tolist() == np.floor(BINS * expected[sure]).astype(int).tolist()


@pytest.mark.parametrize("name", ["islands", "drifting-ridges"])
def test_points_are_measured_some_at_a_time(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    points, numbers = optimal_points(TASKS[name], 24)
    there = TASKS[name].at(numbers)
    whole = shares_of_length(there, points)
    monkeypatch.setattr(along_front, "AT_ONCE", 7)
    assert shares_of_length(there, points).tolist() == whole.tolist()


@pytest.mark.parametrize("task", [*(TASKS[name] for name in LINES), Bent(0.0)], ids=lambda task: task.name)
def test_pieces_are_the_intervals_in_one_array(task: Task) -> None:
    points = task.sample(20, np.random.default_rng(5))
    offsets, pieces = task.front_pieces(points)
    found = [pieces[start:end].tolist() for start, end in itertools.pairwise(offsets)]
    assert found == [[list(ends) for ends in intervals] for intervals in task.front_intervals(points)]


@pytest.mark.parametrize("name", ["paper", "paper-padded", "devices"])
def test_straight_fronts_have_the_bins_of_their_arms(name: str) -> None:
    task = TASKS[name]
    points, _ = optimal_points(task, 500)
    shares = shares_of_length(task, points)
    sure = np.abs(BINS * shares - np.round(BINS * shares)) > 1e-9
    assert sure.sum() > 490
    bins = task.front_bin_of(points, no_arms(points))
    assert np.array_equal(bins[sure], Task.front_bin_of(task, points, no_arms(points))[sure])
    assert np.array_equal(bins, task.bin_of(points, no_arms(points)))


@pytest.mark.parametrize("task", [Boxes(), Bridge(), Pentagon()], ids=lambda task: task.name)
def test_spaces_are_parted_by_the_range_of_the_first_objective(task: Task) -> None:
    rng = np.random.default_rng(1)
    points = np.repeat(task.sample(1, rng), 200_000, axis=0)
    head = task.problem.encoding.context
    points[:, head:] = rng.random((len(points), 2))
    points = points[task.are_optimal(points)]
    first = task.means(points)[:, 0]
    low, high = first.min(), first.max()
    bins = task.front_bin_of(points, no_arms(points))
    place = BINS * (first - low) / (high - low)
    # Of a thousand arms or more, one is within a tenth of a bin of each end.
    assert len(points) > 1_000
    assert np.abs(np.clip(place, 0, BINS - 1e-9) - bins - 0.5).max() < 0.6
    few = points[:50]
    # An arm of the grid is within a step of each end, and a step is a few tenths of a bin.
    assert np.abs(BINS * shares_of_range(task, few) - place[:50]).max() < 1.0


def test_finite_arms_are_bins_of_their_own() -> None:
    task = Catalogue()
    points, arms = task.sample(300, np.random.default_rng(2)), np.arange(300) % 50
    points[:, 1:] = task.problem.encoding.arms[arms]
    bins = task.front_bin_of(points, arms)
    assert (bins >= 0).any()
    assert np.array_equal(bins, task.bin_of(points, arms))


def test_drifting_ridges_are_smooth_ridges_shifted() -> None:
    points, numbers = np.random.default_rng(10).random((300, 2)), np.arange(300) * 1_517
    shifted = np.column_stack([(points[:, 0] + numbers / 200_000) % 1.0, points[:, 1]])
    there, still = DriftingRidges().at(numbers), SmoothRidges()
    bins = there.front_bin_of(points, no_arms(points))
    assert (bins >= 0).sum() > 30
    assert bins.tolist() == still.front_bin_of(shifted, no_arms(points)).tolist()
    assert bins.tolist() != DriftingRidges().front_bin_of(points, no_arms(points)).tolist()


def test_scales_do_not_matter() -> None:
    known, unknown = Currencies(), Currencies(scale_known=False)
    points, _ = optimal_points(known, 200)
    assert shares_of_length(unknown, points) == pytest.approx(shares_of_length(known, points), abs=1e-9)


def test_the_jump_between_islands_has_no_length() -> None:
    # At x = 0.5 the islands are [0.3, 0.34] and [0.66, 0.7], and both are straight in objective space, equally long.
    points = np.array([[0.5, y] for y in (0.3, 0.32, 0.34, 0.66, 0.68, 0.7)])
    points[[2, 3], 1] += [-1e-12, 1e-12]
    assert shares_of_length(Islands(), points) == pytest.approx([0, 0.25, 0.5, 0.5, 0.75, 1], abs=1e-9)


# Fronts by hand


@pytest.mark.parametrize("third", [0.0, 0.3])
def test_a_parabola_on_the_grid(third: float) -> None:
    def length(y: float) -> float:  # the integral of sqrt(1 + 4 y^2)
        return y * math.sqrt(1 + 4 * y * y) / 2 + math.asinh(2 * y) / 4

    points = np.array([[0.5, y] for y in (0.0, 0.1, 0.33, 0.8, 1.0)])
    expected = [length(y) / length(1.0) for y in points[:, 1]]
    assert shares_of_length(Bent(third), points) == pytest.approx(expected, abs=ERROR)
    assert Bent(third).front_bin_of(points, no_arms(points)).tolist() == [0, 0, 1, 4, 5]


@pytest.mark.parametrize("arm", [("y",), ("y", "z")])
def test_a_front_of_one_vector_has_no_parts(arm: tuple[str, ...]) -> None:
    task = Flat(*arm)
    points = np.random.default_rng(3).random((5, 1 + len(arm)))
    assert task.are_optimal(points).all()
    assert task.front_bin_of(points, no_arms(points)).tolist() == [-1] * 5


def test_no_points_have_no_bins() -> None:
    for task in (SmoothRidges(), Bent(0.0), Boxes(), Flat("y", "z")):
        assert len(task.front_bin_of(np.empty((0, task.problem.dim)), np.empty(0, np.int64))) == 0
