"""The one protocol all rivals speak, and what they share: arms on a grid, cells of contexts, one number per reward.

Inside, a context is its encoded coordinates. An arm is the number of one of `arms`, or a place among continuous arms.
"""

from __future__ import annotations

import itertools
import math
from importlib.metadata import PackageNotFoundError, version
from typing import Any, ClassVar

import numpy as np

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats

LINE_ARMS = 32  # that stand in for a continuum of arms
SPACE_ARMS = 64  # ... in two dimensions or more
Settings = dict[str, dict[str, Any]]


class Rival:
    """A system that chooses arms and learns from rewards.

    A subclass gives its `name`, the `package` it comes from, three `settings` (label -> arguments of `__init__`),
    its `pilot`, the runs that each setting has time for at a horizon where that is less than usual, and the `longest`
    horizon it is made for. Rewards come oriented and scaled: in [0, 1], where unbounded ones are standardised by what
    was seen so far; or as the problem scales them if `wants_raw`.
    """

    name: ClassVar[str]
    package: ClassVar[str]
    settings: ClassVar[Settings]
    pilot: ClassVar[dict[int, int]] = {}
    longest: ClassVar[int] = 100_000
    speed: ClassVar[float] = 10_000.0  # decisions per second, roughly: what is cheap is played first
    wants_raw: ClassVar[bool] = False

    def __init__(self, problem: Problem, horizon: int, seed: int) -> None:
        self.problem = problem
        self.horizon = horizon
        self.rng = np.random.default_rng(seed)
        self.objectives = len(problem.objectives)
        self.arms = arms_of(problem)

    @classmethod
    def plays(cls, problem: Problem) -> bool:
        """Whether it can be asked about such a problem at all."""
        return True

    @classmethod
    def version(cls) -> str | None:
        """The package and its version; None if it is not installed."""
        try:
            return f"{cls.package} {version(cls.package)}"
        except PackageNotFoundError:
            return None

    def choose(self, context: Floats) -> int | Floats:
        """The arm to play in a context."""
        raise NotImplementedError

    def learn(self, context: Floats, arm: int | Floats, reward: Floats) -> None:
        """Take in the reward of an arm that was chosen."""
        raise NotImplementedError


def is_continuous(problem: Problem) -> bool:
    """Whether every arm coordinate is a real number.

    >>> from paretozoom import Catalogue, PaperTask
    >>> is_continuous(PaperTask().problem), is_continuous(Catalogue().problem)
    (True, False)
    """
    return not len(problem.encoding.arms) and not problem.encoding.values[problem.encoding.context :].any()


def arms_of(problem: Problem, line: int = LINE_ARMS) -> Floats:
    """The problem's finite arms, or the centres of equal cells: 32 on a line, 64 in all in several dimensions.

    >>> from paretozoom import Boxes, PaperTask
    >>> arms_of(PaperTask().problem)[:2].tolist(), len(arms_of(Boxes().problem))
    ([[0.015625], [0.046875]], 64)
    """
    encoding = problem.encoding
    if len(encoding.arms):
        return encoding.arms
    values = encoding.values[encoding.context :].tolist()
    real = values.count(0)
    each = line if len(values) == 1 else max(2, round((SPACE_ARMS * line / LINE_ARMS) ** (1 / max(real, 1))))
    columns = [(np.arange(each) + 0.5) / each if v == 0 else _places(v) for v in values]
    return np.array(list(itertools.product(*columns)))


def _places(values: int) -> Floats:
    return np.arange(-values, dtype=float) if values < 0 else np.arange(values, dtype=float) / (values - 1)


class Cells:
    """About so many equal cells of contexts: as many along each coordinate, but a category is a cell of its own.

    >>> from paretozoom import Boxes, PaperTask
    >>> Cells(PaperTask().problem, 16).count, Cells(Boxes().problem, 16).count
    (16, 27)
    >>> Cells(PaperTask().problem, 16).find(np.array([0.99]))
    15
    """

    def __init__(self, problem: Problem, about: int) -> None:
        values = problem.encoding.values[: problem.encoding.context]
        categories = math.prod((-values[values < 0]).tolist())
        numbers = int((values >= 0).sum())
        each = max(2, math.floor((about / categories) ** (1 / max(numbers, 1)) + 0.5)) if numbers else 1
        self.parts = np.where(values < 0, -values, each)
        self.categorical = values < 0
        self.count = math.prod(self.parts.tolist())

    def find(self, context: Floats) -> int:
        """The number of a context's cell."""
        place = 0
        for parts, categorical, value in zip(self.parts.tolist(), self.categorical, context.tolist(), strict=True):
            place = place * parts + (int(value) if categorical else min(int(value * parts), parts - 1))
        return place


def features_of(problem: Problem, context: Floats, squares: bool = False) -> list[float]:
    """A context as numbers for a linear model: 1, the coordinates (a category as its indicators), their squares.

    >>> from paretozoom import Devices
    >>> features_of(Devices().problem, np.array([2.0, 0.5]))
    [1.0, 0.0, 0.0, 1.0, 0.0, 0.5]
    """
    found = [1.0]
    for values, value in zip(problem.encoding.values.tolist(), context.tolist(), strict=False):
        if values < 0:
            found += [float(k == int(value)) for k in range(-values)]
        else:
            found += [value, value * value] if squares else [value]
    return found


class UnitRewards:
    """Rewards in [0, 1]: bounded ones are there already, others are standardised by what was seen so far.

    An unbounded reward that is the mean of those before it becomes 1/2, one that is two standard deviations above it 1.

    >>> from paretozoom import PaperTask
    >>> UnitRewards(PaperTask().problem).scaled(np.array([1.0, 0.0])).tolist()
    [1.0, 0.0]
    """

    def __init__(self, problem: Problem) -> None:
        self.unbounded = np.array([not objective.bounded for objective in problem.objectives])
        self.seen = 0
        self.mean = np.zeros(len(self.unbounded))
        self.squares = np.zeros(len(self.unbounded))

    def scaled(self, reward: Floats) -> Floats:
        """A reward in [0, 1]."""
        if not self.unbounded.any():
            return reward
        self.seen += 1
        step = reward - self.mean
        self.mean = self.mean + step / self.seen
        self.squares = self.squares + step * (reward - self.mean)
        spread = np.sqrt(np.maximum(self.squares / self.seen, 1e-12))
        return np.where(self.unbounded, np.clip(0.5 + (reward - self.mean) / (4 * spread), 0.0, 1.0), reward)


def chebyshev(values: Floats, rng: np.random.Generator) -> int:
    """The row nearest to the best of each objective, the farthest objective counting, under random weights.

    >>> chebyshev(np.array([[0.0, 0.0], [1.0, 1.0]]), np.random.default_rng(0))
    1
    """
    best = values.max(axis=0)
    short = (best - values) / np.maximum(best - values.min(axis=0), 1e-12)
    return int((rng.dirichlet(np.ones(values.shape[1])) * short).max(axis=1).argmin())
