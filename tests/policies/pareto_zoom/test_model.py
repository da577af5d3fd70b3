"""The kernels of ParetoZoom compute what its definition says: means, standard errors, shares, and who is played."""

from __future__ import annotations

import pytest

from paretozoom import Categorical, Decision, Finite, Objective, Problem, Real
from tests.policies.pareto_zoom.side_by_side import Both, contexts_of
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS

ALL = {
    **PROBLEMS,
    **LATTICE_PROBLEMS,
    "no context, labels": Problem(context=[], arm=Finite(list("abcdefg")), objectives=[Objective("r")]),
    "many labels": Problem(context=[Real("x")], arm=Finite(list(range(17))), objectives=[Objective("r")]),
}
RETIRING = {"last_trend_fit": 100, "last_smooth_fit": 150, "last_learned_at_once": 200, "most_terms": 30}


@pytest.mark.parametrize("name", ALL)
def test_rewards_that_come_late_in_parts_in_other_order_or_never(name: str) -> None:
    both, world = Both(ALL[name], seed=3), World(ALL[name], seed=5)
    for rounds in (20, 60, 150):
        both.play(world, rounds, scrambled=True)
        both.agree(contexts_of(ALL[name], 3, rounds))
    assert len(both.model.levels.levels) >= 4
    assert both.policy.open


@pytest.mark.parametrize(
    "name", ["plane", "five objectives", "user's units", "features", "plane of arms", "mixed arms"]
)
def test_rewards_that_come_at_once(name: str) -> None:
    both, world = Both(ALL[name]), World(ALL[name], seed=6)
    for rounds in (7, 8, 100, 240):
        both.play(world, rounds, scrambled=False)
        both.agree(contexts_of(ALL[name], 3, rounds))
    assert both.model.told == 240


def test_a_long_run() -> None:
    """Across 1000 rewards, from which refits are rare, and 1024, from which rewards do not update the posterior."""
    both, world = Both(PROBLEMS["plane"]), World(PROBLEMS["plane"], seed=3)
    for rounds in (990, 1030, 1500):
        both.play(world, rounds, scrambled=False)
        both.agree(contexts_of(both.policy.problem, 3, rounds))
    assert len(both.model.smooth.factors)
    assert both.model.next > 1.4 * 1060


@pytest.mark.parametrize(("least_share", "stays"), [(0.6, False), (0.0, True)])
def test_fixed_forms_are_retired_or_stay(least_share: float, stays: bool) -> None:
    """Late schedules, early: the last fits are at 100 and 150 rewards."""
    both, world = Both(PROBLEMS["plane"], **RETIRING, least_share=least_share), World(PROBLEMS["plane"], seed=3)
    for rounds in (90, 140, 190, 300, 500):
        both.play(world, rounds, scrambled=False)
        both.agree(contexts_of(both.policy.problem, 3, rounds))
    assert (len(both.model.trend.factors) > 0) == (len(both.model.smooth.factors) > 0) == stays


def test_a_smooth_estimate_of_a_large_share_is_fitted_on() -> None:
    problem = LATTICE_PROBLEMS["plane of arms"]
    both, world = Both(problem, **RETIRING, least_share=0.05), World(problem, seed=3)
    both.play(world, 160, scrambled=False)
    before = both.part("smooth").copy(), both.part("smooth_factor").copy()
    both.play(world, 400, scrambled=False)
    both.agree(contexts_of(problem, 3))
    assert (before[0] != both.part("smooth")).any()
    assert (before[1] == both.part("smooth_factor")).all()


class Turning(World):
    """Rewards whose order is turned round after some of them."""

    def __init__(self, problem: Problem, seed: int, after: int) -> None:
        super().__init__(problem, seed, noise=0.1)
        self.left = after

    def reward(self, decision: Decision) -> dict[str, float]:
        self.left -= 1
        given = super().reward(decision)
        if self.left >= 0:
            return given
        return {o.name: o.decode(1.0 - o.encode(given[o.name], "reward")) for o in self.problem.objectives}


@pytest.mark.parametrize("contexts", [[], [Categorical("c", list("uv"))]], ids=["no context", "two contexts"])
def test_a_world_that_turns_round(contexts: list[Categorical]) -> None:
    """What was learned before is forgotten by halves."""
    problem = Problem(context=contexts, arm=Finite(list("abc")), objectives=[Objective("a"), Objective("b")])
    both, world = Both(problem), Turning(problem, 4, after=1500)
    both.play(world, 1500, scrambled=False)
    both.agree(contexts_of(problem, 2))
    assert both.model.forgotten == 0
    for rounds in range(1650, 3001, 150):
        both.play(world, rounds, scrambled=True)
        both.agree(contexts_of(problem, 2))
    assert both.policy.facts()["forgotten"] == both.model.forgotten > 0


def test_a_world_of_many_places_that_turns_round() -> None:
    """Of sites that had one reward the older half is forgotten, and fixed forms are fitted though it is late."""
    problem, small = PROBLEMS["plane"], {**RETIRING, "least_pairs": 60, "drift_errors": 2, "drift_times": 0.5}
    both, world = Both(problem, **small, drift_known=4, most_bits=4), Turning(problem, 4, after=400)
    for rounds in (400, 500, 600, 700):
        both.play(world, rounds, scrambled=False)
        both.agree(contexts_of(problem, 3, rounds))
    assert both.policy.facts()["forgotten"] == both.model.forgotten > 0
