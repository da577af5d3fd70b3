"""Tasks with known truth: mean, front and gap of any context and arm.

A task is a subclass with a problem and one compiled function, `mean(world, point, out)`; whatever it can say
in closed form it overrides, the rest is found on a fine grid of arms.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from paretozoom.environments.shapes.along_front import shares_of_length, shares_of_range
from paretozoom.environments.shapes.cells import ContextCells
from paretozoom.environments.shapes.grid import GRID, arm_grid, half_steps, is_line
from paretozoom.environments.shapes.luck import Luck
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.core.looping import laws_of
from paretozoom.kernels.core.pareto import mark_front
from paretozoom.kernels.tasks import truth, world
from paretozoom.problem import random_points
from paretozoom.problem.dimensions import Finite, Floats, Ints
from paretozoom.records import Refused, Values
from paretozoom.similarity import Similarity

Bools = npt.NDArray[np.bool_]
BINS = 6
SLICES = 20
CELL_SAMPLE = 4_000
ROUNDS = 100_000  # over which what drifts is looked at where one figure is asked for


def checked_count(value: Any, field: str, least: int = 1) -> int:
    """An integer of at least `least`, or a refusal that names the field.

    >>> checked_count(7, "arms")
    7
    """
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < least:
        raise Refused(f"{field}: {value!r} is not an integer of at least {least}")
    return int(value)


class Task(Luck):
    """An environment whose truth is known, and whose contexts and rewards depend on the seed and the round alone.

    >>> from paretozoom.environments import PaperTask
    >>> task = PaperTask()
    >>> round(task.gap([0.5], [0.3]), 9), task.optimal([0.5], [0.5])
    (0.25, True)
    """

    name: ClassVar[str]
    grid_arms: ClassVar[int] = GRID  # among which truth without a closed form is sought, on a line; about, in a space
    _numbers: Ints = np.zeros(1, np.int64)  # the rounds whose truth is asked for

    @property
    def drifts(self) -> bool:
        """Whether the means move with the round."""
        return type(self).move_kernel is not world.stand_still

    def at(self, numbers: int | Ints) -> Self:
        """The task whose truth is that of a round, by the decision's number: one for all points, or one for each.

        A task that does not drift is always itself; one that does is, unless it is asked so, as in round 0.

        >>> from paretozoom.environments import PaperTask
        >>> task = PaperTask()
        >>> task.at(5000) is task
        True
        """
        if not self.drifts:
            return self
        other = copy.copy(self)
        other._numbers = np.atleast_1d(np.asarray(numbers, np.int64))
        return other

    @cached_property
    def gap_scale(self) -> Floats:
        """The unit in which gaps count each scaled objective: 1, unless the problem leaves a scale unknown."""
        return np.ones(len(self.problem.objectives))

    def numbers_for(self, n: int) -> Ints:
        """The rounds of n points."""
        if len(self._numbers) not in (1, n):
            raise Refused(f"numbers: {len(self._numbers)} given for {n} points, expected one, or one for each")
        return self._numbers

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
        """The Pareto optimal arms: finite arms, (low, high) intervals of one real number, or those of a grid."""
        point = np.empty(self.problem.dim)
        self.problem.encode_context(context, point)
        if not is_line(self.problem):
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
        numbers = self.numbers_for(len(points))
        truth.means(laws_of(type(self)), self.world, numbers, np.require(points, float, ["C", "W"]), out)
        return out

    @cached_property
    def _grid(self) -> Floats:
        return arm_grid(self.problem, type(self).grid_arms)

    @property
    def gap_error(self) -> float:
        """By how much `gaps` can be too small: the arms between grid points, under Assumption 1; 0 if exact."""
        steps = half_steps(self.problem, type(self).grid_arms)
        return float(Similarity.of(self.problem).between(np.zeros((1, len(steps))), steps[None])[0])

    def gaps(self, points: Floats) -> Floats:
        """Pareto suboptimality gaps: max over arms y' of min over objectives of mu(y') - mu(y), at least 0.

        Differences are counted in units of `gap_scale`.
        """
        out = np.empty(len(points))
        points, numbers = np.ascontiguousarray(points), self.numbers_for(len(points))
        context, own = self.problem.encoding.context, self.means(points)
        laws = laws_of(type(self))
        truth.gaps(laws, self.world, numbers, points, context, self._grid, own, self.gap_scale, out)
        return out

    def are_optimal(self, points: Floats) -> Bools:
        """Exact membership of the Pareto set where it is known or finite, else among the arms of the grid."""
        out = np.empty(len(points), np.bool_)
        points, numbers = np.ascontiguousarray(points), self.numbers_for(len(points))
        context, own = self.problem.encoding.context, self.means(points)
        truth.optimal(laws_of(type(self)), self.world, numbers, points, context, self._grid, own, out)
        return out

    def front_intervals(self, points: Floats) -> list[list[tuple[float, float]]]:
        """The Pareto set above each point's context, as intervals of the one arm coordinate."""
        if not is_line(self.problem):
            raise Refused(f"arm: the Pareto set of {self.problem.arm!r} is not made of intervals, expected one Real")
        grid = self._grid[:, 0]
        found = []
        for k, point in enumerate(points):
            steps = np.diff(np.pad(self.front_of_grid(point, k)[1].astype(int), 1))
            starts, ends = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
            found.append([(float(grid[a]), float(grid[b])) for a, b in zip(starts, ends, strict=True)])
        return found

    def front_pieces(self, points: Floats) -> tuple[Ints, Floats]:
        """The intervals of all points as rows of one array, and where those of each point begin, and at last end."""
        found = self.front_intervals(points)
        offsets = np.concatenate([[0], np.cumsum([len(intervals) for intervals in found])]).astype(np.int64)
        return offsets, np.array([ends for intervals in found for ends in intervals], float).reshape(-1, 2)

    def front_of_grid(self, point: Floats, k: int = 0) -> tuple[Floats, Bools]:
        """The means of the grid's arms at the context of the k-th point, and which of them no other one dominates."""
        grid = self._grid
        vectors = np.empty((len(grid), len(self.problem.objectives)))
        number = self._numbers[k % len(self._numbers)]
        laws, context = laws_of(type(self)), self.problem.encoding.context
        truth.line(laws, self.world, number, point.copy(), context, grid, vectors)
        # From the best of the first objective down, ties by the others: what dominates a vector comes before it.
        order = np.lexsort(vectors.T[::-1])[::-1]
        best = np.zeros(2 * len(grid), np.int64)
        mark_front(vectors[order].T.ravel(), 0, vectors.shape[1], best, 0, len(grid), len(grid))
        marks = np.zeros(len(grid), np.bool_)
        marks[order] = best[: len(grid)] == 1
        return vectors, marks

    @property
    def bins(self) -> int:
        """How many fairness bins there are: six, or one per finite arm."""
        return len(self.problem.encoding.arms) or BINS

    def bin_of(self, points: Floats, arms: Ints) -> Ints:
        """The fairness bin of each point: the finite arm, or an equal part of the Pareto set; -1 if not optimal.

        Arms on a line are parted in their own order, arms in a space in the order of the first objective.
        """
        share = type(self)._share_of_intervals if is_line(self.problem) else type(self)._share_of_grid
        return self._parts(points, arms, share)

    def front_bin_of(self, points: Floats, arms: Ints) -> Ints:
        """The part of the front in objective space that each point is in: as `bin_of`, but in parts of equal length.

        Each objective is divided by its range over the context's front. Arms on a line are parted in their own order,
        by the length of the curve that their means draw; arms in a space by the range of the first objective. Finite
        arms are bins of their own here too. -1 also where the front is a single vector: nothing can be spread on it.

        >>> from paretozoom.environments import ConvexFront
        >>> task, arms = ConvexFront(), np.full(4, -1)
        >>> points = np.array([[0.5, y] for y in (0.04, 0.065, 0.105, 0.15)])
        >>> task.bin_of(points, arms).tolist(), task.front_bin_of(points, arms).tolist()
        ([0, 0, 1, 2], [0, 1, 2, 2])
        """
        return self._parts(points, arms, shares_of_length if is_line(self.problem) else shares_of_range)

    def _parts(self, points: Floats, arms: Ints, share: Callable[[Any, Floats], Floats]) -> Ints:
        inside = self.are_optimal(points)
        if len(self.problem.encoding.arms):
            return np.where(inside, arms, -1)
        bins = np.full(len(points), -1, np.int64)
        chosen = np.flatnonzero(inside)
        there = self.at(self._numbers[chosen] if len(self._numbers) > 1 else self._numbers)
        shares = share(there, points[chosen])
        bins[chosen] = np.where(np.isnan(shares), -1.0, np.minimum(BINS * shares, BINS - 1))
        return bins

    def _share_of_intervals(self, points: Floats) -> Floats:
        """How much of the Pareto set is below each arm on the line of arms."""
        shares = np.zeros(len(points))
        for k, intervals in enumerate(self.front_intervals(points)):
            total = sum(high - low for low, high in intervals)
            arm = points[k, -1]
            below = sum(min(max(arm - low, 0.0), high - low) for low, high in intervals)
            shares[k] = below / total if total > 0 else 0.0
        return shares

    def _share_of_grid(self, points: Floats) -> Floats:
        """How much of the Pareto set has less of the first objective than each arm; ties by the coordinates."""
        own = np.round(self.means(points)[:, 0], 12)  # what differs by rounding is a tie
        shares = np.zeros(len(points))
        for k, point in enumerate(points):
            vectors, best = self.front_of_grid(point, k)
            first, arm = np.round(vectors[best, 0], 12), tuple(point[self.problem.encoding.context :])
            tied = first == own[k]
            if tied.any():
                below = np.count_nonzero(first < own[k]) + sum(tuple(other) < arm for other in self._grid[best][tied])
            else:
                values, counts = np.unique(first, return_counts=True)
                below = np.interp(own[k], values, np.cumsum(counts) - counts / 2)
            shares[k] = below / len(first)
        return shares

    def constant_arm(self, contexts: int = 500, seed: int = 0) -> tuple[Any, float]:
        """The arm whose mean gap over random contexts is smallest, and that gap: what is possible without looking.

        >>> from paretozoom.environments import Devices
        >>> arm, gap = Devices().constant_arm()
        >>> round(arm["y"], 2), round(gap, 2)
        (0.56, 0.08)
        """
        rng = np.random.default_rng(seed)
        heads, arms, gaps = self.sample(contexts, rng), self._grid, np.zeros(len(self._grid))
        points = np.empty((len(arms), self.problem.dim))
        points[:, self.problem.encoding.context :] = arms
        for head, number in zip(heads, rng.integers(ROUNDS, size=contexts), strict=True):
            points[:, : self.problem.encoding.context] = head[: self.problem.encoding.context]
            gaps += self.at(number).gaps(points) / contexts
        best = int(gaps.argmin())
        return self.problem.decode_arm(best, points[best]), float(gaps[best])

    def random_gap(self, rounds: int = 100_000, seed: int = 0) -> float:
        """The mean gap of uniformly random arms, about what the policy `Random` has: a yardstick for all others.

        >>> from paretozoom.environments import PaperTask
        >>> round(PaperTask().random_gap(), 3)
        0.168
        """
        rng = np.random.default_rng(seed)
        points = self.sample(rounds, rng)
        return float(self.at(rng.integers(ROUNDS, size=rounds)).gaps(points).mean())

    def slice_of(self, points: Floats) -> Ints:
        """The context slice of each point, for what is measured per context.

        20 equal parts of a single number that is uniform, else 20 k-means cells of the task's contexts, fixed per task.
        """
        encoding = self.problem.encoding
        if encoding.context == 0:
            return np.zeros(len(points), np.int64)
        if encoding.context == 1 and encoding.kinds[0] != CATEGORICAL and self.has_uniform_contexts:
            return np.minimum((points[:, 0] * SLICES).astype(np.int64), SLICES - 1)
        return self._context_cells.find(points)

    @cached_property
    def _context_cells(self) -> ContextCells:
        encoding = self.problem.encoding
        contexts = self.sample(CELL_SAMPLE, np.random.default_rng(0))
        return ContextCells(contexts, encoding.kinds[: encoding.context], encoding.values, SLICES)

    @property
    def similarity(self) -> Similarity:
        """The similarity to give a policy: the problem's own, unless the task knows one that keeps Assumption 1."""
        return Similarity.of(self.problem)

    def lipschitz(self, pairs: int = 20_000, seed: int = 0, similarity: Similarity | None = None) -> float:
        """The largest |mu - mu'| / D seen over random pairs, near and far: at most 1 under Assumption 1.

        D is the problem's own similarity, or the one given.
        """
        rng = np.random.default_rng(seed)
        a = random_points(self.problem.encoding, pairs, rng)
        b = random_points(self.problem.encoding, pairs, rng)
        near = np.flatnonzero(rng.random(pairs) < 0.5)
        encoding = self.problem.encoding
        real = np.flatnonzero(encoding.values[: encoding.context if len(encoding.arms) else None] == 0)
        step = rng.normal(0, 0.01, (pairs, len(real)))
        b[near] = a[near]
        b[np.ix_(near, real)] = np.clip(a[np.ix_(near, real)] + step[near], 0, 1)
        apart = (Similarity.of(self.problem) if similarity is None else similarity).between(a, b)
        change = np.abs(self.means(a) - self.means(b)).max(axis=1)
        return float(np.max(change[apart > 1e-9] / apart[apart > 1e-9]))

    def _optimal_arms(self, point: Floats) -> list[tuple[int, Floats]]:
        grid = self._grid
        points = np.repeat(point[None], len(grid), axis=0)
        points[:, self.problem.encoding.context :] = grid
        optimal = self.are_optimal(points)
        if not optimal.any():  # the Pareto set lies between the arms of the grid
            _, optimal = self.front_of_grid(point)
        return [(int(k), points[k]) for k in np.flatnonzero(optimal)]
