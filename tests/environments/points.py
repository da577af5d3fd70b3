"""What several tests of tasks need: points, and how fine a grid is."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.environments.base import Task
from paretozoom.environments.shapes.grid import GRID
from paretozoom.problem.dimensions import Floats

PAPER_LIPSCHITZ = 5 * math.sqrt(1.64) * math.sqrt(2)  # 9.0554


def grid_error(task: Task, lipschitz: float) -> float:
    """How far below the truth a gap on the grid of arms can be."""
    return 0.5 / (GRID - 1) / math.sqrt(task.problem.dim) * lipschitz


def random_points(n: int, seed: int = 0) -> Floats:
    """Points of the unit square."""
    return np.random.default_rng(seed).random((n, 2))
