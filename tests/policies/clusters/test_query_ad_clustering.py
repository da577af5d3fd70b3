"""Query-Ad-Clustering: phases, cells and covers, the slow twin."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paretozoom import Asked, Categorical, Finite, Integer, Objective, Problem, Real, Refused, Snapshot, Told
from paretozoom.kernels.clusters import phase_cover
from paretozoom.kernels.clusters.query_ad_clustering import bonus
from paretozoom.policies.clusters.query_ad_clustering import QueryAdClustering
from tests.reference.clusters.query_ad_clustering import QueryAdClustering as Twin
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import feasible_sets, is_allowed

TWO = [Objective("r"), Objective("s", goal="min", low=0, high=4)]
LINE = Problem(context=[Real("x")], arm=[Real("y")], objectives=TWO)
SHAPES: dict[str, tuple[list[Any], Any, float, float]] = {  # with the dimensions of contexts and arms
    "line": ([Real("x")], [Real("y")], 1, 1),
    "plane": ([Real("x"), Integer("h", 0, 2)], [Real("y", 1, 100, scale="log"), Real("z", periodic=True)], 2, 2),
    "mixed": ([Categorical("c", ["u", "v"])], [Integer("n", 0, 6), Real("y"), Categorical("k", ["a", "b"])], 0, 2),
    "labels": ([Real("x"), Categorical("c", ["u", "v"])], Finite(list("abc"), features=[[0], [1], [5]]), 1, 0),
    "values": ([], [Integer("n", 0, 11), Integer("m", 0, 2), Categorical("k", ["a", "b"])], 0, 2),
}  # fmt: skip


@pytest.mark.parametrize(
    ("rounds", "facts", "first", "fourth"),
    [(1, (0, 1, 1), 0.0, 0.0), (16, (4, 2, 2), 4.0, 2.0), (65536, (16, 16, 16), 8.0, 4.0)],
)
def test_phases_of_the_paper(rounds: int, facts: tuple[int, int, int], first: float, fourth: float) -> None:
    policy = QueryAdClustering(LINE)
    policy.ask_many(np.full((rounds, 1), 0.5))
    assert tuple(policy.facts().values()) == facts
    assert (bonus(0, facts[0], 1.0), bonus(3, facts[0], 1.0)) == (first, fourth)


def test_cells_and_lengths_of_phases() -> None:
    assert [1 / phase_cover.parts_in(phase, 4.0) for phase in (0, 4, 16)] == [1.0, 0.5, 0.0625]  # epsilon
    for t in [*range(1, 300), 65_535, 65_536, 100_000]:
        assert phase_cover.phase_of(t - 1) == t.bit_length() - 1  # floor(log2 t), t from 1 on
    assert phase_cover.phase_of(100_000 - 1) == 16


def test_rewards_of_an_earlier_phase_teach_nothing() -> None:
    policy = QueryAdClustering(LINE, seed=1)
    early = [policy.ask([0.5]) for _ in range(7)]
    policy.ask([0.5])
    before = policy.dump().arrays["row"]
    for decision in early:
        policy.tell(decision, [1.0, 1.0])
    assert before.size == policy.dump().arrays["row"].size == 0
    late = policy.ask([0.5])
    policy.tell(late, [1.0, 1.0])
    assert policy.dump().arrays["row"].tolist() == [late.credit]


def test_a_replayed_phase_forgets_as_well() -> None:
    policy, replayed = QueryAdClustering(LINE, seed=1), QueryAdClustering(LINE, seed=1)
    for _ in range(40):
        decision = policy.ask([0.5])
        replayed.replay(Asked(decision))
        if decision.number != 31:
            policy.tell(decision, [1.0, 1.0])
            replayed.replay(Told(decision.number, {"r": 1.0, "s": 1.0}))
        assert policy.dump().to_bytes() == replayed.dump().to_bytes()


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("restricted", [False, True])
@pytest.mark.parametrize("scrambled", [False, True])
def test_twin(shape: str, restricted: bool, scrambled: bool) -> None:
    context, arm, a, b = SHAPES[shape]
    problem = Problem(context=context, arm=arm, objectives=TWO)
    sets = feasible_sets(problem, 11) if restricted else None
    for weights, pareto, scale in (([1.0, 0.0], False, 1.0), ([0.25, 0.75], False, 0.1), ([], True, 0.1)):
        policy = QueryAdClustering(problem, weights=weights or None, pareto=pareto, confidence=scale, seed=4)
        twin = Twin(problem, a=a, b=b, weights=weights, scale=scale, seed=4)
        lockstep(policy, twin, World(problem, 3), 280, feasible=sets, scrambled=scrambled)


@pytest.mark.parametrize("shape", SHAPES)
def test_only_feasible_arms_are_played(shape: str) -> None:
    context, arm, _, _ = SHAPES[shape]
    problem = Problem(context=context, arm=arm, objectives=TWO)
    policy, world, sets = QueryAdClustering(problem, seed=2), World(problem, 1), feasible_sets(problem, 5)
    for _ in range(300):
        wanted = sets()
        decision = policy.ask(world.context(), feasible=wanted)
        assert is_allowed(problem, wanted, decision.arm)
        policy.tell(decision, world.reward(decision))


def test_room_and_snapshots() -> None:
    problem = Problem(context=[Real("x"), Real("z")], arm=[Real("y"), Integer("n", 0, 99)], objectives=TWO)
    policy, world = QueryAdClustering(problem, pareto=True, seed=2), World(problem, 1)
    for _ in range(3000):
        decision = policy.ask(world.context())
        policy.tell(decision, world.reward(decision))
    arrays = policy.dump().arrays
    assert len(arrays["row"]) > 64
    assert int(arrays["plays"].sum()) == 3000 - 2047
    again = QueryAdClustering(problem, pareto=True, seed=3)
    again.load(Snapshot.from_bytes(policy.dump().to_bytes()))
    assert again.front([0.5, 0.5]) == policy.front([0.5, 0.5]) != []
    assert [again.ask([0.2, 0.6]) for _ in range(20)] == [policy.ask([0.2, 0.6]) for _ in range(20)]
    for name, spoilt in [
        ("row", arrays["row"][::-1].copy()),
        ("row", arrays["row"] + 10**6),
        ("plays", -arrays["plays"]),
    ]:
        with pytest.raises(Refused, match="snapshot"):
            again.load(Snapshot(policy.dump().header, {**policy.dump().arrays, name: spoilt}))


def test_it_finds_the_best_arms() -> None:
    near = []
    for seed in range(3):
        policy, rng = QueryAdClustering(LINE, confidence=0.1, seed=seed), np.random.default_rng(seed)
        for t in range(6000):
            x = float(rng.random())
            y = policy.ask([x]).arm["y"]
            policy.tell(policy.open[0], [float(rng.random() < max(0.0, 1 - 2 * abs(y - 0.2 - 0.6 * x))), 0.0])
            near += [abs(y - 0.2 - 0.6 * x) < 0.2] if t >= 5000 else []
    assert np.mean(near) > 0.8


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"context_dimension": -1}, "context_dimension: -1 is negative"),
        ({"arm_dimension": "b"}, "arm_dimension: 'b' is not a number"),
        ({"confidence": 0}, "confidence: 0 is not positive"),
        ({"objective": "q"}, "objective: 'q' is not one of"),
        ({"pareto": True, "objective": "r"}, "pareto: True given together"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    with pytest.raises(Refused, match=message):
        QueryAdClustering(LINE, **given)


def test_refused_problems() -> None:
    with pytest.raises(Refused, match="low and high are unknown"):
        QueryAdClustering(Problem(context=[], arm=[Real("y")], objectives=[Objective("r", low=None, high=None)]))
    many = [Categorical(f"c{k}", ["u", "v"]) for k in range(63)]
    with pytest.raises(Refused, match="expected fewer than"):
        QueryAdClustering(Problem(context=many, arm=[Real("y")], objectives=TWO))
    assert QueryAdClustering(LINE, confidence=0.5, pareto=True).notes == ["confidence=0.5"]
