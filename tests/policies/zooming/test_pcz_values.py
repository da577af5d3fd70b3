"""Numbers worked out by hand from the paper's formulas, at T = 100,000, two objectives and delta = 1/T."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import PCZ
from tests.reference.play import hold
from tests.reference.problems import PROBLEMS
from tests.reference.space import Ball
from tests.reference.zooming import pcz

PLANE = PROBLEMS["plane"]
T = 100_000


def root(count: int, mean: tuple[float, float] = (0.0, 0.0)) -> Ball:
    """A root in the middle."""
    return Ball([0.5, 0.5], 1.0, -1, [count] * 2, [count * m for m in mean])


def tiling(radius: float, counts: list[int]) -> list[Ball]:
    """Equal balls at context 0.5 that cover every arm there, so that the root does not matter."""
    step = math.sqrt(2) * radius
    places = [min(k * step, 1.0) for k in range(math.ceil(1 / step) + 1)]
    return [root(1), *(Ball([0.5, y], radius, 0, list(counts), [0.5 * n for n in counts]) for y in places)]


@pytest.mark.parametrize(
    ("horizon", "delta", "count", "u"),
    [
        (T, 1e-5, 100, 1.1138255),
        (T, 1e-5, 124, 1.0002448),
        (T, 1e-5, 125, 0.9962358),
        (T, None, 125, 0.9962358),
        (1000, 0.05, 50, 1.1167894),
    ],
)
def test_uncertainty(horizon: int, delta: float | None, count: int, u: float) -> None:
    policy, twin = PCZ(PLANE, horizon=horizon, delta=delta), pcz.PCZ(PLANE, horizon=horizon, delta=delta)
    hold(policy, [root(count)])
    (piece,) = policy.front([0.5])
    assert piece.uncertainty == {"a": pytest.approx(u, abs=5e-8), "b": pytest.approx(u, abs=5e-8)}
    assert twin.uncertainty(count) == piece.uncertainty["a"]


@pytest.mark.parametrize(
    ("horizon", "delta", "radius", "full"),
    [
        (T, 1e-5, 1 / 2, 497),
        (T, 1e-5, 1 / 4, 1985),
        (T, 1e-5, 1 / 8, 7940),
        (T, 1e-5, 1 / 16, 31760),
        (T, 1e-5, 1.0, 125),
        (1000, 0.05, 1.0, 63),
    ],
)
@pytest.mark.parametrize(("less", "splits"), [((0, 0), True), ((1, 0), False), ((0, 1), False), ((1, 1), False)])
def test_rewards_until_a_ball_is_full(
    horizon: int, delta: float, radius: float, full: int, less: tuple[int, int], splits: bool
) -> None:
    policy = PCZ(PLANE, horizon=horizon, delta=delta, seed=1)
    counts = [full - n for n in less]
    balls = tiling(radius, counts) if radius < 1 else [Ball([0.5, 0.5], 1.0, -1, counts, [0.0, 0.0])]
    hold(policy, balls)
    decision = policy.ask([0.5])
    assert policy.balls.radius[decision.credit] == radius
    policy.tell(decision, [0.5, 0.5])
    assert policy.balls.radius.tolist()[len(balls) :] == [radius / 2] * splits
    assert policy.balls.parent.tolist()[len(balls) :] == [decision.credit] * splits
    # The reward goes to the parent, not to the child.
    assert policy.balls.count[decision.credit].tolist() == [n + 1 for n in counts]
    assert policy.balls.count[len(balls) :].sum() == 0


def test_a_ball_is_full_when_its_uncertainty_equals_its_radius() -> None:
    constant = 1 + 2 * math.log(2 * math.sqrt(2) * 2 * T**1.5 / (1 / T))
    for count in range(2, 100):
        noise = 1 / math.sqrt(2 * constant / count)
        if noise * math.sqrt(2 * constant / count) != 1:
            continue
        for seen, balls in ((count - 1, 1), (count, 2)):
            policy = PCZ(PLANE, horizon=T, noise=noise)
            hold(policy, [root(seen)])
            assert (policy.front([0.5])[0].uncertainty["a"] == 1) == (seen == count)
            policy.tell(policy.ask([0.5]), [0.5, 0.5])
            assert len(policy.balls.radius) == balls
        return
    pytest.fail("no count whose uncertainty rounds to 1")


@settings(max_examples=15)
@given(
    seed=st.integers(0, 10_000),
    contexts=st.lists(st.floats(0, 1), min_size=1, max_size=5),
    rewards=st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=1, max_size=5),
)
def test_first_child_in_round_126_whatever_happens(
    seed: int, contexts: list[float], rewards: list[tuple[float, float]]
) -> None:
    policy = PCZ(PLANE, horizon=T, seed=seed)
    for t in range(126):
        assert len(policy.balls.radius) == 1
        decision = policy.ask([contexts[t % len(contexts)]])
        policy.tell(decision, rewards[t % len(rewards)])
    assert policy.balls.radius.tolist() == [1.0, 0.5]
    assert policy.balls.centre[1].tolist() == [decision.context["x"], decision.arm["y"]]


def test_index_of_a_root_and_of_its_fresh_child() -> None:
    policy, twin = PCZ(PLANE, horizon=T), pcz.PCZ(PLANE, horizon=T)
    parent, child = root(125, (0.3, 0.2)), Ball([0.2, 0.8], 0.5, 0, [0, 0], [0.0, 0.0])
    hold(policy, [parent])
    (piece,) = policy.front([0.2])
    assert piece.index == {"a": pytest.approx(3.2962358, abs=5e-8), "b": pytest.approx(3.1962358, abs=5e-8)}
    assert (piece.low, piece.high) == (0.0, 1.0)

    # The child holds [0.8 - sqrt(1/2), 1] at its own context; the rest is the root's, and dominates it.
    hold(policy, [parent, child])
    (piece,) = policy.front([0.2])
    assert piece.index == {"a": pytest.approx(3.2962358, abs=5e-8), "b": pytest.approx(3.1962358, abs=5e-8)}
    assert (piece.low, piece.high) == (0.0, pytest.approx(0.8 - math.sqrt(0.5)))

    # A second child, nearer to the root, takes the rest: with the root out of the way the first child's index shows.
    hold(policy, [parent, child, Ball([0.5, 0.3], 0.5, 0, [0, 0], [0.0, 0.0])])
    (piece,) = policy.front([0.2])
    assert piece.index == {"a": pytest.approx(3.0962358, abs=5e-8), "b": pytest.approx(2.9962358, abs=5e-8)}
    assert piece.mean == {"a": None, "b": None}

    hold(twin, [parent, child])
    assert twin.pre_index(0, 0) == pytest.approx(2.2962358, abs=5e-8)
    assert twin.pre_index(0, 1) == pytest.approx(2.1962358, abs=5e-8)
    assert twin.apart[0][1] == pytest.approx(0.3, abs=1e-15)
    assert list(twin.front([0.2])) == [0]


def test_equal_indices_are_all_kept() -> None:
    policy = PCZ(PLANE, horizon=T)
    tiles = tiling(0.25, [10, 10])
    hold(policy, tiles)
    assert len(policy.front([0.5])) == len(tiles) - 1


def test_one_mean_that_is_better_in_one_objective_alone_dominates() -> None:
    policy = PCZ(PLANE, horizon=T)
    low, high = Ball([0.5, 0.2], 0.5, 0, [9, 9], [4.5, 4.5]), Ball([0.5, 0.8], 0.5, 0, [9, 9], [4.5, 4.6])
    hold(policy, [root(1), low, high])
    pieces = policy.front([0.5])
    assert [piece.mean["b"] for piece in pieces] == [4.6 / 9]
