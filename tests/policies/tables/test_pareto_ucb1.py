"""Pareto-UCB1: hand-computed values, its slow twin, and UCB1 as the case of one objective."""

from __future__ import annotations

from typing import Any

import pytest

from paretozoom import Categorical, Finite, Objective, Problem, Real, Refused
from paretozoom.kernels.tables.pareto_ucb1 import bonus
from paretozoom.policies.tables.pareto_ucb1 import ParetoUCB1
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS, feasible_sets
from tests.reference.tables.ucb1 import UCB1
from tests.reference.tables.ucb1 import ParetoUCB1 as Twin

ALL = PROBLEMS | LATTICE_PROBLEMS
CASES: list[tuple[str, dict[str, Any]]] = [
    ("labels", {}),
    ("labels", {"front_size": 2, "cells": 3}),
    ("plane", {"arms": 7}),
    ("plane", {"arms": 5, "within": "cell", "cells": 2}),
    ("user's units", {"arms": 6}),
    ("product of arms", {"cells": 2}),
    ("mixed arms", {"arms": 2}),
    ("five objectives", {"arms": 6}),
]


def test_check_values() -> None:
    assert bonus(25, 100, (2 * 5) ** 0.25) == pytest.approx(0.6437898, abs=5e-8)
    assert bonus(25, 100, (2 * 10) ** 0.25) == pytest.approx(0.6544679, abs=5e-8)
    assert bonus(25, 100, 1.0) == pytest.approx(0.6069709, abs=5e-8)


@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize(("title", "given"), CASES)
def test_same_decisions_as_the_slow_twin(title: str, given: dict[str, Any], restricted: bool) -> None:
    problem = ALL[title]
    sets = feasible_sets(problem, 5) if restricted else None
    policy, twin = ParetoUCB1(problem, seed=3, **given), Twin(problem, seed=3, **given)
    lockstep(policy, twin, World(problem, 4), 250, feasible=sets)


@pytest.mark.parametrize("scrambled", [False, True])
def test_one_objective_is_ucb1(scrambled: bool) -> None:
    problem = PROBLEMS["one objective"]
    policy, twin = ParetoUCB1(problem, front_size=1, arms=6, seed=2), UCB1(problem, arms=6, seed=2)
    lockstep(policy, twin, World(problem, 7), 400, scrambled=scrambled)


def test_copies_do_not_know_of_each_other() -> None:
    """What happens in one half of the contexts changes nothing in the other."""
    problem = Problem(context=[Real("x")], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    copies, alone = ParetoUCB1(problem, cells=2, seed=1), ParetoUCB1(problem, seed=1)
    for policy, contexts in ((copies, [0.9] * 900 + [0.1] * 100), (alone, [0.1] * 100)):
        for x in contexts:
            decision = policy.ask([x])
            policy.tell(decision, [0.7 if decision.arm == "a" else 0.4])
    assert copies.plays[0].tolist() == alone.plays[0].tolist()


def test_places_within_a_cell_are_feasible() -> None:
    problem = Problem(context=[], arm=[Real("y"), Categorical("c", ["u", "v"])], objectives=[Objective("r")])
    policy = ParetoUCB1(problem, arms=4, within="cell", seed=1)
    boxes = [{"y": (0.1, 0.2)}, {"y": (0.55, 0.7), "c": "v"}]
    total, asks = 0.0, 400
    for _ in range(asks):
        decision = policy.ask(feasible=boxes)
        y, c = decision.arm["y"], decision.arm["c"]
        assert 0.1 <= y <= 0.2 or (0.55 <= y <= 0.7 and c == "v")
        total += 1 / decision.density
        policy.drop(decision)
    # 1 / density averages to the size of what can be played: 0.1 for each choice, and 0.15 more for "v".
    assert abs(total / asks - 0.35) < 0.03


def test_unknown_scales_are_refused() -> None:
    unscaled = Problem(context=[], arm=Finite(["a"]), objectives=[Objective("r", low=None, high=None)])
    with pytest.raises(Refused, match="pareto-ucb1 needs the scale of the expected reward"):
        ParetoUCB1(unscaled)
