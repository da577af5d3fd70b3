"""Scaled similarities: kernel and reference agree, snapshots keep them, bad ones are refused, and they help."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from paretozoom import PCZ, ContextualZooming, PaperTask, Random, Refused, Similarity
from paretozoom.metrics import ParetoRegret
from paretozoom.simulation import simulate_in_chunks
from tests.kernels.zooming.test_minima import check_minima
from tests.reference.play import World, play
from tests.reference.problems import PROBLEMS
from tests.reference.zooming import contextual_zooming, pcz


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("scale", [0.5, 3.0, 20.0])
def test_twins(name: str, scale: float) -> None:
    problem = PROBLEMS[name]
    for policy_type, twin_type, confidence in (
        (PCZ, pcz.PCZ, 0.05),
        (ContextualZooming, contextual_zooming.ContextualZooming, 0.03),
    ):
        arguments = {"horizon": 1000, "confidence": confidence, "similarity": {"scale": scale}, "seed": 7}
        players = [policy_type(problem, **arguments), twin_type(problem, **arguments)]
        play(players, World(problem, seed=8), 120, scrambled=True)


def test_minima_of_many_balls() -> None:
    """Where the distance is cut at 1, it is still a metric, and the bounds of the index hold."""
    problem = PROBLEMS["plane"]
    policy = PCZ(problem, horizon=1000, confidence=0.002, similarity={"scale": 6.0}, seed=1)
    play([policy], World(problem, seed=2), 1000, scrambled=False)
    assert len(policy.balls.radius) > 256
    check_minima(policy)


def test_the_distance_is_cut_at_one() -> None:
    similarity = Similarity.of(PROBLEMS["plane"], scale=4.0)
    apart = similarity.distances(np.array([[0.0, 0.0]]), np.array([[0.1, 0.0], [1.0, 1.0], [0.0, 0.0]]))
    assert apart.tolist() == [[pytest.approx(0.4 / 2**0.5), 1.0, 0.0]]


def test_a_triangle_has_no_short_cut() -> None:
    points = np.random.default_rng(0).random((60, 2))
    apart = Similarity.of(PROBLEMS["plane"], scale=2.5).distances(points, points)
    assert (apart[:, None, :] <= apart[:, :, None] + apart[None, :, :] + 1e-12).all()
    assert apart.max() == 1


def test_snapshots_keep_the_scale() -> None:
    problem = PROBLEMS["plane"]
    policy = PCZ(problem, horizon=100, similarity=Similarity.of(problem, scale=3))
    assert policy.parameters["similarity"] == {"scale": 3.0}
    PCZ(problem, horizon=100, similarity={"scale": 3.0}).load(policy.dump())
    with pytest.raises(Refused, match="parameters"):
        PCZ(problem, horizon=100).load(policy.dump())


@pytest.mark.parametrize(
    "similarity",
    [{"scale": 0}, {"scale": "x"}, {"scale": float("nan")}, {"skale": 1}, 3, Similarity.of(PROBLEMS["labels"])],
)
def test_bad_similarities_are_refused(similarity: Any) -> None:
    with pytest.raises(Refused, match="similarity"):
        PCZ(PROBLEMS["plane"], horizon=100, similarity=similarity)


def test_a_true_scale_makes_the_paper_s_task_learnable() -> None:
    """The truth is 9.06; a run with it and the noise of rewards in [0, 1] has far less regret than without."""
    task, rounds, regrets = PaperTask(), 30_000, {}
    for name, policy in {
        "random": Random(task.problem),
        "plain": PCZ(task.problem, horizon=rounds, noise=0.5, confidence=0.2),
        "scaled": PCZ(task.problem, horizon=rounds, noise=0.5, confidence=0.2, similarity={"scale": 9.06}),
    }.items():
        metric = ParetoRegret(task, rounds)
        for played in simulate_in_chunks(policy, task, rounds, seed=3):
            metric.update(played)
        regrets[name] = metric.result()["regret"]
    assert regrets["scaled"] < 0.8 * regrets["plain"] < 0.8 * regrets["random"], regrets
