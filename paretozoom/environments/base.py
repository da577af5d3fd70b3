"""Tasks with known truth: mean, front and gap of any context and arm.

A task is a subclass with a problem and one compiled function, `mean(world, point, out)`; whatever it can say
in closed form it overrides, the rest is found on a fine grid of arms.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from paretozoom.dimensions import Finite, Floats, Ints
from paretozoom.environments.cells import ContextCells
from paretozoom.kernels import world
from paretozoom.kernels.fuse import fuse
from paretozoom.kernels.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.pareto import mark_front
from paretozoom.problem import Problem
from paretozoom.records import Decision, Refused, Values, checked_seed
from paretozoom.similarity import Similarity

Bools = npt.NDArray[np.bool_]
GRID = 2001  # arms of the grid on which truth without a closed form is sought
BINS = 6
SLICES = 20
CELL_SAMPLE = 4_000

TRUTH = """
@kernel
def means(world, points, out):
    for k in range(len(points)):
        mean(world, points[k], out[k])


@kernel
def line(world, point, context, grid, out):
    for arm in range(len(grid)):
        point[context:] = grid[arm]
        mean(world, point, out[arm])


@kernel
def gaps(world, points, context, grid, own, out):
    point = np.empty(points.shape[1])
    other = np.empty(own.shape[1])
    for k in range(len(points)):
        point[:] = points[k]
        largest = 0.0
        for arm in range(len(grid)):
            point[context:] = grid[arm]
            mean(world, point, other)
            smallest = np.inf
            for o in range(len(other)):
                smallest = min(smallest, other[o] - own[k, o])
            largest = max(largest, smallest)
        out[k] = largest


@kernel
def optimal(world, points, context, grid, own, out):
    point = np.empty(points.shape[1])
    other = np.empty(own.shape[1])
    for k in range(len(points)):
        point[:] = points[k]
        out[k] = True
        for arm in range(len(grid)):
            point[context:] = grid[arm]
            mean(world, point, other)
            less, more = False, False
            for o in range(len(other)):
                less = less or other[o] < own[k, o]
                more = more or other[o] > own[k, o]
            if more and not less:
                out[k] = False
                break
"""


class Task:
    """An environment that draws contexts uniformly, and rewards with known means from the seed and the round alone.

    >>> from paretozoom.environments import PaperTask
    >>> task = PaperTask()
    >>> round(task.gap([0.5], [0.3]), 9), task.optimal([0.5], [0.5])
    (0.25, True)
    """

    name: ClassVar[str]
    mean_kernel: ClassVar[Callable[..., None]]

    def __init__(
        self,
        problem: Problem,
        *,
        world: Floats | None = None,
        noise: Literal["bernoulli", "gaussian"] = "bernoulli",
        spread: float = 0.0,
    ) -> None:
        if noise not in ("bernoulli", "gaussian"):
            raise Refused(f"noise: {noise!r} is not 'bernoulli' or 'gaussian'")
        for objective in problem.objectives:
            if noise == "gaussian" and objective.bounded:
                raise Refused(
                    f"objectives[{objective.name!r}]: bounded, but Gaussian rewards are not; use bounded=False"
                )
        self.problem = problem
        self.world = np.zeros(0) if world is None else np.asarray(world, float)
        self.noise = noise
        self.spread = float(spread)
        self.reset(0)

    # The environment.

    def reset(self, seed: int) -> None:
        """Begin again, with the luck of a seed."""
        self.key: Ints = np.random.SeedSequence(checked_seed(seed)).generate_state(2, np.uint64).view(np.int64)
        self.observed = 0

    def observe(self) -> dict[str, Any]:
        """The context of the next round."""
        point = np.empty(self.problem.dim)
        encoding = self.problem.encoding
        key0, key1 = self.key
        world.draw_context(key0, key1, self.observed, encoding.values, encoding.context, point)
        self.observed += 1
        return self.problem.decode_context(point)

    def respond(self, decision: Decision) -> dict[str, float]:
        """The reward of a decision; its luck depends on the decision's number, not on the order of calls."""
        point = np.empty(self.problem.dim)
        self.problem.encode_context(decision.context, point)
        self.problem.encode_arm(decision.arm, point)
        mean, reward = np.empty(len(self.problem.objectives)), np.empty(len(self.problem.objectives))
        type(self).mean_kernel(self.world, point, mean)
        key0, key1 = self.key
        world.draw_reward(key0, key1, decision.number, self.noise_kind, self.spread, mean, reward)
        return self.problem.decode_reward(reward)

    @property
    def noise_kind(self) -> int:
        """The kernel's number for the noise."""
        return world.GAUSSIAN if self.noise == "gaussian" else world.BERNOULLI

    @property
    def noise_scale(self) -> float:
        """The sub-Gaussian scale of the scaled rewards: the spread, or 1/2 for Bernoulli."""
        return self.spread if self.noise == "gaussian" else 0.5

    # The truth about one context and arm, in the user's units.

    def mean(self, context: Values, arm: Any) -> dict[str, float]:
        """The expected reward of an arm."""
        return self.problem.decode_reward(self.means(self._point(context, arm))[0])

    def gap(self, context: Values, arm: Any) -> float:
        """The Pareto suboptimality gap of an arm, in scaled rewards."""
        return float(self.gaps(self._point(context, arm))[0])

    def optimal(self, context: Values, arm: Any) -> bool:
        """Whether an arm is Pareto optimal."""
        return bool(self.are_optimal(self._point(context, arm))[0])

    def front(self, context: Values) -> list[Any]:
        """The Pareto optimal arms: finite arms, or (low, high) intervals of a one-dimensional arm."""
        point = np.empty(self.problem.dim)
        self.problem.encode_context(context, point)
        if len(self.problem.encoding.arms):
            return [self.problem.decode_arm(k, p) for k, p in self._optimal_arms(point)]
        assert not isinstance(self.problem.arm, Finite)
        decode = self.problem.arm[0].decode
        return [(decode(low), decode(high)) for low, high in self.front_intervals(point[None])[0]]

    def _point(self, context: Values, arm: Any) -> Floats:
        point = np.empty((1, self.problem.dim))
        self.problem.encode_context(context, point[0])
        self.problem.encode_arm(arm, point[0])
        return point

    # The truth about many encoded points (n, dim).

    def means(self, points: Floats) -> Floats:
        """Expected rewards, oriented and scaled: (n, objectives)."""
        out = np.empty((len(points), len(self.problem.objectives)))
        self._truth.means(self.world, np.ascontiguousarray(points), out)
        return out

    @property
    def _truth(self) -> ModuleType:
        return fuse(TRUTH, mean=type(self).mean_kernel)

    @property
    def gap_error(self) -> float:
        """By how much `gaps` can be too small: the arms between grid points, under Assumption 1; 0 if exact."""
        if len(self.problem.encoding.arms):
            return 0.0
        doubled = 2.0 if self.problem.encoding.kinds[-1] == PERIODIC else 1.0
        return doubled * 0.5 / (GRID - 1) / float(np.sqrt(self.problem.dim))

    def gaps(self, points: Floats) -> Floats:
        """Pareto suboptimality gaps: max over arms y' of min over objectives of mu(y') - mu(y), at least 0."""
        out = np.empty(len(points))
        points = np.ascontiguousarray(points)
        self._truth.gaps(self.world, points, self.problem.encoding.context, self._arm_grid(), self.means(points), out)
        return out

    def are_optimal(self, points: Floats) -> Bools:
        """Exact membership of the Pareto set where it is known or finite, else among the arms of the grid."""
        out = np.empty(len(points), np.bool_)
        points = np.ascontiguousarray(points)
        self._truth.optimal(
            self.world, points, self.problem.encoding.context, self._arm_grid(), self.means(points), out
        )
        return out

    def front_intervals(self, points: Floats) -> list[list[tuple[float, float]]]:
        """The Pareto set above each point's context, as intervals of the one arm coordinate."""
        grid = self._arm_grid()
        vectors = np.empty((len(grid), len(self.problem.objectives)))
        marks = np.zeros(len(grid) + 2, np.int64)
        found = []
        for point in points:
            self._truth.line(self.world, point.copy(), self.problem.encoding.context, grid, vectors)
            # From the best of the first objective down, ties by the others: what dominates a vector comes before it.
            order = np.lexsort(vectors.T[::-1])[::-1]
            best = np.zeros(2 * len(grid), np.int64)
            mark_front(vectors[order].ravel(), 0, vectors.shape[1], best, 0, len(grid), len(grid))
            marks[1:-1][order] = best[: len(grid)]
            starts, ends = np.flatnonzero(np.diff(marks) == 1), np.flatnonzero(np.diff(marks) == -1) - 1
            found.append([(float(grid[a, 0]), float(grid[b, 0])) for a, b in zip(starts, ends, strict=True)])
        return found

    @property
    def bins(self) -> int:
        """How many fairness bins there are: six, or one per finite arm."""
        return len(self.problem.encoding.arms) or BINS

    def bin_of(self, points: Floats, arms: Ints) -> Ints:
        """The fairness bin of each point: an equal part of the Pareto set, or the finite arm; -1 if not optimal."""
        inside = self.are_optimal(points)
        if len(self.problem.encoding.arms):
            return np.where(inside, arms, -1)
        bins = np.full(len(points), -1, np.int64)
        chosen = np.flatnonzero(inside)
        for k, intervals in zip(chosen, self.front_intervals(points[chosen]), strict=True):
            total = sum(high - low for low, high in intervals)
            arm = points[k, self.problem.encoding.context]
            below = sum(min(max(arm - low, 0.0), high - low) for low, high in intervals)
            bins[k] = min(int(BINS * below / total), BINS - 1) if total > 0 else 0
        return bins

    def slice_of(self, points: Floats) -> Ints:
        """The context slice of each point, for what is measured per context.

        20 equal parts of a single number, 20 k-means cells of several coordinates or of categories, fixed per task.
        """
        encoding = self.problem.encoding
        if encoding.context == 0:
            return np.zeros(len(points), np.int64)
        if encoding.context == 1 and encoding.kinds[0] != CATEGORICAL:
            return np.minimum((points[:, 0] * SLICES).astype(np.int64), SLICES - 1)
        return self._context_cells.find(points)

    @cached_property
    def _context_cells(self) -> ContextCells:
        encoding = self.problem.encoding
        contexts = self._random_points(CELL_SAMPLE, np.random.default_rng(0))
        return ContextCells(contexts, encoding.kinds[: encoding.context], encoding.values, SLICES)

    def lipschitz(self, pairs: int = 20_000, seed: int = 0) -> float:
        """The largest |mu - mu'| / D seen over random pairs, near and far: at most 1 under Assumption 1."""
        rng = np.random.default_rng(seed)
        a = self._random_points(pairs, rng)
        b = self._random_points(pairs, rng)
        near = rng.random(pairs) < 0.5
        real = np.flatnonzero(self.problem.encoding.values == 0)
        if not len(self.problem.encoding.arms):
            step = rng.normal(0, 0.01, (pairs, len(real)))
            b[np.ix_(near, real)] = np.clip(a[np.ix_(near, real)] + step[near], 0, 1)
        similarity = Similarity.of(self.problem)
        apart = similarity.between(a, b)
        change = np.abs(self.means(a) - self.means(b)).max(axis=1)
        return float(np.max(change[apart > 1e-9] / apart[apart > 1e-9]))

    def _random_points(self, n: int, rng: np.random.Generator) -> Floats:
        encoding = self.problem.encoding
        draws = rng.random((n, self.problem.dim))
        points = np.empty_like(draws)
        for j, values in enumerate(encoding.values):
            if values == 0:
                points[:, j] = draws[:, j]
            else:
                chosen = np.floor(draws[:, j] * abs(values))
                points[:, j] = chosen / (values - 1) if values > 0 else chosen
        if len(encoding.arms):
            points[:, encoding.context :] = encoding.arms[rng.integers(len(encoding.arms), size=n)]
        return points

    def _arm_grid(self) -> Floats:
        encoding = self.problem.encoding
        if len(encoding.arms):
            return encoding.arms
        if self.problem.dim - encoding.context != 1:
            raise Refused(f"{self.name}: its truth is known for one-dimensional and finite arms only")
        return np.linspace(0.0, 1.0, GRID)[:, None]

    def _optimal_arms(self, point: Floats) -> list[tuple[int, Floats]]:
        arms = self.problem.encoding.arms
        points = np.repeat(point[None], len(arms), axis=0)
        points[:, self.problem.encoding.context :] = arms
        return [(int(k), points[k]) for k in np.flatnonzero(self.are_optimal(points))]
