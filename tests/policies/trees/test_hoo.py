"""HOO and MO-HOO: values, cells, feasible parts, the slow twins, and that one is the other with one objective."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Integer, Objective, Problem, Real, Refused, Snapshot
from paretozoom.kernels.arms import table
from paretozoom.kernels.trees import hoo, hoo_sets, hoo_tree
from paretozoom.policies.fronts import Piece
from paretozoom.policies.trees.hoo import HOO
from paretozoom.policies.trees.mo_hoo import MOHOO
from paretozoom.policies.trees.trees import ArmTrees
from paretozoom.problem.feasible import encode_feasible
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import feasible_sets, is_allowed
from tests.reference.trees import hoo as twins

ONE, TWO = [Objective("r")], [Objective("r"), Objective("s")]
THREE = [*TWO, Objective("z", goal="min", low=-1, high=4)]
SHAPES: dict[str, tuple[list[Any], Any]] = {
    "line": ([Real("x")], [Real("y")]),
    "plane": ([], [Real("y", 1, 100, scale="log"), Real("z", periodic=True)]),
    "mixed": ([Categorical("c", ["u", "v"])], [Integer("n", 0, 6), Real("y"), Categorical("k", ["a", "b", "c"])]),
    "labels": ([Real("x"), Categorical("c", ["u", "v"])], Finite(list("abcdefg"))),
    "product": ([], [Integer("n", 0, 4), Categorical("k", ["a", "b", "c"])]),
}


def problem_of(shape: str, objectives: list[Objective]) -> Problem:
    """A problem of some shape."""
    context, arm = SHAPES[shape]
    return Problem(context=context, arm=arm, objectives=objectives)


LINE = Problem(context=[], arm=[Real("y")], objectives=TWO)


def test_first_plays_are_the_root_and_both_halves() -> None:
    for seed in range(8):
        policy = HOO(LINE, seed=seed)
        made = []
        for _ in range(3):
            made.append(policy.ask())
            policy.tell(made[-1], [0.5, 0.5])
        assert [d.credit for d in made] in ([0, 1, 2], [0, 2, 1])
        assert [d.density for d in made] == [1.0, 1.0, 2.0]  # the coin of the second is part of its density
        assert {d.arm["y"] < 0.5 for d in made[1:]} == {True, False}


def test_bound_of_a_node() -> None:
    """Mean 0.5 of 10 plays in round 100, at depth 2 with nu1 = 1 and rho = 1/2."""
    assert hoo_sets.upper_bound(0.5, 10, 2 * math.log(100), 0.5**2) == pytest.approx(1.7097052, abs=5e-8)


def test_depth_is_truncated() -> None:
    assert HOO(LINE, horizon=100_000).depth == 9
    assert HOO(LINE, horizon=100_000, nu1=5.0).depth == math.ceil((0.5 * math.log(1e5) + math.log(5)) / math.log(2))
    assert HOO(LINE, horizon=2, nu1=0.01).depth == 1
    plane = Problem(context=[], arm=[Real("y"), Real("z")], objectives=ONE)
    assert HOO(plane, horizon=100_000).depth == 17


def _family(children: list[list[tuple[float, ...]]], u: tuple[float, ...]) -> tuple[list[list[float]], float]:
    """B of a node with U and children with such sets, and its lean."""
    objectives = [Objective(f"r{o}") for o in range(len(u))]
    policy = MOHOO(Problem(context=[], arm=[Real("y")], objectives=objectives), horizon=2)
    f, i = policy._grown(np.zeros(2, np.int64), np.arange(3))
    at = table.table(i)
    trees, d = hoo_tree.tree(i, at), len(u)
    f[at.constants : at.constants + 3] = 0.0, 0.0, 0.5  # so that U is the mean
    policy._floats, policy._ints = f, i
    of_floats, of_ints = policy._views(f, i)
    for child, vectors in enumerate(children, start=1):
        of_ints[child, [hoo_tree.PLAYS, hoo_tree.KEPT]] = 1, len(vectors)
        of_floats[child, 1 + d : 1 + d + d * len(vectors)] = np.ravel(vectors)
    of_ints[0, hoo_tree.PLAYS] = 1
    of_floats[0, 1 : 1 + d] = u
    hoo_sets.refresh(f, i, at, trees, 0, 0)
    kept = of_ints[0, hoo_tree.KEPT]
    return of_floats[0, 1 + d : 1 + d + d * kept].reshape(kept, d).tolist(), float(of_floats[0, hoo_tree.LEAN])


def test_sets_of_bounds() -> None:
    assert _family([[(0.9, 0.2)], [(0.3, 0.8)]], (0.7, 0.7)) == ([[0.7, 0.2], [0.3, 0.7]], 0.5)
    assert _family([[(0.9, 0.2)], [(0.8, 0.1)]], (0.7, 0.7)) == ([[0.7, 0.2]], 1.0)
    assert _family([[(0.9, 0.2)], [(0.9, 0.2)]], (0.7, 0.7)) == ([[0.7, 0.2]], 0.5)
    assert _family([[(0.9, 0.2), (0.1, 0.9)], [(0.9, 0.2)]], (1.0, 1.0)) == ([[0.9, 0.2], [0.1, 0.9]], 0.75)
    assert _family([[(0.9,)], [(0.8,)]], (0.7,)) == ([[0.7]], 1.0)


@pytest.mark.parametrize("d", [2, 3])
def test_large_sets_keep_what_contributes_most(d: int) -> None:
    rng = np.random.default_rng(d)
    angles = rng.random((60, d)) + 0.05
    vectors = [tuple(row) for row in (angles / np.sqrt((angles**2).sum(axis=1))[:, None]).tolist()]
    left, right = vectors[:30], vectors[30:]
    kept, lean = _family([left, right], (2.0,) * d)
    expected = twins.capped(twins.undominated(vectors), 32)
    assert len(expected) == 32
    assert kept == [list(v) for v in expected]
    assert lean == 0.5


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize("scrambled", [False, True])
def test_twins(shape: str, restricted: bool, scrambled: bool) -> None:
    for objectives, weights in ((ONE, None), (TWO, [0.3, 0.7]), (THREE, None)):
        problem = problem_of(shape, objectives)
        given: dict[str, Any] = {"horizon": 300, "nu1": 0.7, "cells": 2, "seed": 4}
        sets = feasible_sets(problem, 11) if restricted else None
        pairs: list[tuple[ArmTrees, twins.Trees]] = []
        learned = weights or [1.0] + [0.0] * (len(objectives) - 1)
        pairs.append((HOO(problem, weights=weights, **given), twins.HOO(problem, weights=learned, **given)))
        pairs.append((MOHOO(problem, confidence=0.2, **given), twins.MOHOO(problem, scale=0.2, **given)))
        for policy, twin in pairs:
            noise = 0.0 if shape == "labels" else 0.3  # without noise there are ties
            made = lockstep(policy, twin, World(problem, 3, noise), 90, feasible=sets, scrambled=scrambled)
            assert max(decision.credit for decision in made) > policy.copies


@pytest.mark.parametrize("shape", SHAPES)
def test_one_objective_makes_mo_hoo_hoo(shape: str) -> None:
    problem = problem_of(shape, ONE)
    both = [HOO(problem, horizon=2000, seed=9), MOHOO(problem, horizon=2000, seed=9)]
    world, sets = World(problem, 1), feasible_sets(problem, 2)
    for _ in range(1500):
        context, wanted = world.context(), sets()
        decisions = [policy.ask(context, feasible=wanted) for policy in both]
        assert decisions[0] == decisions[1]
        assert is_allowed(problem, wanted, decisions[0].arm)
        reward = world.reward(decisions[0])
        for policy in both:
            policy.tell(decisions[0], reward)
    assert all(np.array_equal(a, b) for a, b in zip(both[0].nodes, both[1].nodes, strict=True))


@pytest.mark.parametrize("make", [HOO, MOHOO])
@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("restricted", [False, True])
def test_densities_add_up(make: type[HOO] | type[MOHOO], shape: str, restricted: bool) -> None:
    """One density in a cell; the probabilities of all cells that can be reached sum to 1."""
    problem = problem_of(shape, TWO)
    policy = make(problem, horizon=300, confidence=0.05, seed=3)
    world, sets = World(problem, 1, noise=0.0), feasible_sets(problem, 8)
    for _ in range(60):
        decision = policy.ask(world.context())
        policy.tell(decision, world.reward(decision))
    context, wanted = world.context(), None
    while restricted and wanted is None:
        wanted = sets()
    cells: dict[int, list[float]] = {}
    ways: dict[int, float] = {}
    allowed, point = encode_feasible(problem, wanted), np.zeros(problem.dim)
    problem.encode_context(context, point)
    f, i = policy._floats, policy._ints
    at = table.table(i)
    cell = np.empty(2 * hoo_tree.sides_of(i, at))
    for _ in range(600):
        root = table.cell_of(i, at, point)
        credit, probability = hoo.descend(f, i, at, policy.number, root, cell, allowed)
        ways[credit] = probability
        size = hoo_tree.cell_size(i, at, cell, allowed)
        decision = policy.ask(context, feasible=wanted)
        assert is_allowed(problem, wanted, decision.arm)
        cells.setdefault(decision.credit, []).append(decision.density)
        assert credit == decision.credit
        assert math.isclose(decision.density * size, probability, rel_tol=1e-9)
    assert all(max(densities) <= min(densities) * (1 + 1e-12) for densities in cells.values())
    assert math.isclose(sum(ways.values()), 1.0, rel_tol=1e-9)


@pytest.mark.parametrize("make", [HOO, MOHOO])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_front_holds_what_is_played_next(make: type[HOO] | type[MOHOO], shape: str) -> None:
    problem = problem_of(shape, TWO)
    policy, world, sets = (
        make(problem, horizon=300, confidence=0.1, seed=3),
        World(problem, 1),
        feasible_sets(problem, 8),
    )
    assert policy.front(world.context()) == []
    for _ in range(80):
        decision = policy.ask(world.context())
        policy.tell(decision, world.reward(decision))
    for _ in range(30):
        context, wanted = world.context(), sets()
        arm = policy.ask(context, feasible=wanted).arm
        pieces = policy.front(context, feasible=wanted)
        assert any(_holds(problem, piece, arm) for piece in pieces)
        believed = policy.front(context, feasible=wanted, believed=True)
        assert believed != []
        assert all(piece in pieces for piece in believed)
        assert all(min(piece.count.values()) > 0 for piece in pieces)


def _holds(problem: Problem, piece: Piece, arm: Any) -> bool:
    if len(problem.encoding.arms):
        return bool(piece.arm == arm)
    point, (low, high) = np.zeros(problem.dim), (np.zeros(problem.dim), np.zeros(problem.dim))
    ends = [[end] if isinstance(end, float) else end for end in (piece.low, piece.high)]
    for value, at in zip((arm, *ends), (point, low, high), strict=True):
        problem.encode_arm(value, at)
    return bool((low - 1e-9 <= point).all() and (point <= high + 1e-9).all())


def test_it_finds_the_best_arms() -> None:
    last = []
    for seed in range(3):
        policy = HOO(LINE, horizon=3000, objective="s", seed=seed)
        rng = np.random.default_rng(seed)
        for t in range(3000):
            decision = policy.ask()
            mean = max(0.0, 1 - 2 * abs(decision.arm["y"] - 0.7))
            policy.tell(decision, {"r": 0.0, "s": float(rng.random() < mean)})
            last += [decision.arm["y"]] if t >= 2500 else []
    assert np.mean(np.abs(np.array(last) - 0.7) < 0.15) > 0.8


def test_room_doubles_and_snapshots_are_compact() -> None:
    plane = problem_of("plane", TWO)
    policy = MOHOO(plane, horizon=2000, seed=1)
    world = World(plane, 1)
    for _ in range(700):
        decision = policy.ask([])
        policy.tell(decision, world.reward(decision))
    arrays = policy.dump().arrays
    assert sum(a.nbytes for a in arrays.values()) < policy.nbytes / 10
    assert policy.facts()["nodes"] == len(arrays["plays"]) > 500
    again = MOHOO(plane, horizon=2000, seed=2)
    again.load(Snapshot.from_bytes(policy.dump().to_bytes()))
    assert [again.ask([]) for _ in range(50)] == [policy.ask([]) for _ in range(50)]
    for name, spoilt in [
        ("place", arrays["place"][::-1].copy()),
        ("place", np.zeros_like(arrays["place"])),
        ("plays", -arrays["plays"]),
        ("sums", arrays["sums"] * math.nan),
        ("sums", arrays["sums"][1:]),
    ]:
        with pytest.raises(Refused, match="snapshot"):
            again.load(Snapshot(policy.dump().header, {**policy.dump().arrays, name: spoilt}))


def test_late_rewards_of_one_cell_meet_in_one_node() -> None:
    policy = HOO(LINE, seed=1)
    waiting = [policy.ask() for _ in range(5)]
    assert {d.credit for d in waiting} == {0}
    for decision in waiting:
        policy.tell(decision, [0.5, 0.5])
    assert policy.nodes.plays.tolist() == [5]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"nu1": 0}, "nu1: 0 is not positive"),
        ({"rho": 1.0}, "rho: 1.0 is not below 1"),
        ({"rho": -1}, "rho: -1 is not positive"),
        ({"confidence": 0}, "confidence: 0 is not positive"),
        ({"horizon": 1}, "horizon: 1 is not an integer"),
        ({"cells": 0}, "cells: 0 is not a positive integer"),
        ({"objective": "q"}, "objective: 'q' is not one of"),
        ({"weights": [1.0]}, "weights: .* expected a list of 2 numbers"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        HOO(LINE, **given)


@pytest.mark.parametrize("make", [HOO, MOHOO])
def test_unknown_scales_are_refused(make: type[HOO] | type[MOHOO]) -> None:
    with pytest.raises(Refused, match="low and high are unknown"):
        make(Problem(context=[], arm=[Real("y")], objectives=[Objective("r", low=None, high=None)]))
    assert make(LINE, confidence=0.5).notes[-1] == "confidence=0.5"
