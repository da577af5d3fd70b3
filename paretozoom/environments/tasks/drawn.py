"""Tasks drawn at random: a distribution of problems instead of a list of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from paretozoom.environments.base import Task, checked_count
from paretozoom.environments.drawing import world
from paretozoom.environments.drawing.columns import FACTORS, TOPICS, Columns, draw_columns, draw_weights
from paretozoom.environments.drawing.shapes import SHAPES, Means
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Objective
from paretozoom.records import Refused

GRID = 200  # arms among which the truth is sought
LEAST_CONSTANT = 0.2  # of random play's regret, that the best constant arm has
OPTIMAL = 0.02, 0.6  # the share of arms that are optimal, in the mean over contexts
LEAST_CHOICE = 0.3  # the share of contexts with more than one optimal arm
LOOKED_AT = 100  # contexts
MOST_DRAWS = 1000


class Drawn(Task):
    """A task drawn at random. The same seed and shape are always the same task.

    Contexts have 1 to 64 numbers, uniform, skewed, or correlated as those of topics are; there may be a time of day and
    categories of 2 to 30 levels. Few or many of them matter. Objectives are 2 to 4, with Bernoulli rewards of rates
    from 1 % on, or Gaussian or Student's noise. By `shape`, arms are "labels" with logistic linear forms, "items" with
    features, "ridges", "smooth" waves or "boxes" over a line or a plane, "prices" against demand, or "mixed" of a
    label and a number. Without a shape that is drawn, too.

    A task is drawn anew until a choice is worth learning: the best constant arm has at least a fifth of random play's
    regret, 2 to 60 % of arms are optimal, and three contexts in ten have more than one optimal arm.

    >>> task = Drawn(3, "labels")
    >>> task.shape, len(task.problem.arm.labels), len(task.problem.context), len(task.problem.objectives)
    ('labels', 27, 15, 2)
    """

    name = "drawn"
    grid_arms = GRID
    mean_kernel = world.mean
    context_kernel = world.context
    spread_kernel = world.spread

    def __init__(self, seed: int = 0, shape: str | None = None) -> None:
        checked_count(seed, "seed", 0)
        if shape is not None and shape not in SHAPES:
            raise Refused(f"shape: {shape!r}, expected one of {', '.join(SHAPES)}")
        first = np.random.default_rng([seed, 0])
        self.shape = str(first.choice(list(SHAPES))) if shape is None else shape
        for attempt in range(MOST_DRAWS):
            self._draw(np.random.default_rng([seed, list(SHAPES).index(self.shape), attempt]))
            if self._is_worth_learning():
                self.reset(0)
                return
        raise Refused(f"seed: {seed} gives no task of shape {self.shape!r} that is worth learning")

    def _draw(self, rng: np.random.Generator) -> None:
        """Draw a task."""
        size, draw = SHAPES[self.shape]
        low, high = size.numbers
        numbers = int(np.exp(rng.uniform(math.log(low), math.log(high + 1))))
        categories = int(rng.choice([0, 0, 0, 1, 2])) if self.shape != "boxes" else 0
        columns = draw_columns(rng, numbers, categories, periodic=bool(rng.random() < 0.2))
        n, d = len(columns.dimensions), int(rng.choice([2, 2, 3, 4]))
        d = min(d, 3) if self.shape == "prices" else d
        k = int(rng.integers(size.indices[0], size.indices[1] + 1))
        weights = draw_weights(rng, numbers, n, k)
        means = draw(rng, d, k, n)
        noise = str(rng.choice(["bernoulli", "bernoulli", "gaussian", "student"]))
        scales = _draw_scales(rng, d, noise)
        spreads = np.where(rng.random(d) < 0.5, 0.3, 0.1) * scales[:, 1] * rng.uniform(0.5, 2.0)
        quiet = rng.uniform(0.1, 0.5) if noise == "gaussian" and rng.random() < 0.3 else 1.0
        goals = rng.choice(["max", "max", "min"], d)
        problem = Problem(
            context=columns.dimensions,
            arm=means.arm,
            objectives=[
                Objective(f"r{o + 1}", goal=str(goals[o]), bounded=noise == "bernoulli")  # type: ignore[arg-type]
                for o in range(d)
            ],
        )
        spread: Any = 0.0 if noise == "bernoulli" else spreads.tolist()
        table = _world(problem, columns, weights, means, scales, np.append(spreads, quiet))
        super().__init__(problem, world=table, noise=noise, spread=spread)  # type: ignore[arg-type]
        self.__dict__.pop("_grid", None)

    def empty_draws(self) -> Floats:
        """Room for the uniform numbers that a context is made of."""
        return np.empty(1 + FACTORS + self.problem.encoding.context)

    def _is_worth_learning(self) -> bool:
        """Whether the best arm depends on the context, and there is more than one."""
        grid = self._grid
        contexts = self.sample(LOOKED_AT, np.random.default_rng(0))[:, : self.problem.encoding.context]
        optimal, gaps = np.empty((LOOKED_AT, len(grid)), bool), np.empty((LOOKED_AT, len(grid)))
        for k, context in enumerate(contexts):
            vectors = self.means(np.concatenate([np.tile(context, (len(grid), 1)), grid], axis=1))
            world.judge(vectors, optimal[k], gaps[k])
        share = float(optimal.mean())
        has_choice = float((optimal.sum(axis=1) > 1).mean())
        constant = float(gaps.mean(axis=0).min() / max(1e-12, gaps.mean()))
        return constant >= LEAST_CONSTANT and OPTIMAL[0] <= share <= OPTIMAL[1] and has_choice >= LEAST_CHOICE


def _draw_scales(rng: np.random.Generator, d: int, noise: str) -> Floats:
    """The floor and the height of the means of each objective: rates may be low, and a cost may hardly vary."""
    height = (
        np.exp(rng.uniform(math.log(0.02), math.log(0.9), d))
        if noise == "bernoulli" and rng.random() < 0.4
        else (rng.uniform(0.4, 0.9, d))
    )
    floor = height * rng.uniform(0.0, 0.2, d)
    if rng.random() < 0.2:
        height[-1], floor[-1] = rng.uniform(0.02, 0.1), rng.uniform(0.3, 0.7)
    return np.stack([np.minimum(floor, 1.0 - height), height], axis=1)


def _world(
    problem: Problem, columns: Columns, weights: Floats, means: Means, scales: Floats, spreads: Floats
) -> Floats:
    """The task as one array: a head, then the tables that it points to."""
    n, k = weights.shape[1], len(weights)
    rows = columns.rows.copy()
    last = np.append(np.full(n, np.nan), np.zeros(1 + k))
    tables = [rows.ravel(), weights.ravel(), scales.ravel(), means.own, columns.places.ravel(), spreads, last]
    starts = world.HEAD + np.cumsum([0, *map(len, tables)])
    rows[:, world.START] += starts[-1]  # the tables of categories come last
    arms = problem.dim - n
    head = [means.kind, n, k, len(problem.objectives), arms, means.labels, TOPICS, FACTORS, *starts[:-1]]
    return np.concatenate([head, rows.ravel(), *tables[1:], columns.tables])
