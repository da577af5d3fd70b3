"""Contexts with a vector of hundreds of numbers: every policy plays with it or refuses it in words."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paretozoom import Finite, Objective, Problem, Real, Refused, Vector
from paretozoom.policies import Policy
from paretozoom.registry import find_members

POLICIES = find_members("paretozoom.policies", Policy)
CANNOT = {"club", "cofiba", "query-ad-clustering"}  # they divide every number of a context
VECTOR = Vector("prompt", 384, length=1)


@pytest.mark.parametrize("arm", [Finite(["a", "b", "c"]), [Real("y")]], ids=["labels", "line"])
@pytest.mark.parametrize("name", POLICIES)
def test_every_policy_plays_or_says_why_not(name: str, arm: Any) -> None:
    problem = Problem([VECTOR, Real("hour", 0, 24, periodic=True)], arm, [Objective("r"), Objective("s")])
    if name in CANNOT:
        with pytest.raises(Refused, match=r"more than 10\^\d+ .*385 numbers|more than 10\^\d+ .*386 numbers"):
            POLICIES[name](problem, seed=1)
        return
    policy, rng = POLICIES[name](problem, seed=1), np.random.default_rng(0)
    vectors = rng.normal(size=(20, 384)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1)[:, None]
    for vector in vectors:
        decision = policy.ask({"prompt": vector, "hour": 3})
        assert decision.context == {"prompt": vector.tolist(), "hour": 3.0}
        policy.tell(decision, [0.5, 0.25])
    assert policy.number == 20


def test_pcz_learns_by_the_distance_of_vectors() -> None:
    """Two opposite topics want opposite arms; with all that a vector says in one distance, PCZ tells them apart."""
    problem = Problem([Vector("prompt", 64, length=1)], Finite(["a", "b"]), [Objective("r")])
    policy = POLICIES["pcz"](problem, confidence=0.02, seed=1)
    rng = np.random.default_rng(0)
    topic = rng.normal(size=64)
    played = []
    for k in range(1500):
        side = (-1) ** k
        vector = side * topic / np.linalg.norm(topic) + 0.02 * rng.normal(size=64)
        decision = policy.ask(vector / np.linalg.norm(vector))
        best = decision.arm == ("a" if side > 0 else "b")
        policy.tell(decision, [float(best)])
        played.append(best)
    assert np.mean(played[-300:]) > 0.9
