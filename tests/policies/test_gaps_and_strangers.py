"""That a number is missing, or a choice was never listed, can be learned from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paretozoom import PCZ, Categorical, Finite, LinUCB, Objective, ParetoZoom, Problem, Real
from paretozoom.policies import Policy

POLICIES: dict[str, Callable[[Problem], Policy]] = {
    "pareto-zoom": lambda problem: ParetoZoom(problem, seed=1),
    "pcz": lambda problem: PCZ(problem, confidence=0.02, seed=1),
    "linucb": lambda problem: LinUCB(problem, confidence=0.2, seed=1),
}
CASES: dict[str, tuple[Any, Any]] = {
    "missing": (Real("x", missing=True), None),
    "other": (Categorical("x", ["u", "v"], other=True), "never listed"),
}


@pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)
@pytest.mark.parametrize(("dimension", "odd"), CASES.values(), ids=CASES)
def test_the_best_arm_depends_on_it(make: Callable[[Problem], Policy], dimension: Any, odd: Any) -> None:
    policy = make(Problem([dimension], Finite(["usual", "odd"]), [Objective("r")]))
    rng = np.random.default_rng(0)
    right = []
    for _ in range(800):
        is_odd = bool(rng.random() < 0.5)
        usual = float(rng.random()) if isinstance(dimension, Real) else str(rng.choice(["u", "v"]))
        decision = policy.ask([odd if is_odd else usual])
        right.append((decision.arm == "odd") == is_odd)
        policy.tell(decision, [0.9 * right[-1] + 0.1 * float(rng.random())])
    assert np.mean(right[-200:]) > 0.85
