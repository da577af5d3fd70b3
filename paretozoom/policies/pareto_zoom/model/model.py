"""The whole of it: what is predicted and played, and what happens when a reward is told."""

from __future__ import annotations

import itertools
import math

import numpy as np

from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.pareto_zoom.memory import LEVELS_, MEMBERS, SMOOTH_, TREND_
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.policies.pareto_zoom.model.fixed import Smooth, Trend
from paretozoom.policies.pareto_zoom.model.levels import Levels
from paretozoom.policies.pareto_zoom.model.sites import Sites
from paretozoom.policies.pareto_zoom.model.space import Array, Space
from paretozoom.problem import Problem


def best_shares(P: Array, penalty: Array) -> Array:
    """The s >= 0 of sum 1 for which s'(P + diag(penalty))s is least; members of infinite penalty have none."""
    best, least = np.zeros(MEMBERS), math.inf
    for size in range(1, MEMBERS + 1):
        for some in itertools.combinations(np.flatnonzero(np.isfinite(penalty)).tolist(), size):
            error = P[np.ix_(some, some)] + np.diag(penalty[list(some)])
            s = np.linalg.solve(error, np.ones(size))
            s /= s.sum()
            if s.min() >= 0 and s @ error @ s < least:
                best, least = np.zeros(MEMBERS), s @ error @ s
                best[list(some)] = s
    return best


def front_of(means: Array) -> Array:
    """Which columns no other dominates."""
    worse = (means[:, :, None] <= means[:, None, :]).all(axis=0) & (means[:, :, None] < means[:, None, :]).any(axis=0)
    return ~worse.any(axis=1)


class Model:
    """ParetoZoom without its luck: what it predicts, and which candidates it would play."""

    def __init__(self, problem: Problem, settings: Settings) -> None:
        self.settings, self.space, self.d = settings, Space(problem, settings), len(problem.objectives)
        self.sites = Sites(len(self.space.bits), self.d)
        self.levels = Levels(problem, self.space, settings)
        self.trend, self.smooth = Trend(problem, self.space, settings), Smooth(problem, self.space, settings)
        self.first, self.next = np.full(self.d, math.nan), int(settings.first_rewards)
        self.told, self.parts, self.forgets, self.forgotten = 0, 0, False, 0
        self.share = np.array([np.eye(MEMBERS)[LEVELS_]] * self.d)
        self.P = np.zeros((self.d, MEMBERS, MEMBERS))
        self.compared, self.levels_error2, self.explained = np.zeros((3, self.d))
        self.watched = np.zeros(4)  # pairs, products, squares of products, what is expected of products
        self.last: dict[tuple[int, int], float] = {}  # the last residual at a place

    # What it says.

    def members(self, z: Array, numbers: Array) -> tuple[Array, Array]:
        """Means and squared standard errors of each member: (members, objectives, rows) each."""
        m, e2 = np.zeros((2, MEMBERS, self.d, len(z)))
        context, sigma2 = self.space.context, self.levels.sigma2[:, None]
        m[LEVELS_], e = self.levels.predict(z[0, :context], z[:, context:], numbers)
        e2[LEVELS_] = e * e
        for which, member in ((TREND_, self.trend), (SMOOTH_, self.smooth)):
            m[which], variance = member.predict(z)
            e2[which] = sigma2 * variance
        return m, e2

    def predict(self, x: Array, arms: Array, numbers: Array, own_errors: bool = False) -> tuple[Array, Array]:
        """Means and standard errors of rows of arms: (objectives, rows) each."""
        if not self.levels.levels:
            return np.zeros((self.d, len(arms))), np.ones((self.d, len(arms)))
        m, e2 = self.members(np.column_stack([np.tile(x, (len(arms), 1)), arms]), numbers)
        own = e2 if own_errors else e2 * (np.arange(MEMBERS) == LEVELS_)[:, None, None]
        s = self.share.T[:, :, None]
        mean = (s * m).sum(axis=0)
        return mean, np.sqrt((s * ((m - mean) ** 2 + own)).sum(axis=0))

    def indices(self, x: Array, numbers: Array, means: Array, errors: Array) -> Array:
        """Means with optimism. Labels tell nothing of each other: theirs is of their own rewards alone."""
        s, space = self.settings, self.space
        if not (len(space.arms) and space.dim == space.context + 1 and space.kinds[space.context] == CATEGORICAL):
            return means + s.optimism * errors
        digits, labels = self.sites.digits, np.flatnonzero(space.kinds[: space.context] == CATEGORICAL)
        if np.prod(-space.values[labels]) * len(space.arms) > s.most_groups:
            labels = labels[:0]
        beside = (digits[:, labels] == np.int64(x[labels])).all(axis=1)
        told = np.array([self.sites.n[:, beside & (digits[:, -1] == arm)].sum() for arm in numbers]) / self.d
        return means + s.label_optimism * np.sqrt(math.log(1 + self.told) * self.levels.sigma2[:, None] / (1 + told))

    def choose(self, indices: Array, errors: Array) -> Array:
        """Which candidates are played (0 or 1 each): the front of indices, but for what others all but dominate."""
        s, means = self.settings, indices
        marks = front_of(means).astype(np.int64)
        front = np.flatnonzero(marks)
        if self.d == 1 or not self.levels.levels:
            return marks
        unit = s.worse * np.sqrt(np.maximum((errors[:, front] ** 2).mean(axis=1), 1e-300))
        vectors = means[:, front] / unit[:, None]
        is_end = vectors >= vectors.max(axis=1, keepdims=True) - s.end * (self.d - 1) ** 2
        behind = vectors[:, :, None] - vectors[:, None, :]  # by how much the second one is behind the first
        near, ahead = (behind <= 1).all(axis=0), -behind.sum(axis=0) >= s.ahead
        marks[front[(near & ahead & (is_end[:, :, None] & (behind > 0)).any(axis=0)).any(axis=1)]] = 0
        return marks

    # What it learns.

    def tell(self, z: Array, arm: int, reward: Array) -> None:
        """Learn of a point and, if arms are finite, the number of its arm; NaN where nothing is told."""
        self.first = np.where(np.isnan(self.first), reward, self.first)
        r, digits = reward - self.first, self.space.digits(z, arm)
        if self.levels.levels:
            residual, error2 = self.compare(z, arm, r)
            if self.smooth.factors and self.told < self.settings.last_learned_at_once:
                self.smooth.learn(z, r)
            if len(self.levels.levels) > 1:
                self.watch(digits, residual, error2)
        self.levels.learn(self.sites, digits, self.sites.add(digits, r))
        self.parts += int((~np.isnan(r)).sum())
        self.told, self.parts = self.told + self.parts // self.d, self.parts % self.d
        if self.levels.levels and self.told >= self.levels.due:
            self.conclude()
            self.levels.correct_all(self.sites, self.told)
            self.update_shares()
        if self.told >= self.next:
            self.refit()

    def compare(self, z: Array, arm: int, r: Array) -> tuple[Array, Array]:
        """Take in how far members are off a reward; returns how far all together are, and what e is squared."""
        m, e2 = self.members(z[None], np.array([arm]))
        fixed = [False, bool(self.trend.factors), bool(self.smooth.factors)]
        off = np.where([[True], *([has] for has in fixed[1:])], r - m[:, :, 0], 0)
        together = (self.share.T * off).sum(axis=0)
        apart = (self.share.T * (off - together) ** 2).sum(axis=0)
        own, sigma2 = e2[LEVELS_, :, 0], self.levels.sigma2
        for o in np.flatnonzero(~np.isnan(r)) if any(fixed) else ():
            far = max(1.0, (off[:, o] ** 2).max() / (self.settings.far * sigma2[o]))
            self.P[o] += np.outer(off[:, o], off[:, o]) / (sigma2[o] * far)
            self.compared[o] += 1
            self.levels_error2[o] += min(self.settings.far, own[o] / sigma2[o])
        return together, apart + self.share[:, LEVELS_] * own

    def update_shares(self) -> None:
        """Least squares, beside equal shares beforehand; fixed forms have a bias once levels know the rewards well."""
        s = self.settings
        for o in range(self.d):
            missed = (self.levels_error2[o] + s.equal_rewards) / (self.compared[o] + s.equal_rewards)
            known = min(1.0, s.bias_known * self.explained[o] / max(1e-9, missed))
            penalty = np.full(MEMBERS, s.equal_rewards + s.bias * known * self.explained[o] * self.compared[o])
            penalty[LEVELS_] = s.equal_rewards
            penalty[TREND_] += 0 if self.trend.factors else math.inf
            penalty[SMOOTH_] += 0 if self.smooth.factors else math.inf
            self.share[o] = best_shares(self.P[o], penalty)

    def refit(self) -> None:
        """Fit all estimators; forget half before if the world has changed. Fixed forms are fitted early, or retired."""
        s, forgets = self.settings, self.forgets
        if forgets:
            self.sites.forget_half()
            parts, self.forgets, self.forgotten = int(self.sites.n.sum()), False, self.forgotten + 1
            self.told, self.parts, self.watched, self.last = parts // self.d, parts % self.d, np.zeros(4), {}
        told, largest = self.told, self.share.max(axis=0)
        if forgets or told <= s.last_trend_fit:
            self.trend.refit(self.sites)
        elif largest[TREND_] < s.least_share:
            self.trend.factors = []
        early = forgets or told <= s.last_smooth_fit
        if self.smooth.room and told >= s.first_smooth_fit:
            if early or (self.smooth.factors and largest[SMOOTH_] >= s.fit_share):
                self.smooth.refit(self.sites, told, early, forgets)
            elif largest[SMOOTH_] < s.least_share:
                self.smooth.factors = []
        self.P *= s.memory
        self.compared, self.levels_error2 = s.memory * self.compared, s.memory * self.levels_error2
        self.update_shares()
        self.levels.refit(self.sites, told, forgets)
        self.explained = np.maximum(0, self.sites.variance() / self.levels.sigma2 - 1)
        self.next = told + max(int(s.least_gap), int(told * (s.early_growth if told < s.early else s.late_growth)))

    # Drift.

    def watch(self, digits: Array, residual: Array, error2: Array) -> None:
        """The product of two residuals that follow each other at a place is, on average, the squared error."""
        s, sigma2 = self.settings, self.levels.sigma2
        depth = max(1, int(s.place_bits) // len(self.space.bits))
        place, products, expected = 0, [], []
        for digit, bits in zip(digits.tolist(), self.space.bits.tolist(), strict=True):
            place = (place << min(depth, bits)) | (digit >> (bits - min(depth, bits)))
        for o in np.flatnonzero(error2 <= s.drift_known * sigma2):  # new ground is no change
            key = place % 2 ** int(s.place_bits), int(o)
            if not math.isnan(residual[o]):
                if key in self.last:
                    products.append(residual[o] * self.last[key] / sigma2[o])
                    expected.append(error2[o] / sigma2[o])
                self.last[key] = residual[o]
        if products:
            self.watched += [1, sum(products), sum(products) ** 2, sum(expected)]

    def conclude(self) -> None:
        """Once enough was watched: have predictions become far worse than e says?"""
        s, (pairs, products, squares, expected) = self.settings, self.watched
        if pairs >= s.least_pairs:
            if products > s.drift_errors * math.sqrt(squares) and products > s.drift_times * expected:
                self.forgets, self.next = True, self.told
            self.watched = np.zeros(4)
