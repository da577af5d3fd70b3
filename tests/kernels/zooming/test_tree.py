"""Which balls a context is said to reach, against a look at all balls."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom import PCZ
from paretozoom.kernels.zooming import balls, tree
from paretozoom.policies.zooming.zooming import Zooming
from paretozoom.problem import random_points
from tests.reference.play import World, play
from tests.reference.problems import PROBLEMS


def reached(policy: Zooming, context: np.ndarray) -> list[int]:
    """The balls within whose radius the context lies, whatever the arm, by falling radius, then by falling arm."""
    now, inner = policy.balls, policy.similarity
    at = balls.layout(policy._ints)
    points = now.centre.copy()
    points[:, : at.context] = context
    apart = np.array([inner.distances(a[None], b[None])[0, 0] for a, b in zip(points, now.centre, strict=True)])
    found = {0, *np.flatnonzero(apart <= now.radius).tolist()}
    arm = now.centre[:, at.context]
    return sorted(found, key=lambda k: (-now.radius[k], -arm[k], k))


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("confidence", [0.1, 0.004])
def test_near_balls_are_those_that_are_reached(name: str, confidence: float) -> None:
    """With few balls by way of strips, with many by way of the tree."""
    policy, world = PCZ(PROBLEMS[name], horizon=1000, confidence=confidence, seed=5), World(PROBLEMS[name], seed=6)
    play([policy], world, 400, scrambled=False)
    at = balls.layout(policy._ints)
    edges = np.linspace(0.0, 1.0, 2 * balls.STRIPS + 1)
    for k, context in enumerate(random_points(policy.problem.encoding, 60, np.random.default_rng(7))):
        if at.context > 0 and policy._ints[at.kinds] == 0 and policy._ints[at.values] == 0 and k < len(edges):
            context[0] = edges[k]
        near = tree.find_near(policy._floats, policy._ints, at, context)
        listed = policy._ints[at.near : at.near + near].tolist()
        expected = reached(policy, context[: at.context])
        if at.capacity <= balls.MOST_PAIRED:
            assert listed == expected
        else:  # a few others may be there, and balls of one radius are in any order
            assert set(expected) <= set(listed)
            assert (np.diff(policy.balls.radius[listed]) <= 0).all()
