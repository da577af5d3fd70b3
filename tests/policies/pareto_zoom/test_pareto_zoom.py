"""ParetoZoom and its slow twin make the same decisions and know the same, to the last bit."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import Categorical, Decision, Finite, Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.pareto_zoom import pyramid
from paretozoom.problem.feasible import encode_feasible
from tests.reference import pareto_zoom as slow
from tests.reference import philox, smooth, trend
from tests.reference.levels import Level, Rewards
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS, SHAPES, feasible_sets, problems

ALL = {
    **PROBLEMS,
    **LATTICE_PROBLEMS,
    "three objectives": Problem(
        context=[Real("x"), Categorical("c", ["u", "v", "w"])],
        arm=[Real("y")],
        objectives=[Objective("a"), Objective("b", goal="min", high=4), Objective("c")],
    ),
    "many coordinates": Problem(
        context=[*(Real(f"x{j}") for j in range(8)), Categorical("c", list("uvw"))],
        arm=[Real("y")],
        objectives=[Objective("a"), Objective("b")],
    ),
    "no context, labels": Problem(context=[], arm=Finite(list("abcdefg")), objectives=[Objective("r")]),
}


TOO_MANY_LABELS = Finite([f"label {k}" for k in range(17)])  # for a trend


def pair(problem: Problem, seed: int = 1, spread: str = "arms") -> tuple[ParetoZoom, slow.ParetoZoom]:
    """A policy and its twin."""
    return ParetoZoom(problem, seed=seed, spread=spread), slow.ParetoZoom(problem, seed=seed, spread=spread)


def agree(policy: ParetoZoom, twin: slow.ParetoZoom) -> None:
    """Both hold the same, to the last bit: bases, trend, levels, noise, roughness, and all statistics of all blocks."""
    f, i = policy._floats, policy._ints
    at, d = pyramid.pyramid(i), twin.learned
    settings = [i[k] for k in (pyramid.TOLD, pyramid.NEXT, pyramid.DUE, pyramid.LEVELS, pyramid.BASES)]
    assert settings == [twin.told, twin.following, twin.due, len(twin.levels), len(twin.bases)]
    assert np.array_equal(f[at.offset : at.offset + d], twin.offset, equal_nan=True)
    assert f[at.noise : at.noise + d].tolist() == twin.noise
    assert f[at.roughness + d :][: d * len(twin.levels[1:])].tolist() == list(itertools.chain(*twin.roughness[1:]))
    assert i[pyramid.USES_TREND] == twin.uses_trend
    assert f[at.trend : at.missed].reshape(d, -1).tolist() == twin.trend
    assert f[at.missed : at.missed + d].tolist() == twin.missed
    assert i[at.expected : at.expected + d].tolist() == twin.size
    _agree_on_smooth(f, i, at, twin)
    assert (i[pyramid.FORGETS], i[pyramid.FORGOTTEN]) == (twin.forgets, twin.forgotten)
    assert f[at.watched : at.last].tolist() == twin.watched
    last = f[at.last : at.base_sum].reshape(-1, d)
    assert np.count_nonzero(last) == np.count_nonzero(list(twin.last.values()))
    assert all(last[where] == value for where, value in twin.last.items())
    for name, start, memory in (("count", at.base_count, i), ("total", at.base_sum, f), ("square", at.base_square, f)):
        kept = memory[start : start + d * i[pyramid.BASE_ROOM]].reshape(d, -1)[:, : len(twin.bases)]
        assert kept.T.tolist() == [getattr(base, name) for base in twin.bases.values()]
    for k, level in enumerate(twin.levels):
        _agree_on_level(f, i, at, k, level)


def _agree_on_smooth(f: Any, i: Any, at: pyramid.Pyramid, twin: slow.ParetoZoom) -> None:
    n, d = len(twin.smooth_factors), at.learned
    assert (i[pyramid.SMOOTH_TERMS], i[pyramid.SMOOTH_ROOM], i[pyramid.SEARCHED]) == (n, twin.room, twin.searched)
    assert i[at.smooth_factor :][: 3 * n].reshape(n, 3).tolist() == [list(term) for term in twin.smooth_factors]
    assert i[at.scale : at.signal].reshape(d, -1).tolist() == twin.scale
    assert i[at.signal : at.expected].tolist() == twin.signal
    assert f[at.compared : at.watched].reshape(d, -1).tolist() == twin.compared
    for o in range(d if n else 0):
        assert f[at.smooth + o * twin.room :][:n].tolist() == twin.smooth[o]
        if twin.told < smooth.LAST_TAUGHT:
            assert np.array_equal(f[at.inverse + o * twin.room**2 :][: n * n].reshape(n, n), twin.inverse[o])


def _agree_on_level(f: Any, i: Any, at: pyramid.Pyramid, k: int, level: Level) -> None:
    coordinates, cells = at.context + at.finer, len(level.arm_cells)
    assert (i[at.inner + k], i[at.outer + k], i[at.arm_cells + k]) == (level.inner, level.outer, cells)
    assert i[at.depth + k * coordinates :][:coordinates].tolist() == list(level.depth)
    numbers = np.flatnonzero(i[at.block_level :][: i[pyramid.BLOCKS]] == k)
    assert i[at.block_told :][numbers].tolist() == [block.told for block in level.blocks.values()]
    assert i[at.block_due :][numbers].tolist() == [block.due for block in level.blocks.values()]
    size = at.learned * pyramid.STATISTICS * cells
    for number, block in zip(numbers, level.blocks.values(), strict=True):
        statistics = f[at.block + i[at.block_start + number] :][:size].reshape(at.learned, pyramid.STATISTICS, cells)
        nothing = Rewards([0] * at.learned, [0.0] * at.learned, [0.0] * at.learned)
        for c, cell in enumerate(level.arm_cells):
            rewards = block.rewards.get(cell, nothing)
            known = zip(rewards.count, rewards.total, rewards.square, block.known[cell], strict=True)
            assert statistics[:, :, c].tolist() == [[n, total, square, *both] for n, total, square, both in known]


def check_fronts(policy: ParetoZoom, twin: slow.ParetoZoom, world: World, feasible: Any = None) -> None:
    """`front` shows the twin's indices, means and counts on a grid that belongs to no decision."""
    problem, context = policy.problem, world.context()
    point = twin.encoded(context)
    allowed = encode_feasible(problem, feasible).tolist()
    if twin.arms:
        arms: list[Any] = [int(row[0]) for row in allowed] or list(range(len(twin.arms)))
    else:
        shifts = [philox.uniforms([0, 0], [1, 1 + k // 4, 0, 0])[k % 4] for k in range(twin._real_arms())]
        arms = list(twin.candidates(allowed, shifts).points.values())
    means, bold = np.array(twin.indices(point, arms, 0.0)), np.array(twin.indices(point, arms, 1.0))
    indices, first = np.array(twin.indices(point, arms)), np.nan_to_num(twin.offset)
    for believed in (False, True):
        shown = twin.front_of(means.tolist()) if believed else twin.played_of(twin.indices(point, arms))
        best = sorted(shown, key=lambda k: arms[k])
        pieces = policy.front(context, believed=believed, feasible=feasible)
        assert len(pieces) == len(best)
        for k, piece in zip(best, pieces, strict=True):
            for o, objective in enumerate(problem.objectives):
                name, span = objective.name, abs(objective.decode(1.0) - objective.decode(0.0))
                near = {"rel": 1e-9, "abs": 1e-9 * span}
                assert piece.index[name] == pytest.approx(objective.decode(first[o] + indices[k][o]), **near)
                assert piece.mean[name] == pytest.approx(objective.decode(first[o] + means[k][o]), **near)
                assert piece.uncertainty[name] == pytest.approx(span * (bold - means)[k][o], **near)
            assert list(piece.count.values()) == twin.counts(point, arms[k])


@pytest.mark.parametrize("name", ALL)
def test_every_kind_of_problem(name: str) -> None:
    """Levels are made anew at 8, 12, 16, 20, ... rewards, and those come late, in parts, out of order or never.

    Two feasible sets of five are no restriction.
    """
    problem = ALL[name]
    policy, twin = pair(problem, seed=3)
    world, rounds = World(problem, seed=5), 28 if name in LATTICE_PROBLEMS else 80
    feasible = feasible_sets(problem, 7)
    lockstep(policy, twin, world, rounds, feasible=feasible)
    assert twin.following >= twin.told >= rounds // 2
    assert len(twin.levels) >= 4
    assert twin.path_refreshes > 0
    assert twin.whole_refreshes > 8
    agree(policy, twin)
    for allowed in (None, feasible()):
        check_fronts(policy, twin, world, allowed)


@pytest.mark.parametrize("shape", SHAPES)
@settings(max_examples=5)
@given(data=st.data())
def test_any_problem(shape: str, data: st.DataObject) -> None:
    problem, seed = data.draw(problems(shape)), data.draw(st.integers(0, 1000))
    policy, twin = pair(problem, seed, data.draw(st.sampled_from(["arms", "front"])))
    feasible = feasible_sets(problem, seed) if data.draw(st.booleans()) else None
    scrambled = data.draw(st.booleans())
    lockstep(
        policy, twin, World(problem, seed), 24 if shape == "lattice" else 50, feasible=feasible, scrambled=scrambled
    )
    agree(policy, twin)


@pytest.mark.parametrize("name", ["plane", "labels", "three objectives", "mixed arms"])
def test_draws_along_the_front(name: str) -> None:
    problem = ALL[name]
    policy, twin = pair(problem, spread="front")
    decisions = lockstep(policy, twin, World(problem, seed=2), 40, feasible=feasible_sets(problem, 3))
    agree(policy, twin)
    players = ParetoZoom(problem, seed=1), ParetoZoom(problem, seed=1)
    even = lockstep(*players, World(problem, seed=2), 40, feasible=feasible_sets(problem, 3))
    assert decisions != even


def test_beside_a_trend_the_smooth_estimate_is_fitted_for_long() -> None:
    """Scales are sought and terms chosen until 4,096 rewards; what there is of each term is learned from more."""
    problem = Problem(context=[], arm=Finite(["a", "b", "c"]), objectives=[Objective("first"), Objective("second")])
    policy, twin = pair(problem)
    world = World(problem, seed=3)
    lockstep(policy, twin, world, 5000, scrambled=False)
    assert twin.uses_trend
    assert twin.smooth_factors
    before = policy.dump().arrays
    lockstep(policy, twin, world, 2000, scrambled=False)
    agree(policy, twin)
    assert twin.uses_trend
    after = policy.dump().arrays
    assert (after["smooth_factor"] == before["smooth_factor"]).all()
    assert (after["smooth"] != before["smooth"]).any()


def test_a_long_run() -> None:
    """Levels stay, change and become fewer; from 1000 rewards on they are made anew when these have grown by half."""
    problem = Problem(context=[Real("x")], arm=TOO_MANY_LABELS, objectives=[Objective("r")])
    policy, twin = pair(problem)
    lockstep(policy, twin, World(problem, seed=2), 1600, scrambled=False)
    agree(policy, twin)
    assert twin.told == 1600
    assert twin.following > 1.4 * 1060
    kept, levels = zip(*twin.kept_levels, strict=True)
    assert any(some == all_ for some, all_ in zip(kept, levels, strict=True))
    assert any(0 < some < all_ for some, all_ in zip(kept, levels, strict=True))
    assert any(after < before for before, after in itertools.pairwise(levels))


class Bowls(World):
    """Rewards that fall smoothly with the distance from a place."""

    def reward(self, decision: Decision) -> dict[str, float]:
        point = np.zeros(self.problem.dim)
        self.problem.encode_context(decision.context, point)
        self.problem.encode_arm(decision.arm, point)
        low = ((np.minimum(point, 1.0) - 0.4) ** 2).mean()
        given = {}
        for k, objective in enumerate(self.problem.objectives):
            value = 0.9 - 2.0 * low / (1 + k) + 0.1 * float(self.rng.random())
            given[objective.name] = objective.decode(value)
        return given


@pytest.mark.parametrize("name", ["two contexts", "periodic everywhere", "labels", "features", "mixed arms"])
def test_where_the_trend_is_used(name: str) -> None:
    problem = ALL[name]
    policy, twin = pair(problem)
    world, used = Bowls(problem, seed=4), set()
    for _ in range(8):
        lockstep(policy, twin, world, 12)
        agree(policy, twin)
        used.add(twin.uses_trend)
    check_fronts(policy, twin, world)
    assert True in used


def test_the_trend_is_not_fitted_for_ever() -> None:
    """The last fit is before 8192 rewards; levels that are made later are of what it leaves."""
    problem = Problem(context=[], arm=Finite(list("abc")), objectives=[Objective("r")])
    policy, twin = pair(problem)
    world, fits = Bowls(problem, seed=4), []
    for rounds in (8000, 5000):
        lockstep(policy, twin, world, rounds, scrambled=False)
        agree(policy, twin)
        fits.append((twin.trend, twin.uses_trend, twin.told, twin.following))
    assert fits[0][:2] == fits[1][:2]
    assert fits[0][3] > trend.LAST_FIT < fits[1][2]
    assert fits[1][3] > fits[0][3]
    assert twin.uses_trend


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
    policy, twin = pair(problem)
    world = Turning(problem, 4, after=1500)
    lockstep(policy, twin, world, 1500, scrambled=False)
    agree(policy, twin)
    assert twin.forgotten == 0
    for _ in range(10):
        lockstep(policy, twin, world, 150)
        agree(policy, twin)
    assert twin.forgotten > 0
    assert policy.facts()["forgotten"] == twin.forgotten
    check_fronts(policy, twin, world)


def test_cells_of_arms_finer_than_candidates() -> None:
    """There are 64 candidates on a line of arms, and up to 128 cells."""
    problem = Problem(context=[], arm=[Real("y")], objectives=[Objective("r")])
    policy, twin = pair(problem)
    lockstep(policy, twin, World(problem, seed=2), 250, scrambled=False)
    agree(policy, twin)
    assert max(len(level.arm_cells) for level in twin.levels) == 128


def test_each_label_of_an_arm_has_cells_of_its_own() -> None:
    """As many for each of five labels as a line of arms alone has, as if there were eight of them."""
    labels = Categorical("k", list("abcde"))
    problem = Problem(context=[], arm=[Real("y"), labels], objectives=[Objective("r")])
    policy, twin = pair(problem)
    lockstep(policy, twin, World(problem, seed=2), 150, scrambled=False)
    agree(policy, twin)
    assert max(len(level.arm_cells) for level in twin.levels) == 128 * 8


@pytest.mark.parametrize("noise", [0.1, 0.3])
def test_contexts_that_move_slowly_are_no_change(noise: float) -> None:
    """Though rewards that follow each other are off by the same, because their cell is large."""
    problem = Problem(
        context=[Real("x"), Real("y"), Real("z")], arm=[Real("a")], objectives=[Objective("r", bounded=False)]
    )
    policy, rng = ParetoZoom(problem), np.random.default_rng(1)
    for k in range(6000):
        context = [(k / 1500) % 1.0, (k / 400) % 1.0, (k / 100) % 1.0]
        decision = policy.ask(context)
        policy.tell(decision, [sum(context) - abs(decision.arm["a"] - 0.5) + noise * rng.standard_normal()])
    assert policy.facts()["forgotten"] == 0
