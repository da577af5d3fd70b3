"""Axes: many contexts are seen along the sums that tell rewards, by kernels and definition alike."""

from __future__ import annotations

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.pareto_zoom import memory as m
from tests.policies.pareto_zoom.side_by_side import Both, contexts_of
from tests.policies.pareto_zoom.test_model import Turning
from tests.reference.play import World

TWO = [Objective("a"), Objective("b", bounded=False)]
MANY = [*(Real(f"x{j}") for j in range(8)), Categorical("c", list("uvw")), Real("hour", 0, 24, periodic=True)]
PROBLEMS = {
    "a line": Problem(context=MANY, arm=[Real("y")], objectives=TWO),
    "labels": Problem(context=MANY, arm=Finite(list("abcd")), objectives=TWO),
    "features": Problem(
        context=MANY,
        arm=Finite(list(range(20)), features=[[k / 19, (k * 7 % 20) / 19] for k in range(20)]),
        objectives=TWO,
    ),
    "mixed": Problem(context=MANY, arm=[Categorical("kind", list("ab")), Real("y")], objectives=TWO),
}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("scrambled", [False, True], ids=["at once", "late and in parts"])
def test_kernels_agree(name: str, scrambled: bool) -> None:
    """Also when there is no room for all that is kept, and when axes are not sought any more."""
    problem = PROBLEMS[name]
    both, world = Both(problem, seed=3, last_smooth_fit=80, last_learned_at_once=60), World(problem, seed=5)
    for rounds in (20, 70, 200):
        both.play(world, rounds, scrambled=scrambled)
        both.agree(contexts_of(problem, 2, rounds))
        np.testing.assert_allclose(both.part("axis"), both.model.space.axis, atol=1e-9)
        assert len(both.model.smooth.factors) > 10 or rounds != 70  # not fitted yet, or perhaps retired


def test_kernels_agree_when_half_is_forgotten() -> None:
    problem = PROBLEMS["a line"]
    drift = {"least_pairs": 20, "drift_errors": 1, "drift_times": 0.2, "drift_known": 4, "most_bits": 4}
    both, world = Both(problem, **drift, last_smooth_fit=100), Turning(problem, 4, after=200)
    for rounds in (200, 320):
        both.play(world, rounds, scrambled=False)
        both.agree(contexts_of(problem, 2, rounds))
    assert both.policy.facts()["forgotten"] == both.model.forgotten > 0


def test_axes_are_the_sums_that_rewards_follow() -> None:
    """Best arms follow one sum of 20 numbers; 600 rewards tell it, although play soon follows it, too.

    Two directions at random explain a share of it with the distribution Beta(1, 9): more than half with probability
    2^-9.
    """
    rng, numbers = np.random.default_rng(7), 20
    problem = Problem(
        context=[Real(f"x{j}") for j in range(numbers)], arm=[Real("y")], objectives=[Objective("r", bounded=False)]
    )
    policy, weights, contexts = ParetoZoom(problem, seed=1), rng.standard_normal(numbers), []
    weights /= np.linalg.norm(weights)
    for _ in range(600):
        contexts.append(rng.random(numbers))
        decision = policy.ask(contexts[-1])
        best = 0.5 + (contexts[-1] - 0.5) @ weights
        policy.tell(decision, [-4 * (decision.arm["y"] - best) ** 2 + 0.2 * rng.standard_normal()])
    axes = m.memory.view("axis", policy._floats, policy._ints)
    functions = np.column_stack([np.ones(len(contexts)), np.sqrt(3) * (2 * np.array(contexts) - 1)])
    along = functions @ axes.T
    assert along.mean(axis=0) == pytest.approx(0, abs=0.2)
    assert along.std(axis=0) == pytest.approx(1, abs=0.2)
    truth = np.array(contexts) @ weights
    seen = np.linalg.lstsq(np.column_stack([np.ones(len(along)), along]), truth, rcond=None)[1][0]
    assert 1 - seen / ((truth - truth.mean()) ** 2).sum() > 0.5
