"""Forms of ParetoZoom are a hierarchical linear model, kernels agree with it, and labels are learned by it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Objective, ParetoZoom, Problem, Real, Snapshot
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.directions import leading
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.policies.pareto_zoom.directions import Directions
from paretozoom.policies.pareto_zoom.fixed import Forms, log_likelihood
from paretozoom.policies.pareto_zoom.space import Space
from paretozoom.policies.pareto_zoom.terms import form_terms_of, simple_of, terms_of
from tests.policies.pareto_zoom.side_by_side import Both, contexts_of
from tests.policies.pareto_zoom.test_model import Turning
from tests.reference.play import World
from tests.reference.problems import PROBLEMS

ONE, TWO = [Objective("r", bounded=False)], [Objective("a"), Objective("b")]
MIXED = [Categorical("c", list("uvw")), Real("x"), Real("hour", 0, 24, periodic=True)]
LABELS = {
    "labels": PROBLEMS["labels"],
    "features": PROBLEMS["features"],
    "no context": Problem(context=[], arm=Finite(list("abc")), objectives=TWO),
    "many contexts": Problem(context=[Real(f"x{j}") for j in range(6)], arm=Finite(list("abcd")), objectives=TWO),
    "categories": Problem(context=MIXED, arm=Finite(list("abcd")), objectives=TWO),
}


def _drawn(n: int, seed: int) -> tuple[Space, Forms, Any, Any, Any]:
    """Forms of four labels that were told n rewards; the points, the arms (never the last one) and the rewards."""
    space, rng = Space(Problem(context=MIXED, arm=Finite(list("abcd")), objectives=ONE), Settings()), None
    rng = np.random.default_rng(seed)
    z = np.column_stack([rng.integers(3, size=n), rng.random((n, 2)), np.zeros(n)])
    arms = rng.integers(3, size=n)
    r = z[:, 1] * (arms - 1) + (z[:, 0] == 1) + 0.3 * rng.standard_normal(n)
    forms = Forms(space)
    for k in range(n):
        forms.learn(z[k], int(arms[k]), r[k : k + 1])
    return space, forms, z, arms, r


def _alike(a: tuple[Any, Any], b: tuple[Any, Any], common: float, apart: float) -> Any:
    """The covariance of rewards at contexts c and arms, beside the noise: of w, and of u of the same arm.

    The level of u, the constant in c, varies by a quarter of the noise at least.
    """
    own = apart * (a[0] @ b[0].T) + max(0.0, 0.25 - apart) * np.outer(a[0][:, 0], b[0][:, 0])
    return common * (a[0] @ b[0].T) + own * np.equal.outer(a[1], b[1])


def _c(z: Any) -> Any:
    """The functions of the contexts of `_drawn`, by hand."""
    angle = 2 * np.pi * z[:, 2]
    labels = [np.sqrt(3) * (z[:, 0] == k) for k in range(3)]
    waves = [np.sqrt(2) * np.cos(angle), np.sqrt(2) * np.sin(angle)]
    return np.column_stack([np.ones(len(z)), *labels, np.sqrt(3) * (2 * z[:, 1] - 1), *waves])


@pytest.mark.parametrize("size", [(-3, -3), (1, -2), (-5, 2)])
def test_forms_are_a_hierarchical_linear_model(size: tuple[int, int]) -> None:
    """By the covariances of all rewards, without w and u; also of an arm that was never played."""
    _, forms, z, arms, r = _drawn(50, 1)
    forms.size[0] = size
    forms.solve(np.array([0]))
    common, apart = 4.0 ** np.array(size)
    at, where = np.arange(4).repeat(5), np.tile(z[:5], (4, 1))
    told, asked = (_c(z), arms), (_c(where), at)
    whole = np.eye(len(r)) + _alike(told, told, common, apart)
    across = _alike(asked, told, common, apart)
    mean, e2 = forms.predict(where, at)
    assert mean[0] == pytest.approx(across @ np.linalg.solve(whole, r), rel=1e-9)
    before = _alike(asked, asked, common, apart)
    assert e2[0] == pytest.approx(np.diag(before - across @ np.linalg.solve(whole, across.T)), rel=1e-8)


def _log_density(told: Any, r: Any, size: Any) -> float:
    """Of a multivariate normal, with the noise that makes it largest."""
    whole = np.eye(len(r)) + _alike(told, told, *(4.0 ** np.array(size)))
    noise = r @ np.linalg.solve(whole, r) / len(r)
    return float(-0.5 * np.linalg.slogdet(2 * np.pi * noise * whole)[1] - 0.5 * len(r))


def test_sizes_and_noise_make_rewards_likeliest() -> None:
    """Evidence differs from the log density by a constant. Fits climb until no step of one size makes it larger."""
    space, forms, z, arms, r = _drawn(120, 2)
    told = _c(z), arms
    differences = [
        log_likelihood(*forms.known.of[0], forms.expected(size)) - _log_density(told, r, size)
        for size in [(-3, -3), (0, -2), (-6, 4)]
    ]
    assert differences == pytest.approx(differences[:1] * 3, abs=1e-8)
    forms.size[0] = (3, 3)
    for told_so_far in (120, 180, 270, 405, 608, 912):
        forms.refit(Directions(space), told_so_far, False)
    common, apart = forms.size[0]
    near = [(common + a, apart + b) for a, b in [(0, 0), (1, 0), (-1, 0), (0, 1), (0, -1)]]
    assert max(near, key=lambda size: _log_density(told, r, size)) == (common, apart)
    whole = np.eye(len(r)) + _alike(told, told, 4.0**common, 4.0**apart)
    assert forms.sigma2[0] == pytest.approx(r @ np.linalg.solve(whole, r) / len(r), rel=1e-9)


def _agree_alone(both: Both, contexts: Any) -> None:
    """Kernels' forms say what the dense model says, to 1e-9 of what they may say at all."""
    f, i, shares = both.policy._floats, both.policy._ints, both.part("share").copy()
    numbers = np.arange(i[m.ARMS])
    both.part("share")[:] = np.eye(m.MEMBERS)[m.FORMS_]
    for x in contexts:
        means, errors, arms, _ = both.look(x, -1, False)
        mean, e2 = both.model.forms.predict(both.model.rows(x, arms), numbers)
        unit = np.sqrt(both.model.forms.sigma2 + both.model.sites.variance())[:, None]
        assert np.abs((means - mean) / unit).max() < 1e-9
        assert errors**2 == pytest.approx(e2, rel=1e-8, abs=1e-9 * float(unit.min()) ** 2)
        if i[m.ARE_LABELS] == 1:
            lone = m.memory.view("label_error", f, i)[:, : len(numbers)]
            assert lone**2 == pytest.approx(e2, rel=1e-9, abs=1e-12 * float(unit.min()) ** 2)
    both.part("share")[:] = shares
    assert both.part("form_noise") == pytest.approx(both.model.forms.sigma2, rel=1e-9)
    assert [tuple(size) for size in both.part("form_size").tolist()] == both.model.forms.size


@pytest.mark.parametrize("scrambled", [False, True], ids=["at once", "late and in parts"])
@pytest.mark.parametrize("name", LABELS)
def test_kernels_agree_with_the_dense_model(name: str, scrambled: bool) -> None:
    problem = LABELS[name]
    both, world = Both(problem, seed=3), World(problem, seed=5)
    for rounds in (20, 120, 240):
        both.play(world, rounds, scrambled=scrambled)
        both.agree(contexts_of(problem, 2, rounds))
        _agree_alone(both, contexts_of(problem, 3, rounds))


WIDE = {"form_room": 4 * 7 * 7 - 1, "directions": 3}  # six numbers and four arms are then too many


@pytest.mark.parametrize("scrambled", [False, True], ids=["at once", "late and in parts"])
def test_kernels_agree_where_forms_are_of_directions(scrambled: bool) -> None:
    """Also when there is no room for all that is kept, and when directions are not sought any more."""
    problem = LABELS["many contexts"]
    both, world = Both(problem, seed=3, **WIDE, last_smooth_fit=150), World(problem, seed=5)
    for rounds in (20, 120, 240):
        both.play(world, rounds, scrambled=scrambled)
        _agree_alone(both, contexts_of(problem, 3, rounds))
    assert np.linalg.matrix_rank(both.part("direction")) == 4


@pytest.mark.parametrize(("name", "more"), [("labels", {}), ("categories", {}), ("categories", WIDE)])
def test_kernels_agree_when_half_is_forgotten(name: str, more: dict[str, float]) -> None:
    """Sums of the trend that lack the newest rewards are made anew, those of forms are halved."""
    problem = LABELS[name]
    drift = {"least_pairs": 20, "drift_errors": 1, "drift_times": 0.2, "drift_known": 4, "most_bits": 4}
    both, world = Both(problem, **drift, **more, last_trend_fit=100), Turning(problem, 4, after=300)
    for rounds in (300, 450, 600):
        both.play(world, rounds, scrambled=False)
        both.agree(contexts_of(problem, 2, rounds))
        _agree_alone(both, contexts_of(problem, 3, rounds))
    assert both.policy.facts()["forgotten"] == both.model.forgotten > 0


@pytest.mark.parametrize("scale", [1e-12, 1e99])
def test_rewards_of_any_size(scale: float) -> None:
    problem = Problem(context=[Real("x")], arm=Finite(list("abc")), objectives=[Objective("r", bounded=False)])
    small = ParetoZoom(problem, seed=1)
    policy, rng = ParetoZoom(problem, seed=1), np.random.default_rng(1)
    for _ in range(100):
        x, noise = rng.random(), rng.normal()
        for player, size in ((small, 1.0), (policy, scale)):
            decision = player.ask([x])
            player.tell(decision, [size * ("abc".index(decision.arm) * x + 0.1 * noise)])
    shown = [[(piece.arm, piece.mean["r"]) for piece in player.front([0.9])] for player in (small, policy)]
    assert [arm for arm, _ in shown[1]] == [arm for arm, _ in shown[0]] == ["c"]
    assert shown[1][0][1] == pytest.approx(scale * shown[0][0][1], rel=1e-6)
    loaded = ParetoZoom(problem, seed=2)
    loaded.load(Snapshot.from_bytes(policy.dump().to_bytes()))
    assert loaded.dump().to_bytes() == policy.dump().to_bytes()


def test_which_functions_forms_have() -> None:
    problem = LABELS["categories"]
    terms = terms_of(problem, Settings())
    of_contexts, of_arms = simple_of(problem, terms)
    assert [terms.functions[k] for k in of_contexts[1:]] == [(0, 0), (0, 1), (0, 2), (1, 0), (2, 0), (2, 1)]
    assert [terms.functions[k] for k in of_arms[1:]] == [(3, 0), (3, 1), (3, 2), (3, 3)]
    assert form_terms_of(4, 7, Settings()) == 7
    assert form_terms_of(4, 7, Settings(form_room=4 * 7 * 7 - 1, directions=3)) == 4
    assert form_terms_of(4, 7, Settings(form_room=4 * 4 * 4 - 1, directions=3)) == 1
    assert form_terms_of(4, 7, Settings(form_room=4 * 4 * 4 - 1, directions=9)) == 1
    assert form_terms_of(0, 7, Settings()) == 0


def test_leading_directions_are_singular_vectors() -> None:
    """By the linear algebra of NumPy, to what is left after the rounds of the power method; 0 beyond the rank."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((6, 3)) * [9.0, 3.0, 1.0] @ np.linalg.qr(rng.standard_normal((12, 12)))[0][:3]
    vectors = np.zeros((5, 12))
    leading(rows, vectors)
    truth = np.linalg.svd(rows)[2][:3]
    assert np.abs(np.sum(vectors[:3] * truth, axis=1)) == pytest.approx(1, abs=1e-6)
    assert (vectors[3:] == 0).all()


def test_directions_are_found_and_have_variance_one() -> None:
    """Rewards of each arm follow a line in 40 numbers, all lines lie in a plane, and noise is small."""
    rng, numbers, arms = np.random.default_rng(4), 40, 5
    problem = Problem(context=[Real(f"x{j}") for j in range(numbers)], arm=Finite(list(range(arms))), objectives=ONE)
    policy = ParetoZoom(problem, seed=1, settings={"form_room": 100, "directions": 2})
    plane, slopes, contexts = rng.standard_normal((2, numbers)), rng.standard_normal((arms, 2)), []
    for _ in range(1_000):
        contexts.append(rng.random(numbers))
        decision = policy.ask(contexts[-1])
        policy.tell(decision, [slopes[decision.arm] @ plane @ contexts[-1] + 0.1 * rng.standard_normal()])
    found = m.memory.view("direction", policy._floats, policy._ints)
    functions = np.column_stack([np.ones(len(contexts)), np.sqrt(3) * (2 * np.array(contexts) - 1)])
    along = functions @ found.T
    assert (along[:, 0] == 1).all()
    assert along[:, 1:].mean(axis=0) == pytest.approx(0, abs=0.2)
    assert along[:, 1:].std(axis=0) == pytest.approx(1, abs=0.2)
    cosines = np.linalg.svd(np.linalg.qr(plane.T)[0].T @ np.linalg.qr(found[1:, 1:].T)[0])[1]
    # Of the angles between both planes; noise of 40 numbers is spread over 1,000 rewards.
    assert cosines.min() > 0.85


def test_what_is_kept_survives_a_snapshot() -> None:
    problem, settings = LABELS["many contexts"], {**WIDE, "last_smooth_fit": 100}
    policy, world = ParetoZoom(problem, seed=1, settings=settings), World(problem, seed=2)
    for _ in range(130):
        decision = policy.ask(world.context())
        policy.tell(decision, world.reward(decision))
    loaded = ParetoZoom(problem, seed=2, settings=settings)
    loaded.load(Snapshot.from_bytes(policy.dump().to_bytes()))
    for player in (policy, loaded):
        again = World(problem, seed=4)
        for _ in range(60):
            decision = player.ask(again.context())
            player.tell(decision, again.reward(decision))
    assert loaded.dump().to_bytes() == policy.dump().to_bytes()


ARMS, NUMBERS, ROUNDS = 10, 20, 2_000


def _regret(policy: ParetoZoom | None, seed: int) -> float:
    """The sum of gaps if rewards come with logistic-linear probabilities; of uniform play without a policy."""
    rng = np.random.default_rng(seed)
    slopes, total = rng.standard_normal((2, ARMS, NUMBERS)), 0.0
    for _ in range(ROUNDS):
        x = rng.random(NUMBERS)
        means = 1 / (1 + np.exp(-slopes @ (2 * x - 1)))  # (objectives, arms)
        gaps = np.maximum(0, (means[:, None, :] - means[:, :, None]).min(axis=0).max(axis=1))
        lucky = rng.random(2)
        if policy is None:
            total += gaps.mean()
            continue
        decision = policy.ask(x)
        total += gaps[decision.arm]
        policy.tell(decision, (lucky < means[:, decision.arm]).astype(float).tolist())
    return float(total)


@pytest.mark.parametrize("seed", range(3))
def test_labels_with_many_numbers_of_context_are_learned(seed: int) -> None:
    problem = Problem(context=[Real(f"x{j}") for j in range(NUMBERS)], arm=Finite(list(range(ARMS))), objectives=TWO)
    assert _regret(ParetoZoom(problem, seed=seed), seed) < 0.5 * _regret(None, seed)
