"""Tasks with several contexts, several arm dimensions, many finite arms, categories and a distance of their own."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from paretozoom import PCZ, Similarity, simulate_in_chunks
from paretozoom.checks import check_environment, check_metric
from paretozoom.environments import Boxes, Bridge, Catalogue, Devices
from paretozoom.environments.base import BINS, Task
from paretozoom.environments.shapes.cones import Cones, corner_area
from paretozoom.environments.tasks.bridge import BRIDGE, FARTHEST, MARCH, RIVER, distance, walk
from paretozoom.metrics import Metric
from paretozoom.problem import random_points
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.registry import find_members
from paretozoom.similarity.metric import check_similarity

ZOO: dict[str, Any] = {"boxes": Boxes, "bridge": Bridge, "catalogue": Catalogue, "devices": Devices}
every_task = pytest.mark.parametrize("make", ZOO.values(), ids=ZOO)
CONES = pytest.mark.parametrize("task", [Boxes(), Bridge(), Devices()], ids=lambda task: task.name)


def points_of(task: Task, n: int, seed: int = 0) -> Floats:
    return random_points(task.problem.encoding, n, np.random.default_rng(seed))


# What the four promise


@every_task
@pytest.mark.parametrize("spread", [None, 0.05])
def test_the_contract_is_kept(make: Any, spread: float | None) -> None:
    task = make(spread=spread)
    check_environment(task)
    assert task.noise_scale == (spread or 0.5)
    assert task.gap_error == 0


@every_task
def test_every_metric_can_be_taken(make: Any) -> None:
    for metric in find_members("paretozoom.metrics", Metric).values():
        check_metric(metric, make())


@every_task
def test_means_stay_between_zero_and_one(make: Any) -> None:
    task = make()
    sides = [[0.0, 0.5, 1.0] if values == 0 else range(-values) for values in task.problem.encoding.values.tolist()]
    corners = np.array(list(itertools.product(*sides)), float)
    for points in (points_of(task, 20_000), corners):
        means = task.means(points)
        assert means.min() >= 0
        assert means.max() <= 1


@every_task
def test_assumption_1_holds_under_the_similarity_of_the_task(make: Any) -> None:
    task = make()
    assert 0.9 < task.lipschitz(similarity=task.similarity) <= 1 + 1e-9
    assert task.lipschitz() > 1.5  # under the problem's own it does not


@every_task
def test_the_similarity_of_the_task_is_a_metric(make: Any) -> None:
    task = make()
    check_similarity(task.problem, task.similarity)


@every_task
def test_no_constant_arm_solves_the_task(make: Any) -> None:
    task = make()
    _, gap = task.constant_arm()
    random = task.gaps(points_of(task, 5_000)).mean()
    assert random > 0.15
    assert 0.4 * random < gap < 0.6 * random
    share = task.are_optimal(points_of(task, 5_000)).mean()
    assert 0.02 < share < 0.2


@pytest.mark.parametrize(
    ("task", "rounds"),
    [(Boxes(0.01), 2_500), (Bridge(0.01), 1_200), (Catalogue(0.05), 6_000), (Devices(0.05), 4_000)],
    ids=list(ZOO),
)
def test_pcz_learns_what_no_constant_arm_can_give(task: Task, rounds: int) -> None:
    policy = PCZ(task.problem, horizon=rounds, noise=task.spread, similarity=task.similarity)
    played = list(simulate_in_chunks(policy, task, rounds, seed=1))
    gaps = np.concatenate([task.gaps(some.columns.point) for some in played])
    first, last = gaps[: rounds // 10].mean(), gaps[-rounds // 5 :].mean()
    assert last < 0.65 * first
    assert last < task.constant_arm()[1]


# Two peaks and what lies between


@CONES
@pytest.mark.parametrize("seed", range(6))
def test_bins_are_equal_parts_of_the_pareto_set(task: Cones, seed: int) -> None:
    context = points_of(task, 1, seed)[0, : task.problem.encoding.context]
    points = points_of(task, 60_000, seed + 10)
    points[:, : len(context)] = context
    points = points[task.are_optimal(points)]
    bins = task.bin_of(points, np.full(len(points), -1))
    shares = np.bincount(bins, minlength=BINS) / len(points)
    assert len(points) > 1_000
    assert np.abs(shares - 1 / BINS).max() < 4 * math.sqrt(5 / 36 / len(points))
    along = points[:, -1] if isinstance(task, Devices) else task.means(points)[:, 0]
    assert np.all(np.diff(bins[np.argsort(along)]) >= 0)


@CONES
def test_gaps_are_those_of_an_arm_on_the_way_between_the_peaks(task: Cones) -> None:
    points, others = points_of(task, 300), points_of(task, 20_000, seed=1)
    gaps, own = task.gaps(points), task.means(points)
    for k in range(40):
        others[:, : task.problem.encoding.context] = points[k, : task.problem.encoding.context]
        advantage = (task.means(others) - own[k]).min(axis=1).max()
        assert advantage <= gaps[k] + 1e-12
        assert gaps[k] <= max(advantage, 0) + 0.02  # 20,000 arms leave holes
    assert np.array_equal(task.are_optimal(points), gaps <= 1e-12)


def test_a_box_by_hand() -> None:
    task = Boxes()
    left, low = 0.8 * (0.85 * 0.5 + 0.15 * 0.2), 0.8 * (0.85 * 0.5 + 0.15 * 1.0)
    context = [0.5, 0.2, 1.0]
    assert task.mean(context, [left, low]) == pytest.approx({"first": 0.9, "second": 0.9 - 0.45 * 0.4})
    assert task.mean(context, [left + 0.2, low + 0.2]) == pytest.approx({"first": 0.9 - 0.45 * 0.4, "second": 0.9})
    assert task.optimal(context, [left + 0.01, low + 0.19])
    assert task.gap(context, [left - 0.1, low + 0.1]) == pytest.approx(0.45 * 0.1)
    assert task.gap(context, [left - 0.1, low + 0.3]) == pytest.approx(0.45 * 0.2)
    arms = np.array([[arm["y1"], arm["y2"]] for arm in task.front(context)])
    assert arms.min(axis=0) == pytest.approx([left, low], abs=1 / 45)
    assert arms.max(axis=0) == pytest.approx([left + 0.2, low + 0.2], abs=1 / 45)


def test_devices_by_hand() -> None:
    task = Devices()
    for kind, idle, busy in (
        ("phone", 0.05, 0.35),
        ("tablet", 0.65, 0.25),
        ("laptop", 0.35, 0.65),
        ("screen", 0.75, 0.55),
    ):
        for load, peak in ((0.0, idle), (1.0, busy), (0.5, (idle + busy) / 2)):
            context = {"kind": kind, "load": load}
            assert task.front(context) == [(pytest.approx(peak), pytest.approx(peak + 0.15))]
            assert task.mean(context, [peak]) == pytest.approx({"first": 0.9, "second": 0.9 - 0.9 * 0.15})
            assert task.gap(context, [peak + 0.05]) == pytest.approx(0, abs=1e-12)
            assert task.gap(context, [peak - 0.05]) == pytest.approx(0.045)


@pytest.mark.parametrize(("reach", "area"), [(-1, 0), (0, 0), (0.1, 0.005), (0.3, 0.2 * 0.2 / 2 + 0.02), (0.7, 0.1)])
def test_the_area_near_a_corner(reach: float, area: float) -> None:
    assert corner_area(np.array(reach), np.array(0.5), np.array(0.2)) == pytest.approx(area, abs=1e-12)


# The bridge


def test_walking() -> None:
    assert walk(0.1, 0.2, 0.4, 0.9) == pytest.approx(1.0)
    assert walk(0.49, 0.0, 0.51, 0.0) == pytest.approx(1.22)
    assert walk(0.49, BRIDGE, RIVER, BRIDGE) == pytest.approx(0.01)
    assert walk(0.0, 0.0, 1.0, 0.0) == pytest.approx(FARTHEST - MARCH)
    a, b = np.array([0.0, 0.49, 0.0]), np.array([1.0, 0.51, 0.0])
    assert distance(a, b) == pytest.approx((1.22 + MARCH) / FARTHEST)


def test_no_norm_knows_the_river() -> None:
    task = Bridge()
    banks = np.array([[0.1, 0.4999, 0.1], [0.1, 0.5001, 0.1]])
    change = np.abs(np.diff(task.means(banks), axis=0)).max()
    assert change > 0.36
    for norm in (1, 2, math.inf):
        apart = Similarity.of(task.problem, norm=norm, weights=[1e-6, 1, 1]).between(banks[:1], banks[1:])[0]
        assert change / apart > 1000
    assert change <= task.similarity.between(banks[:1], banks[1:])[0] + 1e-12


def graph_distances(step: int) -> tuple[Floats, Floats]:
    """Shortest ways between the crossings of some streets, found in a graph; the river cuts all streets but one."""
    east, north = (grid.ravel() / step for grid in np.meshgrid(np.arange(step + 1), np.arange(step + 1), indexing="ij"))
    places = np.column_stack([east, north])
    ways = np.full((len(places), len(places)), np.inf)
    for a, b in itertools.permutations(range(len(places)), 2):
        apart = np.abs(places[a] - places[b]).sum()
        crosses = (places[a, 0] < RIVER) != (places[b, 0] < RIVER)
        if apart < 1.5 / step and (not crosses or (places[a, 1] == places[b, 1] == BRIDGE)):
            ways[a, b] = apart
    np.fill_diagonal(ways, 0)
    for k in range(len(places)):
        ways = np.minimum(ways, ways[:, k : k + 1] + ways[k : k + 1])
    return places, ways


def test_walking_is_the_shortest_way_in_the_streets() -> None:
    places, ways = graph_distances(10)
    for a, b in itertools.product(range(0, len(places), 7), range(len(places))):
        assert walk(*places[a], *places[b]) == pytest.approx(ways[a, b], abs=1e-9)


def test_the_pareto_set_spans_the_bridge_with_the_procession() -> None:
    task = Bridge()
    banks: list[set[bool]] = [{arm["east"] < RIVER for arm in task.front([time])} for time in (0.1, 0.5, 0.9)]
    assert banks == [{True}, {True, False}, {False}]
    assert task.optimal([0.5], [RIVER, BRIDGE])
    assert not task.optimal([0.1], [RIVER, BRIDGE])
    bins = task.bin_of(np.array([[0.5, 0.42, 0.5], [0.5, 0.58, 0.5]]), np.full(2, -1))
    assert bins[0] > bins[1] >= 0  # nearer to the tail is more of the first objective


# The catalogue


def test_the_truth_of_the_catalogue_is_enumeration() -> None:
    task = Catalogue()
    arms: Ints = np.arange(50)
    for taste in (0.0, 0.31, 0.5, 0.77, 1.0):
        points = np.column_stack([np.full(50, taste), task.problem.encoding.arms])
        means = task.means(points)
        middle = np.array([0.05 + 0.9 * taste, 0.95 - 0.9 * taste])
        for o, corner in enumerate([(-0.1, -0.1), (0.1, -0.1), (-0.1, 0.1), (0.1, 0.1)]):
            away = np.hypot(*(points[:, 1:] - middle - corner).T)
            assert means[:, o] == pytest.approx(np.maximum(0, 0.95 - 0.75 * away), abs=1e-12)
        above = means[:, None] - means[None]
        assert task.gaps(points) == pytest.approx(np.maximum(0, above.min(axis=2).max(axis=0)), abs=1e-15)
        dominated = ((above >= 0).all(axis=2) & (above > 0).any(axis=2)).any(axis=0)
        assert task.are_optimal(points).tolist() == (~dominated).tolist()
        assert task.bin_of(points, arms).tolist() == np.where(dominated, -1, arms).tolist()
        assert 2 <= (~dominated).sum() <= 12
        assert task.front([taste]) == [f"item{k}" for k in np.flatnonzero(~dominated)]
    assert task.bins == 50
    assert len(np.unique(task.problem.encoding.arms, axis=0)) == 50
