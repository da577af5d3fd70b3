"""What the infos say, against numbers worked out another way."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom import (
    PCZ,
    ContextualZooming,
    Finite,
    Integer,
    Objective,
    PaperTask,
    Problem,
    Real,
    Refused,
    SmoothRidges,
    Snapshot,
    Tents,
    simulate,
)
from paretozoom.environments.base import Task
from paretozoom.plots import bins, partition, plane, regret, reward_maps
from paretozoom.policies.zooming.zooming import Zooming
from paretozoom.similarity import Similarity

TWO = [Objective("a"), Objective("b")]


def test_reward_maps_are_the_expected_rewards_at_the_middles_of_cells() -> None:
    task = PaperTask()
    maps = reward_maps.info(task, cells=10)
    for row, column in [(0, 0), (3, 7), (9, 2)]:
        expected = task.mean([(column + 0.5) / 10], [(row + 0.5) / 10])
        for o, name in enumerate(maps.objectives):
            assert maps.values[o][row][column] == pytest.approx(expected[name], abs=1e-4)


def test_the_front_of_the_paper_is_a_band_of_constant_width() -> None:
    front = plane.front_of(PaperTask())
    assert [x[0] for x in front.intervals[0]] == [0.8]
    for x, intervals in zip(front.contexts, front.intervals, strict=True):
        assert np.allclose(intervals, [[0.8 - 0.8 * x, 1 - 0.8 * x]])


def test_the_front_of_finite_arms_is_the_rows_that_are_optimal() -> None:
    task = Tents(arms=11)
    front = plane.front_of(task)
    for k in (0, 150, 399):
        rows = [row for row in range(11) for low, high in front.intervals[k] if low < row < high]
        assert [f"y{row / 10:.4g}" for row in rows] == task.front([front.contexts[k]])


def test_regret_bands_are_means_errors_and_quantiles() -> None:
    runs = np.random.default_rng(1).random((11, 4)).cumsum(axis=1)
    curve = regret.info([1, 2, 3, 4], {"PCZ": runs}).curves[0]
    assert np.allclose(curve.mean, runs.mean(axis=0))
    assert np.allclose(np.subtract(curve.high, curve.mean), 1.96 * runs.std(axis=0, ddof=1) / np.sqrt(11))
    assert np.allclose(np.add(curve.high, curve.low), 2 * np.array(curve.mean))
    assert np.allclose([curve.tenth, curve.ninetieth], np.sort(runs, axis=0)[[1, 9]])


@pytest.mark.parametrize("curve", [[1.0, 2.0], [[1.0]], np.zeros((0, 2))])
def test_regret_refuses_curves_of_another_shape(curve: object) -> None:
    with pytest.raises(Refused, match=r"curves\['PCZ'\]: its shape is .*, expected \(runs, 2\)"):
        regret.info([1, 2], {"PCZ": curve})  # type: ignore[dict-item]


def test_bins_leave_out_policies_that_were_never_optimal() -> None:
    named = bins.info({"a": {"bins": [0.5, 0.5]}}, ["left", "right"], "arm")
    assert (named.names, named.axis) == (["left", "right"], "arm")
    axes = bins.figure(named).axes[0]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["left", "right"]
    assert axes.get_xlabel() == "arm"
    assert bins.info({"a": {"bins": [0.5, 0.5]}}, ["one"]).names == []
    found = bins.info({"a": {"bins": [None, None]}, "b": {"bins": [0.25] * 4, "se": {"bins": [None] * 4}}, "c": {}})
    assert [bars.label for bars in found.policies] == ["b"]
    assert (found.bins, found.equal) == (4, 0.25)


@pytest.mark.parametrize("task", [PaperTask(), Tents(arms=6)])
@pytest.mark.parametrize("kind", [PCZ, ContextualZooming])
def test_each_cell_has_the_smallest_radius_of_the_balls_over_it(task: Task, kind: type[Zooming]) -> None:
    policy = kind(task.problem, horizon=600, confidence=0.05)
    for _ in simulate(policy, task, 600, seed=2):
        pass
    info = partition.info(policy, task)
    balls = policy.balls
    points = plane.crossed(*plane.cells_of(task.problem, partition.CELLS))
    over = Similarity.of(task.problem).distances(points, balls.centre) <= balls.radius + 1e-12
    smallest = np.where(over, balls.radius, 1.0).min(axis=1)
    painted = np.array(info.radii)[np.array(info.levels).ravel()]
    assert len(info.radii) > 2
    assert np.mean(painted != smallest) < 1e-4  # cells whose middle lies on an edge
    assert sum(info.balls) == len(balls.radius) == len(info.counts)
    assert info.counts[0] == balls.count[0].max()


def test_a_snapshot_gives_the_partition_of_its_policy() -> None:
    task = PaperTask()
    policy = PCZ(task.problem, horizon=300, confidence=0.05)
    for _ in simulate(policy, task, 300, seed=3):
        pass
    snapshot = Snapshot.from_bytes(policy.dump().to_bytes())
    assert partition.info_of_snapshot(snapshot, task.problem, plane.front_of(task)) == partition.info(policy, task)


def test_snapshots_of_other_policies_and_problems_are_refused() -> None:
    with pytest.raises(Refused, match="not one of a policy that keeps balls"):
        partition.info_of_snapshot(Snapshot({}, {}), PaperTask().problem)
    other = Problem(context=[Real("u"), Real("v")], arm=[Real("y")], objectives=TWO)
    with pytest.raises(Refused, match=r"expected \(1, 3\)"):
        partition.info_of_snapshot(PCZ(PaperTask().problem, horizon=10).dump(), other)


def test_ticks_are_in_the_units_of_the_user() -> None:
    problem = Problem(context=[Real("load", 1, 100, scale="log")], arm=[Real("price", 2, 4)], objectives=TWO)
    drawn = plane.plane_of(problem)
    assert drawn.context.labels == ["1", "3.162", "10", "31.62", "100"]
    assert drawn.arm.labels == ["2", "2.5", "3", "3.5", "4"]
    assert (drawn.context.name, drawn.arm.name) == ("context load", "arm price")


def test_finite_arms_have_a_row_each_and_readable_labels() -> None:
    integers = Problem(context=[Real("x")], arm=[Integer("threads", 1, 64)], objectives=TWO)
    assert plane.plane_of(integers).arm.labels[:2] == ["1", "5"]
    long = Problem(context=[Real("x")], arm=Finite(["short", "long " * 9]), objectives=TWO)
    assert plane.plane_of(long).arm.labels == ["short", "long long long …"]
    assert plane.plane_of(long).rows == 2


def test_problems_that_do_not_fit_a_plane_are_refused() -> None:
    for context, arm in [([], [Real("y")]), ([Real("x")], [Real("y"), Real("z")]), ([Integer("x", 0, 9)], [Real("y")])]:
        problem = Problem(context=context, arm=arm, objectives=TWO)
        assert not plane.can_draw(problem)
        with pytest.raises(Refused, match="do not fit a plane; expected one Real context"):
            plane.plane_of(problem)


def test_periodic_balls_are_painted_but_not_as_discs() -> None:
    problem = Problem(context=[Real("hour", 0, 24, periodic=True)], arm=[Real("y")], objectives=TWO)
    arrays = {
        "centre": np.array([[0.5, 0.5], [0.0, 0.5]]),
        "radius": np.array([1.0, 0.25]),
        "count": np.array([[5, 5], [1, 1]]),
    }
    info = partition.info_of_snapshot(Snapshot({}, arrays), problem)
    middle = info.levels[partition.CELLS // 2]
    assert (middle[0], middle[partition.CELLS // 2], middle[-1]) == (1, 0, 1)
    assert info.reach == []


def test_a_front_without_a_closed_form_is_found() -> None:
    front = plane.front_of(SmoothRidges())
    assert np.allclose(front.intervals[16], [[0.72, 0.88]], atol=1e-3)
