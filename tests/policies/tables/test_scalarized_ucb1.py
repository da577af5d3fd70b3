"""Scalarized UCB1: hand-computed values, its slow twin, densities, and UCB1 as the case of one objective."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Finite, Objective, Problem, Refused
from paretozoom.checks import check_policy
from paretozoom.kernels.arms.table import KEY0, list_arms, table
from paretozoom.kernels.tables import scalarized_ucb1
from paretozoom.policies.tables.pareto_ucb1 import ParetoUCB1
from paretozoom.policies.tables.scalarized_ucb1 import ScalarizedUCB1
from paretozoom.problem.feasible import ANY
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS, feasible_sets
from tests.reference.tables.scalarized_ucb1 import ScalarizedUCB1 as Twin
from tests.reference.tables.ucb1 import UCB1

ALL = PROBLEMS | LATTICE_PROBLEMS
CASES: list[tuple[str, dict[str, Any]]] = [
    ("labels", {}),
    ("labels", {"functions": 3, "cells": 3, "shared": True}),
    ("labels", {"functions": 4, "scalarisation": "chebyshev"}),
    ("plane", {"arms": 7, "functions": 5, "scalarisation": "chebyshev", "shared": True}),
    ("plane", {"arms": 5, "functions": 3, "within": "cell", "cells": 2}),
    ("user's units", {"arms": 6, "functions": 2}),
    ("product of arms", {"cells": 2, "functions": 2}),
    ("mixed arms", {"arms": 2, "functions": 2, "shared": True}),
    ("five objectives", {"arms": 6, "functions": 2, "scalarisation": "chebyshev"}),
]
TWO = Problem(context=[], arm=Finite(["a", "b"]), objectives=[Objective("r"), Objective("s")])


def twin_of(policy: ScalarizedUCB1, given: dict[str, Any], seed: int) -> Twin:
    own = {name: value for name, value in given.items() if name in ("arms", "cells", "within")}
    chebyshev = given.get("scalarisation") == "chebyshev"
    return Twin(policy.problem, weights=policy.functions, chebyshev=chebyshev, shared=policy.shared, seed=seed, **own)


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize(("title", "given"), CASES)
def test_same_decisions_as_the_slow_twin(title: str, given: dict[str, Any], restricted: bool) -> None:
    problem = ALL[title]
    policy = ScalarizedUCB1(problem, seed=3, **given)
    sets = feasible_sets(problem, 5) if restricted else None
    lockstep(policy, twin_of(policy, given, 3), World(problem, 4), 300, feasible=sets)


@pytest.mark.parametrize("scrambled", [False, True])
def test_one_objective_is_ucb1(scrambled: bool) -> None:
    problem = PROBLEMS["one objective"]
    policy, twin = ScalarizedUCB1(problem, arms=6, seed=2), UCB1(problem, arms=6, seed=2)
    lockstep(policy, twin, World(problem, 7), 400, scrambled=scrambled)
    policy, pareto = ScalarizedUCB1(problem, arms=6, seed=2), ParetoUCB1(problem, arms=6, front_size=1, seed=2)
    lockstep(policy, pareto, World(problem, 8), 400, scrambled=scrambled)


def first_index(policy: ScalarizedUCB1, function: int = 0, bonus: bool = True) -> float:
    """The index of arm a for a function, with its bonus or without."""
    f, i, at = policy._floats, policy._ints, table(policy._ints)
    listed = list_arms(f, i, at, ANY)
    if bonus:
        scalarized_ucb1.index_arms(f, i, at, 0, function, listed)
    else:
        first = scalarized_ucb1.first_row(f, at, 0, function)
        scalarized_ucb1.scalarise_arms(f, i, at, first, function, listed)
    return float(f[at.indices])


def taught(**given: Any) -> ScalarizedUCB1:
    """Weights (1/2, 1/2); arm a was told (0.6, 0.3) 25 times, arm b (0, 0) 75 times."""
    policy = ScalarizedUCB1(TWO, functions=1, **given)
    for label in "a" * 25 + "b" * 75:
        decision = policy.ask(feasible=[label])
        policy.tell(decision, [0.6, 0.3] if label == "a" else [0.0, 0.0])
    return policy


def test_check_values() -> None:
    linear, chebyshev = taught(), taught(scalarisation="chebyshev", slack=1e-12)
    assert first_index(linear, bonus=False) == pytest.approx(0.45)
    assert first_index(chebyshev, bonus=False) == pytest.approx(0.15)
    assert first_index(linear) == pytest.approx(1.0569709, abs=5e-8)
    doubled = taught(confidence=2.0)
    assert first_index(doubled) == pytest.approx(0.45 + 2 * 0.6069709, abs=2e-7)
    assert doubled.notes == ["confidence=2"]
    assert linear.notes == []


@pytest.mark.parametrize("shared", [False, True])
def test_a_function_counts_its_own_plays(shared: bool) -> None:
    """Those that were told: of the decisions made, only some are."""
    policy = ScalarizedUCB1(TWO, functions=3, shared=shared, seed=1)
    plays = np.zeros((1 if shared else 3, 2), int)
    for _ in range(200):
        decision = policy.ask()
        if decision.number % 3:
            policy.tell(decision, [0.6, 0.3] if decision.arm == "a" else [0.4, 0.5])
            plays[divmod(decision.credit, 2)] += 1
    for function, value in enumerate([0.3, 0.45, 0.6]):  # of the means of arm a, by weights (0, 1), (1/2, 1/2), (1, 0)
        of_a, of_b = plays[0 if shared else function]
        assert first_index(policy, function) == pytest.approx(value + math.sqrt(2 * math.log(of_a + of_b) / of_a))


@pytest.mark.parametrize("given", [{}, {"shared": True}, {"scalarisation": "chebyshev"}])
def test_density_is_the_share_of_draws(given: dict[str, Any]) -> None:
    problem = PROBLEMS["no context"]
    policy, world = ScalarizedUCB1(problem, arms=5, seed=1, **given), World(problem, 2)
    for _ in range(800):
        decision = policy.ask()
        policy.tell(decision, world.reward(decision))
    first: dict[int, float] = {}
    seen = []
    for key in range(4000):
        policy._ints[KEY0] = key
        _, density, credit = policy.kernel.ask(policy._floats, policy._ints, 800, np.empty(1), ANY)
        seen.append(credit % 5)
        assert first.setdefault(seen[-1], density) == pytest.approx(density)
    assert sum(first.values()) == pytest.approx(1.0)
    for arm, density in first.items():
        assert seen.count(arm) / len(seen) == pytest.approx(density, abs=5 * (density / len(seen)) ** 0.5)


def test_means_of_all_functions() -> None:
    policy = ScalarizedUCB1(TWO, functions=4, seed=5)
    for _ in range(200):
        decision = policy.ask()
        policy.tell(decision, [0.8, 0.2] if decision.arm == "a" else [0.1, 0.6])
    assert policy.plays.sum() == 200
    assert policy.means[0] == pytest.approx(np.array([[0.8, 0.2], [0.1, 0.6]]))
    assert [piece.arm for piece in policy.front()] == ["a", "b"]


@pytest.mark.parametrize("given", [{"shared": True}, {"scalarisation": "chebyshev"}, {"cells": 3}, {"within": "cell"}])
def test_contract(given: dict[str, Any]) -> None:
    check_policy(lambda problem, seed: ScalarizedUCB1(problem, seed=seed, **given))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"scalarisation": "cubic"}, "scalarisation: 'cubic'"),
        ({"functions": 0}, "functions: 0"),
        ({"functions": 1001}, "functions: 1001"),
        ({"shared": 1}, "shared: 1"),
        ({"slack": -0.1}, "slack: -0.1"),
        ({"confidence": 0}, "confidence: 0"),
        ({"cells": 0}, "cells: 0"),
        ({"within": "edge"}, "within: 'edge'"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        ScalarizedUCB1(TWO, **given)


def test_unknown_scales_are_refused() -> None:
    unscaled = Problem(context=[], arm=Finite(["a"]), objectives=[Objective("r", low=None, high=None, bounded=False)])
    with pytest.raises(Refused, match="scale"):
        ScalarizedUCB1(unscaled)
