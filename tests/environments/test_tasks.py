"""Tasks: the luck of a seed and a round, the truth in closed form against a grid, the means and spreads of draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import (
    PCZ,
    Categorical,
    ContextualZooming,
    Decision,
    Finite,
    Integer,
    Objective,
    PaperTask,
    Problem,
    Random,
    Real,
    Refused,
    SmoothRidges,
    Tents,
    simulate,
)
from paretozoom.environments import Boxes, Bridge, Catalogue, Devices
from paretozoom.environments.base import BINS, Task
from paretozoom.environments.grid import GRID
from paretozoom.problem import Floats

TASKS: dict[str, Any] = {
    "paper": PaperTask,
    "tents": lambda: Tents(3),
    "tents-1": lambda: Tents(1),
    "tents-finite": lambda: Tents(arms=7),
    "tents-gaussian": lambda: Tents(spread=0.05),
    "ridges": SmoothRidges,
    "boxes": Boxes,
    "bridge": lambda: Bridge(spread=0.05),
    "catalogue": Catalogue,
    "devices": Devices,
}
every_task = pytest.mark.parametrize("make", TASKS.values(), ids=TASKS)
PAPER_LIPSCHITZ = 5 * math.sqrt(1.64) * math.sqrt(2)  # 9.0554
# A Gaussian bump of height 0.9 and width 0.15, over a crest that moves by at most 0.6 pi per unit of context.
RIDGES_LIPSCHITZ = 0.9 * math.sqrt(2 / math.e) / 0.15 * math.hypot(1, 0.6 * math.pi) * math.sqrt(2)


class OnGrid(Task):
    """The paper's task with nothing in closed form."""

    name = "on-grid"
    mean_kernel = PaperTask.mean_kernel

    def __init__(self) -> None:
        super().__init__(PaperTask().problem)


class Shop(Task):
    """The paper's means behind a problem in other units, with every kind of context."""

    name = "shop"
    mean_kernel = PaperTask.mean_kernel

    def __init__(self) -> None:
        super().__init__(
            Problem(
                context=[Real("load", 1, 1000, scale="log")],
                arm=[Real("price", 10, 20)],
                objectives=[Objective("profit", low=-5, high=5), Objective("wait", goal="min", low=0, high=60)],
            )
        )


def grid_error(task: Task, lipschitz: float) -> float:
    """How far below the truth a gap on the grid of arms can be."""
    return 0.5 / (GRID - 1) / math.sqrt(task.problem.dim) * lipschitz


def random_points(n: int, seed: int = 0) -> Floats:
    """Points of the unit square."""
    return np.random.default_rng(seed).random((n, 2))


def decisions(task: Task, n: int) -> list[Decision]:
    """The first decisions of the policy Random on a task; not yet answered."""
    policy = Random(task.problem, seed=1)
    task.reset(3)
    return [policy.ask(task.observe()) for _ in range(n)]


# Luck


@every_task
def test_contexts_depend_on_seed_and_round_alone(make: Any) -> None:
    task, other = make(), make()
    asked = decisions(task, 20)
    contexts = [d.context for d in asked]
    other.reset(3)
    for context, decision in zip(contexts, asked, strict=True):
        assert other.observe() == context
        other.respond(decision)
        other.respond(asked[0])
    task.reset(3)
    assert [task.observe() for _ in range(20)] == contexts
    task.reset(4)
    assert all(task.observe() != context for context in contexts)


@every_task
@given(order=st.permutations(range(12)))
def test_rewards_depend_on_seed_and_decision_alone(make: Any, order: list[int]) -> None:
    task = make()
    asked = decisions(task, 12)
    task.reset(3)
    rewards = [task.respond(decision) for decision in asked]
    task.reset(3)
    for k in order:
        assert task.respond(asked[k]) == rewards[k]
        task.observe()
    assert [task.respond(decision) for decision in asked] == rewards


@pytest.mark.parametrize(
    "name", ["tents-gaussian", "tents-finite", "paper", "ridges", "boxes", "bridge", "catalogue", "devices"]
)
def test_all_policies_meet_the_same_luck(name: str) -> None:
    task = TASKS[name]()
    policies = [
        Random(task.problem),
        PCZ(task.problem, horizon=300, noise=0.1),
        PCZ(task.problem, noise=0.1, seed=5),
        ContextualZooming(task.problem, horizon=300),
    ]
    played = [list(simulate(policy, task, 150, seed=11)) for policy in policies]
    assert all([r.decision.arm for r in run] != [r.decision.arm for r in played[0]] for run in played[1:])
    for rounds in zip(*played, strict=True):
        assert all(r.decision.context == rounds[0].decision.context for r in rounds)
        for objective in task.problem.objective_names:
            pairs = [(task.mean(r.decision.context, r.decision.arm)[objective], r.reward[objective]) for r in rounds]
            if task.noise == "gaussian":
                luck = [reward - mean for mean, reward in pairs]
                assert luck == pytest.approx([luck[0]] * len(luck), abs=1e-12)
            else:  # one uniform draw, compared with each mean
                successes = [mean for mean, reward in pairs if reward == 1]
                failures = [mean for mean, reward in pairs if reward == 0]
                assert max(failures, default=0) <= min(successes, default=1)


@pytest.mark.parametrize("task", [PaperTask(), Tents(6), Tents(6, spread=0.5)], ids=["paper", "tents", "gaussian"])
def test_contexts_arms_and_luck_are_drawn_apart(task: Task) -> None:
    n = 4000
    rounds = list(simulate(Random(task.problem), task, n, seed=1))
    x = np.array([r.decision.context["x"] for r in rounds])
    y = np.array([r.decision.arm["y"] for r in rounds])
    rewards = np.array([list(r.reward.values()) for r in rounds])
    luck = rewards - task.means(np.column_stack([x, y]))
    together = np.corrcoef(np.column_stack([x, y, luck]), rowvar=False)
    assert np.abs(together - np.eye(len(together))).max() < 4.5 / math.sqrt(n)
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 4 / math.sqrt(n - 1)
    for drawn in (x, y):
        assert abs(drawn.mean() - 0.5) < 4 / math.sqrt(12 * n)


# Draws


def answers(task: Task, arm: Any, n: int) -> Floats:
    """The rewards of n decisions for one context and arm."""
    task.reset(17)
    asked = (Decision(k, {"x": 0.25}, arm, 1.0, 0) for k in range(n))
    return np.array([list(task.respond(decision).values()) for decision in asked])


@pytest.mark.parametrize(
    ("task", "arm"),
    [
        (PaperTask(), {"y": 0.65}),
        (SmoothRidges(), {"y": 0.8}),
        (Tents(1), {"y": 0.9}),
        (Tents(6), {"y": 0.3}),
        (Tents(3, arms=5), "y0.25"),
    ],
    ids=lambda value: getattr(value, "name", ""),
)
def test_bernoulli_rewards_have_the_stated_means(task: Task, arm: Any) -> None:
    n = 8000
    rewards = answers(task, arm, n)
    assert set(np.unique(rewards)) <= {0.0, 1.0}
    means = np.array(list(task.mean({"x": 0.25}, arm).values()))
    assert np.all(np.abs(rewards.mean(axis=0) - means) <= 4 * np.sqrt(means * (1 - means) / n))
    assert_uncorrelated(rewards)


@pytest.mark.parametrize(("objectives", "spread"), [(1, 0.5), (2, 0.05), (6, 1.0)])
def test_gaussian_rewards_have_the_stated_means_and_spreads(objectives: int, spread: float) -> None:
    n, task = 8000, Tents(objectives, spread=spread)
    rewards = answers(task, {"y": 0.7}, n)
    means = np.array(list(task.mean({"x": 0.25}, {"y": 0.7}).values()))
    standard = (rewards - means) / spread
    assert np.all(np.abs(standard.mean(axis=0)) <= 4 / math.sqrt(n))
    # The variance of a sample variance of Gaussians is 2 / n; that of a fourth moment 96 / n.
    assert np.all(np.abs((standard**2).mean(axis=0) - 1) <= 4 * math.sqrt(2 / n))
    assert np.all(np.abs((standard**4).mean(axis=0) - 3) <= 4 * math.sqrt(96 / n))
    assert_uncorrelated(rewards)


def assert_uncorrelated(rewards: Floats) -> None:
    """Objectives of one round, and an objective in successive rounds, draw apart."""
    varying = rewards[:, rewards.std(axis=0) > 0]
    together = np.atleast_2d(np.corrcoef(varying, rowvar=False))
    assert np.abs(together - np.eye(len(together))).max() < 4.5 / math.sqrt(len(rewards))
    for column in varying.T:
        assert abs(np.corrcoef(column[1:], column[:-1])[0, 1]) < 4.5 / math.sqrt(len(rewards))


def test_no_spread_is_no_noise() -> None:
    task = Tents(2, spread=0.0)
    for decision in decisions(task, 20):
        assert task.respond(decision) == task.mean(decision.context, decision.arm)


def test_contexts_of_every_kind_are_drawn_uniformly() -> None:
    class Kinds(Task):
        name = "kinds"
        mean_kernel = PaperTask.mean_kernel

    task = Kinds(
        Problem(
            context=[
                Real("r", -1, 3),
                Real("log", 1, 100, scale="log"),
                Real("hour", 0, 24, periodic=True),
                Integer("n", 3, 7),
                Categorical("c", ["a", "b", "c"]),
                Real("last"),
            ],
            arm=[Real("y")],
            objectives=[Objective("a"), Objective("b")],
        )
    )
    n = 4000
    seen = [task.observe() for _ in range(n)]
    for name, low, high in (("r", -1, 3), ("hour", 0, 24), ("last", 0, 1)):
        values = (np.array([s[name] for s in seen]) - low) / (high - low)
        assert abs(values.mean() - 0.5) < 4 / math.sqrt(12 * n)
        assert abs(np.mean(values < 0.25) - 0.25) < 4 * math.sqrt(0.25 * 0.75 / n)
    assert abs(np.mean([s["log"] < 10 for s in seen]) - 0.5) < 4 * 0.5 / math.sqrt(n)
    for name, values in (("n", [3, 4, 5, 6, 7]), ("c", ["a", "b", "c"])):
        share = 1 / len(values)
        for value in values:
            assert abs(np.mean([s[name] == value for s in seen]) - share) < 4 * math.sqrt(share * (1 - share) / n)
    first, last = np.array([[s["r"], s["last"]] for s in seen]).T  # four draws apart: another block of the stream
    assert abs(np.corrcoef(first, last)[0, 1]) < 4 / math.sqrt(n)


# The paper's task


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


# Closed forms against the grid


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


# Assumption 1


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


# Other units


def test_a_task_speaks_the_users_units() -> None:
    task, paper = Shop(), PaperTask()
    load, price = 1000**0.5, 15.0
    assert task.mean([load], [price]) == pytest.approx({"profit": 0.0, "wait": 30.0})
    assert task.gap([load], [13.0]) == pytest.approx(paper.gap([0.5], [0.3]), abs=grid_error(task, PAPER_LIPSCHITZ))
    assert task.front([load]) == [(pytest.approx(14, abs=0.01), pytest.approx(16, abs=0.01))]
    task.reset(2)
    paper.reset(2)
    for k in range(30):
        context, plain = task.observe(), paper.observe()
        assert context["load"] == pytest.approx(1000 ** plain["x"])
        reward = task.respond(Decision(k, context, {"price": 14.5}, 1.0, 0))
        luck = paper.respond(Decision(k, plain, {"y": 0.45}, 1.0, 0))
        assert reward == {"profit": 10 * luck["first"] - 5, "wait": 60 - 60 * luck["second"]}


def test_slices_are_parts_of_the_first_context() -> None:
    points = np.array([[0.0, 0.5], [0.049, 0.5], [0.05001, 0.5], [0.999, 0.5], [1.0, 0.5]])
    assert PaperTask().slice_of(points).tolist() == [0, 0, 1, 19, 19]


# Refusals


@pytest.mark.parametrize(
    ("parameters", "fragments"),
    [
        ({"objectives": 0}, ["objectives", "0"]),
        ({"objectives": -1}, ["objectives", "-1"]),
        ({"objectives": 2.5}, ["objectives", "2.5"]),
        ({"objectives": "2"}, ["objectives", "'2'"]),
        ({"objectives": True}, ["objectives", "True"]),
        ({"objectives": 33}, ["objectives", "33"]),
        ({"arms": 1}, ["arms", "1"]),
        ({"arms": 2.5}, ["arms", "2.5"]),
        ({"spread": -1}, ["spread", "-1"]),
        ({"spread": math.nan}, ["spread", "nan"]),
        ({"width": math.nan}, ["width", "nan"]),
        ({"slope": math.inf}, ["slope", "inf"]),
        ({"slope": "steep"}, ["slope", "'steep'"]),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_impossible_tents_are_refused(parameters: dict[str, Any], fragments: list[str]) -> None:
    with pytest.raises(Refused) as refusal:
        Tents(**parameters)
    assert all(fragment in str(refusal.value) for fragment in fragments)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", True, None], ids=repr)
def test_bad_seeds_are_refused(seed: Any) -> None:
    task = PaperTask()
    task.reset(5)
    task.observe()
    key, observed = task.key.copy(), task.observed
    with pytest.raises(Refused, match="seed"):
        task.reset(seed)
    assert np.array_equal(task.key, key)
    assert task.observed == observed


def test_bad_questions_are_refused() -> None:
    task = PaperTask()
    with pytest.raises(Refused, match="noise: 'cauchy'"):
        Task(task.problem, noise="cauchy")  # type: ignore[arg-type]
    with pytest.raises(Refused, match="context"):
        task.gap([2.0], [0.5])
    with pytest.raises(Refused, match="arm"):
        task.mean([0.5], {"z": 0.5})
    with pytest.raises(Refused, match="context"):
        task.front({})
    with pytest.raises(Refused, match="arm"):
        task.respond(Decision(0, {"x": 0.5}, {"y": 7.0}, 1.0, 0))
