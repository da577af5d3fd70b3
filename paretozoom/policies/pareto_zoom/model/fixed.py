"""Trend and smooth estimate: r = w.phi(z) + noise, where w is normal beforehand with variances v sigma2."""

from __future__ import annotations

import itertools
import math

import numpy as np

from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.pareto_zoom.functions import turn_of
from paretozoom.kernels.pareto_zoom.memory import MOST_POWER
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.kernels.pareto_zoom.smooth import DEAREST
from paretozoom.kernels.pareto_zoom.trend import UNKNOWN
from paretozoom.policies.pareto_zoom.memory import smooth_room_of
from paretozoom.policies.pareto_zoom.model.sites import Sites
from paretozoom.policies.pareto_zoom.model.space import Array, Space
from paretozoom.policies.pareto_zoom.terms import terms_of
from paretozoom.problem import Problem

Sums = tuple[Array, Array, float, float]  # of phi phi', phi r and r r over all rewards; how many these are


def precision(gram: Array, v: Array) -> tuple[Array, Array]:
    """The inverse of C, divided by roots of its diagonal on both sides, and these: numbers in it are of all sizes."""
    whole = gram + np.diag(1 / v)
    root = np.sqrt(np.diag(whole))
    return whole / np.outer(root, root), root


def posterior(gram: Array, right: Array, v: Array) -> tuple[Array, Array]:
    """w and C, given the sums of phi phi' and of phi r."""
    scaled, root = precision(gram, v)
    return np.linalg.solve(scaled, right / root) / root, np.linalg.inv(scaled) / np.outer(root, root)


def log_likelihood(sums: Sums, v: Array) -> float:
    """How likely rewards are, but for a constant, with the noise that makes them likeliest."""
    (_, right, square, n), (scaled, root) = sums, precision(sums[0], v)
    missed = square - right / root @ np.linalg.solve(scaled, right / root)
    twice_log = np.linalg.slogdet(scaled)[1] + 2 * np.log(root).sum() + np.log(v).sum()
    return float(-0.5 * twice_log - 0.5 * n * math.log(max(missed, 1e-12 * square, 1e-300) / n))


class Fixed:
    """An estimator of a fixed form: w and C of each objective, of some terms; none if it is retired."""

    def __init__(self, space: Space, d: int, settings: Settings) -> None:
        self.space, self.d, self.settings = space, d, settings
        self.factors: list[tuple[int, int, int]] = []
        self.w, self.C = [np.zeros(0)] * d, [np.zeros((0, 0))] * d

    def predict(self, z: Array) -> tuple[Array, Array]:
        """Means, and squared standard errors beside the noise, of rows of points: (objectives, rows) each."""
        if not self.factors:
            return np.zeros((self.d, len(z))), np.zeros((self.d, len(z)))
        phi = self.space.phi(z, np.array(self.factors))
        return np.array([phi @ w for w in self.w]), np.array([((phi @ C) * phi).sum(axis=1) for C in self.C])

    def sums(self, sites: Sites, o: int) -> Sums:
        """Each reward counts in the middle of its site."""
        phi = self.space.phi(self.space.middles(sites.digits), np.array(self.factors))
        return phi.T @ (sites.n[o][:, None] * phi), phi.T @ sites.S[o], sites.Q[o].sum(), sites.n[o].sum()


class Trend(Fixed):
    """A quadratic. All its terms but the constant have the same variance beforehand, a power of 4."""

    def __init__(self, problem: Problem, space: Space, settings: Settings) -> None:
        super().__init__(space, len(problem.objectives), settings)
        self.all_factors, self.size = terms_of(problem, settings).factors, [0] * self.d
        n = len(self.all_factors)
        self.w, self.C = [np.zeros(n)] * self.d, [np.zeros((n, n))] * self.d

    def refit(self, sites: Sites) -> None:
        """Fit anew; of a few sizes that which makes rewards likeliest is kept, one step from the one before."""
        s, self.factors = self.settings, self.all_factors
        for o in range(self.d):
            sums = self.sums(sites, o)
            if sums[3] == 0:
                continue

            def likely(size: int, sums: Sums = sums) -> float:
                return log_likelihood(sums, self.v(size))

            now = self.size[o]
            self.size[o] = max(range(max(-int(s.sizes), now - 1), min(int(s.sizes), now + 1) + 1), key=likely)
            self.w[o], self.C[o] = posterior(*sums[:2], self.v(self.size[o]))

    def v(self, size: int) -> Array:
        """v of all terms."""
        return np.array([UNKNOWN, *[4.0**size] * (len(self.factors) - 1)])


class Smooth(Fixed):
    """A Gaussian process of kernel exp(-(distance / scale)^2 / 2) in each coordinate, in its largest terms.

    theta: the signal (the variance of all terms together, as a power of 2), and the scale of each coordinate as steps
    of root 2 from 1/32 on.
    """

    def __init__(self, problem: Problem, space: Space, settings: Settings) -> None:
        super().__init__(space, len(problem.objectives), settings)
        terms = terms_of(problem, settings)
        self.room = smooth_room_of(space.dim, len(terms.functions) > terms.of_contexts, settings)
        self.theta = np.array([[0, *[int(settings.centre_scale)] * space.dim]] * self.d)
        self.searched = 0

    def learn(self, z: Array, r: Array) -> None:
        """Take in a reward where it is, not in the middle of its site."""
        phi = self.space.phi(z[None], np.array(self.factors))[0]
        for o in np.flatnonzero(~np.isnan(r)):
            self.gram[o] += np.outer(phi, phi)
            self.right[o] += phi * r[o]
            self.w[o], self.C[o] = posterior(self.gram[o], self.right[o], self.v[o])

    def refit(self, sites: Sites, told: int, early: bool, forgets: bool) -> None:
        """Fit anew; terms are chosen while it is early, scales sought less often."""
        s = self.settings
        searches = forgets or (early and told >= self.searched * (1 + s.late_growth))
        self.searched = told if searches else self.searched
        if early:
            self.factors = self.choose_terms()
        sums = [self.sums(sites, o) for o in range(self.d)]
        for o in range(self.d):
            if searches and sums[o][3] > 0:
                self.theta[o] = self.search(sums[o], self.theta[o])
        self.gram, self.right = [total[0] for total in sums], [total[1] for total in sums]
        self.v = [self.expected(theta, s.signal_boldness) for theta in self.theta]
        for o in range(self.d):
            self.w[o], self.C[o] = posterior(self.gram[o], self.right[o], self.v[o])

    def unlike(self, scale: Array) -> Array:
        """-log of how much is expected of each function: its spectrum, the square of (frequency * scale) / 2."""
        cost = np.zeros(len(self.space.functions))
        for k, (j, which) in enumerate(self.space.functions[1:], 1):
            turn = (
                2 * math.pi * (which // 2 + 1)
                if self.space.kinds[j] == PERIODIC
                else turn_of(self.settings.margin) * (which - 1)
            )
            if self.space.kinds[j] == CATEGORICAL:
                cost[k] = 2.0 ** (scale[j] - self.settings.centre_scale)
            else:  # polynomials are not for smooth estimates
                cost[k] = 0.5 * turn**2 * 2.0 ** (scale[j] - 10) if turn > 0 else math.inf
        return cost

    def choose_terms(self) -> list[tuple[int, int, int]]:
        """The products of functions of three different coordinates of which most is expected in any objective."""
        cost = self.unlike(self.theta[:, 1:].min(axis=0))
        order = np.argsort(cost, kind="stable")
        order = order[cost[order] <= DEAREST]
        places = range(1, len(order))
        sets = [[(0, 0, 0)], [(0, 0, c) for c in places], [(0, *two) for two in itertools.combinations(places, 2)]]
        three = order[np.array([*itertools.chain(*sets), *itertools.combinations(places, 3)])]
        of = np.array([-1, *(j for j, _ in self.space.functions[1:])])[three]
        apart = ((of[:, :2] != of[:, 1:]) | (of[:, :2] == -1)).all(axis=1)
        three = three[apart & ((of[:, 0] != of[:, 2]) | (of[:, 0] == -1))]
        price = cost[three[:, 0]] + cost[three[:, 1]] + cost[three[:, 2]]
        dear = np.argsort(price, kind="stable")[: self.room]  # of equal ones those whose first function expects more
        return [tuple(sorted(row)) for row in three[dear[price[dear] <= DEAREST]].tolist()]

    def expected(self, theta: Array, boldness: float) -> Array:
        """v of all terms."""
        v = np.exp(-np.minimum(DEAREST, self.unlike(theta[1:])[np.array(self.factors)].sum(axis=1)))
        v *= boldness * 2.0 ** theta[0] / v.sum()
        v[0] = UNKNOWN
        return v

    def search(self, sums: Sums, theta: Array) -> Array:
        """Some steps to what makes rewards likeliest: all scales alike, then each number up or down."""
        s, dim = self.settings, self.space.dim

        def likely(theta: Array) -> float:
            if theta[1:].min() < 0 or np.abs(theta).max() > MOST_POWER:
                return -math.inf
            prior = -0.5 * (theta[0] / s.signal_spread) ** 2
            prior -= 0.5 * (((theta[1:] - s.centre_scale) / s.scale_spread) ** 2).sum()
            return float(prior + log_likelihood(sums, self.expected(theta, 1.0)))

        first, last = int(s.centre_scale - s.scale_spread), int(s.centre_scale + s.scale_spread)
        theta = max(
            [theta, *(np.array([theta[0], *[start] * dim]) for start in range(max(0, first), last + 1, 2))], key=likely
        )
        each = np.eye(1 + dim, dtype=np.int64)
        for move in int(s.sweeps) * [each[0], each[1:].sum(axis=0), *each[1:]]:
            better = [theta + step * move for step in (1, -1) if likely(theta + step * move) > likely(theta)]
            theta = better[0] if better else theta
        return theta
