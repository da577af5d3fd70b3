"""Contexts, noise and drift of a task's own: the same luck for all, compiled or not, and the truth of the round."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from paretozoom import Categorical, Decision, Integer, Objective, ParetoUCB1, Problem, Random, Real, Refused, simulate
from paretozoom.checks import check_environment, check_metric
from paretozoom.environments import PaperTask
from paretozoom.environments.base import Task
from paretozoom.environments.shapes.noise import units_of
from paretozoom.kernels.core.jit import kernel
from paretozoom.kernels.tasks import world as luck
from paretozoom.metrics import Metric
from paretozoom.metrics.truth.of_rounds import gaps_of, optimal_of, slices_and_bins_of, spread_points
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.registry import find_members
from paretozoom.rounds import Rounds
from paretozoom.simulation import can_compile, simulate_in_chunks
from tests.lines import bytes_of

SPEED = 1e-3  # by which the peaks move in a round


@kernel
def _context(world: Floats, values: Ints, draws: Floats, point: Floats) -> None:
    point[0] = draws[0] * draws[1]
    point[1] = float(int(3.0 * draws[2] ** 2))
    point[2] = float(int(5.0 * draws[3])) / 4.0 if draws[4] < 0.5 else 0.0


@kernel
def _move(world: Floats, number: int, now: Floats) -> None:
    now[0] = world[0] + SPEED * number


@kernel
def _mean(world: Floats, point: Floats, out: Floats) -> None:
    for o in range(2):
        peak = 0.2 + 0.1 * o + 0.3 * point[0] + 0.05 * point[1] + 0.05 * point[2] + world[0]
        out[o] = 0.9 - 0.6 * abs(point[3] - peak)


@kernel
def _spreads(world: Floats, point: Floats, spreads: Floats) -> None:
    spreads[1] = 0.1 + 0.4 * point[3] + world[0]


class Restless(Task):
    """Skewed contexts of three kinds, rewards in units, noise by arm and round, peaks that move; truth on the grid."""

    name = "restless"
    mean_kernel = _mean
    context_kernel = _context
    context_draws = 5
    spread_kernel = _spreads
    move_kernel = _move

    def __init__(self) -> None:
        super().__init__(
            Problem(
                context=[Real("load"), Categorical("kind", ["a", "b", "c"]), Integer("hour", 3, 7)],
                arm=[Real("y")],
                objectives=[
                    Objective("cost", goal="min", low=-7, high=300, bounded=False),
                    Objective("gain", low=0.1, high=0.8, bounded=False),
                ],
            ),
            world=np.zeros(1),
            noise=["student", "gaussian"],
            spread=[0.2, 0.7],
        )


def played(task: Task, n: int = 150) -> Rounds:
    return next(iter(simulate_in_chunks(Random(task.problem), task, n, seed=3)))


# Luck


@pytest.mark.parametrize("delay", [0, 7])
@pytest.mark.parametrize("make", [Random, ParetoUCB1])
def test_the_compiled_twin_plays_the_same_rounds(make: Any, delay: int) -> None:
    task, n = Restless(), 150
    policy, twin = make(task.problem), make(task.problem)
    assert can_compile(policy, task)
    line = list(simulate(policy, task, n, seed=5, delay=delay))
    chunks = simulate_in_chunks(twin, Restless(), n, seed=5, delay=delay, chunk=40)
    assert [one for some in chunks for one in some] == line
    assert bytes_of(policy) == bytes_of(twin)


def test_the_contract_is_kept() -> None:
    check_environment(Restless(), rounds=60)


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.sampled_from(["max", "min"]), st.floats(-10, 10))
def test_settled_rewards_come_back_as_they_went(low: float, span: float, goal: Any, value: float) -> None:
    objective = Objective("r", goal=goal, low=low, high=low + span, bounded=False)
    units = units_of(Problem(context=[], arm=[Real("y")], objectives=[objective]))
    reward = np.array([value])
    luck.settle(units, reward)
    for row, number in zip(units, reward.tolist(), strict=True):
        assert row[2] == objective.span
        assert objective.encode(objective.decode(number), "r") == number
        assert number == pytest.approx(value, abs=1e-9 * (1 + abs(low) / span))


def test_exact_rewards_are_not_touched() -> None:
    assert units_of(PaperTask().problem).shape == (0, 3)


def rewards_of(noise: int, spread: float, n: int = 20_000) -> Floats:
    out = np.empty((n, 2))
    for k in range(n):
        luck.draw_reward(1, 2, k, np.full(2, noise), np.full(2, spread), np.array([0.5, -3.0]), out[k])
    return out - [0.5, -3.0]


def test_students_noise_has_its_distribution() -> None:
    drawn = rewards_of(luck.STUDENT, 2.0) * math.sqrt(3.0) / 2.0  # a spread of 1 is 1 / sqrt(3) of the textbook's t
    for t in (-6.0, -2.0, -0.5, 0.0, 1.0, 3.0, 10.0):
        below = 0.5 + (t / math.sqrt(3.0) / (1 + t * t / 3) + math.atan(t / math.sqrt(3.0))) / math.pi
        error = math.sqrt(below * (1 - below) / len(drawn))
        assert (drawn < t).mean(axis=0) == pytest.approx([below, below], abs=4.5 * error)
    assert abs(np.corrcoef(np.sign(drawn), rowvar=False)[0, 1]) < 4 / math.sqrt(len(drawn))


def test_even_noise_is_even_and_bounded() -> None:
    drawn = rewards_of(luck.EVEN, 0.1)
    reach = 0.1 * math.sqrt(3.0)
    assert np.abs(drawn).max() <= reach
    for part in (0.25, 0.5, 0.75):
        below = (drawn < (2 * part - 1) * reach).mean(axis=0)
        assert below == pytest.approx([part, part], abs=4 * math.sqrt(part * (1 - part) / len(drawn)))


@pytest.mark.parametrize(("y", "number"), [(0.1, 0), (0.9, 0), (0.1, 250)])
def test_noise_is_that_of_the_context_arm_and_round(y: float, number: int) -> None:
    task, luckless = Restless(), []
    for seed in range(1_500):
        task.reset(seed)
        context = {"load": 0.5, "kind": "b", "hour": 4}
        reward = task.respond(Decision(number, context, {"y": y}, 1.0, 0))["gain"]
        luckless.append((reward - task.at(number).mean(context, [y])["gain"]) / 0.7)
    spread = 0.1 + 0.4 * y + SPEED * number
    assert np.std(luckless) == pytest.approx(spread, rel=4 / math.sqrt(2 * len(luckless)))
    assert np.mean(luckless) == pytest.approx(0, abs=4 * spread / math.sqrt(len(luckless)))


def test_contexts_are_made_of_the_draws_of_their_round() -> None:
    task = Restless()
    task.reset(4)
    seen = [task.observe() for _ in range(30)]
    key0, key1 = task.key
    for number, context in enumerate(seen):
        u, v, w, z = luck.uniforms(key0, key1, number, 0)
        last = luck.uniforms(key0, key1, number, 2)[0]
        expected = {"load": u * v, "kind": "abc"[int(3 * w**2)], "hour": 3 + int(5 * z) if last < 0.5 else 3}
        assert context == expected


def test_slices_and_spread_points_follow_the_contexts() -> None:
    task = Restless()
    points = task.sample(4_000, np.random.default_rng(1))
    assert np.mean(points[:, 0]) == pytest.approx(0.25, abs=4 * math.sqrt(7 / 144 / 4_000))
    assert len(set(task.slice_of(points).tolist())) == 20
    spread = spread_points(task, 4_000)
    assert spread.shape == (4_000, 4)
    assert spread.mean(axis=0) == pytest.approx(points.mean(axis=0), abs=0.05)


# The truth of the round


def test_metrics_know_the_round() -> None:
    task, rounds = Restless(), played(Restless())
    truth = [task.at(r.decision.number) for r in rounds]
    args = [(r.decision.context, r.decision.arm) for r in rounds]
    assert gaps_of(task, rounds).tolist() == [there.gap(*arg) for there, arg in zip(truth, args, strict=True)]
    optimal = [there.optimal(*arg) for there, arg in zip(truth, args, strict=True)]
    assert optimal_of(task, rounds).tolist() == optimal
    assert 5 < sum(optimal) < 100
    single = [
        int(there.bin_of(rounds.columns.point[k : k + 1], np.array([-1]))[0])
        for k, there in enumerate(truth)
        if optimal[k]
    ]
    assert slices_and_bins_of(task, rounds)[1].tolist() == single
    assert gaps_of(task, rounds).tolist() != task.gaps(rounds.columns.point).tolist()


@pytest.mark.parametrize("metric", find_members("paretozoom.metrics", Metric).values(), ids=lambda m: m.name)
def test_every_metric_can_be_taken(metric: type[Metric]) -> None:
    check_metric(metric, Restless(), rounds=200)


def test_fronts_move_with_the_round() -> None:
    task, context = Restless(), {"load": 0.0, "kind": "a", "hour": 3}
    assert task.front(context) == [pytest.approx((0.2, 0.3), abs=1e-3)]
    assert task.at(300).front(context) == [pytest.approx((0.5, 0.6), abs=1e-3)]
    points = np.zeros((2, 4))
    found = task.at(np.array([0, 300])).front_intervals(points)
    assert [intervals[0][0] for intervals in found] == pytest.approx([0.2, 0.5], abs=1e-3)


def test_a_task_that_does_not_drift_is_always_itself() -> None:
    task = PaperTask()
    assert task.at(np.arange(7)) is task
    assert not task.drifts
    assert Restless().drifts


def test_rounds_that_do_not_fit_the_points_are_refused() -> None:
    with pytest.raises(Refused, match="numbers: 3 given for 2 points"):
        Restless().at(np.arange(3)).gaps(np.zeros((2, 4)))


@pytest.mark.parametrize(
    ("noise", "spread", "fragment"),
    [
        ("loud", 0.1, "noise: 'loud' is not 'bernoulli' or 'gaussian' or 'student' or 'even'"),
        (["gaussian"], 0.1, "noise: .* has 1 entries, expected 2"),
        (["gaussian", "bernoulli"], 0.1, "are not mixed"),
        ("student", 0.1, "'second'.*: bounded, but Student's"),
        ("gaussian", [0.1], "spread: .* has 1 entries, expected 2"),
        (["even", "even"], [0.1, -1.0], "spread: -1.0 is negative"),
        ("even", "much", "spread: 'much'"),
    ],
)
def test_impossible_noise_is_refused(noise: Any, spread: Any, fragment: str) -> None:
    class Own(Task):
        name = "own"
        mean_kernel = PaperTask.mean_kernel

    problem = Problem(
        context=[Real("x")], arm=[Real("y")], objectives=[Objective("first", bounded=False), Objective("second")]
    )
    with pytest.raises(Refused, match=fragment):
        Own(problem, noise=noise, spread=spread)
