"""Kernels and twins from one and the same state: any balls, with every coincidence of their ends."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import PCZ, ContextualZooming, Finite, Objective, Problem, Real
from paretozoom.kernels.zooming import balls as ball_kernels
from paretozoom.kernels.zooming import zooming
from paretozoom.policies.zooming.zooming import Zooming as Policy
from paretozoom.problem.feasible import ANY
from tests.reference.play import World, agree, hold, play
from tests.reference.problems import PROBLEMS
from tests.reference.space import SLIVER, Ball
from tests.reference.zooming import contextual_zooming, pcz
from tests.reference.zooming.zooming import Zooming as Twin

PAIRS = {
    "pcz": (PCZ, pcz.PCZ),
    "contextual zooming": (ContextualZooming, contextual_zooming.ContextualZooming),
}
SHAPES = ["plane", "no context", "periodic arm", "two contexts", "labels", "features", "one objective"]

# A coarse grid makes ends coincide; steps of 3e-13 around it make parts just shorter or longer than a sliver.
grid = st.integers(0, 8).map(lambda k: k / 8)
shifted = st.tuples(st.integers(1, 7), st.integers(-5, 5)).map(lambda p: p[0] / 8 + p[1] * 3e-13)
coordinates = st.one_of(grid, shifted, st.floats(0, 1))


@st.composite
def states(draw: st.DrawFn, twin: Twin) -> list[Ball]:
    """A root and up to ten balls of it, anywhere, some unseen."""
    space = twin.space
    made = []
    for k in range(draw(st.integers(1, 11))):
        centre = [draw(coordinates) for _ in range(space.context)]
        centre += draw(st.sampled_from(space.arms)) if space.arms else [draw(coordinates)]
        radius = 1.0 if k == 0 else 0.5 ** draw(st.integers(1, 4))
        count = [draw(st.integers(0, 3)) for _ in range(twin.learned)]
        total = [n * draw(st.sampled_from([0.0, 0.25, 0.5, 0.6])) for n in count]
        made.append(Ball(centre, radius, -1 if k == 0 else 0, count, total))
    return made


def encoded(problem: Problem, context: list[float]) -> list[float]:
    """A context's coordinates."""
    point = np.zeros(problem.dim)
    problem.encode_context(context, point)
    return point[: len(problem.context)].tolist()


def relevant(policy: Policy, context: list[float]) -> tuple[dict[int, list[float]], float]:
    """The relevant balls of a policy with their indices, and the size of all their domains together."""
    f, i = policy._floats, policy._ints
    at = ball_kernels.layout(i)
    point = np.zeros(policy.problem.dim)
    policy.problem.encode_context(context, point)
    levels, found = zooming.look(f, i, at, -1, point, ANY)
    numbers = i[at.relevant : at.relevant + found].tolist()
    rows = f[at.indices : at.indices + found * at.learned].reshape(at.learned, found).T.tolist()
    i[at.chosen : at.chosen + found] = 1
    return dict(zip(numbers, rows, strict=True)), zooming.measure(f, i, at, point, levels, found, ANY)


def owners(policy: Policy, context: list[float], arm: float) -> set[int]:
    """The relevant balls of a policy that own an arm, if all were chosen."""
    f, i = policy._floats, policy._ints
    at = ball_kernels.layout(i)
    point = np.array([*encoded(policy.problem, context), arm])
    levels, found = zooming.look(f, i, at, -1, point, ANY)
    i[at.chosen : at.chosen + found] = 1
    count = zooming.find_owners(f, i, at, point, levels, found, -1)
    listed = i[at.near : at.near + count].tolist()
    assert listed == sorted(set(listed))
    return set(listed)


def look_closely(policy: Policy, twin: Twin, context: list[float]) -> None:
    """Relevant balls, indices and owners agree, and all domains together are the whole arm space."""
    here = encoded(policy.problem, context)
    held = twin.domains_at(here)
    seen, size = relevant(policy, context)
    assert set(seen) == set(held)
    assert [seen[k] for k in held] == twin.indices(list(held))
    if twin.space.arms:
        assert size == len(twin.space.arms)
        return
    # Only parts shorter than a sliver are left out, at most one at each end of a slice; two slices per ball.
    assert 1 - size <= 4 * len(twin.balls) * SLIVER
    for arm in {end for parts in held.values() for part in parts for end in part}:  # where domains meet
        holders = [k for k, parts in held.items() if any(low <= arm <= high for low, high in parts)]
        smallest = min(twin.balls[k].radius for k in holders)
        assert owners(policy, context, arm) == {k for k in holders if twin.balls[k].radius == smallest}


@pytest.mark.parametrize("name", SHAPES)
@pytest.mark.parametrize("kind", PAIRS)
@settings(max_examples=60)
@given(data=st.data())
def test_any_state(kind: str, name: str, data: st.DataObject) -> None:
    problem, (policy_type, twin_type) = PROBLEMS[name], PAIRS[kind]
    arguments = {"horizon": 100, "confidence": 0.05, "seed": data.draw(st.integers(0, 1000), "seed")}
    policy, twin = policy_type(problem, **arguments), twin_type(problem, **arguments)
    state = data.draw(states(twin), "balls")
    hold(policy, state)
    hold(twin, state)
    for _ in range(2):
        coordinate = [data.draw(coordinates, "context") for _ in problem.context]
        context = [d.decode(c) for d, c in zip(problem.context, coordinate, strict=True)]
        look_closely(policy, twin, context)
        for _ in range(3):
            decision, same = policy.ask(context), twin.ask(context)
            assert decision == same
        reward = [0.5] * len(problem.objectives)
        policy.tell(decision, reward)
        twin.tell(same, reward)
        agree([policy, twin])


@pytest.mark.parametrize(("width", "kept"), [(0.0, False), (0.9e-12, False), (1.1e-12, True), (1e-3, True)])
def test_a_part_shorter_than_a_sliver_is_no_part(width: float, kept: bool) -> None:
    # [0, 1/2] less [0, 1/4] and [1/4 + width, 1/2 + width] leaves a part of that width.
    problem = PROBLEMS["no context"]
    policy, twin = PCZ(problem, horizon=100, seed=1), pcz.PCZ(problem, horizon=100, seed=1)
    places = [(0.5, 1.0), (0.25, 0.25), (0.125, 0.125), (0.375 + width, 0.125)]
    state = [Ball([y], r, k - 1 if k < 2 else 1, [1, 1], [0.5, 0.5]) for k, (y, r) in enumerate(places)]
    hold(policy, state)
    hold(twin, state)
    look_closely(policy, twin, [])
    assert set(relevant(policy, [])[0]) == {0, 2, 3} | ({1} if kept else set())


def test_a_finite_arm_at_distance_r_is_in_the_ball() -> None:
    # Without a context, nine arms at k/8 are exactly k/8 apart.
    arms = Finite(list(range(9)), features=[[float(k)] for k in range(9)])
    problem = Problem(context=[], arm=arms, objectives=[Objective("a")])
    policy, twin = PCZ(problem, horizon=100, seed=1), pcz.PCZ(problem, horizon=100, seed=1)
    state = [Ball([0.5], 1.0, -1, [1], [0.5]), Ball([0.5], 0.25, 0, [1], [0.5])]
    hold(policy, state)
    hold(twin, state)
    look_closely(policy, twin, [])
    assert twin.finite_domains([]) == {0: [0, 1, 7, 8], 1: [2, 3, 4, 5, 6]}
    assert [piece.arm for piece in policy.front([])] == [0, 1, 7, 8]  # the root's index is the larger one


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("kind", PAIRS)
def test_domains_of_learned_balls_cover_the_arms(kind: str, name: str) -> None:
    problem, (policy_type, twin_type) = PROBLEMS[name], PAIRS[kind]
    arguments = {"horizon": 1000, "confidence": 0.03, "seed": 6}
    policy, twin = policy_type(problem, **arguments), twin_type(problem, **arguments)
    world = World(problem, seed=7)
    for _ in range(4):
        play([policy, twin], world, 60, scrambled=True)
        for _ in range(5):
            look_closely(policy, twin, world.context())
    assert len(twin.balls) > 20


def test_many_large_balls_over_many_small_ones() -> None:
    """32 overlapping balls of radius 1/2 are cut by small slices into far more parts than there are balls."""
    contexts = 6
    problem = Problem(
        context=[Real(f"x{k}") for k in range(contexts)],
        arm=[Real("y")],
        objectives=[Objective("a", bounded=False), Objective("b", bounded=False)],
    )
    arguments = {"horizon": 1000, "confidence": 1e-6, "seed": 1}
    policy, twin = PCZ(problem, **arguments), pcz.PCZ(problem, **arguments)
    ranks: dict[int, int] = {}

    def play_at(context: list[float]) -> None:
        decision, same = policy.ask(context), twin.ask(context)
        assert decision == same
        rank = ranks.setdefault(decision.credit, len(ranks))
        reward = [0.1 * rank / 64, 0.1 - 0.1 * rank / 64]  # no ball's mean dominates another's
        policy.tell(decision, reward)
        twin.tell(same, reward)

    middle = [0.5] * contexts
    corners = [list(c) for c in itertools.product((0.0, 1.0), repeat=contexts) if sum(c) % 2 == 0]
    for context in [middle, *corners, *corners]:  # fills the root, makes the balls, fills them
        play_at(context)
    # Balls of radius 1/4 this far from the middle just reach it: their slices there are 0.002 long.
    step = math.sqrt(((contexts + 1) / 16 - 1e-6) / 2)
    for a, b in itertools.combinations(range(contexts), 2):
        for signs in itertools.product((-step, step), repeat=2):
            near = list(middle)
            near[a], near[b] = 0.5 + signs[0], 0.5 + signs[1]
            if len(twin.balls) < 53:
                play_at(near)
    assert len(twin.balls) <= 64
    assert sum(len(parts) for parts in twin.front(middle).values()) > 4 * 64 + 4
    look_closely(policy, twin, middle)
    for _ in range(20):
        play_at(middle)
    agree([policy, twin])
