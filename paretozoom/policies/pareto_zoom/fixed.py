"""The fixed forms of ParetoZoom's definition: trend, smooth estimate and forms of arms, by regression.

All say r = w.phi(z) + noise, where w is normal beforehand with variances v sigma2. They differ in their terms phi, and
in how v is found. Symbols are those of `model.py`.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from paretozoom.kernels.pareto_zoom.memory import MOST_POWER
from paretozoom.kernels.pareto_zoom.smooth import DEAREST
from paretozoom.kernels.pareto_zoom.trend import UNKNOWN
from paretozoom.policies.pareto_zoom.directions import Directions
from paretozoom.policies.pareto_zoom.space import Array, Sites, Space
from paretozoom.policies.pareto_zoom.terms import cheapest

Of = tuple[Array, Array, float, float]


class Sums:
    """What a regression needs of rewards: sums of phi phi', of phi r, of 1, and of r r; of each objective."""

    def __init__(self, d: int, terms: int) -> None:
        self.of: list[Of] = [(np.zeros((terms, terms)), np.zeros(terms), 0.0, 0.0) for _ in range(d)]

    def add(self, phi: Array, r: Array) -> None:
        """Add a reward."""
        for o in np.flatnonzero(~np.isnan(r)):
            gram, right, n, Q = self.of[o]
            self.of[o] = gram + np.outer(phi, phi), right + phi * r[o], n + 1, Q + r[o] ** 2

    def halve(self) -> None:
        """Count half of all."""
        self.of = [(gram / 2, right / 2, n / 2, Q / 2) for gram, right, n, Q in self.of]


def scaled(gram: Array, v: Array) -> tuple[Array, Array]:
    """The inverse of C, given the sum of phi phi', with roots of v on both sides; and these, which are of all sizes."""
    root = np.sqrt(v)
    return np.eye(len(v)) + np.outer(root, root) * gram, root


def posterior(gram: Array, right: Array, v: Array) -> tuple[Array, Array]:
    """w and C, given the sums of phi phi' and phi r."""
    inverse, root = scaled(gram, v)
    return root * np.linalg.solve(inverse, root * right), np.outer(root, root) * np.linalg.inv(inverse)


def missed_by(gram: Array, right: Array, Q: float, v: Array) -> float:
    """The squares of rewards that are not explained."""
    inverse, root = scaled(gram, v)
    return max(Q - float(root * right @ np.linalg.solve(inverse, root * right)), 1e-12 * Q, 1e-300)


def log_likelihood(gram: Array, right: Array, n: float, Q: float, v: Array) -> float:
    """How likely n rewards are, but for a constant, with the noise that makes them likeliest."""
    missed = missed_by(gram, right, Q, v)
    return float(-0.5 * np.linalg.slogdet(scaled(gram, v)[0])[1] - 0.5 * n * math.log(missed / n))


class Fixed:
    """Terms that are products of functions; w and C of each objective."""

    def __init__(self, space: Space, terms: int) -> None:
        self.space, self.s, self.factors = space, space.settings, np.zeros((0, 3), np.int64)
        self.w, self.C = [np.zeros(terms)] * space.d, [np.zeros((terms, terms))] * space.d

    def predict(self, z: Array) -> Array:
        """Means of rows of points: (d, rows)."""
        phi = self.space.phi(z, self.factors)
        return np.array([phi @ w[: len(self.factors)] for w in self.w])

    def learn_at_once(self, phi: Array, r: Array) -> None:
        """Take a reward into w and C."""
        for o in np.flatnonzero(~np.isnan(r)):
            gain = self.C[o] @ phi / (1 + phi @ self.C[o] @ phi)
            self.w[o] = self.w[o] + gain * (r[o] - phi @ self.w[o])
            self.C[o] = self.C[o] - np.outer(gain, phi @ self.C[o])

    def sums(self, sites: Sites, o: int, factors: Array, newest: int) -> tuple[Array, Array, float, float]:
        """What a posterior takes of the newest sites, each reward in the middle of its site."""
        phi, (n, S, Q) = self.space.phi(self.space.middles(sites.digits), factors)[-newest:], sites.sums[:, o, -newest:]
        return phi.T @ (n[:, None] * phi), phi.T @ S, n.sum(), Q.sum()


class Trend(Fixed):
    """A quadratic. All its terms but the constant have the same variance beforehand, a power of 4."""

    def __init__(self, space: Space) -> None:
        super().__init__(space, len(space.quadratic))
        self.known, self.size, self.fitted = Sums(space.d, len(space.quadratic)), [0] * space.d, 0

    def learns(self, told: int) -> bool:
        """Whether rewards are still added to the sums."""
        return told <= self.s.last_trend_fit * (1 + self.s.late_growth)

    def learn(self, z: Array, r: Array, told: int) -> None:
        """Add a reward to the sums, where it is; early it is learned at once."""
        if self.learns(told):
            phi = self.space.phi(z[None], self.space.quadratic)[0]
            self.known.add(phi, r)
            if len(self.factors) and told < self.s.last_learned_at_once:
                self.learn_at_once(phi, r)

    def refit(self, sites: Sites, told: int, forgets: bool, lacks: bool) -> None:
        """Fit anew; of a few sizes that which makes rewards likeliest is kept, one step from the one before.

        Half is forgotten first; where sums lack what was told last, they are made anew of the newest sites.
        """
        s, most = self.s, int(self.s.sizes)
        if forgets and lacks:
            newest = int(s.last_trend_fit)
            self.known.of = [self.sums(sites, o, self.space.quadratic, newest) for o in range(self.space.d)]
        elif forgets:
            self.known.halve()
        elif len(self.space.quadratic) > s.most_terms and told < self.fitted * (1 + s.late_growth):
            return
        self.factors, self.fitted = self.space.quadratic, told
        for o, now in enumerate(self.size):
            sums, sizes = self.known.of[o], range(max(-most, now - 1), min(most, now + 1) + 1)
            if sums[2] > 0:
                self.size[o] = sizes[int(np.argmax([log_likelihood(*sums, self.expected(size)) for size in sizes]))]
                self.w[o], self.C[o] = posterior(*sums[:2], self.expected(self.size[o]))

    def expected(self, size: int) -> Array:
        """v of all terms."""
        return np.array([UNKNOWN, *[4.0**size] * (len(self.factors) - 1)])


class Smooth(Fixed):
    """A Gaussian process of kernel exp(-(distance / scale)^2 / 2) in each coordinate, in its largest terms."""

    def __init__(self, space: Space) -> None:
        super().__init__(space, 0)
        self.theta, self.searched = [(0, *[int(self.s.centre_scale)] * (space.dim + space.axes))] * space.d, 0
        self.known = Sums(space.d, 0)

    def learn(self, z: Array, r: Array, told: int) -> None:
        """Take in a reward where it is, not in the middle of its site."""
        if len(self.factors):
            phi = self.space.phi(z[None], self.factors)[0]
            if self.space.axes:
                self.known.add(phi, r)
            if told < self.s.last_learned_at_once:
                self.learn_at_once(phi, r)

    def sum_anew(self, past: Directions) -> None:
        """Sum all that is kept of the past, with the terms of now."""
        self.known = Sums(self.space.d, len(self.factors))
        for phi, r in zip(self.space.phi(past.z, self.factors), past.r, strict=True):
            self.known.add(phi, r)

    def refit(self, sites: Sites, past: Directions, told: int, early: bool, forgets: bool) -> None:
        """Fit anew; terms are chosen while it is early, scales sought less often."""
        searches = forgets or (early and told >= self.searched * (1 + self.s.late_growth))
        self.searched = told if searches else self.searched
        if early:
            cost = self.unlike(np.min(self.theta, axis=0)[1:])
            self.factors = cheapest(cost, self.space.coordinate, DEAREST, self.space.smooth_room)
            if self.space.axes:
                self.sum_anew(past)
        for o, theta in enumerate(self.theta):
            sums = self.known.of[o] if self.space.axes else self.sums(sites, o, self.factors, len(sites.digits))
            self.theta[o] = self.search(*sums, theta) if searches and sums[2] > 0 else theta
            self.w[o], self.C[o] = posterior(*sums[:2], self.expected(self.theta[o], self.s.signal_boldness))

    def unlike(self, scale: Array) -> Array:
        """-log of how much is expected of each function: its spectrum, the square of (frequency * scale) / 2."""
        scale = np.array([0, *scale])[self.space.coordinate + 1]  # of each function; the first is the constant
        cost = 0.5 * self.space.turns**2 * 2.0 ** (scale - 10)
        return np.where(self.space.is_label, 2.0 ** (scale - self.s.centre_scale), cost)

    def expected(self, theta: tuple[int, ...], boldness: float) -> Array:
        """v of all terms."""
        v = np.exp(-np.minimum(DEAREST, self.unlike(theta[1:])[self.factors].sum(axis=1)))
        return np.array([UNKNOWN, *(boldness * 2.0 ** theta[0] * v / v.sum())[1:]])

    def search(self, gram: Array, right: Array, n: float, Q: float, theta: tuple[int, ...]) -> tuple[int, ...]:
        """Some steps to what makes rewards likeliest: all scales alike, then each number up or down."""
        s, dim = self.s, len(theta) - 1

        @cache
        def likely(theta: tuple[int, ...]) -> float:
            if min(theta[1:]) < 0 or max(map(abs, theta)) > MOST_POWER:
                return -math.inf
            away = [theta[0] / s.signal_spread, *((np.array(theta[1:]) - s.centre_scale) / s.scale_spread)]
            return log_likelihood(gram, right, n, Q, self.expected(theta, 1.0)) - 0.5 * float(np.square(away).sum())

        first, last = max(0, int(s.centre_scale - s.scale_spread)), int(s.centre_scale + s.scale_spread)
        theta = max([theta, *((theta[0], *[start] * dim) for start in range(first, last + 1, 2))], key=likely)
        each = np.eye(1 + dim, dtype=np.int64)
        for move in int(s.sweeps) * [each[0], each[1:].sum(axis=0), *each[1:]]:
            steps = [tuple((theta + step * move).tolist()) for step in (1, -1)]
            theta = next((step for step in steps if likely(step) > likely(theta)), theta)
        return theta


class Forms:
    """A linear form of the context for each finite arm: r = c.(w + u_a) + noise; v has a size for w, one for all u.

    So phi is c, which all arms share, and for each arm c again, or 0 where the arm is another one.
    """

    def __init__(self, space: Space) -> None:
        self.space, self.s, self.fitted, terms = space, space.settings, 0, space.form_terms * (1 + len(space.arms))
        self.D = np.eye(space.form_terms, len(space.simple))
        self.known, self.size = Sums(space.d, terms), [(int(self.s.form_size),) * 2] * space.d
        self.w, self.C = [np.zeros(terms)] * space.d, [np.diag(self.expected(size)) for size in self.size]
        self.sigma2 = np.ones(space.d)

    def phi(self, z: Array, numbers: Array) -> Array:
        """Terms (columns) of points of finite arms (rows)."""
        c = self.space.phi(z, self.space.simple) @ self.D.T
        is_arm = np.equal.outer(numbers, np.arange(len(self.space.arms)))
        return np.column_stack([c, (is_arm[:, :, None] * c[:, None, :]).reshape(len(c), -1)])

    def expected(self, size: tuple[int, int]) -> Array:
        """v of all terms. That of an arm's level is never below some, or no unlucky arm were tried again."""
        terms, (w, u) = self.space.form_terms, size
        own = [4.0 ** max(u, self.s.form_level), *[4.0**u] * (terms - 1)]
        return np.array([*[4.0**w] * terms, *own * len(self.space.arms)])

    def predict(self, z: Array, numbers: Array) -> tuple[Array, Array]:
        """Means and squared standard errors: (d, rows) each."""
        phi = self.phi(z, numbers)
        e2 = [sigma2 * ((phi @ C) * phi).sum(axis=1) for sigma2, C in zip(self.sigma2, self.C, strict=True)]
        return np.array([phi @ w for w in self.w]), np.array(e2)

    def learn(self, z: Array, arm: int, r: Array) -> None:
        """Learn a reward of an arm at once."""
        self.known.add(self.phi(z[None], np.array([arm]))[0], r)
        self.solve(np.flatnonzero(~np.isnan(r)))

    def turn(self, past: Directions) -> None:
        """Sum all that is kept of the past along new directions."""
        self.D, self.known = past.D, Sums(self.space.d, len(self.w[0]))
        for phi, r in zip(self.phi(past.z, past.arms), past.r, strict=True):
            self.known.add(phi, r)

    def solve(self, objectives: Array) -> None:
        """w and C of some objectives, of all their rewards."""
        for o in objectives:
            gram, right, _, _ = self.known.of[o]
            self.w[o], self.C[o] = posterior(gram, right, self.expected(self.size[o]))

    def likely(self, o: int, size: tuple[int, int]) -> float:
        """How likely the rewards of an objective are."""
        return (
            -math.inf
            if max(map(abs, size)) > self.s.sizes + 2
            else log_likelihood(*self.known.of[o], self.expected(size))
        )

    def refit(self, past: Directions, told: int, forgets: bool) -> None:
        """Let both sizes take a step to what makes rewards likeliest, the shared one first; and so the noise."""
        if forgets:
            self.known.halve()
        elif told < self.fitted * (1 + self.s.late_growth):
            return
        self.fitted = told
        if self.space.wide and past.found == told:
            self.turn(past)
        objectives = [o for o, (_, _, n, _) in enumerate(self.known.of) if n > 0]
        for o in objectives:
            for a, b in ((1, 0), (0, 1)):
                w, u = self.size[o]
                steps, now = [(w + a, u + b), (w - a, u - b)], self.likely(o, (w, u))
                self.size[o] = next((step for step in steps if self.likely(o, step) > now), (w, u))
            gram, right, n, Q = self.known.of[o]
            self.sigma2[o] = max(missed_by(gram, right, Q, self.expected(self.size[o])) / n, 1e-300)
        self.solve(objectives)
