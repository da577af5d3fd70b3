"""ParetoZoom and its slow twin make the same decisions and know the same, to the last bit."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import Categorical, Decision, Finite, Objective, ParetoZoom, Problem, Real
from paretozoom.feasible import ANY, encode_feasible
from paretozoom.kernels import pareto_zoom, pyramid, refine
from paretozoom.kernels.smooth import EXPLAINED
from tests.reference import estimates, forget, levels, philox, smooth, trend
from tests.reference import pareto_zoom as slow
from tests.reference.levels import Cell, Level, Rewards
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
    indices, first = means + slow.OPTIMISM * (bold - means), np.nan_to_num(twin.offset)
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
    assert policy._ints[pyramid.MOST_FINE] == 128 * 8


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


# Rewards of any size.


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
    policy, twin = pair(problem)
    world = Shifted(problem, 5, shift)
    decisions = lockstep(policy, twin, world, 60)
    agree(policy, twin)
    check_fronts(policy, twin, world)
    plain = ParetoZoom(problem, seed=1)
    assert lockstep(plain, slow.ParetoZoom(problem, seed=1), Shifted(problem, 5, 0.0), 60) == decisions
    piece, shifted = plain.front([0.5])[0], policy.front([0.5])[0]
    assert shifted.uncertainty == piece.uncertainty
    assert shifted.mean["a"] == pytest.approx(shift + piece.mean["a"], rel=0, abs=2 * np.spacing(abs(shift)))


@pytest.mark.parametrize("value", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("name", ["plane", "labels", "features"])
def test_rewards_that_never_differ(name: str, value: float) -> None:
    """Nothing tells noise from structure; some objective may never be told at all."""
    problem = PROBLEMS[name]
    policy, twin = pair(problem)
    world = World(problem, seed=1)
    for _ in range(40):
        context = world.context()
        decision, same = policy.ask(context), twin.ask(context)
        assert decision == same
        policy.tell(decision, {"a": value})
        twin.tell(same, {"a": value})
    agree(policy, twin)
    check_fronts(policy, twin, world)
    assert all(piece.mean["a"] == pytest.approx(value) for piece in policy.front(context))


# The twin is sensitive.


@pytest.mark.parametrize(
    ("home", "name", "value"),
    [
        (slow, "OPTIMISM", 0.00301),
        (slow, "MOST_MIXED", 1),
        (slow, "LEAST_WEIGHT", 0.7),
        (slow, "WORSE", 0.3),
        (slow, "AHEAD", 1.9),
        (slow, "END", 0.4),
        (estimates, "GROWTH", 17),
        (forget, "BOLDNESS", math.nextafter(32, 33)),
        (estimates, "OWN_NOISE", math.nextafter(4, 5)),
        (estimates, "SURE", 17.0),
        (trend, "UNKNOWN", 2e6),
        (trend, "PRIOR_NOISE", math.nextafter(16, 17)),
        (trend, "SURE", math.nextafter(8, 9)),
        (trend, "PLACE_BITS", 12),
        (smooth, "BOLDNESS", math.nextafter(4, 5)),
        (smooth, "LESS_BOLDNESS", math.nextafter(4, 5)),
        (smooth, "MEMORY", math.nextafter(0.7, 1)),
        (smooth, "NEAR", 0.3),
        (smooth, "MANY", 1024.0),
        (smooth, "FAR", 3.0),
        (smooth, "EVEN", 8.0),
        (smooth, "SPREAD", 1.0),
        (smooth, "SIGNAL_SPREAD", 1.0),
        (smooth, "STARTS", ()),
        (smooth, "SWEEPS", 1),
        (levels, "ALIKE", 3.0),
        (levels, "LEAST_CELLS", 512),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_constants_count(home: Any, name: str, value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin whose constants differ by a hair is found out."""
    monkeypatch.setattr(home, name, value)
    with pytest.raises(AssertionError):
        _play_and_compare(PROBLEMS["two contexts"], PROBLEMS["five objectives"])


def _play_and_compare(*problems: Problem) -> None:
    for problem in problems:
        policy, twin = pair(problem)
        world = World(problem, seed=1)
        lockstep(policy, twin, world, 60, scrambled=False)
        agree(policy, twin)
        check_fronts(policy, twin, world)


def _do_nothing(twin: slow.ParetoZoom, *_: Any) -> None:
    twin.due = estimates.due_after(twin.told)


def _refresh_new_blocks_alone(twin: slow.ParetoZoom, k: int, context: Cell) -> None:
    if not twin.levels[k].blocks[context].known:
        twin.refresh(k, context)


@pytest.mark.parametrize(
    ("name", "instead"), [("refresh_all", _do_nothing), ("refresh_path", _refresh_new_blocks_alone)]
)
def test_both_ways_to_make_estimates_anew_matter(name: str, instead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that makes no estimates anew everywhere, or none along a path but those of new blocks, decides else."""
    monkeypatch.setattr(slow.ParetoZoom, name, instead)
    problem = PROBLEMS["plane"]
    with pytest.raises(AssertionError):
        lockstep(*pair(problem), World(problem, seed=1), 60, scrambled=False)


def test_sums_of_levels_that_stay_are_not_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are as they were accumulated, which rounds otherwise than sums of bases."""
    problem = Problem(context=[], arm=TOO_MANY_LABELS, objectives=[Objective("r")])
    _compare_often(problem)
    monkeypatch.setattr(levels.Level, "halves_like", lambda *_: False)
    with pytest.raises(AssertionError):
        _compare_often(problem)


def _compare_often(problem: Problem) -> None:
    (policy, twin), world = pair(problem), World(problem, seed=1)
    for _ in range(8):
        lockstep(policy, twin, world, 8, scrambled=False)
        agree(policy, twin)


# The order of rewards.


@pytest.mark.parametrize("name", ["plane", "features"])
@settings(max_examples=5)
@given(seed=st.integers(0, 100), random=st.randoms(use_true_random=False))
def test_order_between_two_steps_matters_by_rounding_alone(name: str, seed: int, random: Any) -> None:
    """Once all estimates are made anew of the same rewards; who foretold them better depends on what was known then."""
    problem = ALL[name]
    policy, other, world = ParetoZoom(problem, seed=seed), ParetoZoom(problem, seed=seed), World(problem, seed=seed)
    lockstep(policy, other, world, 95, scrambled=False)
    told, following = (int(policy._ints[k]) for k in (pyramid.TOLD, pyramid.NEXT))
    assert following - told > 10
    parts = []
    for _ in range(following - told - 1):  # one more would begin the next step
        context = world.context()
        decision = policy.ask(context)
        assert other.ask(context) == decision
        parts += [(decision, {objective: value}) for objective, value in world.reward(decision).items()]
    for player in (policy, other):
        for decision, reward in parts:
            player.tell(decision, reward)
        random.shuffle(parts)
        at = pyramid.pyramid(player._ints)
        refine.refresh_all(player._floats, player._ints, at, np.zeros(at.context + at.finer, np.int64))
    assert pyramid.pyramid(policy._ints) == at
    other._floats[at.compared : at.watched] = policy._floats[at.compared : at.watched]
    for context in (world.context() for _ in range(5)):
        assert np.allclose(_indices(other, context), _indices(policy, context), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_which_reward_was_told_first_plays_no_part(seed: int) -> None:
    """Rewards are counted from it; whether the trend is used, and what the smooth estimate explains, does not follow.

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
        at = pyramid.pyramid(player._ints)
    f, other = (player._floats for player in players)
    assert f[at.offset] != other[at.offset]
    assert players[0]._ints[pyramid.USES_TREND] == players[1]._ints[pyramid.USES_TREND]
    explained = [memory[at.compared + EXPLAINED] for memory in (f, other)]
    assert explained[0] == pytest.approx(explained[1], rel=1e-4)


def _indices(policy: ParetoZoom, context: Any) -> Any:
    """Of all candidates on a fixed grid."""
    point, at = np.zeros(policy.problem.dim), pyramid.pyramid(policy._ints)
    policy.problem.encode_context(context, point)
    listed = pareto_zoom.look(policy._floats, policy._ints, at, -1, point, ANY, pareto_zoom.OPTIMISM)
    return policy._floats[at.indices : at.indices + at.learned * listed].copy()
