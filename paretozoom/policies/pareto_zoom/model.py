"""ParetoZoom in NumPy: the definition of the algorithm, dense and slow. Kernels agree with it to rounding.

    x, y, z         a context, an arm, and both together, encoded; coordinate j of z is in [0, 1], or a label
    r               a reward, less the first one of all; NaN where nothing is told; d objectives
    n, S, Q         how many rewards there are somewhere; their sum, and that of their squares
    sigma2          the noise: the variance of a reward around its mean
    tau             the roughness of a level: the variance of what it adds to the level before
    m, e            an estimate of a mean reward, and its standard error
    phi             terms at a point: products of functions of single coordinates
    w, C, v         how much there is of each term: mean; covariance, and variance beforehand, in units of sigma2
    theta           signal: the variance of all terms together, a power of 2; scales: steps of root 2 from 1/32 on
    c, u            simple functions of a context; what the form of one arm has beside what all share
    s               shares of the committee: levels, trend, smooth estimate, forms
    P               products of the members' errors, relative to sigma2, summed over rewards

Levels and how they are split, and in `Model` committee, chooser, drift, and what a reward does. `space.py` has sites,
cells of levels and functions, `fixed.py` trend, smooth estimate and forms, the kernels' `settings.py` all numbers.

>>> from paretozoom import Objective, Real
>>> model = Model(Problem(context=[], arm=[Real("y")], objectives=[Objective("a"), Objective("b")]), Settings())
>>> for y in (0.1, 0.3, 0.5, 0.7, 0.9) * 8:
...     model.tell(np.array([y]), -1, np.array([1 - abs(y - 0.3), 1 - abs(y - 0.5)]))
>>> arms, numbers = np.linspace(0, 1, 11)[:, None], np.full(11, -1)
>>> m, e = model.predict(np.zeros(0), arms, numbers)
>>> arms[model.choose(model.indices(np.zeros(0), numbers, m, e), e) == 1].ravel().round(1).tolist()
[0.3, 0.4, 0.5]
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np

from paretozoom.kernels.pareto_zoom.committee import SHOWN
from paretozoom.kernels.pareto_zoom.memory import LEVELS_, MEMBERS, MOST_LEVELS, SMOOTH_, TREND_
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.kernels.pareto_zoom.splits import WELL_BITS
from paretozoom.policies.pareto_zoom.directions import Directions
from paretozoom.policies.pareto_zoom.fixed import Forms, Smooth, Trend
from paretozoom.policies.pareto_zoom.space import Array, Level, Sites, Space, divide
from paretozoom.problem import Problem


class Levels:
    """Means of ever smaller cells, each a correction of the level before; the noise, and the roughness of levels."""

    def __init__(self, space: Space) -> None:
        self.space, self.s, self.due = space, space.settings, 0
        self.levels: list[Level] = []
        self.sigma2, self.tau = np.ones(space.d), [np.zeros(space.d)]

    def learn(self, sites: Sites, site: int) -> None:
        """Correct the blocks of a site whose rewards have grown by a share, and all finer ones."""
        stale = False
        for k, level in enumerate(self.levels):
            if site == len(level.at[0]):
                level.add(sites.digits[site:])
            row = level.at[0, site]
            level.told[row] += 1
            stale = stale or level.told[row] >= level.due[row]
            if stale:
                self.correct(k, sites, [row])

    def correct(self, k: int, sites: Sites, rows: Array) -> None:
        """What was expected of some blocks' cells, and a share of what their own rewards have above that."""
        level, sigma2, a = self.levels[k], self.sigma2[:, None, None], self.s.prior_rewards
        level.due[rows] = level.told[rows] + 1 + np.int64(level.told[rows] * self.s.refresh_growth)
        n, S, Q = level.sums(sites.sums)[:, :, rows]
        is_told, n = n > 0, np.maximum(n, 1)
        error2 = (np.maximum(Q - S * S / n, 0) + a * sigma2) / ((n + a) * n)
        if k == 0:
            level.me[:, :, rows] = S / n, np.sqrt(np.where(is_told, error2, sigma2))
            return
        (m, e), tau = level.expected(rows), self.tau[k][:, None, None]
        share = np.where(is_told, self.s.boldness * tau / (self.s.boldness * tau + error2), 0)
        both = np.minimum(error2, e * e)  # what was expected is of the same rewards: their covariance at most
        e2 = (1 - share) ** 2 * (e * e + tau) + share**2 * error2 + 2 * share * (1 - share) * both
        level.me[:, :, rows] = m + share * (S / n - m), np.sqrt(e2)

    def correct_all(self, sites: Sites, told: int) -> None:
        """Correct all blocks, level by level."""
        for k, level in enumerate(self.levels):
            if k == len(self.tau):  # in a refit
                self.tau.append(self.roughness(k, sites))
            self.correct(k, sites, np.arange(len(level.row)))
        self.due = told + 1 + int(told * self.s.refresh_growth)

    def refit(self, sites: Sites, told: int, forgets: bool) -> None:
        """Choose levels, and estimate noise, roughness and all cells."""
        old, self.levels = {} if forgets else {level.splits: level for level in self.levels}, []
        for split in itertools.islice(choose_splits(self.space, sites, self.sigma2, told), MOST_LEVELS):
            new = Level(self.space, *split, *self.levels[-1:])
            self.levels.append(old.get(new.splits, new))
            if new.splits not in old:
                new.add(sites.digits)
                np.add.at(new.told, new.at[0], np.int64(sites.sums[0].max(axis=0)))
        self.sigma2, self.tau = self.noise(sites), [sites.variance()]
        self.correct_all(sites, told)

    def noise(self, sites: Sites) -> Array:
        """The variance of rewards within the cells of the last level."""
        (n, S, Q), a = self.levels[-1].sums(sites.sums), self.s.prior_rewards
        within = np.where(n > 1, np.maximum(Q - S * S / np.maximum(n, 1), 0), 0).sum(axis=(1, 2))
        return np.maximum((a * sites.variance() + within) / (a + np.maximum(n - 1, 0).sum(axis=(1, 2))), 1e-300)

    def roughness(self, k: int, sites: Sites) -> Array:
        """Products of what two rewards of a cell have above what was expected, averaged over pairs."""
        s, level = self.s, self.levels[k]
        prior = s.prior_fall * self.tau[k - 1]
        (n, S, Q), (m, _) = level.sums(sites.sums), level.expected(np.arange(len(level.row)))
        products = ((S - n * m) ** 2 - (Q - 2 * m * S + n * m * m)) / np.maximum(n * (n - 1), 1)
        weight = np.where(n > 1, n * np.minimum(1, (n - 1) / s.sure_pairs), 0)
        total = s.prior_rewards * prior + (weight * products).sum(axis=(1, 2))
        return np.maximum(total / (s.prior_rewards + weight.sum(axis=(1, 2))), s.least_roughness * prior)


def gain_of(group: Array, half: Array, sums: Array, sigma2: Array, spread: Array, s: Settings) -> float:
    """What halving groups explains, less what noise adds and a standard error, in shares of the variance."""
    table = [[np.bincount(2 * group + half, row, 2 * len(group)) for row in rows] for rows in sums[:2]]
    n, S = np.reshape(table, (2, len(spread), -1, 2))
    both = (n > 0).all(axis=2)
    pairs, weight = both.sum(axis=1), np.where(both, n.prod(axis=2) / np.maximum(n.sum(axis=2), 1), 0)
    told = (weight * (S / np.maximum(n, 1) @ [1, -1]) ** 2).sum(axis=1) - sigma2 * (pairs + np.sqrt(2 * pairs))
    gains = s.prior_gain_rewards * s.prior_gain + told / (4 * spread)
    return float((gains / (s.prior_gain_rewards + weight.sum(axis=1))).sum())


def gains_of(space: Space, sites: Sites, sigma2: Array, told: int) -> Array:
    """What the best bit of each coordinate explains where all others are known well; of many sites, by a sample."""
    s, others = space.settings, max(1, len(space.bits) - 1)
    step = 1 + len(sites.digits) // int(s.most_judged)
    known = [k for k in range(WELL_BITS) if k * others < WELL_BITS and 2 ** (k * others) * s.well_known <= told // step]
    digits, gains = sites.digits[::step], np.zeros(len(space.bits))
    for j in range(len(gains)):
        beside = (digits >> np.maximum(space.bits - max(known, default=0), 0)) * (np.arange(len(gains)) != j)
        group = np.unique(beside, axis=0, return_inverse=True)[1]
        for depth in range(min(int(space.telling[j]), int(s.bits_judged))):
            half = space.halves(digits, j, depth)
            gains[j] = max(gains[j], gain_of(group, half, sites.sums[:, :, ::step], sigma2, sites.variance(), s))
            group = divide(group, half)
    return gains


def choose_splits(space: Space, sites: Sites, sigma2: Array, told: int) -> Iterator[tuple[int, int, Array]]:
    """Of each level: the coordinate of arms that is halved, or -1; of contexts, or -1; the bits of all coordinates."""
    digits, gains, depth = sites.digits, gains_of(space, sites, sigma2, told), np.zeros(len(space.bits), np.int64)
    (group, contexts), inner, outer = np.zeros((2, len(digits)), np.int64), -1, -1
    most = max(space.settings.least_cells, told)

    def gain(j: int) -> float:
        """What the next bit of a coordinate explains: a quarter of the one before."""
        return float(gains[j] / 4.0 ** passed[j])

    def best(coordinates: range) -> int:
        return max((j for j in coordinates if passed[j] < space.telling[j]), key=gain, default=-1)

    while (contexts.max() + 1) * space.cells_of_arms(depth)[0] <= most:
        yield inner, outer, depth.copy()
        passed = space.pass_over(depth, group, digits)
        outer, inner = best(range(space.context)), best(range(space.context, len(depth)))
        depth[: space.context] = passed[: space.context]
        deeper = np.where(np.arange(len(depth)) == inner, passed + 1, depth)
        cells = space.cells_of_arms(deeper)[0]
        inner = inner if cells <= space.most_cells else -1
        if outer < 0 and inner < 0:
            return
        if outer >= 0 and inner >= 0:
            places = divide(contexts, space.halves(digits, outer, passed[outer])).max() + 1
            if places * cells > most:  # then what explains more is halved alone
                outer, inner = (-1, inner) if gain(outer) < gain(inner) else (outer, -1)
        for j in (j for j in (outer, inner) if j >= 0):
            half = space.halves(digits, j, passed[j])
            group, depth[j] = divide(group, half), passed[j] + 1
            contexts = divide(contexts, half) if j == outer else contexts


def best_shares(error: Array, members: Array) -> Array:
    """The s >= 0 of sum 1 for which s'(error)s is least, of some members."""
    found = []
    for some in (list(some) for k in range(MEMBERS) for some in itertools.combinations(members, k + 1)):
        s = np.zeros(MEMBERS)
        s[some] = np.linalg.solve(error[np.ix_(some, some)], np.ones(len(some)))
        found.append(s / s.sum())
    return min((s for s in found if s.min() >= 0), key=lambda s: s @ error @ s)


class Model:
    """ParetoZoom without its luck: what it predicts, and which candidates it would play."""

    def __init__(self, problem: Problem, settings: Settings, weights: Array = None) -> None:
        self.s, self.space, self.d = settings, Space(problem, settings), len(problem.objectives)
        self.weights = weights  # of objectives, if their weighted sum is preferred
        self.sites, self.levels = Sites(self.space), Levels(self.space)
        self.trend, self.smooth, self.forms = Trend(self.space), Smooth(self.space), Forms(self.space)
        self.directions, self.has_directions = Directions(self.space), self.space.wide or self.space.axes > 0
        self.first, self.next = np.full(self.d, math.nan), int(settings.first_rewards)
        self.told, self.parts, self.forgets, self.forgotten = 0, 0, False, 0
        self.share, self.P = np.tile(np.eye(MEMBERS)[LEVELS_], (self.d, 1)), np.zeros((self.d, MEMBERS, MEMBERS))
        self.compared, self.levels_error2, self.explained = np.zeros((3, self.d))
        self.watched = np.zeros(4)  # pairs, products, squares of products, what is expected of products
        self.unbounded = np.array([not objective.bounded for objective in problem.objectives])
        self.usual = np.zeros((3, self.d))  # rewards that were predicted, how far they were, how many were as the first
        self.last: dict[int, Array] = {}  # the last residuals at a place; 0 if there were none

    def rows(self, x: Array, arms: Array) -> Array:
        """z: a context beside rows of arms."""
        return np.column_stack([np.tile(x, (len(arms), 1)), arms])

    def members(self, z: Array, numbers: Array) -> tuple[Array, Array]:
        """m of each member, and squared e, which decisions need of levels and forms alone: (members, d, rows) each."""
        x, arms = z[0, : self.space.context], z[:, self.space.context :]
        finest = next(one for one in reversed(self.levels.levels) if one.around(x)[1].sum() >= self.s.least_weight)
        (m, e), none = finest.predict(x, arms, numbers), np.zeros((self.d, len(z)))
        forms, forms2 = self.forms.predict(z, numbers) if len(self.space.arms) else (none, none)
        return np.array([m, self.trend.predict(z), self.smooth.predict(z), forms]), np.array(
            [e * e, 0 * e, 0 * e, forms2]
        )

    def predict(self, x: Array, arms: Array, numbers: Array, shown: bool = False) -> tuple[Array, Array]:
        """m and e of rows of arms: (d, rows) each; for decisions, or as they are shown."""
        if not self.levels.levels:
            return np.zeros((self.d, len(arms))), np.ones((self.d, len(arms)))
        m, e2 = self.members(self.rows(x, arms), numbers)
        s = self.share.T[:, :, None]
        mean = (s * m).sum(axis=0)
        own = SHOWN * e2[LEVELS_] if shown else (s * e2).sum(axis=0)
        return mean, np.sqrt((s * (m - mean) ** 2).sum(axis=0) + own)

    def used(self) -> Array:
        """Which members say something."""
        return np.flatnonzero([1, len(self.trend.factors), len(self.smooth.factors), len(self.space.arms)])

    def compare(self, z: Array, arm: int, r: Array) -> tuple[Array, Array]:
        """Take in how far members are off a reward; returns how far all together are, and what e is squared."""
        (m, e2), s, sigma2, used = self.members(z[None], np.array([arm])), self.share.T, self.levels.sigma2, self.used()
        off, own = np.zeros((MEMBERS, self.d)), e2[LEVELS_, :, 0]
        off[used] = r - m[used, :, 0]
        together = (s * off).sum(axis=0)
        if len(used) > 1:
            weight = np.where(np.isnan(r), 0, 1 / np.maximum(sigma2, (off**2).max(axis=0) / self.s.far))
            self.P += np.nan_to_num(weight * off[:, None] * off).transpose(2, 0, 1)
            self.compared += ~np.isnan(r)
            self.levels_error2 += ~np.isnan(r) * np.minimum(self.s.far, own / sigma2)
        return together, (s * (off - together) ** 2).sum(axis=0) + s[LEVELS_] * own

    def update_shares(self) -> None:
        """Least squares, beside equal shares beforehand; fixed forms have a bias once levels know the rewards well."""
        s, E = self.s, self.explained
        missed = (self.levels_error2 + s.equal_rewards) / (self.compared + s.equal_rewards)
        bias = s.bias * np.minimum(1, s.bias * E / np.maximum(1e-9, missed)) * E * self.compared
        for o in range(self.d):
            penalty = s.equal_rewards + bias[o] * (np.arange(MEMBERS) != LEVELS_)
            self.share[o] = best_shares(self.P[o] + np.diag(penalty), self.used())

    def indices(self, x: Array, numbers: Array, m: Array, e: Array) -> Array:
        """Means with optimism, (d, rows); where weights are preferred, of their weighted sum, (1, rows).

        Labels tell nothing of each other: theirs is by the standard errors of forms.
        """
        times = self.s.optimism if self.weights is None else self.s.lone_optimism
        if self.space.are_labels and self.levels.levels:
            z = self.rows(x, self.space.arms[numbers])
            times, e = self.s.label_optimism, np.sqrt(self.forms.predict(z, numbers)[1])
        if self.weights is None:
            return m + times * e
        return (self.weights @ m + times * np.sqrt(self.weights**2 @ e**2))[None]

    def choose(self, indices: Array, e: Array) -> Array:
        """Which candidates are played (0 or 1 each): the front of indices, but for what others all but dominate."""
        s, less = self.s, indices[:, :, None] - indices[:, None, :]
        marks = 1 - ((less <= 0).all(axis=0) & (less < 0).any(axis=0)).any(axis=1)
        front = np.flatnonzero(marks)
        if len(indices) > 1 and self.levels.levels:
            unit = s.worse * np.sqrt(np.maximum((e[:, front] ** 2).mean(axis=1), 1e-300))
            vectors = indices[:, front] / unit[:, None]
            is_end = vectors >= vectors.max(axis=1, keepdims=True) - s.end * (self.d - 1) ** 2
            behind = vectors[:, :, None] - vectors[:, None, :]  # by how much the second one is behind the first
            near, ahead = (behind <= 1).all(axis=0), -behind.sum(axis=0) >= s.ahead
            marks[front[(near & ahead & (is_end[:, :, None] & (behind > 0)).any(axis=0)).any(axis=1)]] = 0
        return marks

    def watch(self, digits: Array, residual: Array, error2: Array) -> None:
        """The product of two residuals that follow each other at a place is, on average, the squared error."""
        last, sigma2 = self.last.setdefault(self.space.place(digits), np.zeros(self.d)), self.levels.sigma2
        known = ~np.isnan(residual) & (error2 <= self.s.drift_known * sigma2)  # new ground is no change
        if (pair := known & (last != 0)).any():
            product = (residual * last / sigma2)[pair].sum()
            self.watched += [1, product, product**2, (error2 / sigma2)[pair].sum()]
        last[known] = residual[known]

    def bring_near(self, r: Array, residual: Array, error2: Array) -> Array:
        """Rewards of unbounded objectives, those that are too far from what was predicted brought nearer."""
        told, s = self.unbounded & ~np.isnan(residual), self.s
        self.usual[2] += self.unbounded & (r == 0)
        n, away, same = self.usual
        limit = away / np.maximum(n, 1) * np.maximum(s.outlier, n**0.25)
        limit[(n < s.first_rewards) | (same >= 0.5 * n) | ~self.unbounded] = math.inf
        limit[error2 > s.drift_known * self.levels.sigma2] = math.inf  # new ground is no surprise
        nearer = np.clip(residual, -limit, limit)
        self.usual[:2] += [told, np.where(told, abs(nearer), 0)]
        return np.where((nearer == residual) | np.isnan(residual), r, r + (nearer - residual))

    def tell(self, z: Array, arm: int, reward: Array) -> None:
        """Learn of a point and, if arms are finite, the number of its arm; NaN where nothing is told."""
        self.first = np.where(np.isnan(self.first), reward, self.first)
        r, digits = reward - self.first, self.space.digits(z, arm)
        residual, error2 = np.full((2, self.d), math.nan)
        if self.levels.levels:
            residual, error2 = self.compare(z, arm, r)
            if len(self.levels.levels) > 1:
                self.watch(digits, residual, error2)
        r = self.bring_near(r, residual, error2)
        if self.has_directions:
            self.directions.keep(z, arm, r)
        self.trend.learn(z, r, self.told)
        self.smooth.learn(z, r, self.told)
        self.forms.learn(z, arm, r)
        self.levels.learn(self.sites, self.sites.add(digits, r))
        self.parts += int((~np.isnan(r)).sum())
        self.told, self.parts = self.told + self.parts // self.d, self.parts % self.d
        if self.levels.levels and self.told >= self.levels.due:
            pairs, products, squares, expected = self.watched
            if pairs >= self.s.least_pairs:  # have predictions become far worse than e says?
                if products > max(self.s.drift_errors * math.sqrt(squares), self.s.drift_times * expected):
                    self.forgets, self.next = True, self.told
                self.watched = np.zeros(4)
            self.levels.correct_all(self.sites, self.told)
            self.update_shares()
        if self.told >= self.next:
            self.refit()

    def refit(self) -> None:
        """Fit all estimators; forget half before if the world has changed. Fixed forms are fitted early, or retired."""
        s, forgets, self.forgets, trend_lacks = self.s, self.forgets, False, not self.trend.learns(self.told)
        if forgets:
            self.sites.forget_half()
            self.told, self.parts = divmod(int(self.sites.sums[0].sum()), self.d)
            self.forgotten, self.watched, self.last = self.forgotten + 1, np.zeros(4), {}
        told, largest = self.told, self.share.max(axis=0)
        if told <= s.last_trend_fit or (forgets and s.last_trend_fit > 0):
            self.trend.refit(self.sites, told, forgets, trend_lacks)
        elif largest[TREND_] < s.least_share:
            self.trend.factors = self.trend.factors[:0]
        early = forgets or told <= s.last_smooth_fit
        if self.has_directions:
            if forgets:
                self.directions.keep_newer_half()
            if early and (forgets or told >= self.directions.found * (1 + s.late_growth)):
                self.directions.find(told)
        if self.space.smooth_room and told >= 2 * s.first_rewards:
            if early or (len(self.smooth.factors) and largest[SMOOTH_] >= s.least_share):
                self.smooth.refit(self.sites, self.directions, told, early, forgets)
            else:
                self.smooth.factors = self.smooth.factors[:0]
        if len(self.space.arms):
            self.forms.refit(self.directions, told, forgets)
        self.P *= s.memory
        self.compared *= s.memory
        self.levels_error2 *= s.memory
        self.update_shares()
        self.levels.refit(self.sites, told, forgets)
        self.explained = np.maximum(0, self.sites.variance() / self.levels.sigma2 - 1)
        growth = s.early_growth if told < s.last_learned_at_once else s.late_growth
        self.next = told + max(int(s.first_rewards) // 2, int(told * growth))
