"""What holds for every run of the zooming policies, whatever the rewards and however they arrive."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import PCZ, ContextualZooming, Problem
from paretozoom.policies.zooming.zooming import Zooming
from tests.reference.play import World, hold, play
from tests.reference.problems import PROBLEMS
from tests.reference.space import Ball, Space, length, merged

KINDS: dict[str, tuple[type[Zooming], dict[str, Any]]] = {
    "pcz": (PCZ, {"confidence": 0.03}),
    "contextual zooming": (ContextualZooming, {"confidence": 0.02}),
}


def learned(kind: str, problem: Problem, rounds: int = 400, *, scrambled: bool = True, seed: int = 0) -> Zooming:
    """A policy with some experience."""
    policy_type, arguments = KINDS[kind]
    policy = policy_type(problem, horizon=1000, seed=seed, **arguments)
    play([policy], World(problem, seed=100 + seed), rounds, scrambled=scrambled)
    return policy


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", PROBLEMS)
def test_balls_of_one_radius_are_apart(kind: str, name: str) -> None:
    """Centres of radius r are at least r apart (Lemma 4), with rewards late, out of order, in parts and lost."""
    space = Space.of(PROBLEMS[name])
    pairs = 0
    for seed in range(3):
        now = learned(kind, PROBLEMS[name], seed=seed).balls
        centres, radii, parents = now.centre.tolist(), now.radius.tolist(), now.parent.tolist()
        for k in range(1, len(radii)):
            assert radii[k] == radii[parents[k]] / 2
            # A child lies in its parent. Ends of slices are rounded: 1e-12 is a thousand times their error.
            assert space.distance(centres[k], centres[parents[k]]) <= radii[parents[k]] + 1e-12
            for other in range(k):
                if radii[other] == radii[k]:
                    pairs += 1
                    assert space.distance(centres[k], centres[other]) >= radii[k] - 1e-12
    assert pairs > 200


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=30)
@given(data=st.data())
def test_balls_stay_apart_when_told_in_any_order(kind: str, data: st.DataObject) -> None:
    policy_type, _ = KINDS[kind]
    problem = PROBLEMS["plane"]
    policy = policy_type(problem, horizon=100, confidence=0.001, seed=data.draw(st.integers(0, 100)))
    for _ in range(4):
        asked = [policy.ask([data.draw(st.floats(0, 1))]) for _ in range(data.draw(st.integers(1, 8)))]
        for decision in data.draw(st.permutations(asked)):
            fate = data.draw(st.sampled_from(["whole", "a", "b", "drop", "silence"]))
            if fate == "drop":
                policy.drop(decision)
            elif fate != "silence":
                policy.tell(decision, [0.5, 0.5] if fate == "whole" else {fate: 0.5})
    now, space = policy.balls, Space.of(problem)
    for k, radius in enumerate(now.radius.tolist()):
        for other in np.flatnonzero(now.radius[:k] == radius).tolist():
            assert space.distance(now.centre[k].tolist(), now.centre[other].tolist()) >= radius - 1e-12


@pytest.mark.parametrize("name", PROBLEMS)
def test_one_over_the_density_is_the_size_of_the_front(name: str) -> None:
    """Relative to the whole arm space: a length for intervals, a number of arms for finite ones."""
    problem = PROBLEMS[name]
    policy, world = PCZ(problem, horizon=1000, confidence=0.03), World(problem, seed=1)
    encode = None if len(problem.encoding.arms) else problem.arm[0].encode
    sizes = set()
    for t in range(60):
        if t % 5 == 0:
            play([policy], world, 10 + t, scrambled=True)
        context = world.context()
        pieces = policy.front(context)
        if encode is None:
            size: float = len({repr(piece.arm) for piece in pieces})
        else:
            size = length(merged((encode(p.low, ""), encode(p.high, "")) for p in pieces))
        decision = policy.ask(context)
        # The ends come back from the user's units: each may be off by a few units in the last place.
        assert 1 / decision.density == pytest.approx(size, abs=1e-12)
        if encode is None:
            assert decision.arm in [piece.arm for piece in pieces]
        else:
            y = encode(decision.arm[problem.arm[0].name], "")
            assert any(encode(p.low, "") - 1e-12 <= y <= encode(p.high, "") + 1e-12 for p in pieces)
        sizes.add(round(size, 3))
    assert len(sizes) > 2


@pytest.mark.parametrize("name", ["plane", "periodic arm", "features", "product of arms"])
def test_densities_of_contextual_zooming_integrate_to_one(name: str) -> None:
    """The density of an arm counts every tied ball that could have drawn it, so ask until every part was drawn."""
    problem = PROBLEMS[name]
    policy, world = ContextualZooming(problem, horizon=1000, confidence=0.02), World(problem, seed=1)
    finite, tied_contexts = len(problem.encoding.arms) > 0, 0
    for _ in range(40):
        play([policy], world, 5, scrambled=True)
        context = world.context()
        pieces = policy.front(context)
        decisions = [policy.ask(context) for _ in range(400)]
        for decision in decisions:
            policy.drop(decision)
        if finite:
            chances = {repr(decision.arm): decision.density for decision in decisions}
            assert set(chances) == {repr(piece.arm) for piece in pieces}
            total = sum(chances.values())
        else:
            # The density is constant between the ends of the tied domains.
            ends = sorted({end for piece in pieces for end in (piece.low, piece.high)})
            cells = [(a, b) for a, b in itertools.pairwise(ends) if b - a > 1e-9]
            heights: dict[tuple[float, float], set[float]] = {cell: set() for cell in cells}
            for decision in decisions:
                for a, b in cells:
                    if a < decision.arm["y"] < b:
                        heights[a, b].add(decision.density)
            assert all(len(seen) <= 1 for seen in heights.values())
            if any(not seen and _covered(cell, pieces) for cell, seen in heights.items()):
                continue  # a cell too short to be hit
            total = sum((b - a) * height for (a, b), seen in heights.items() for height in seen)
        # The 1e-9 that a skipped sliver may hold, times at most a few dozen cells and a density below 100.
        assert total == pytest.approx(1, abs=1e-9 if finite else 1e-6)
        tied_contexts += len({decision.credit for decision in decisions}) > 1
    assert tied_contexts >= 5


def _covered(cell: tuple[float, float], pieces: list[Any]) -> bool:
    return any(piece.low <= cell[0] and cell[1] <= piece.high for piece in pieces)


def test_marginal_density_of_three_tied_balls() -> None:
    # Unseen balls of radius 1/2 at equal distances 1/4 from the root and from each other's mirror images: their
    # slices at context 1/2 have half width sqrt(1/2 - 1/16) = 0.6614 around 1/4, 1/2 and 3/4.
    policy = ContextualZooming(PROBLEMS["plane"], horizon=100, confidence=10.0, seed=1)
    half = math.sqrt(0.4375)
    centres = [[0.25, 0.25], [0.75, 0.75], [0.25, 0.75]]
    balls = [Ball([0.5, 0.5], 1.0, -1, [50], [25.0]), *(Ball(c, 0.5, 0, [0], [0.0]) for c in centres)]
    hold(policy, balls)
    spans = [(max(0.0, y - half), min(1.0, y + half)) for _, y in centres]
    credited = set()
    for _ in range(300):
        decision = policy.ask([0.5])
        y = decision.arm["y"]
        expected = sum(1 / (3 * (high - low)) for low, high in spans if low <= y <= high)
        assert decision.density == pytest.approx(expected, abs=1e-12)
        low, high = spans[decision.credit - 1]
        assert low <= y <= high
        credited.add(decision.credit)
    assert credited == {1, 2, 3}


def frozen(name: str, seed: int) -> tuple[PCZ, list[Any]]:
    """A learned policy, and a context where its front holds overlapping domains."""
    problem = PROBLEMS[name]
    policy, world = learned("pcz", problem, seed=seed, scrambled=False), World(problem, seed=seed)
    assert isinstance(policy, PCZ)
    contexts = [world.context() for _ in range(200)]
    return policy, max(contexts, key=lambda c: _overlap(policy, c))


def _overlap(policy: PCZ, context: list[Any]) -> float:
    """How much of the front's domains lies in more than one of them."""
    parts = [(piece.low, piece.high) for piece in policy.front(context)]
    return length(parts) - length(merged(parts))


def _share_below(parts: list[tuple[float, float]], y: float) -> float:
    """The share of a union of intervals that lies below y."""
    return sum(min(max(y - low, 0.0), high - low) for low, high in parts) / length(parts)


# Dvoretzky-Kiefer-Wolfowitz: the empirical distribution of n independent draws strays from the true one by more
# than sqrt(log(2/p) / 2n) with probability at most p. Here n = 20,000 and p = 1e-9, so by more than 0.0231.
DRAWS = 20_000
ALLOWED = math.sqrt(math.log(2 / 1e-9) / (2 * DRAWS))


@pytest.mark.parametrize(("name", "seed"), [("plane", 0), ("plane", 1), ("periodic arm", 0), ("two contexts", 2)])
def test_arms_are_uniform_on_the_union(name: str, seed: int) -> None:
    policy, context = frozen(name, seed)
    pieces = policy.front(context)
    union = merged((piece.low, piece.high) for piece in pieces)
    before = policy.dump().arrays["total"].tolist()
    draws = [policy.ask(context) for _ in range(DRAWS)]
    assert policy.dump().arrays["total"].tolist() == before

    shares = np.sort([_share_below(union, decision.arm["y"]) for decision in draws])
    steps = np.arange(DRAWS + 1) / DRAWS
    assert max(np.max(steps[1:] - shares), np.max(shares - steps[:-1])) <= ALLOWED

    # The test can tell the rule from "a ball uniformly, then an arm": that would stray twice as far as allowed.
    ends = sorted({end for piece in pieces for end in (piece.low, piece.high)})
    balls = len(pieces)
    wrong = [sum(_share_below([(p.low, p.high)], y) for p in pieces) / balls - _share_below(union, y) for y in ends]
    assert max(map(abs, wrong)) > 2 * ALLOWED


def test_finite_arms_are_uniform_on_the_union() -> None:
    problem = PROBLEMS["product of arms"]
    policy, world = learned("pcz", problem, seed=3, scrambled=False), World(problem, seed=3)
    context = max((world.context() for _ in range(50)), key=lambda c: len({repr(p.arm) for p in policy.front(c)}))
    arms = sorted({repr(piece.arm) for piece in policy.front(context)})
    assert len(arms) > 3
    drawn = [repr(policy.ask(context).arm) for _ in range(DRAWS)]
    assert set(drawn) == set(arms)
    # Hoeffding for each of at most 12 arms: a frequency strays by more than ALLOWED with probability 1e-9.
    for arm in arms:
        assert drawn.count(arm) / DRAWS == pytest.approx(1 / len(arms), abs=ALLOWED)


@pytest.mark.parametrize(("name", "seed"), [("plane", 0), ("periodic arm", 0)])
def test_the_credited_ball_is_uniform_among_those_that_hold_the_arm(name: str, seed: int) -> None:
    policy, context = frozen(name, seed)
    space, balls = Space.of(policy.problem), policy.balls
    point = [*context, 0.0]
    # The balls of the front are those credited; each holds its slice, less what smaller ones hold.
    decisions = [policy.ask(context) for _ in range(DRAWS)]
    credited = sorted({decision.credit for decision in decisions})
    assert len(credited) > 2
    excess = dict.fromkeys(credited, 0.0)
    shared = 0
    for decision in decisions:
        point[-1] = decision.arm["y"]
        holders = [k for k in credited if _holds(space, balls, k, point)]
        holders = [k for k in holders if balls.radius[k] == balls.radius[holders].min()]
        assert decision.credit in holders
        shared += len(holders) > 1
        for k in holders:
            excess[k] += (k == decision.credit) - 1 / len(holders)
    # Azuma-Hoeffding: terms of range 1 and mean 0 sum to more than n * ALLOWED with probability 1e-9.
    assert max(map(abs, excess.values())) <= DRAWS * ALLOWED
    assert shared > DRAWS / 10


def _holds(space: Space, balls: Any, k: int, point: list[float]) -> bool:
    ball = Ball(balls.centre[k].tolist(), float(balls.radius[k]), int(balls.parent[k]), [], [])
    return space.contains(ball, point)
