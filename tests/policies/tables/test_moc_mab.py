"""MOC-MAB: the paper's constants, its selection rule, and the slow twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Objective, Problem, Real, Refused
from paretozoom.kernels.arms import table
from paretozoom.kernels.tables import moc_mab as moc_mab_kernel
from paretozoom.kernels.tables.moc_mab import choose_second, uncertainty
from paretozoom.policies.tables.moc_mab import MOCMAB
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import feasible_sets
from tests.reference.tables import moc_mab

TWO = [Objective("r"), Objective("s")]
THREE = [Objective("r"), Objective("s", goal="min", low=0, high=4), Objective("z")]
LINE = Problem(context=[Real("x")], arm=[Real("y")], objectives=TWO)
LABELS = Problem(context=[Real("x"), Categorical("c", ["u", "v"])], arm=Finite(list("abcde")), objectives=THREE)
MIXED = Problem(context=[], arm=[Real("y"), Categorical("c", ["u", "v"])], objectives=TWO[:1])


def test_constants_of_the_paper() -> None:
    pareto = MOCMAB(LINE, horizon=100_000, arms=10, regret="pareto", lipschitz=1.0)
    both = MOCMAB(LINE, horizon=100_000, arms=10, lipschitz=1.0)
    assert (pareto.copies, round(pareto.logarithm, 7)) == (47, 50.6168305)
    assert (both.copies, round(both.logarithm, 7), round(both.variation, 7)) == (18, 48.6972788, 0.0555556)
    assert round(MOCMAB(LINE, horizon=100_000).variation, 7) == 0.2222222
    for constant, v, plays in [
        (both.logarithm, both.variation, 31556),
        (both.logarithm, 4 * both.variation, 1973),
        (pareto.logarithm, pareto.variation, 223626),
    ]:
        assert uncertainty(plays, constant) <= v < uncertainty(plays - 1, constant)
    assert uncertainty(100, pareto.logarithm) == pytest.approx(1.0061494, abs=5e-8)


def _filled(rows: list[tuple[float, float, int]]) -> MOCMAB:
    """A policy of one cell whose arms have these means and plays."""
    problem = Problem(context=[Real("x")], arm=Finite(list("abc")), objectives=TWO)
    policy = MOCMAB(problem, horizon=100_000, cells=1)
    at = table.table(policy._ints)
    policy._floats[at.constants + 2 : at.constants + 4] = 48.6972788, 0.2222222
    for k, (first, second, plays) in enumerate(rows):
        policy._floats[at.floats + 2 * k : at.floats + 2 * k + 2] = first * plays, second * plays
        policy._ints[at.ints + k] = plays
    return policy


def test_the_second_objective_counts_among_arms_as_good() -> None:
    policy = _filled([(0.8, 0.1, 10**6), (0.75, 0.9, 10**6), (0.2, 1.0, 10**6)])
    decision = policy.ask([0.5])
    assert (decision.arm, decision.density) == ("b", 1.0)
    assert uncertainty(10**6, 48.6972788) == pytest.approx(0.0098689, abs=5e-8)
    threshold = moc_mab_kernel._threshold(policy._floats, policy._ints, table.table(policy._ints), 0)
    assert threshold == pytest.approx(0.34569, abs=5e-6)


def test_an_uncertain_leader_is_played_itself() -> None:
    assert _filled([(0.8, 0.1, 1900), (0.75, 0.9, 10**6), (0.2, 1.0, 10**6)]).ask([0.5]).arm == "a"


def test_the_probability_counts_every_leader() -> None:
    policy = _filled([(0.5, 0.9, 10**6), (0.5, 0.9, 10**6), (0.5, 0.1, 10**6)])
    f, i = policy._floats, policy._ints
    at = table.table(i)
    listed = table.list_arms(f, i, at, np.zeros((0, 0)))
    drawn = {choose_second(f, i, at, listed, 0, u / 9, w / 9) for u in range(9) for w in range(9)}
    assert drawn == {(0, 0.5), (1, 0.5)}


@pytest.mark.parametrize("problem", [LINE, LABELS, MIXED], ids=["line", "labels", "mixed"])
@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize("scrambled", [False, True])
def test_twin(problem: Problem, restricted: bool, scrambled: bool) -> None:
    given: dict[str, Any] = {"horizon": 1000, "cells": 3, "lipschitz": 2.0, "arms": 4, "seed": 5}
    given["within"] = "centre" if restricted else "cell"
    for scale, rounds in ((1.0, 60), (0.06, 400)):
        first = 1 if len(problem.objectives) > 1 else 0
        policy = MOCMAB(problem, confidence=scale, objective=problem.objective_names[first], **given)
        twin = moc_mab.MOCMAB(problem, scale=scale, first=first, **given)
        world = World(problem, 3, noise=0.0 if restricted else 0.3)  # without noise there are ties
        sets = feasible_sets(problem, 11) if restricted else None
        lockstep(policy, twin, world, rounds, feasible=sets, scrambled=scrambled)


def test_it_finds_what_is_good_in_both() -> None:
    problem = Problem(context=[Real("x")], arm=Finite(list("abc")), objectives=TWO)
    means = {"a": (0.8, 0.1), "b": (0.75, 0.9), "c": (0.2, 1.0)}
    last = []
    for seed in range(3):
        policy = MOCMAB(problem, horizon=4000, cells=2, lipschitz=0.3, confidence=0.1, seed=seed)
        rng = np.random.default_rng(seed)
        for t in range(4000):
            decision = policy.ask([rng.random()])
            policy.tell(decision, (rng.random(2) < means[decision.arm]).astype(float).tolist())
            last += [decision.arm] if t >= 3000 else []
    assert last.count("b") / len(last) > 0.9


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"objective": "q"}, "objective: 'q' is not one of"),
        ({"regret": "3d"}, "regret: '3d' is not"),
        ({"beta": 0}, "beta: 0 is not positive"),
        ({"lipschitz": -1}, "lipschitz: -1 is not positive"),
        ({"exponent": 1.5}, "exponent: 1.5 is above 1"),
        ({"confidence": 0}, "confidence: 0 is not positive"),
        ({"horizon": 1}, "horizon: 1 is not an integer"),
        ({"cells": 0}, "cells: 0 is not a positive integer"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        MOCMAB(LINE, **given)


def test_unknown_scales_are_refused() -> None:
    with pytest.raises(Refused, match="low and high are unknown"):
        MOCMAB(Problem(context=[], arm=Finite(list("ab")), objectives=[Objective("r", low=None, high=None)]))


def test_many_context_dimensions_get_fewer_cells() -> None:
    problem = Problem(context=[Real(f"x{j}") for j in range(12)], arm=Finite(list("ab")), objectives=TWO)
    assert MOCMAB(problem).copies == 2**12
    assert MOCMAB(problem, confidence=0.5).notes == ["confidence=0.5"]


def test_a_third_objective_that_never_counts_is_noted() -> None:
    assert MOCMAB(LABELS).notes == ["plays by 'r', then 's'; never by 'z'"]
    assert MOCMAB(LABELS, objective="z").notes == ["plays by 'z', then 'r'; never by 's'"]
    assert MOCMAB(LINE).notes == MOCMAB(MIXED).notes == []
