"""The kept minima and their bounds, against a scan of all balls; with few balls and with many."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paretozoom import PCZ, ContextualZooming
from paretozoom.kernels.zooming import balls
from paretozoom.policies.zooming.zooming import Zooming
from tests.reference.play import World, play
from tests.reference.problems import PROBLEMS


def table(policy: Zooming, name: str) -> np.ndarray:
    """A (learned, balls) table of a policy's memory."""
    at = balls.layout(policy._ints)
    source = policy._ints if name == "nearest" else policy._floats
    start, n = getattr(at, name), policy._ints[balls.SIZE]
    return source[start : start + at.learned * at.capacity].reshape(at.learned, at.capacity)[:, :n]


def is_paired(policy: Zooming) -> bool:
    """Whether the distances between all centres are kept."""
    return bool(balls.layout(policy._ints).capacity <= balls.MOST_PAIRED)


def minima(policy: Zooming) -> np.ndarray:
    """The (learned, balls) minima that a policy keeps."""
    if not is_paired(policy):
        return table(policy, "minimum")
    return np.take_along_axis(table(policy, "pre"), table(policy, "nearest"), axis=1) + table(policy, "away")


def descendants(parent: np.ndarray) -> list[list[int]]:
    """Each ball with all balls below it."""
    below = [[k] for k in range(len(parent))]
    for k in range(len(parent) - 1, 0, -1):
        below[parent[k]] += below[k]
    return below


def check_minima(policy: Zooming) -> None:
    """Every minimum is that of a scan, bit for bit, and is given by the ball that is said to give it."""
    now = policy.balls
    apart = policy.similarity.distances(now.centre, now.centre)
    pre = table(policy, "pre")
    sums = pre[:, None, :] + apart[None, :, :]  # (learned, ball, giver)
    assert np.array_equal(minima(policy), sums.min(axis=2))
    given = np.take_along_axis(sums, table(policy, "nearest")[:, :, None], axis=2)[:, :, 0]
    assert np.array_equal(given, sums.min(axis=2))


def check_bounds(policy: Zooming) -> None:
    """The least pre-index below a ball is exact; the bound on minima below it is one."""
    pre, minimum = table(policy, "pre"), table(policy, "minimum")
    least, highest = table(policy, "least"), table(policy, "highest")
    for ball, below in enumerate(descendants(policy.balls.parent)):
        assert np.array_equal(least[:, ball], pre[:, below].min(axis=1))
        assert (highest[:, ball] >= minimum[:, below].max(axis=1)).all()


def check_pairs(policy: Zooming) -> None:
    """The chain of bounds by which changes go unheard holds."""
    now = policy.balls
    second, heard, apart = table(policy, "second"), table(policy, "heard"), policy.similarity.distances
    bounds = heard[:, None, :] + apart(now.centre, now.centre)[None, :, :]  # (learned, ball, giver)
    np.put_along_axis(bounds, table(policy, "nearest")[:, :, None], np.inf, axis=2)
    assert (minima(policy) <= second + balls.SLACK).all()
    assert (second <= bounds.min(axis=2) + balls.SLACK).all()


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("kind", [PCZ, ContextualZooming])
def test_minima_are_those_of_a_scan(kind: type[Zooming], name: str) -> None:
    confidence = 0.01 if kind is PCZ else 0.003
    policy = kind(PROBLEMS[name], horizon=1000, confidence=confidence, seed=3)
    world = World(PROBLEMS[name], seed=4)
    for _ in range(12):
        play([policy], world, 40, scrambled=True)
        check_minima(policy)
        if is_paired(policy):
            check_pairs(policy)
        else:
            check_bounds(policy)


def test_many_balls() -> None:
    """Thousands of balls, and the tree is as deep as it is on a task that is learned well."""
    problem = PROBLEMS["plane"]
    policy, world = PCZ(problem, horizon=1000, confidence=0.002, seed=1), World(problem, seed=2)
    for _ in range(4):
        play([policy], world, 500, scrambled=False)
        check_minima(policy)
    check_bounds(policy)
    assert len(policy.balls.radius) > 1000
    assert math.log2(policy.balls.radius.min()) <= -5
    fresh = PCZ(problem, horizon=1000, confidence=0.002)
    fresh.load(policy.dump())
    check_minima(fresh)
    check_bounds(fresh)
