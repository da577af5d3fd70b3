"""Truth on a grid of arms, where arms have several dimensions."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Integer, Objective, Problem, Real, Refused, Similarity
from paretozoom.checks import check_environment
from paretozoom.environments import Boxes, Bridge, Catalogue, Devices, PaperTask, Tents
from paretozoom.environments.base import BINS, Task
from paretozoom.environments.shapes.cones import Cones
from paretozoom.environments.shapes.grid import GRID, arm_grid, half_steps
from paretozoom.kernels.core.jit import kernel
from paretozoom.problem.dimensions import Dimension, Floats

REAL, INTEGER, CATEGORY = Real("r", 0, 10), Integer("n", 3, 7), Categorical("c", ["a", "b", "c"])


def problem(arm: list[Dimension] | Finite, context: list[Dimension] | None = None, objectives: int = 2) -> Problem:
    return Problem(context=context or [], arm=arm, objectives=[Objective(f"o{k}") for k in range(objectives)])


@kernel
def _mixed_mean(world: Floats, point: Floats, out: Floats) -> None:
    # a context, a real arm and a category: each category has a tent of its own, that of the third is lower
    peak = 0.25 + 0.25 * point[0] + 0.2 * (point[2] == 1)
    out[0] = 0.9 - 0.1 * (point[2] == 2) - 0.5 * abs(point[1] - peak)
    out[1] = 0.9 - 0.1 * (point[2] == 2) - 0.5 * abs(point[1] - peak - 0.2)


class Mixed(Task):
    """One real arm coordinate, one category; nothing in closed form."""

    name = "mixed"
    mean_kernel = _mixed_mean

    def __init__(self) -> None:
        super().__init__(problem([REAL, CATEGORY], [Real("x")]))


@kernel
def _flat_mean(world: Floats, point: Floats, out: Floats) -> None:
    out[:] = 0.5


class Flat(Task):
    """All arms are alike."""

    name = "flat"
    mean_kernel = _flat_mean

    def __init__(self, arm: list[Dimension]) -> None:
        super().__init__(problem(arm, [Real("x")]))


def sought(task: Task) -> Task:
    """The same task with nothing in closed form."""

    class Sought(Task):
        name = "sought"
        mean_kernel = type(task).mean_kernel

    return Sought(task.problem, world=task.world)


def points_of(task: Task, n: int, seed: int = 0) -> Floats:
    return np.random.default_rng(seed).random((n, task.problem.dim))


# The grid


@pytest.mark.parametrize(
    ("arm", "arms"),
    [
        ([REAL], GRID),
        ([REAL, Real("s")], 45**2),
        ([REAL, Real("s"), Real("t")], 13**3),
        ([REAL, INTEGER], 401 * 5),
        ([CATEGORY, REAL, Real("s")], 3 * 26**2),
        ([INTEGER, CATEGORY], 15),
        ([Real(f"r{k}") for k in range(12)], 2**12),
    ],
    ids=lambda value: "" if isinstance(value, int) else " ".join(d.name for d in value),
)
def test_grids_have_about_two_thousand_arms(arm: list[Dimension], arms: int) -> None:
    grid = arm_grid(problem(arm))
    assert grid.shape == (arms, len(arm))
    assert len(np.unique(grid, axis=0)) == arms
    for column, dimension in zip(grid.T, arm, strict=True):
        values = np.unique(column)
        if dimension.values:
            assert [dimension.decode(v) for v in values] == [dimension.decode(v) for v in sorted(values)]
            assert len(values) == dimension.values
        else:
            assert np.diff(values) == pytest.approx(values[1] - values[0])
            assert values.min() == pytest.approx(1 - values.max())


def test_the_arms_of_a_finite_set_are_the_grid() -> None:
    arm = Finite(["a", "b"], features=[[0, 1], [1, 0]])
    assert arm_grid(problem(arm)).tolist() == [[0, 1], [1, 0]]
    assert half_steps(problem(arm)).tolist() == [0, 0]


def test_a_grid_of_millions_is_refused() -> None:
    with pytest.raises(Refused, match="arm"):
        arm_grid(problem([Real(f"r{k}") for k in range(20)]))
    with pytest.raises(Refused, match="arm"):
        arm_grid(problem([Integer("m", 0, 10_000), Integer("n", 0, 10_000)]))


def test_no_arm_is_farther_from_the_grid_than_half_a_step() -> None:
    for arm in ([REAL, Real("s", periodic=True)], [REAL, INTEGER], [REAL]):
        spaces = problem(arm, [Real("x")])
        similarity = Similarity.of(spaces)
        reach = float(similarity.between(np.zeros((1, spaces.dim)), half_steps(spaces)[None])[0])
        grid = np.column_stack([np.full(len(arm_grid(spaces)), 0.5), arm_grid(spaces)])
        points = points_of(Flat(arm), 200)
        points[:, 0] = 0.5
        points[:, -1] = points[:, -1] if len(arm) == 1 or arm[1].values == 0 else np.round(points[:, -1] * 4) / 4
        nearest = similarity.distances(points, grid).min(axis=1)
        assert nearest.max() <= reach + 1e-12
        assert nearest.max() > reach / 2
        assert Flat(arm).gap_error == pytest.approx(reach)


# Gaps and membership


@pytest.mark.parametrize("task", [Boxes(), Bridge()], ids=lambda task: task.name)
def test_gaps_on_the_grid_come_near_the_closed_form(task: Cones) -> None:
    points = points_of(task, 400)
    exact, found = task.gaps(points), sought(task).gaps(points)
    # A place by the river can be a whole step of the grid away from the next one on its bank, and half a step north.
    error = task.slope * (1.5 if isinstance(task, Bridge) else 1.0) / 45
    assert np.all(found <= exact + 1e-12)
    assert np.all(exact <= found + error + 1e-12)
    assert np.median(exact) > 5 * error
    sure = task.are_optimal(points) | (exact > error)
    assert np.array_equal(sought(task).are_optimal(points)[sure], task.are_optimal(points)[sure])


def test_mixed_arms_keep_the_contract() -> None:
    check_environment(Mixed())
    check_environment(Flat([REAL, Real("s")]), rounds=30)


def test_a_mixed_task_by_hand() -> None:
    task = Mixed()
    step = 0.5 / 667
    assert task.gap([0.0], [3.5, "a"]) == pytest.approx(0, abs=1e-12)
    assert task.gap([0.0], [9.0, "a"]) == pytest.approx(0.5 * 0.45, abs=0.5 * step)
    assert task.gap([0.0], [3.5, "c"]) == pytest.approx(0.1, abs=0.5 * step)
    assert task.optimal([0.0], [3.5, "a"])
    assert task.optimal([0.0], [5.5, "b"])
    assert not task.optimal([0.0], [3.5, "c"])
    front = task.front([0.0])
    assert {arm["c"] for arm in front} == {"a", "b"}
    for name, low, high in (("a", 2.5, 4.5), ("b", 4.5, 6.5)):
        arms = [arm["r"] for arm in front if arm["c"] == name]
        assert (min(arms), max(arms)) == (pytest.approx(low, abs=0.02), pytest.approx(high, abs=0.02))
    with pytest.raises(Refused, match="arm"):
        task.front_intervals(np.zeros((1, 3)))


def test_a_front_between_the_arms_of_the_grid_is_shown_by_its_neighbours() -> None:
    class Thin(Mixed):
        def are_optimal(self, points: Floats) -> Any:
            return np.zeros(len(points), np.bool_)

    assert Thin().front([0.5]) == Mixed().front([0.5])


# Bins


def bins_at(task: Task, context: list[float], n: int) -> tuple[Floats, Any]:
    """Pareto optimal points above one context, drawn uniformly from all arms, and their bins."""
    points = points_of(task, n, seed=3)
    for j, values in enumerate(task.problem.encoding.values.tolist()):
        if values < 0:
            points[:, j] = np.floor(points[:, j] * -values)
    points[:, : len(context)] = context
    points = points[task.are_optimal(points)]
    return points, task.bin_of(points, np.full(len(points), -1))


@pytest.mark.parametrize(
    ("task", "context", "n"),
    [(Mixed(), [0.3], 6000), (Flat([REAL, Real("s")]), [0.3], 300), (sought(Boxes()), [0.3, 0.5, 0.7], 20_000)],
    ids=["mixed", "flat", "boxes"],
)
def test_bins_are_equal_parts_of_the_pareto_set(task: Task, context: list[float], n: int) -> None:
    points, bins = bins_at(task, context, n)
    assert len(bins) >= 300
    shares = np.bincount(bins, minlength=BINS) / len(bins)
    # The rim of the Pareto set is one step of the grid wide on a box of nine steps: some tenths of a bin.
    slack = 0.06 if task.problem.dim == 5 else 0.0
    assert np.abs(shares - 1 / BINS).max() < 4 * math.sqrt(5 / 36 / len(bins)) + slack
    order = np.argsort(task.means(points)[:, 0], kind="stable")
    assert np.all(np.diff(bins[order]) >= 0) or isinstance(task, Flat)


def test_bins_on_the_grid_come_near_the_closed_form() -> None:
    task = Boxes()
    points, _ = bins_at(task, [0.3, 0.5, 0.7], 3000)
    ours, theirs = task._share_below(points), sought(task)._share_of_grid(points)
    assert np.abs(ours - theirs).max() < 0.2


# What more Task can tell


def test_the_best_constant_arm() -> None:
    arm, gap = PaperTask().constant_arm(2000)
    assert arm["y"] == pytest.approx(0.77, abs=0.02)
    assert gap == pytest.approx(0.160 * 0.1675, rel=0.05)
    label, gap = Tents(arms=5).constant_arm()
    assert label in ("y0.25", "y0.5")
    assert gap > 0
    assert Catalogue().constant_arm(50)[0].startswith("item")


def test_lipschitz_looks_within_categories() -> None:
    task = Mixed()  # 0.5 along the arm and 0.125 along the context; up to 0.1 + 0.1 between categories
    found = task.lipschitz(similarity=Similarity.of(task.problem, norm=1, scale=3))
    assert found == pytest.approx(0.5, abs=0.01)
    assert Devices().lipschitz() == pytest.approx(0.9 * math.sqrt(3) * math.hypot(1, 0.4), rel=0.01)


def test_a_negative_spread_is_refused() -> None:
    for make in (Boxes, Bridge, Catalogue, Devices):
        with pytest.raises(Refused, match="spread: -1"):
            make(spread=-1)
        with pytest.raises(Refused, match="spread: 'much'"):
            make(spread="much")  # type: ignore[arg-type]
