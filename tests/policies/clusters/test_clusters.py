"""CLUB and COFIBA: slow twins, values, equivalence with LinUCB, clusters that are there, refusals."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Asked, Categorical, Finite, Objective, Problem, Real, Refused, Snapshot
from paretozoom.checks import check_policy
from paretozoom.kernels.clusters.club import reach
from paretozoom.kernels.clusters.clusters import bonus
from paretozoom.policies.clusters.club import CLUB
from paretozoom.policies.clusters.clustered import Clustered
from paretozoom.policies.clusters.cofiba import COFIBA
from paretozoom.policies.clusters.item_features import MOST_FEATURES, item_features
from tests.reference.clusters.clusters import Club, Cofiba, component
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import PROBLEMS

PAIRS: dict[str, tuple[type[Clustered], type[Club]]] = {"club": (CLUB, Club), "cofiba": (COFIBA, Cofiba)}
SETTINGS: dict[str, dict[str, Any]] = {
    "plane": {"users": 6, "arms": 7},
    "labels": {"users": 4},
    "features": {"users": 3, "pareto": True},
    "user's units": {"users": 5, "arms": 6, "within": "cell", "weights": [0.25, 0.75]},
    "mixed contexts": {"users": 2, "arms": 5, "start": "random", "pareto": True, "degree": 3},
    "no context": {"arms": 6, "objective": "b"},
    "two contexts": {"users": 4, "arms": 20, "start": "random"},
}


def feasible_sets(problem: Problem, rng: np.random.Generator) -> Any:
    """Sometimes all arms, sometimes a few, sometimes a box without an arm of the grid."""
    if rng.random() < 0.5:
        return None
    if isinstance(problem.arm, Finite):
        size = 1 + int(rng.integers(len(problem.arm.labels)))
        return [problem.arm.labels[k] for k in rng.permutation(len(problem.arm.labels))[:size].tolist()]
    (dimension,) = problem.arm
    low, width = rng.random() * 0.9, rng.choice([0.02, 0.5])
    return {dimension.name: (dimension.decode(low), dimension.decode(min(1.0, low + width)))}


@pytest.mark.parametrize("scrambled", [False, True])
@pytest.mark.parametrize("shape", SETTINGS)
@pytest.mark.parametrize("pair", PAIRS)
def test_twins_make_the_same_decisions(pair: str, shape: str, scrambled: bool) -> None:
    problem, settings = PROBLEMS[shape], dict(SETTINGS[shape])
    alpha_2 = 0.4 if pair == "club" else 0.12  # small, so that many edges go
    policy = PAIRS[pair][0](problem, alpha=0.3, alpha_2=alpha_2, seed=5, **settings)
    passed = {k: v for k, v in settings.items() if k in ("arms", "within", "start")}
    users = policy.parameters["users"]
    twin = PAIRS[pair][1](
        problem, policy.features, alpha=0.3, alpha_2=alpha_2, users=users, weights=policy.weights, seed=5, **passed
    )
    rng = np.random.default_rng(3)
    world = World(problem, seed=2, noise=0.1)
    lockstep(policy, twin, world, 220, scrambled=scrambled, feasible=lambda: feasible_sets(problem, rng))
    assert policy.told.tolist() == twin.told
    own = [twin.weights_of(user) for user in range(twin.cells)]
    np.testing.assert_allclose(policy.user_weights, own, rtol=0, atol=1e-10)
    graphs = twin.graphs if isinstance(twin, Cofiba) else [twin.edges]
    assert policy.user_clusters.tolist() == [[component(g, u)[0] for u in range(twin.cells)] for g in graphs]
    if isinstance(twin, Cofiba):
        assert policy.item_clusters.tolist() == twin.cluster


@pytest.mark.parametrize("name", PAIRS)
def test_contracts(name: str) -> None:
    make = PAIRS[name][0]
    assert len(check_policy(lambda problem, seed: make(problem, seed=seed))) == 5
    assert len(check_policy(lambda problem, seed: make(problem, seed=seed, pareto=True, start="random"))) == 5


def test_values() -> None:
    assert reach(0, 1.7) == 1.7
    assert reach(9, 1.0) == pytest.approx(0.5746812, abs=1e-7)
    assert bonus(0.2, math.sqrt(0.5), 10 - 1) == pytest.approx(0.2189929, abs=1e-7)
    for t in (1, 10, 1000):
        assert bonus(1.3, 1.0, t - 1) == pytest.approx(1.3 * math.sqrt(math.log(t + 1)))


@pytest.mark.parametrize("policy_class", [CLUB, COFIBA])
def test_one_user_is_linucb(policy_class: type[Clustered]) -> None:
    problem = PROBLEMS["plane"]
    policy = policy_class(problem, users=1, alpha=0.7, alpha_2=0.01, seed=4)
    world = World(problem, seed=8)
    a, b = np.eye(3), np.zeros(3)
    for number in range(600):
        decision = policy.ask(world.context())
        inverse = np.linalg.inv(a)
        alpha_t = 0.7 * math.sqrt(math.log(number + 2))  # t + 1, t = number + 1
        scores = [inverse @ b @ x + alpha_t * math.sqrt(x @ inverse @ x) for x in policy.features]
        assert decision.credit == int(np.argmax(scores))
        assert decision.density == 1.0
        reward = world.reward(decision)
        policy.tell(decision, reward)
        x = policy.features[decision.credit]
        a, b = a + np.outer(x, x), b + reward["a"] * x
    assert policy.facts() == {"user_clusters": 1, "item_clusters": 1}


def test_equal_items_are_never_parted() -> None:
    problem = Problem(context=[Categorical("user", ["u", "v"])], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    featured = Problem(
        context=problem.context, arm=Finite(["a", "b"], features=[[1], [1]]), objectives=problem.objectives
    )
    policy = COFIBA(featured, degree=0, alpha_2=0.05, seed=2)  # d = 1, x = 1
    assert policy.features.tolist() == [[1.0], [1.0]]
    for t in range(400):
        user = "uv"[t % 2]
        decision = policy.ask([user])
        policy.tell(decision, [0.9 if user == "u" else 0.2])
    assert policy.item_clusters.tolist() == [0, 0]
    assert policy.user_clusters.tolist() == [[0, 1]]


def test_edges_never_return_and_clusters_only_divide() -> None:
    problem = PROBLEMS["plane"]
    for policy in (CLUB(problem, users=8, alpha_2=0.4), COFIBA(problem, users=8, arms=6, alpha_2=0.1)):
        world, before = World(problem, seed=1), None
        for _ in range(1500):
            decision = policy.ask(world.context())
            policy.tell(decision, world.reward(decision))
            _, c = policy._layout()
            begun, items = int(policy._ints[c.begun]), policy.item_clusters
            edges = policy._ints[c.edge : c.edge + begun * c.users**2].copy()
            item_edges = policy._ints[c.item_edge : c.ints].copy()
            if before is not None:
                assert (edges[: len(before[0])] <= before[0]).all()
                assert (item_edges <= before[1]).all()
                assert not ((items[:, None] == items) & (before[2][:, None] != before[2])).any()
            before = edges, item_edges, items
        assert policy.facts()["user_clusters"] > 2


def groups(users: int, arms: int) -> Problem:
    """Users by name, arms by label."""
    return Problem(
        context=[Categorical("user", list(range(users)))],
        arm=Finite([f"a{k}" for k in range(arms)]),
        objectives=[Objective("r")],
    )


@pytest.mark.parametrize("seed", range(5))
def test_club_finds_the_groups(seed: int) -> None:
    means = np.array([[0.9, 0.1, 0.5], [0.1, 0.9, 0.5]])
    policy, rng = CLUB(groups(8, 3), alpha=0.5, alpha_2=1.0, seed=seed), np.random.default_rng(seed)
    late = 0.0
    for t in range(8000):
        user = int(rng.integers(8))
        decision = policy.ask([user])
        mean = means[user % 2, decision.credit % 3]
        late += mean if t >= 7000 else 0.0
        policy.tell(decision, [float(rng.random() < mean)])
    labels = policy.user_clusters[0]
    assert not set(labels[::2].tolist()) & set(labels[1::2].tolist())
    assert late / 1000 > 0.85
    assert [piece.arm for piece in policy.front([0], believed=True)] == ["a0"]
    assert [piece.arm for piece in policy.front([1], believed=True)] == ["a1"]


@pytest.mark.parametrize("seed", range(5))
def test_cofiba_finds_the_groups_of_users_and_arms(seed: int) -> None:
    """On a0 and a1 even and odd users differ, on a2 and a3 all are alike."""
    policy, rng = COFIBA(groups(4, 4), alpha_2=0.4, seed=seed), np.random.default_rng(seed)
    means = np.array([[0.9, 0.9, 0.5, 0.5], [0.1, 0.1, 0.5, 0.5]])
    for _ in range(4000):
        user = int(rng.integers(4))
        decision = policy.ask([user], feasible=[f"a{rng.integers(4)}"])
        noise = 0.1 * (2 * rng.random() - 1)
        policy.tell(decision, [means[user % 2, decision.credit % 4] + noise])
    items, users = policy.item_clusters.tolist(), policy.user_clusters.tolist()
    assert items[2] == items[3]
    assert {items[0], items[1]}.isdisjoint({items[2]})
    assert users[items[0]] == users[items[1]] == [0, 1, 0, 1]


def test_features() -> None:
    periodic = PROBLEMS["periodic arm"]
    x = item_features(periodic, np.array([[0.0], [0.25], [1.0]]), 1) * math.sqrt(3)
    np.testing.assert_allclose(x, [[1, 1, 0], [1, 0, 1], [1, 1, 0]], atol=1e-12)
    mixed = PROBLEMS["product of arms"]
    x = item_features(mixed, mixed.encoding.arms)
    assert x.shape == (12, 2 + 3)
    for problem in PROBLEMS.values():
        for degree in (None, 0, 1, 4):
            features = CLUB(problem, degree=degree).features
            assert (np.linalg.norm(features, axis=1) <= 1 + 1e-12).all()


def test_front_shows_index_mean_and_count() -> None:
    policy = CLUB(groups(2, 2), alpha=0.5)
    (first, _) = policy.front([0])
    assert (first.mean, first.count) == ({"r": None}, {"r": 0})
    decision = policy.ask([0], feasible=["a0"])
    policy.tell(decision, [1.0])
    (piece,) = policy.front([1], believed=True)
    assert (piece.arm, piece.mean, piece.count) == ("a0", {"r": 0.5}, {"r": 1})
    assert piece.uncertainty["r"] == pytest.approx(0.5 * math.sqrt(0.5 * math.log(3)))
    assert policy.front([1], feasible=["a1"])[0].arm == "a1"


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"alpha": 0}, "alpha: 0 is not positive"),
        ({"alpha_2": -1.0}, "alpha_2: -1.0 is not positive"),
        ({"users": 0}, "users: 0 is not a positive integer"),
        ({"start": "empty"}, "start: 'empty' is not 'complete' or 'random'"),
        ({"degree": -1}, "degree: -1 is not an integer"),
        ({"degree": True}, "degree: True is not an integer"),
        ({"objective": "c"}, "objective: 'c' is not one of"),
        ({"users": 10_000}, "users: 10000 users and 18 arms with 3 features need"),
    ],
)
def test_refusals(given: dict[str, Any], message: str) -> None:
    for policy_class in (CLUB, COFIBA):
        with pytest.raises(Refused, match=message):
            policy_class(PROBLEMS["plane"], **given)


def test_problems_that_do_not_fit_are_refused() -> None:
    many = Problem(context=[], arm=Finite(list(range(MOST_FEATURES + 1))), objectives=[Objective("r")])
    with pytest.raises(Refused, match="arm: 65 or more features of an arm, expected at most 64"):
        CLUB(many)
    wide = Problem(context=[], arm=[Real(f"y{k}") for k in range(5)], objectives=[Objective("r")])
    with pytest.raises(Refused, match="features of an arm, expected at most 64"):
        CLUB(wide, degree=6)
    unknown = Objective("s", low=None, high=None)
    scales = Problem(context=[], arm=[Real("y")], objectives=[Objective("r"), unknown])
    assert CLUB(scales).learned == 1
    with pytest.raises(Refused, match="low and high are unknown, but cofiba needs the scale"):
        COFIBA(scales, pareto=True)


def test_states_that_cannot_be_are_refused() -> None:
    policy = COFIBA(PROBLEMS["labels"], users=3)
    decision = policy.ask([0.5])
    snapshot = policy.dump()
    for place, value in ((0, -1), (3, 9), (4, 7), (9, 5), (-1, 2)):
        ints = snapshot.arrays["ints"].copy()
        ints[place] = value
        with pytest.raises(Refused, match="snapshot: ints holds"):
            policy.load(Snapshot(snapshot.header, {**snapshot.arrays, "ints": ints}))
    fresh = COFIBA(PROBLEMS["labels"], users=3)
    with pytest.raises(Refused, match="event: decision 0 credits 15, expected 0 to 14"):
        fresh.replay(Asked(type(decision)(0, decision.context, decision.arm, decision.density, 15)))
