"""How fast mean rewards change against a distance, from noisy rewards: what `diagnosis` is made of.

Points are sorted into cells, `2 ** level` to a coordinate, one set of cells for each choice of levels. Pairs of cells
near each other differ in their mean reward and are some distance apart; the ratio is a slope. The steepest of many
noisy slopes is steep by luck, so the rounds are dealt to folds: pairs are ranked by two folds, how many of the best to
take together, and in which cells, is decided by the third, and only the fourth, which had no say, measures them. Each
fold is the fourth in turn.
"""

from __future__ import annotations

import heapq
import itertools
from functools import cached_property
from typing import NamedTuple

import numpy as np

from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.similarity import Similarity

FOLDS = 4
LEAST = 8  # rewards of each fold in a cell, for means to be nearly normal
SIZES = np.array([1, 2, 4, 8, 16, 32, 64])  # how many pairs are taken together
RANKING, DECIDING = 2.0, 4.0  # standard errors taken off when pairs are ranked, and when it is decided between many
REACH = 2  # cells between the cells of a pair, at most, along a coordinate
MOST_OFFSETS, MOST_SHIFTS, MOST_PAIRS, MOST_LEVELS = 200, 64, 1 << 17, 100

Levels = tuple[int, ...]


class Rewards(NamedTuple):
    """What objectives that were told together were told, and where."""

    objectives: Ints  # (told,)
    point: Floats  # (n, dim)
    label: Ints  # (n,) the number of the values that no cell may mix
    fold: Ints  # (n,)
    reward: Floats  # (n, told)


class Space:
    """The coordinates that cells divide, and those whose values they never mix: categories, all under a matrix.

    Cells divide no vector: it has too many coordinates. They mix vectors, and know the mean and extent of these.
    """

    def __init__(self, similarity: Similarity, points: Floats) -> None:
        encoding = similarity.encoding
        fixed = (encoding.kinds == CATEGORICAL) | (similarity.matrix is not None)
        self.similarity = similarity
        vectors = np.bincount(similarity.owners[~fixed], minlength=len(similarity.weights))[similarity.owners] > 1
        self.mixed = np.flatnonzero(~fixed)
        self.axes = np.flatnonzero(~fixed & ~vectors)
        self.wraps = encoding.kinds[self.axes] == PERIODIC
        self.fixed = np.flatnonzero(fixed)
        self.values, label = np.unique(points[:, self.fixed], axis=0, return_inverse=True)
        self.label = label.reshape(-1)

    def apart(self, a: Floats, b: Floats) -> Floats:
        """The distances of the points a (n, dim) from the points b (n, dim)."""
        if self.similarity.function is None:
            return self.similarity.between(a, b)
        from paretozoom.kernels.core.functions import called_between  # here, so that norms cost no compiler

        found = called_between(self.similarity.address, np.ascontiguousarray(a), np.ascontiguousarray(b))
        return np.asarray(np.minimum(1.0, self.similarity.scale * found))


class Cells:
    """The cells of one choice of levels that hold rewards enough, and what they hold."""

    def __init__(self, space: Space, rewards: Rewards, levels: Levels) -> None:
        self.space = space
        self.shape = (len(space.values), *(2**level for level in levels))
        every = int(np.prod(self.shape))
        number = rewards.label
        for axis, level in zip(space.axes, levels, strict=True):
            place = np.minimum((rewards.point[:, axis] * 2**level).astype(np.int64), 2**level - 1)
            number = number * 2**level + place
        by_fold = number * FOLDS + rewards.fold
        count = np.bincount(by_fold, minlength=every * FOLDS).reshape(every, FOLDS)
        self.number = np.flatnonzero(count.min(axis=1) >= LEAST)
        self.count = count[self.number].T  # (FOLDS, cells)
        self.total = np.stack(
            [
                np.bincount(by_fold, told, minlength=every * FOLDS).reshape(every, FOLDS)[self.number].T
                for told in rewards.reward.T
            ]
        )  # (told, FOLDS, cells)
        n = self.count.sum(axis=0)
        self.variance = np.empty((len(rewards.objectives), len(self.number)))
        for row, told in enumerate(rewards.reward.T):
            squares = np.bincount(number, told * told, minlength=every)[self.number]
            usual = max(float(np.var(told)), (1e-9 * max(1.0, float(np.abs(told).max()))) ** 2)
            within = np.maximum(squares - self.total[row].sum(axis=0) ** 2 / n, 0.0)
            self.variance[row] = (within + usual) / n  # one more of usual noise: a few equal rewards prove nothing
        self.centre = np.empty((len(self.number), rewards.point.shape[1]))
        self.extent = np.zeros_like(self.centre)
        self.centre[:, space.fixed] = space.values[self.number // 2 ** sum(levels)]
        for axis in space.mixed:
            place = rewards.point[:, axis]
            mean = np.bincount(number, place, minlength=every)[self.number] / n
            square = np.bincount(number, place * place, minlength=every)[self.number] / n
            self.centre[:, axis] = mean
            self.extent[:, axis] = np.sqrt(np.maximum(square - mean * mean, 0.0))

    @cached_property
    def pairs(self) -> tuple[Ints, Ints]:
        """Cells near each other: in the cells of coordinates, or alike in these and different in what is not mixed."""
        place = np.stack(np.unravel_index(self.number, self.shape))
        slot = np.full(int(np.prod(self.shape)), -1)
        slot[self.number] = np.arange(len(self.number))
        wraps = np.array([True, *(self.space.wraps & (np.array(self.shape[1:]) > REACH))])
        sides = np.array(self.shape)[:, None, None]
        offsets = self._offsets()
        found: list[tuple[Ints, Ints]] = [(np.zeros(0, np.int64), np.zeros(0, np.int64))]
        step, room = max(1, MOST_PAIRS // max(1, len(self.number))), MOST_PAIRS
        for first in range(0, len(offsets), step):  # many at once, for where there are few cells
            ways = np.array(offsets[first : first + step])
            there = place[:, None, :] + ways.T[:, :, None]  # (coordinates, ways, cells)
            there[wraps] %= sides[wraps]
            inside = ((there >= 0) & (there < sides)).all(axis=0)
            half = 2 * ways[:, 0] == self.shape[0]  # half way round: each pair would come twice
            inside[half] &= place[0] < ways[half, :1]
            way, here = np.nonzero(inside)
            other = slot[np.ravel_multi_index(tuple(there[:, inside]), self.shape)]
            way, here, other = way[other >= 0], here[other >= 0], other[other >= 0]
            so_far = np.cumsum(np.bincount(way, minlength=len(ways)))
            enough = way <= np.searchsorted(so_far, room, side="right")  # the way that fills the room is the last
            found.append((here[enough], other[enough]))
            room -= int(so_far[-1])
            if room < 0:
                break
        return np.concatenate([one for one, _ in found]), np.concatenate([other for _, other in found])

    def _offsets(self) -> list[tuple[int, ...]]:
        """Between the cells of a pair, each way once: the shortest first."""
        reaches = [range(-min(REACH, side - 1), min(REACH, side - 1) + 1) for side in self.shape[1:]]
        most = len(reaches) if np.prod([len(reach) for reach in reaches]) <= 2 * MOST_OFFSETS else 2
        ways: list[tuple[int, ...]] = []
        for moved in range(1, most + 1):
            for axes in itertools.combinations(range(len(reaches)), moved):
                for steps in itertools.product(*(reaches[axis] for axis in axes)):
                    if 0 not in steps and steps[0] > 0:
                        way = [0] * len(self.shape)
                        for axis, step in zip(axes, steps, strict=True):
                            way[1 + axis] = step
                        ways.append(tuple(way))
        ways.sort(key=lambda way: sum(map(abs, way)))
        shifts = range(1, min(self.shape[0] // 2, MOST_SHIFTS) + 1)
        return [(shift, *(0 for _ in reaches)) for shift in shifts] + ways

    @cached_property
    def steps(self) -> tuple[Ints, Ints, Floats]:
        """The pairs that are some distance apart, and that distance."""
        one, other = self.pairs
        apart = self._apart(one, other)
        return one[apart > 0], other[apart > 0], apart[apart > 0]

    def _apart(self, one: Ints, other: Ints) -> Floats:
        """How far apart cells are: the mean over points of one and the points at the same place of the other.

        Places count from the middle of a cell, in its own extent. So it is the distance of the middles if the points of
        both are spread alike, and more if not.
        """
        dim = self.centre.shape[1]
        signs = [np.ones(dim), np.where(np.arange(dim) % 2, 1.0, -1.0)][: max(1, min(2, len(self.space.axes)))]
        total = np.zeros(len(one))
        for sign in (*signs, *(-sign for sign in signs)):
            at = self.centre + sign * self.extent
            at[:, self.space.mixed] = np.clip(at[:, self.space.mixed], 0.0, 1.0)
            total += self.space.apart(at[one], at[other])
        return total / (2 * len(signs))


class Slopes(NamedTuple):
    """The slopes of one objective in one choice of levels: for each fold in turn, of the best pairs by the others."""

    levels: Levels
    objective: int
    decided: Floats  # (FOLDS, sizes) by the third fold
    decided_error: Floats
    slope: Floats  # (FOLDS, sizes) by the fourth
    error: Floats
    ends: Floats  # (FOLDS, 2, dim) of the best pair

    @property
    def worth(self) -> Floats:
        """(FOLDS, sizes) What the third fold says for taking this one."""
        return self.decided - DECIDING * self.decided_error


def slopes_in(cells: Cells, row: int, levels: Levels, objective: int) -> Slopes | None:
    """The slopes between cells of the rewards in one row; None if there are no two near each other."""
    one, other, apart = cells.steps
    if not len(one):
        return None
    count, total, variance = cells.count, cells.total[row], cells.variance[row]
    best = min(int(SIZES[-1]), len(one))
    taken = np.minimum(SIZES, best) - 1
    measured = np.empty((2, 2, FOLDS, len(SIZES)))
    ends = np.empty((FOLDS, 2, cells.centre.shape[1]))
    for last in range(FOLDS):
        third = (last + 1) % FOLDS
        ranking = [fold for fold in range(FOLDS) if fold not in (last, third)]
        n = count[ranking].sum(axis=0)
        mean = total[ranking].sum(axis=0) / n
        change = mean[other] - mean[one]
        doubt = np.sqrt(variance[one] / n[one] + variance[other] / n[other])
        score = (np.abs(change) - RANKING * doubt) / apart
        top = np.argpartition(-score, best - 1)[:best]
        top = top[np.argsort(-score[top], kind="stable")]
        sign = np.where(change[top] < 0, -1.0, 1.0)
        start, end, length = one[top], other[top], apart[top]
        ends[last] = cells.centre[start[0]], cells.centre[end[0]]
        involved, slot = np.unique(np.concatenate([end, start]), return_inverse=True)
        for which, fold in enumerate((third, last)):
            # Least squares through the origin; a cell may be in several pairs, hence its weight in all of them.
            weight = length / (1.0 / count[fold][start] + 1.0 / count[fold][end])
            weights = np.zeros((best, len(involved)))
            np.add.at(weights, (np.arange(best), slot[:best]), sign * weight)
            np.add.at(weights, (np.arange(best), slot[best:]), -sign * weight)
            weights = np.cumsum(weights, axis=0)[taken]
            whole = np.cumsum(weight * length)[taken]
            measured[which, 0, last] = weights @ (total[fold] / count[fold])[involved] / whole
            measured[which, 1, last] = np.sqrt(weights**2 @ (variance / count[fold])[involved]) / whole
    (decided, decided_error), (slope, error) = measured
    return Slopes(levels, objective, decided, decided_error, slope, error, ends)


def slopes_at(space: Space, told: list[Rewards], levels: Levels) -> list[Slopes]:
    """The slopes of all objectives in one choice of levels; none where cells hold too little."""
    found: list[Slopes] = []
    for rewards in told:
        if len(space.values) * 2 ** sum(levels) <= 4 * len(rewards.fold):
            cells = Cells(space, rewards, levels)
            for row, objective in enumerate(rewards.objectives.tolist()):
                if len(cells.number) > 1 and (slopes := slopes_in(cells, row, levels, objective)) is not None:
                    found.append(slopes)
    return found


def search(space: Space, told: list[Rewards]) -> list[Slopes]:
    """The slopes of many choices of levels: always on from the most promising so far, one coordinate finer."""
    start: Levels = (0,) * len(space.axes)
    found = slopes_at(space, told, start)
    seen = {start}
    waiting = [(0.0, start)]
    while waiting and len(seen) < MOST_LEVELS:
        _, levels = heapq.heappop(waiting)
        for axis in range(len(levels)):
            finer = (*levels[:axis], levels[axis] + 1, *levels[axis + 1 :])
            if finer not in seen:
                seen.add(finer)
                here = slopes_at(space, told, finer)
                found += here
                if here:
                    promise = max(float(slopes.worth.max(axis=1).mean()) for slopes in here)
                    heapq.heappush(waiting, (-promise, finer))
    return found
