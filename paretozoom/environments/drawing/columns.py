"""How the contexts of a drawn task are made: numbers alone or by topics, waves, categories."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from paretozoom.environments.drawing import world
from paretozoom.problem.dimensions import Categorical, Floats, Real

TOPICS, FACTORS = 6, 4
MOST_LEVELS = 30


class Columns(NamedTuple):
    """The columns of a context: dimensions of a problem, how they are drawn, and what they tell."""

    dimensions: list[Any]
    rows: Floats  # (columns, world.COLUMN)
    tables: Floats  # the signs of categories, one table after the other
    places: Floats  # (topics, columns), where topics lie, and (factors, columns), how factors move


def draw_columns(rng: np.random.Generator, numbers: int, categories: int, periodic: bool) -> Columns:
    """Columns of a task: numbers, of which the first may be a time of day, and categories.

    >>> columns = draw_columns(np.random.default_rng(0), 3, 1, periodic=True)
    >>> [type(dimension).__name__ for dimension in columns.dimensions], columns.rows.shape
    (['Real', 'Real', 'Real', 'Categorical'], (4, 5))
    """
    n = numbers + categories
    rows, tables = np.zeros((n, world.COLUMN)), [np.zeros(0)]
    dimensions: list[Any] = []
    how = rng.choice(["uniform", "skewed", "topics"]) if numbers < 8 else rng.choice(["uniform", "topics", "topics"])
    for j in range(numbers):
        is_wave = periodic and j == 0
        dimensions.append(Real(f"x{j + 1}", periodic=is_wave))
        power = rng.uniform(1.5, 3.0) if how == "skewed" and not is_wave else 1.0
        noise = rng.uniform(0.15, 0.4) if how == "topics" and not is_wave else -1.0
        rows[j] = (world.WAVE if is_wave else world.NUMBER, power, rng.random(), 0, noise)
    for j in range(numbers, n):
        levels = int(np.exp(rng.uniform(np.log(2), np.log(MOST_LEVELS + 1))))
        dimensions.append(Categorical(f"c{j - numbers + 1}", [f"v{k}" for k in range(levels)]))
        rows[j] = (world.TABLE, rng.choice([1.0, 2.0]), levels, sum(map(len, tables)), -1.0)
        tables.append(rng.normal(size=levels))
    centres = rng.uniform(0.3, 0.7, (TOPICS, n))
    loads = rng.normal(0, 0.35, (FACTORS, n))
    return Columns(dimensions, rows, np.concatenate(tables), np.concatenate([centres, loads]))


def draw_weights(rng: np.random.Generator, numbers: int, n: int, indices: int) -> Floats:
    """How much each column counts for each index: all columns of numbers, or a few of them; each index varies by 1.

    >>> weights = draw_weights(np.random.default_rng(0), 8, 8, 3)
    >>> weights.shape, bool(np.allclose((weights**2).sum(axis=1), 1))
    ((3, 8), True)
    """
    some = n if rng.random() < 0.4 else min(n, int(rng.integers(1, 5)))
    matter = np.zeros(n, bool)
    matter[rng.choice(n, some, replace=False)] = True
    matter[numbers:] |= rng.random(n - numbers) < 0.8
    weights = np.where(matter, rng.normal(size=(indices, n)), 0.0)
    norm = np.sqrt((weights**2).sum(axis=1, keepdims=True))
    return np.asarray(weights / np.where(norm > 0, norm, 1.0))
