"""What ParetoZoom shows of its front, and how finely it divides arms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.policies.fronts import on_front
from paretozoom.problem.feasible import ANY, encode_feasible
from tests.policies.pareto_zoom.side_by_side import Both
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS, feasible_sets

ALL = {**PROBLEMS, **LATTICE_PROBLEMS}


@pytest.mark.parametrize("believed", [False, True], ids=["played", "believed"])
@pytest.mark.parametrize("name", ["plane", "user's units", "labels", "features", "mixed arms"])
def test_the_front_shows_what_the_definition_says(name: str, believed: bool) -> None:
    """Indices, means, and uncertainties as they are shown, in the user's units."""
    both, world = Both(ALL[name]), World(ALL[name], seed=5)
    problem, model = both.policy.problem, both.model
    both.play(world, 80, scrambled=True)
    for feasible in (None, feasible_sets(problem, 7)()):
        context, point = world.context(), np.zeros(problem.dim)
        problem.encode_context(context, point)
        x = point[: problem.encoding.context]
        allowed = ANY if feasible is None else encode_feasible(problem, feasible)
        _, _, arms, numbers = both.look(x, -1, False, allowed)
        means, errors = model.predict(x, arms, numbers)
        indices = model.indices(x, numbers, means, errors)
        shown = model.predict(x, arms, numbers, shown=True)[1]
        chosen = on_front(means.T) if believed else model.choose(indices, errors) == 1
        keys = numbers.tolist() if len(problem.encoding.arms) else [tuple(arm) for arm in arms.tolist()]
        order = sorted(np.flatnonzero(chosen).tolist(), key=lambda k: keys[k])
        pieces = both.policy.front(context, believed=believed, feasible=feasible)
        assert len(pieces) == len(order) > 0
        for k, piece in zip(order, pieces, strict=True):
            for o, objective in enumerate(problem.objectives):
                span = abs(objective.decode(1.0) - objective.decode(0.0))
                near: dict[str, Any] = {"rel": 1e-9, "abs": 1e-9 * span}
                mean = model.first[o] + means[o, k]
                assert piece.mean[objective.name] == pytest.approx(objective.decode(mean), **near)
                index = model.first[o] + indices[o, k]
                assert piece.index[objective.name] == pytest.approx(objective.decode(index), **near)
                assert piece.uncertainty[objective.name] == pytest.approx(span * shown[o, k], rel=1e-6, abs=1e-7 * span)


def test_counts_are_those_of_the_finest_cell() -> None:
    """Without contexts, and a label for each of three arms: all rewards that were told of it."""
    problem = Problem(context=[], arm=[Categorical("k", list("abc"))], objectives=[Objective("a"), Objective("b")])
    policy, told = ParetoZoom(problem, seed=1), {name: dict.fromkeys("abc", 0) for name in "ab"}
    for k in range(120):
        decision = policy.ask()
        for name in "ab" if k % 3 else "a":
            policy.tell(decision, {name: 0.1 * (k % 7)})
            told[name][decision.arm["k"]] += 1
    pieces = policy.front(believed=True)
    assert [piece.count for piece in pieces] == [
        {name: told[name][piece.arm["k"]] for name in "ab"} for piece in pieces
    ]
    assert pieces


@pytest.mark.parametrize(
    ("arm", "cells"),
    [([Real("y")], 128), ([Real("y"), Categorical("k", list("abcde"))], 128 * 8)],
    ids=["line", "line and labels"],
)
def test_cells_of_arms_are_finer_than_candidates(arm: list[Any], cells: int) -> None:
    """There are 64 candidates on a line of arms, and up to 128 cells; for each of five labels, as if there were 8."""
    problem = Problem(context=[], arm=arm, objectives=[Objective("r")])
    policy, world = ParetoZoom(problem, seed=1), World(problem, seed=2)
    for _ in range(250):
        decision = policy.ask()
        policy.tell(decision, world.reward(decision))
    assert m.memory.view("arm_cells", policy._floats, policy._ints).max() == cells


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_contexts_that_move_slowly_are_no_change(noise: float) -> None:
    """Though rewards that follow each other are off by the same, because their cell is large."""
    problem = Problem(
        context=[Real("x"), Real("y"), Real("z")], arm=[Real("a")], objectives=[Objective("r", bounded=False)]
    )
    policy, rng = ParetoZoom(problem), np.random.default_rng(1)
    for k in range(6000):
        context = [(k / 1500) % 1.0, (k / 400) % 1.0, (k / 100) % 1.0]
        decision = policy.ask(context)
        policy.tell(decision, [sum(context) - abs(decision.arm["a"] - 0.5) + noise * rng.standard_normal()])
    assert policy.facts()["forgotten"] == 0
