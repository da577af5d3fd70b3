"""The standard errors that a front shows: how often intervals around shown means hold the truth."""

from __future__ import annotations

import math

import numpy as np
import pytest

from paretozoom import Drawn, ParetoZoom, simulate_in_chunks
from paretozoom.environments.drawing.shapes import SHAPES
from paretozoom.kernels.pareto_zoom import chooser, policy
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.problem.dimensions import Floats
from paretozoom.problem.feasible import ANY

HALF = 1.645  # standard errors that hold nine tenths of a normal distribution
AWAY = 0.09  # standard deviation of the share of one task, as measured on 252 others


def shares_held(shape: str, seed: int, rounds: int, contexts: int) -> Floats:
    """After a run: in which share of all arms, and of the arms that would be played, intervals hold the truth."""
    task = Drawn(seed, shape)
    player = ParetoZoom(task.problem, seed=seed)
    for _ in simulate_in_chunks(player, task, rounds, seed=seed):
        pass
    f, i, d = player._floats, player._ints, len(task.problem.objectives)
    first, own, found = m.memory.view("offset", f, i)[:, None], task.problem.encoding.context, []
    for point in task.sample(contexts, np.random.default_rng(seed)):
        rows = policy.look(f, i, -1, point, ANY, False)
        chooser.choose(f, i, rows)
        is_played = m.memory.view("front", f, i)[0, :rows] == 1
        policy.look(f, i, -1, point, ANY, True)
        mean, error = (m.memory.view(name, f, i).ravel()[: d * rows].reshape(d, rows) for name in ("mean", "error"))
        points = np.column_stack([np.tile(point[:own], (rows, 1)), m.memory.view("arm", f, i)[:rows]])
        holds = np.abs(first + mean - task.means(points).T) <= HALF * error
        found.append((holds.mean(), holds[:, is_played].mean()))
    return np.asarray(np.mean(found, axis=0))


def test_intervals_hold_the_truth_nine_times_in_ten() -> None:
    """Two tasks of each shape: the mean of their shares is within three of its standard errors."""
    shares = np.array([shares_held(shape, seed, 400, 10) for shape in SHAPES for seed in (50, 51)])
    assert (np.abs(shares.mean(axis=0) - 0.9) <= 3 * AWAY / math.sqrt(len(shares))).all(), shares.mean(axis=0)


@pytest.mark.proof
@pytest.mark.parametrize(("rounds", "seeds"), [(1_000, range(30, 50)), (10_000, range(30, 46))])
def test_so_they_do_early_and_late_on_every_shape(rounds: int, seeds: range) -> None:
    """85 to 95 % of the time on all tasks, 80 to 97 % on those of a shape; of all arms, and of those on the front."""
    shares = np.array([[shares_held(shape, seed, rounds, 40) for seed in seeds] for shape in SHAPES]).mean(axis=1)
    assert ((shares >= 0.80) & (shares <= 0.97)).all(), dict(zip(SHAPES, shares.round(2).tolist(), strict=True))
    assert (np.abs(shares.mean(axis=0) - 0.9) <= 0.05).all(), shares.mean(axis=0)
