"""Whether rewards bear out a similarity: known factors, every kind of problem, and nothing claimed from noise."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from paretozoom import (
    PCZ,
    Bridge,
    Categorical,
    Devices,
    Diagnoser,
    Finite,
    FiniteBandit,
    Integer,
    Objective,
    PaperTask,
    Problem,
    Random,
    Real,
    Round,
    Rounds,
    Similarity,
    Task,
    Tents,
    diagnose,
    simulate_in_chunks,
)
from paretozoom.problem.dimensions import Floats
from paretozoom.rounds import Columns
from paretozoom.similarity import diagnosis, slopes
from paretozoom.similarity.slopes import FOLDS, LEAST, Cells, Rewards, Space
from tests.borders import refuses

PLANE = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r", bounded=False)])
N = 20_000


def played(task: Task, seed: int, rounds: int = N) -> Rounds:
    """Rounds of Random, as one chunk."""
    (found,) = simulate_in_chunks(Random(task.problem), task, rounds, seed=seed, chunk=rounds)
    return found


def drawn(problem: Problem, mean: Callable[[Floats], Floats], spread: float, seed: int, n: int = N) -> Rounds:
    """Rounds at uniform random points, with normal noise."""
    from paretozoom.problem import random_points

    rng = np.random.default_rng(seed)
    point = random_points(problem.encoding, n, rng)
    arms = problem.encoding.arms
    arm = (
        (point[:, None, problem.encoding.context :] == arms).all(axis=2).argmax(axis=1) if len(arms) else np.full(n, -1)
    )
    reward = (mean(point) + rng.normal(0, spread, n))[:, None]
    return Rounds(problem, Columns(np.arange(n), point, arm, np.ones(n), np.zeros(n, np.int64), reward))


def test_the_paper_s_task_breaks_its_similarity() -> None:
    task = PaperTask()
    for seed in range(3):
        policy = PCZ(task.problem, horizon=N)
        found = diagnose(task.problem, None, simulate_in_chunks(policy, task, N, seed=seed))
        assert 6.5 < found.factor < 11
        assert found.low < 9.06 < found.high
        assert found.objective in ("first", "second")
        assert found.rounds == N
        scaled = diagnose(task.problem, {"scale": 9.06}, played(task, seed))
        assert 0.6 < scaled.factor < 1.2


@pytest.mark.parametrize(
    "task",
    [Tents(), Tents(objectives=3, spread=0.1), Tents(arms=9), Devices()],
    ids=["two", "three", "nine arms", "devices"],
)
def test_tasks_that_keep_assumption_1(task: Task) -> None:
    truth = task.lipschitz(similarity=task.similarity)
    found = diagnose(task.problem, task.similarity, played(task, 1))
    assert 0.7 < found.factor < 1.2
    assert found.low < truth + 1e-9
    assert found.high > truth


def test_a_distance_of_the_user_s_own() -> None:
    """Near the river means jump from bank to bank, and the similarity knows: nothing is contradicted."""
    task = Bridge()
    found = diagnose(task.problem, task.similarity, played(task, 2))
    assert 0.7 < found.factor < 1.2
    # Under a norm the jump is a contradiction.
    assert diagnose(task.problem, {"norm": 1, "scale": task.similarity.scale}, played(task, 2)).low > 1.5


def test_finite_arms_without_features_and_an_interval_that_holds() -> None:
    """Of 30 intervals of 90 % at most 8 miss: more have a probability of 0.2 %."""
    task = FiniteBandit()
    truth = task.lipschitz(pairs=2000)
    found = [diagnose(task.problem, None, played(task, seed, 8192)) for seed in range(30)]
    assert sum(not one.low <= truth <= one.high for one in found) <= 8
    # The error of a factor is that of two means of some 800 rewards: at most 0.025.
    assert np.mean([one.factor for one in found]) == pytest.approx(truth, abs=4 * 0.025 / math.sqrt(30) + 0.01)


def test_a_matrix() -> None:
    """All pairs 0.5 apart, means 0, 0.1, ..., 0.5: the largest change is at the factor 1."""
    problem = Problem(
        context=[Categorical("c", ["p", "q"])],
        arm=Finite([10, 20, 30], features=[[0.0], [0.1], [1.0]]),
        objectives=[Objective("r", bounded=False)],
    )
    matrix = 0.5 * (1 - np.eye(6))
    arms = problem.encoding.arms[:, 0]
    rounds = drawn(problem, lambda p: 0.3 * p[:, 0] + 0.1 * np.searchsorted(arms, p[:, 1]), 0.05, seed=3)
    found = diagnose(problem, {"matrix": matrix}, rounds)
    assert found.factor == pytest.approx(1.0, abs=0.02)
    assert found.places is not None
    assert {str(place) for place in found.places} == {"c = p, arm = 10", "c = q, arm = 30"}


def test_integers_and_periods() -> None:
    """An hour's mean falls from 1 to 0 over the day and jumps back at midnight: the jump is found across the end."""
    problem = Problem(
        context=[Real("hour", 0, 24, periodic=True)],
        arm=[Integer("n", 1, 4)],
        objectives=[Objective("r", bounded=False)],
    )
    found = diagnose(problem, None, drawn(problem, lambda p: 1 - p[:, 0], 0.1, seed=4))
    assert found.low > 3
    assert found.places is not None
    hours = sorted(place.context["hour"] for place in found.places)
    assert hours[0] < 4
    assert hours[1] > 20
    assert all(isinstance(place.arm["n"], int) for place in found.places)


def test_a_slope_is_found_to_its_noise() -> None:
    """r = 0.6 x - 0.8 y: |change| / D is at most sqrt 2, along (0.6, -0.8)."""
    found = [
        diagnose(PLANE, None, drawn(PLANE, lambda p: 0.6 * p[:, 0] - 0.8 * p[:, 1], 0.3, seed=seed))
        for seed in range(4)
    ]
    for one in found:
        assert 0.9 * math.sqrt(2) < one.factor < 1.1 * math.sqrt(2)
        assert one.low < math.sqrt(2) < one.high


def test_noise_alone_proves_nothing() -> None:
    """Means that never change: a lower end above 0 has a probability of 5 % at most; 6 of 20, of 0.03 %."""
    found = [diagnose(PLANE, None, drawn(PLANE, lambda p: 0 * p[:, 0], 1.0, seed, n=5000)) for seed in range(20)]
    assert sum(one.low > 0 for one in found) < 6
    still = diagnose(PLANE, None, drawn(PLANE, lambda p: 0 * p[:, 0] + 3.0, 0.0, seed=5))
    assert still.factor == 0
    assert still.low == 0


def test_more_coordinates_than_matter() -> None:
    problem = Problem(
        context=[Real(f"x{k}") for k in range(4)], arm=[Real("y")], objectives=[Objective("r", bounded=False)]
    )
    found = diagnose(problem, {"norm": 1}, drawn(problem, lambda p: np.abs(p[:, 0] - p[:, 4]), 0.2, seed=6))
    assert 3.5 < found.factor < 5.5  # the truth is 5: the mean of five gaps


def test_units_change_nothing() -> None:
    plain = drawn(PLANE, lambda p: p[:, 0] * p[:, 1], 0.2, seed=7)
    problem = Problem(
        context=[Real("x", 1, 100, scale="log")],
        arm=[Real("y", -5, 5)],
        objectives=[Objective("r", goal="min", low=0, high=40, bounded=False)],
    )
    one = diagnose(PLANE, None, plain)
    two = diagnose(problem, None, Rounds(problem, plain.columns))
    assert (one.factor, one.low, one.high) == (two.factor, two.low, two.high)
    assert one.places is not None
    assert two.places is not None
    for here, there in zip(one.places, two.places, strict=True):
        assert there.context["x"] == pytest.approx(100 ** here.context["x"])
        assert there.arm["y"] == pytest.approx(10 * here.arm["y"] - 5)


def test_rounds_chunks_and_columns_are_read_alike() -> None:
    rounds = played(PaperTask(), 1, 9000)
    problem = rounds.problem
    whole = diagnose(problem, None, rounds)
    assert diagnose(problem, None, iter(rounds)) == whole
    assert diagnose(problem, None, [rounds[:1], rounds[1:4000], *rounds[4000:4100], rounds[4100:]]) == whole


def test_silent_objectives_are_left_out() -> None:
    rounds = played(PaperTask(), 2)
    reward = rounds.columns.reward.copy()
    reward[:, 0] = np.nan
    assert (
        diagnose(rounds.problem, None, Rounds(rounds.problem, rounds.columns._replace(reward=reward))).objective
        == "second"
    )
    half = rounds.columns.reward.copy()
    half[::2, 0] = np.nan
    half[1::2, 1] = np.nan
    found = diagnose(rounds.problem, None, Rounds(rounds.problem, rounds.columns._replace(reward=half)))
    assert 5 < found.low < 9.06 < found.high


def test_too_few_rounds_say_so() -> None:
    task = PaperTask()
    for n in (0, 1, 50):
        found = diagnose(task.problem, None, played(task, 3)[:n])
        assert math.isnan(found.factor)
        assert (found.low, found.high, found.rounds) == (0, math.inf, n)
        assert f"{n} rounds are too few" in str(found)


def test_memory_is_bounded_and_chunks_do_not_matter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(diagnosis, "MOST_KEPT", 3000)
    rounds = played(PaperTask(), 4)
    found = []
    for size in (N, 1000, 3001):
        diagnoser = Diagnoser(rounds.problem, None)
        for start in range(0, N, size):
            diagnoser.update(rounds[start : start + size])
            assert len(diagnoser._rank) <= 2 * 3000
        found.append(diagnoser.result())
        assert diagnoser.result() == found[-1]
    assert found[0] == found[1] == found[2]
    assert found[0].rounds == N


def test_what_is_refused_changes_nothing() -> None:
    task, other = PaperTask(), Tents()
    with refuses("similarity", "another problem"):
        Diagnoser(task.problem, Similarity.of(Devices().problem))
    with refuses("similarity", "'norms'"):
        Diagnoser(task.problem, {"norms": 1})
    diagnoser = Diagnoser(task.problem, None)
    with refuses("rounds", "another problem"):
        diagnoser.update(played(other, 1, 10))
    bad: list[Round] = [played(other, 1, 1)[0]]
    with refuses("reward", "'r1'"):
        diagnoser.update(bad)
    assert diagnoser.rounds == 0


def test_cells_hold_what_their_points_say() -> None:
    """Against the obvious: a loop over cells and folds."""
    problem = Problem(
        context=[Categorical("c", ["a", "b"]), Real("x")], arm=[Real("y")], objectives=[Objective("r", bounded=False)]
    )
    columns = drawn(problem, lambda p: p[:, 1], 1.0, seed=8, n=1000).columns
    fold = np.arange(1000) % FOLDS
    space = Space(Similarity.of(problem), columns.point)
    cells = Cells(space, Rewards(np.array([0]), columns.point, space.label, fold, columns.reward), (2, 1))
    seen = []
    for c in range(2):
        for i in range(4):
            for j in range(2):
                inside = (columns.point[:, 0] == c) & (np.floor(columns.point[:, 1] * 4) == i)
                inside &= np.floor(columns.point[:, 2] * 2) == j
                rows = [np.flatnonzero(inside & (fold == f)) for f in range(FOLDS)]
                if min(map(len, rows)) >= LEAST:
                    k = len(seen)
                    seen.append((c, i, j))
                    told = columns.reward[inside, 0]
                    assert cells.count[:, k].tolist() == [len(r) for r in rows]
                    assert cells.total[0, :, k] == pytest.approx([columns.reward[r, 0].sum() for r in rows])
                    assert cells.centre[k] == pytest.approx(columns.point[inside].mean(axis=0))
                    assert cells.extent[k, 1:] == pytest.approx(columns.point[inside, 1:].std(axis=0))
                    expected = (told.var() * len(told) + columns.reward.var()) / len(told)
                    assert cells.variance[0, k] == pytest.approx(expected)
    assert len(cells.number) == len(seen) > 4
    near = {
        frozenset((a, b))
        for a in range(len(seen))
        for b in range(len(seen))
        if a != b and ((seen[a][0] == seen[b][0] and abs(seen[a][1] - seen[b][1]) <= 2) or seen[a][1:] == seen[b][1:])
    }
    one, other = cells.pairs
    assert len(one) == len(near)
    assert {frozenset(pair) for pair in zip(one.tolist(), other.tolist(), strict=True)} == near


@pytest.mark.parametrize("most", [0, 5, 40, 200, 10**6])
def test_pairs_end_with_the_step_that_makes_them_enough(monkeypatch: pytest.MonkeyPatch, most: int) -> None:
    problem = Problem([Real("x"), Real("y")], [Real("z")], [Objective("r")])
    points = np.random.default_rng(3).random((4000, 3))
    space = Space(Similarity.of(problem), points)
    rewards = Rewards(np.array([0]), points, space.label, np.arange(4000) % FOLDS, points[:, :1])
    every = Cells(space, rewards, (2, 2, 1))
    monkeypatch.setattr(slopes, "MOST_PAIRS", most)
    few = Cells(space, rewards, (2, 2, 1))
    pairs = list(zip(*(cells.tolist() for cells in every.pairs), strict=True))
    kept = list(zip(*(cells.tolist() for cells in few.pairs), strict=True))
    assert kept == pairs[: len(kept)]
    place = np.stack(np.unravel_index(every.number, every.shape)).T
    steps = [tuple((place[other] - place[one]).tolist()) for one, other in pairs]
    before_the_last = steps.index(steps[len(kept) - 1])
    assert before_the_last <= most
    assert len(kept) == before_the_last + steps.count(steps[before_the_last])
    assert len(kept) > most or len(kept) == len(pairs)


def test_distances_by_machine_code_are_those_of_the_function() -> None:
    similarity = Bridge().similarity
    a, b = np.random.default_rng(9).random((2, 50, 3))
    assert Space(similarity, a).apart(a, b) == pytest.approx(similarity.between(a, b), rel=1e-12)
