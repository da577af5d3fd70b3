"""A ParetoZoom that was told of random places, and a twin with the same bases, trend and levels, but no blocks yet."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretozoom import ParetoZoom, Problem
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.pareto_zoom import pareto_zoom, pyramid
from tests.reference import pareto_zoom as slow


def places(problem: Problem, n: int, rng: np.random.Generator) -> Any:
    """(n, coordinates) Random contexts and arms, encoded; arms without a meaning if they are finitely many."""
    points, encoding = rng.random((n, problem.dim)), problem.encoding
    for j in np.flatnonzero(encoding.kinds == CATEGORICAL):
        points[:, j] = rng.integers(max(1, abs(encoding.values[j])), size=n)
    return points


def fed(problem: Problem, n: int, seed: int) -> tuple[ParetoZoom, slow.ParetoZoom]:
    """Both were told the same n rewards."""
    policy, twin, rng = ParetoZoom(problem), slow.ParetoZoom(problem), np.random.default_rng(seed)
    f, i, arms = policy._floats, policy._ints, problem.encoding.arms
    twin.due = n + 1  # so that no estimates are made
    for number, point in enumerate(places(problem, n, rng)):
        arm = int(rng.integers(len(arms))) if len(arms) else -1
        if arm >= 0:
            point[twin.first :] = arms[arm]
        waves = math.sin(5.0 * point.sum()) + 0.3 * np.arange(twin.learned)
        reward = waves + 0.1 * rng.standard_normal(twin.learned)
        f, i = pareto_zoom.room(f, i)
        pareto_zoom.tell(f, i, number, point, arm, reward, 0)
        twin.learn_at(point.tolist(), arm, reward.tolist())
    policy._floats, policy._ints = f, i
    at, d, coordinates = pyramid.pyramid(i), twin.learned, len(twin.bits)
    twin.noise = f[at.noise :][:d].tolist()
    twin.uses_trend, twin.trend = bool(i[pyramid.USES_TREND]), f[at.trend : at.missed].reshape(d, -1).tolist()
    twin.rest = {digits: twin._rest(digits, base) for digits, base in twin.bases.items()}
    for k in range(i[pyramid.LEVELS]):
        depth = tuple(i[at.depth + k * coordinates :][:coordinates].tolist())
        twin.levels.append(twin._level(int(i[at.inner + k]), int(i[at.outer + k]), depth))
        twin.roughness.append(f[at.roughness + k * d :][:d].tolist())
    return policy, twin
