"""Any contexts, arms, similarity and feasible sets: policy and slow twin agree to the last bit, and both are right."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import PCZ, Categorical, ContextualZooming, Problem, Real
from paretozoom.problem.feasible import encode_feasible
from tests.policies.zooming.test_pcz_reference import _about, _parts
from tests.reference.play import World, play
from tests.reference.problems import (
    FUNCTIONS,
    LATTICE_PROBLEMS,
    PROBLEMS,
    SHAPES,
    feasible_sets,
    is_allowed,
    matrices,
    norms,
    problems,
    scales,
    snowflake,
    tilted,
)
from tests.reference.space import SLIVER, Ball, Space, length
from tests.reference.zooming import contextual_zooming, pcz

pytestmark = pytest.mark.filterwarnings("ignore:.*cannot be compiled:RuntimeWarning")

PAIRS: dict[str, tuple[type[Any], type[Any]]] = {
    "pcz": (PCZ, pcz.PCZ),
    "contextual zooming": (ContextualZooming, contextual_zooming.ContextualZooming),
}


ALL = {**PROBLEMS, **LATTICE_PROBLEMS}


class Case(NamedTuple):
    """A policy to play, and how."""

    problem: Problem
    policy: str
    arguments: dict[str, Any]
    scrambled: bool
    seed: int

    def players(self) -> list[Any]:
        """The policy and its twin."""
        return [player(self.problem, seed=self.seed, **self.arguments) for player in PAIRS[self.policy]]


@st.composite
def cases(draw: st.DrawFn, shape: str, similarity: Any = norms) -> Case:
    """Small confidences, so that a few rounds make many balls."""
    problem = draw(problems(shape, discrete=similarity is matrices))
    policy = draw(st.sampled_from(list(PAIRS)))
    arguments = {
        "horizon": draw(st.sampled_from([1000, 1000, None])),
        "confidence": draw(st.sampled_from([0.002, 0.01, 0.05] if policy == "pcz" else [0.001, 0.003, 0.01])),
        "similarity": draw(similarity(problem)),
    }
    return Case(problem, policy, arguments, draw(st.booleans()), draw(st.integers(0, 10_000)))


def scaled(function: Any) -> Callable[[Problem], st.SearchStrategy[dict[str, Any]]]:
    """A similarity of one's own, for any problem."""
    return lambda problem: scales().map(lambda scale: {"function": function, "scale": scale})


def check(case: Case, rounds: int) -> None:
    """Decisions, balls and fronts agree."""
    players, world = case.players(), World(case.problem, seed=case.seed)
    draw = feasible_sets(case.problem, case.seed)
    play(players, world, rounds, scrambled=case.scrambled, check_every=10, feasible=draw)
    policy, twin = players
    if case.policy == "pcz" and twin.space.kind != "lattice":
        for _ in range(5):
            check_front(policy, twin, world.context(), draw())


def check_front(policy: PCZ, twin: pcz.PCZ, context: list[Any], feasible: Any) -> None:
    """`front` shows the domains of the twin's front, with their indices, means and uncertainties."""
    point = [float(d.encode(v, "")) for d, v in zip(policy.problem.context, context, strict=True)]
    menu = twin.menu(feasible)
    best = twin.front(point, menu)
    expected = []
    for (k, held), index in zip(best.items(), twin.indices(list(best)), strict=True):
        expected += [(*part, *_about(twin, k, index)) for part in _parts(twin, menu.union([held]), point)]
    shown = [
        (p.low, p.high, p.arm, *(list(about.values()) for about in (p.index, p.mean, p.uncertainty, p.count)))
        for p in policy.front(context, feasible=feasible)
    ]
    assert sorted(shown, key=repr) == sorted(expected, key=repr)


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=30)
@given(data=st.data())
def test_norms(shape: str, data: st.DataObject) -> None:
    check(data.draw(cases(shape)), 25 if shape == "lattice" else 80)


@settings(max_examples=30)
@given(case=cases("finite", matrices))
def test_matrices(case: Case) -> None:
    check(case, 80)


@pytest.mark.parametrize("function", FUNCTIONS)
@settings(max_examples=6)
@given(data=st.data())
def test_functions(function: Any, data: st.DataObject) -> None:
    check(data.draw(cases(data.draw(st.sampled_from(SHAPES)), scaled(function))), 20)


@pytest.mark.proof
@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=300)
@given(data=st.data())
def test_very_many_norms(shape: str, data: st.DataObject) -> None:
    check(data.draw(cases(shape)), 120)


@pytest.mark.proof
@settings(max_examples=300)
@given(case=cases("finite", matrices))
def test_very_many_matrices(case: Case) -> None:
    check(case, 150)


@pytest.mark.proof
@pytest.mark.parametrize("function", FUNCTIONS)
@settings(max_examples=30)
@given(data=st.data())
def test_very_many_functions(function: Any, data: st.DataObject) -> None:
    check(data.draw(cases(data.draw(st.sampled_from(SHAPES)), scaled(function))), 40)


MANY = {
    "two contexts": {"norm": 1, "scale": 4.0},
    "mixed contexts": {"norm": "inf", "weights": {"x": 3, "y": 0.5}, "scale": 2.0},
    "periodic everywhere": {"norm": "inf", "scale": 6.0},
    "features": {"norm": 1, "weights": [2, 1, 0.3], "scale": 4.0},
    "labels": {"function": snowflake},
    "three and two": {"norm": 1, "scale": 2.0},
    "mixed arms": {"norm": 2, "scale": 3.0, "weights": {"rate": 4}},
    "plane of arms": {"function": tilted, "scale": 2.0},
}


MANY_NAMES = [pytest.param(name, marks=pytest.mark.proof) if name in LATTICE_PROBLEMS else name for name in MANY]


@pytest.mark.parametrize("name", MANY_NAMES)
def test_many_balls(name: str) -> None:
    """Nearly or more than a table of all distances holds."""
    case = Case(ALL[name], "pcz", {"horizon": 1000, "confidence": 0.0005, "similarity": MANY[name]}, False, 1)
    players = case.players()
    play(players, World(case.problem, seed=2), 420, scrambled=False)
    assert len(players[1].balls) > 240


@pytest.mark.parametrize("policy", PAIRS)
@pytest.mark.parametrize("restricted", [False, True], ids=["all arms", "feasible"])
@pytest.mark.parametrize("name", LATTICE_PROBLEMS)
def test_lattices(name: str, policy: str, restricted: bool) -> None:
    problem = LATTICE_PROBLEMS[name]
    case = Case(problem, policy, {"horizon": 1000, "confidence": 0.005}, restricted, 3)
    feasible = feasible_sets(problem, 4) if restricted else None
    players = case.players()
    play(players, World(problem, seed=5), 90, scrambled=restricted, feasible=feasible)
    assert len(players[1].balls) > 15


# What is drawn.


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=25)
@given(data=st.data())
def test_arms_are_feasible(shape: str, data: st.DataObject) -> None:
    case = data.draw(cases(shape))
    policy, world = case.players()[0], World(case.problem, seed=case.seed)
    draw = feasible_sets(case.problem, case.seed)
    for _ in range(100):
        feasible = draw()
        decision = policy.ask(world.context(), feasible=feasible)
        assert is_allowed(case.problem, feasible, decision.arm), (feasible, decision.arm)
        policy.tell(decision, world.reward(decision))


@pytest.mark.parametrize("feasible", [False, True], ids=["all arms", "feasible"])
@pytest.mark.parametrize("name", LATTICE_PROBLEMS)
def test_draws_on_a_lattice_are_uniform(name: str, feasible: bool) -> None:
    """1 / density, summed over the draws in any part of the arm space, measures that part of the front."""
    problem, asks, arms = LATTICE_PROBLEMS[name], 1250, 20_000
    # A density is one of real coordinates and a probability of discrete ones.
    combinations = math.prod(d.values for d in problem.arm if not isinstance(d, Real))
    policy, twin = Case(problem, "pcz", {"horizon": 1000, "confidence": 0.02}, False, 1).players()
    world = World(problem, seed=2)
    play([policy, twin], world, 25, scrambled=False)
    context, allowed = world.context(), SOME_BOXES[name] if feasible else None
    point = [float(d.encode(v, "")) for d, v in zip(problem.context, context, strict=True)]
    fronts = {tuple(twin.front(point, twin.menu(allowed, number))) for number in range(50)}
    assert len(fronts) == 1, "a front that depends on the lattice's place has no one volume"
    everywhere = _some_arms(problem, np.random.default_rng(3), arms)
    truth = _weights_by_part(everywhere, _on_front(twin, point, set(*fronts), allowed, everywhere) * 1.0)
    drawn, weights = np.empty((asks, problem.dim)), np.empty(asks)
    for k in range(asks):
        decision = policy.ask(context, feasible=allowed)
        policy.drop(decision)
        problem.encode_arm(decision.arm, drawn[k])
        weights[k] = 1.0 / decision.density / combinations
    measured = _weights_by_part(drawn[:, len(problem.context) :], weights)
    assert 0.02 < truth["everything"] < (0.5 if feasible else 0.99)
    for part, volume in truth.items():
        # A weight of mean v in [0, 1] varies by at most v (1 - v).
        deviation = np.sqrt(volume * (1 - volume) * (1 / asks + 1 / arms))
        assert abs(measured.get(part, 0.0) - volume) <= 5 * deviation + 5 / asks, part
    assert set(measured) <= set(truth)


SOME_BOXES: dict[str, Any] = {
    "plane of arms": [{"y1": (0.1, 0.6), "y2": (0.2, 0.7)}, {"y1": (0.5, 1.0), "y2": (0.6, 0.8)}],
    "three and two": [{"y1": (0.0, 0.4)}, {"y1": (0.3, 0.5), "y2": (3, 5)}],
    "mixed arms": [{"codec": ["x", "z"], "rate": (2, 30)}, {"codec": "z", "rate": (20, 90), "threads": (2, 4)}],
    "three arms": {"angle": (300, 100), "y1": (0.2, 0.9)},
    "six arms": [{"y0": (0.1, 0.5), "y5": (0.3, 1.0)}, {"y4": (0.2, 0.3)}],
}


def _some_arms(problem: Problem, rng: np.random.Generator, n: int) -> np.ndarray:
    """Encoded arms, drawn uniformly."""
    columns = []
    for d in problem.arm:
        numbers = rng.integers(0, max(d.values, 1), n)
        column = numbers if isinstance(d, Categorical) else numbers / max(d.values - 1, 1)
        columns.append(column if d.values else rng.random(n))
    return np.column_stack(columns)


def _on_front(twin: pcz.PCZ, context: list[float], front: set[int], allowed: Any, arms: np.ndarray) -> np.ndarray:
    """Which arms are feasible and in the domain of a ball of the front."""
    points = np.column_stack([np.tile(context, (len(arms), 1)), arms])
    inside = np.array([twin.space.distances(ball.centre, points) <= ball.radius for ball in twin.balls])
    inside[0] = True
    radii = np.array([ball.radius for ball in twin.balls])
    owned = inside & (radii[:, None] == np.where(inside, radii[:, None], np.inf).min(axis=0))
    feasible = np.ones(len(arms), bool)
    if allowed is not None:
        rows = encode_feasible(twin.problem, allowed)[:, None]
        low, high = rows[..., : arms.shape[1]], rows[..., arms.shape[1] :]
        feasible = ((low <= arms) & (arms <= high)).all(axis=-1).any(axis=0)
    return owned[sorted(front)].any(axis=0) & feasible


def _weights_by_part(arms: np.ndarray, weights: np.ndarray) -> dict[Any, float]:
    """The mean weight of everything, and of each quarter of each coordinate (or each category)."""
    found: dict[Any, float] = {"everything": float(weights.mean())}
    for j, column in enumerate(np.floor(np.where(arms == 1, 0.999, arms) * 4).T):
        for quarter in np.unique(column[weights > 0]):
            found[j, quarter] = float((weights * (column == quarter)).mean())
    return found


# The twins by themselves.


@settings(max_examples=60)
@given(data=st.data())
def test_slices_are_where_the_distance_is_small(data: st.DataObject) -> None:
    problem = data.draw(problems("slices"))
    space = Space.of(problem, **data.draw(norms(problem)))
    assert space.kind == "slices"
    world = World(problem, seed=data.draw(st.integers(0, 1000)))
    here, there = (
        [float(d.encode(v, "")) for d, v in zip(problem.context, world.context(), strict=True)] for _ in "ab"
    )
    there = here if data.draw(st.booleans()) else there
    ball = Ball([*there, world.rng.random()], data.draw(st.sampled_from([0.5, 0.25, 0.125])), 0, [], [])
    for y in np.linspace(0, 1, 201).tolist():
        apart = space.distance(ball.centre, [*here, y])
        if abs(apart - ball.radius) > 1e-9:
            assert space.contains(ball, [*here, y]) == (apart <= ball.radius)


@pytest.mark.parametrize("name", ALL)
def test_domains_are_all_that_is_feasible(name: str) -> None:
    problem = ALL[name]
    twin = pcz.PCZ(problem, horizon=1000, confidence=0.01, similarity={"norm": 1, "scale": 2}, seed=1)
    world, draw = World(problem, seed=2), feasible_sets(problem, 3)
    play([twin], world, 40, scrambled=False)
    for number in range(20):
        menu = twin.menu(draw(), number)
        point = [float(d.encode(v, "")) for d, v in zip(problem.context, world.context(), strict=True)]
        held = twin.domains_at(point, menu)
        union = menu.union(held.values())
        if twin.space.kind == "slices":
            assert menu.size(union) == pytest.approx(length(menu.allowed), abs=4 * len(twin.balls) * SLIVER)
        else:
            assert union == list(menu.points)
            for arm in union[::7]:
                holders = [k for k, b in enumerate(twin.balls) if twin.space.contains(b, [*point, *menu.points[arm]])]
                smallest = min(twin.balls[k].radius for k in holders)
                assert [k for k in held if arm in held[k]] == [k for k in holders if twin.balls[k].radius == smallest]
