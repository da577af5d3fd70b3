"""Tasks drawn at random: each shape says what its kernel says in plain Python, and is worth learning."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Drawn, Random
from paretozoom.checks import check_environment
from paretozoom.environments.drawing import world
from paretozoom.environments.drawing.shapes import SHAPES
from paretozoom.environments.tasks import drawn
from paretozoom.records import Refused
from paretozoom.simulation import simulate


@pytest.fixture(scope="module", params=list(SHAPES))
def task(request: pytest.FixtureRequest) -> Drawn:
    return Drawn(5, request.param)


def table(task: Drawn, start: int, *shape: int) -> Any:
    """A table of the task's world."""
    first = int(task.world[start])
    return task.world[first : first + math.prod(shape)].reshape(shape)


def indices(task: Drawn, context: Any) -> Any:
    """What means know of a context: weighted sums of what its columns tell."""
    n, k = int(task.world[world.CONTEXT]), int(task.world[world.INDICES])
    signs = []
    for x, (kind, _, size, start, _) in zip(context, table(task, world.COLUMNS, n, world.COLUMN), strict=True):
        wave = 1.4 * math.sin(2 * math.pi * (x + size))
        signs.append([3.5 * (x - 0.5), wave, task.world[int(start + x) % len(task.world)]][int(kind)])
    return table(task, world.WEIGHTS, k, n) @ signs


def share(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def expected(task: Drawn, point: Any) -> list[float]:
    """The means of a point, before floor and height, written as one would on paper."""
    n, d, arms = len(task.problem.context), len(task.problem.objectives), int(task.world[world.ARM])
    labels, k = int(task.world[world.LABELS]), int(task.world[world.INDICES])
    y, z = point[n:], indices(task, point[:n])
    own, one = int(task.world[world.OWN]), np.append(1, z)
    if task.shape == "labels":
        return list(share(table(task, world.OWN, d, labels, 1 + k)[:, int(y[0])] @ one))
    if task.shape == "items":
        return list(share(table(task, world.OWN, d, 1 + arms, 1 + k) @ one @ np.append(1, 3.5 * (y - 0.5))))
    if task.shape == "ridges":
        found = []
        for width, is_flat, *apart in table(task, world.OWN, d, 2 + arms):
            far = (((y - 0.15 - 0.7 * share(1.5 * z[:arms]) - apart) / width) ** 2).sum()
            found.append(1 / (1 + far) if is_flat else math.exp(-far))
        return found
    if task.shape == "smooth":
        size, turn, follow, phase = np.moveaxis(table(task, world.OWN, d, world.TERMS, 4), -1, 0)
        t = np.arange(world.TERMS)
        return list(share((size * np.cos(turn * y[t % arms] + follow * z[t % k] + phase)).sum(axis=1)))
    if task.shape == "boxes":
        found = []
        for tree in table(task, world.OWN, d, world.NODES, 2):
            node = 0
            while node < world.NODES // 2:
                node = 2 * node + (1 if point[int(tree[node, 0])] < tree[node, 1] else 2)
            found.append(tree[node, 0])
        return found
    if task.shape == "prices":
        low, steep, cost, made = task.world[own : own + 4]
        asked, worth = low + (1 - low) * y[0], 0.15 + 0.8 * share(2.5 * z[0])
        demand = share(steep * (worth - asked))
        profit = max(0.0, 0.3 + 0.7 * demand * (asked - cost * worth - 0.3 * share(2 * z[1])))
        return [demand * asked, profit, 1 - abs(demand - made)][:d]
    found = []
    for which, shift, width, height in table(task, world.OWN, d, labels, 4)[:, int(y[0])]:
        away = (y[1] - 0.1 - 0.8 * share(z[int(which)] + shift)) / width
        found.append(share(height + z[(int(which) + 1) % k]) / (1 + away**2))
    return found


def test_means_are_what_the_shape_says(task: Drawn) -> None:
    points = task.sample(50, np.random.default_rng(1))
    floor, height = table(task, world.SCALES, len(task.problem.objectives), 2).T
    wanted = [floor + height * np.array(expected(task, point)) for point in points]
    np.testing.assert_allclose(task.means(points), wanted, rtol=1e-12)
    np.testing.assert_array_equal(task.means(points[::-1]), task.means(points)[::-1])  # the last context is kept


def test_contexts_are_in_their_places(task: Drawn) -> None:
    n, values = task.problem.encoding.context, task.problem.encoding.values
    contexts = task.sample(2000, np.random.default_rng(2))[:, :n]
    for column, count in zip(contexts.T, values, strict=False):
        if count:
            assert set(column) <= set(range(-count))
        else:
            assert column.min() >= 0
            assert column.max() <= 1
        assert len(set(column)) > 1
    task.reset(7)
    assert task.observe() == (task.reset(7), task.observe())[1]  # type: ignore[func-returns-value]


def test_a_choice_is_worth_learning(task: Drawn) -> None:
    rng = np.random.default_rng(3)
    gaps = task.random_gap(4000)
    _, constant = task.constant_arm(contexts=100)
    assert constant >= 0.5 * drawn.LEAST_CONSTANT * gaps  # another sample of contexts than the one it was drawn by
    optimal = task.are_optimal(task.sample(4000, rng)).mean()
    assert 0.5 * drawn.OPTIMAL[0] <= optimal <= 1.3 * drawn.OPTIMAL[1]


def test_rewards_have_the_means(task: Drawn) -> None:
    task.reset(4)
    rounds = list(simulate(Random(task.problem), task, 3000, seed=4))
    means = np.array([list(task.mean(one.decision.context, one.decision.arm).values()) for one in rounds])
    rewards = np.array([list(one.reward.values()) for one in rounds])
    away = (rewards - means).mean(axis=0) / ((rewards - means).std(axis=0) / math.sqrt(len(rounds)))
    assert np.abs(away).max() < 4.5  # standard errors; Student's noise has a standard deviation too


def test_it_is_an_environment() -> None:
    check_environment(Drawn)


def test_seeds_and_shapes() -> None:
    one, other = Drawn(3), Drawn(3)
    assert one.problem == other.problem
    np.testing.assert_array_equal(one.world, other.world)
    assert one.shape in SHAPES
    assert {Drawn(seed).shape for seed in range(20)} == set(SHAPES)
    with pytest.raises(Refused, match="shape"):
        Drawn(0, "stars")
    with pytest.raises(Refused, match="seed"):
        Drawn(-1)
