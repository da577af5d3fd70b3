"""What the policy says in numbers of the rewards it was told."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom import Objective, ParetoZoom, Problem, Real
from paretozoom.findings.tails import largest_share


def test_facts_say_how_rewards_are_spread_and_what_explains_them() -> None:
    objectives = [Objective(name, bounded=False) for name in ("told", "noise", "tails")]
    policy = ParetoZoom(Problem([Real("x")], [Real("y")], objectives), seed=1)
    rng = np.random.default_rng(1)
    assert policy.facts()["largest_share"] == {"told": 0.0, "noise": 0.0, "tails": 0.0}
    told = []
    for _ in range(2000):
        x = float(rng.random())
        decision = policy.ask([x])
        reward = [3 * x + 0.3 * float(rng.normal()), float(rng.normal()), float(rng.standard_t(2.1))]
        policy.tell(decision, reward)
        told.append(reward)
    facts = policy.facts()
    assert facts["explained"]["told"] == pytest.approx(0.75 / (0.75 + 0.09), abs=0.1)
    assert facts["explained"]["noise"] < 0.1
    for name, column in zip(facts["largest_share"], np.array(told).T, strict=True):
        exact = largest_share(column)
        assert 0.8 * exact < facts["largest_share"][name] < exact + 1e-9 or name == "tails"
    assert 0.12 < facts["largest_share"]["tails"] < 0.9  # of rewards as they are learned, outliers brought nearer
    assert facts["largest_share"]["noise"] < 0.12
