"""ParetoZoom: rewards of any size, and in any order."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import Decision, Finite, Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom import policy as kernels
from paretozoom.problem.feasible import ANY
from tests.policies.pareto_zoom.side_by_side import Both, contexts_of
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import PROBLEMS


class Shifted(World):
    """Rewards that are small steps on a large number, so that adding it is exact."""

    def __init__(self, problem: Problem, seed: int, shift: float) -> None:
        super().__init__(problem, seed)
        self.shift = shift

    def reward(self, decision: Decision) -> dict[str, float]:
        return {name: self.shift + round(1024 * value) / 1024 for name, value in super().reward(decision).items()}


@pytest.mark.parametrize("arm", [[Real("y")], Finite(list("abcde"))], ids=["line", "labels"])
@pytest.mark.parametrize("shift", [2.0**30, -(2.0**40)])
def test_a_number_that_is_added_to_all_rewards_changes_nothing(arm: Any, shift: float) -> None:
    objectives = [Objective(name, bounded=False) for name in "ab"]
    problem = Problem(context=[Real("x")], arm=arm, objectives=objectives)
    policy, plain = ParetoZoom(problem, seed=1), ParetoZoom(problem, seed=1)
    worlds = Shifted(problem, 5, shift), Shifted(problem, 5, 0.0)
    for _ in range(60):
        context = worlds[0].context()
        assert worlds[1].context() == context
        decision = policy.ask(context)
        assert plain.ask(context) == decision
        rewards = [world.reward(decision) for world in worlds]
        policy.tell(decision, rewards[0])
        plain.tell(decision, rewards[1])
    piece, shifted = plain.front([0.5])[0], policy.front([0.5])[0]
    assert shifted.uncertainty == piece.uncertainty
    assert shifted.mean["a"] == pytest.approx(shift + piece.mean["a"], rel=0, abs=2 * np.spacing(abs(shift)))


@pytest.mark.parametrize("scale", [1e-4, 1e4])
def test_an_objective_that_is_told_after_all_others_is_learned(scale: float) -> None:
    """When rewards were counted by their first parts, the front was one piece of 0.29 to 0.31 instead of 0.3 to 0.7."""
    objectives = [Objective(name, bounded=False) for name in "ab"]
    problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=objectives)
    policy, rng = ParetoZoom(problem, seed=1), np.random.default_rng(1)
    made = [policy.ask([rng.random()]) for _ in range(2_000)]
    for name, peak, size in (("a", 0.3, 1.0), ("b", 0.7, scale)):
        for decision in made:
            policy.tell(decision, {name: size * (1 - abs(decision.arm["y"] - peak) + 0.1 * rng.normal())})
    front = policy.front([0.5])
    assert front[0].low == pytest.approx(0.3, abs=0.05)
    assert front[-1].high > 0.5
    assert front[-1].mean["b"] == pytest.approx(scale, rel=0.2)


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("name", ["plane", "labels", "features"])
def test_rewards_that_never_differ(name: str, value: float) -> None:
    """Nothing tells noise from structure; some objective may never be told at all."""
    problem = PROBLEMS[name]
    both, world = Both(problem), World(problem, seed=1)
    policy = both.policy
    for _ in range(40):
        context = world.context()
        decision = policy.ask(context)
        both.tell(decision, {"a": value})
    f, i = policy._floats, policy._ints
    assert np.isfinite(m.memory.view("cells", f, i)[: i[m.USED]]).all()
    both.agree(contexts_of(problem, 3))
    assert all(piece.mean["a"] == pytest.approx(value) for piece in policy.front(context))


@pytest.mark.parametrize("name", ["plane", "features"])
@settings(max_examples=5)
@given(seed=st.integers(0, 100), random=st.randoms(use_true_random=False))
def test_order_between_two_steps_matters_by_rounding_alone(name: str, seed: int, random: Any) -> None:
    """Once levels are made anew of the same rewards; who foretold them better depends on what was known then."""
    problem = PROBLEMS[name]
    policy, other, world = ParetoZoom(problem, seed=seed), ParetoZoom(problem, seed=seed), World(problem, seed=seed)
    lockstep(policy, other, world, 95, scrambled=False)
    told, following = (int(policy._ints[k]) for k in (m.TOLD, m.NEXT))
    assert following - told > 10
    parts = []
    for _ in range(following - told):
        context = world.context()
        decision = policy.ask(context)
        assert other.ask(context) == decision
        parts += [(decision, {objective: value}) for objective, value in world.reward(decision).items()]
    for player in (policy, other):
        for decision, reward in parts:
            player.tell(decision, reward)
        random.shuffle(parts)
        assert player._ints[m.TOLD] == following < player._ints[m.NEXT]
        share = m.memory.view("share", player._floats, player._ints)
        share[:] = np.eye(m.MEMBERS)[m.LEVELS_]
    for context in (world.context() for _ in range(5)):
        assert np.allclose(_means(other, context), _means(policy, context), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_which_reward_was_told_first_plays_no_part(seed: int) -> None:
    """Rewards are counted from it; shares and estimates do not follow.

    The first eight rewards are told in two orders: before there are levels, nothing is foretold.
    """
    problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r", bounded=False)])
    rng, players = np.random.default_rng(seed), [ParetoZoom(problem, seed=seed) for _ in range(2)]
    contexts = rng.random((24, 1))
    decisions = [players[0].ask(context) for context in contexts]
    assert decisions == [players[1].ask(context) for context in contexts]
    rewards = [d.context["x"] + 0.5 * d.arm["y"] + 0.5 * rng.standard_normal() for d in decisions]
    order = list(range(24))
    for player in players:
        for k in order:
            player.tell(decisions[k], [rewards[k]])
        order[:8] = order[7::-1]
    offsets, shares = ([m.memory.view(name, p._floats, p._ints) for p in players] for name in ("offset", "share"))
    assert offsets[0] != offsets[1]
    assert shares[0] == pytest.approx(shares[1], abs=1e-3)
    one, other = (_means(player, [0.4]) + offset for player, offset in zip(players, offsets, strict=True))
    assert one == pytest.approx(other, abs=1e-3)


def _means(policy: ParetoZoom, context: Any) -> Any:
    """Of all candidates on a fixed grid."""
    point = np.zeros(policy.problem.dim)
    policy.problem.encode_context(context, point)
    listed = kernels.look(policy._floats, policy._ints, -1, point, ANY, False)
    return m.memory.view("mean", policy._floats, policy._ints).ravel()[: policy._objectives * listed].copy()
