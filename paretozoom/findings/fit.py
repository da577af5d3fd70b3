"""How much of the variance of rewards arms explain, contexts beyond them, and each coordinate: by cross-validation.

Two ridge regressions, one after the other: of the rewards on terms of the arm, and of what is left on terms of the
context and of both. A third of the rounds, set apart, says which terms are worth having and how much they are shrunk.
On the others each fold is predicted from the rest. So rewards are never predicted by what they were fitted to, and the
test by permutation sees no term that was chosen by the same rewards.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from paretozoom.findings.basis import Basis
from paretozoom.problem.dimensions import Floats, Ints

FOLDS = 5
MOST_TERMS = 250
SHRINKAGES = 10.0 ** np.arange(-1, 5.1, 0.5)  # of terms of unit variance, in rounds
LEAST_SPREAD = 0.05  # of a term: below, it is not stretched to unit variance
PERMUTATIONS = 199
EXCHANGES = 2  # of a coordinate between rounds
SHARED = 1.25  # by which errors of shares are larger than of independent rounds: folds share their weights. Measured
ONE_SIDED = 1.645  # standard errors to the upper end of what contexts may explain


class Explained(NamedTuple):
    """Shares of the variance of some rewards; errors are standard errors."""

    arms: float
    contexts: float  # beyond arms
    contexts_error: float
    contexts_most: float  # the upper end, of what these terms could explain if their weights were known
    p: float  # of as much gain if contexts have nothing to do with rewards
    share: Floats  # (places,) the part of the variance that goes when a coordinate is not known: Sobol's total effect
    share_error: Floats


class Terms:
    """Products of two columns, centred and scaled alike in all rounds."""

    def __init__(self, basis: Basis, pairs: Ints, apart: Ints, reward: Floats) -> None:
        """Those of the pairs that go best with some rewards, if there are too many."""
        self.basis = basis
        value = basis.value[apart]
        if len(pairs) > MOST_TERMS:
            first, slot = np.unique(pairs[:, 0], return_inverse=True)
            second, other = np.unique(pairs[:, 1], return_inverse=True)
            one, two = value[:, first], value[:, second]
            left = one * (reward - reward.mean())[:, None]
            with_reward = (left.T @ two)[slot, other]
            mean = (one.T @ two)[slot, other] / len(value)
            spread = ((one * one).T @ (two * two))[slot, other] / len(value) - mean * mean
            score = np.abs(with_reward) / np.sqrt(np.maximum(spread, LEAST_SPREAD**2))
            pairs = pairs[np.sort(np.argsort(-score, kind="stable")[:MOST_TERMS])]
        self.pairs = pairs
        raw = value[:, pairs[:, 0]] * value[:, pairs[:, 1]]
        self.mean, self.spread = raw.mean(axis=0), np.maximum(raw.std(axis=0), LEAST_SPREAD)

    def of(self, rows: Ints, place: int = -1, order: Ints | None = None) -> Floats:
        """The terms in some rounds (rows, terms), or with a place those that know it, as if others had been there."""
        value, pairs = self.basis.value, self.pairs
        if order is None:
            raw = value[np.ix_(rows, pairs[:, 0])] * value[np.ix_(rows, pairs[:, 1])]
            return np.asarray((raw - self.mean) / self.spread)
        knows = self.knows(place)
        raw = np.ones((len(rows), int(knows.sum())))
        for column in pairs[knows].T:
            here = self.basis.place[column] == place
            raw[:, here] *= value[np.ix_(order, column[here])]
            raw[:, ~here] *= value[np.ix_(rows, column[~here])]
        return np.asarray((raw - self.mean[knows]) / self.spread[knows])

    def knows(self, place: int) -> Ints:
        """Which terms depend on a place."""
        return np.asarray((self.basis.place[self.pairs] == place).any(axis=1))


def explained(basis: Basis, reward: Floats, rng: np.random.Generator) -> Explained:
    """What explains some rewards (n,), which are not all the same."""
    n = len(reward)
    order = rng.permutation(n)
    apart, rows = order[: n // 3], order[n // 3 :]
    alone, both = basis.pairs()
    arm_terms = Terms(basis, alone, apart, reward[apart])
    left, arm_shrinkage = _shrinkage(arm_terms.of(apart), reward[apart])
    # Rewards by which terms were chosen make them look better than they are.
    seen = len(apart) * 3 // 5 if len(both) > MOST_TERMS else 0
    terms = Terms(basis, both, apart[: seen or None], left[: seen or None])
    _, shrinkage = _shrinkage(terms.of(apart[seen:]), left[seen:])
    arm_fit, fit = _Fit(arm_terms.of(rows), arm_shrinkage), _Fit(terms.of(rows), shrinkage)
    told = reward[rows]
    nothing = told - _Fit(np.zeros((len(rows), 0)), 1.0).predicted(told[:, None])[0][:, 0]
    arm_found, arm_weights = arm_fit.predicted(told[:, None])
    by_arms = told - arm_found[:, 0]
    shuffled = np.stack([by_arms, *(rng.permutation(by_arms) for _ in range(PERMUTATIONS))], axis=1)
    found, weights = fit.predicted(shuffled)
    rest = shuffled - found
    gain = (shuffled**2).sum(axis=0) - (rest**2).sum(axis=0)
    p = (1 + int((gain[1:] >= gain[0]).sum())) / (1 + PERMUTATIONS)
    variance = float((nothing**2).mean())
    change = by_arms**2 - rest[:, 0] ** 2
    share, error = np.zeros((2, len(basis.names)))
    for place in range(len(basis.names)):
        fits = ((arm_terms, arm_fit.value, arm_weights), (terms, fit.value, weights))
        lost = _lost(place, rows, rest[:, 0], fits, rng)
        share[place] = lost.mean() / (2 * variance)
        error[place] = SHARED * lost.std() / np.sqrt(len(rows)) / (2 * variance)
    return Explained(
        1 - float((by_arms**2).mean()) / variance,
        float(change.mean()) / variance,
        float(change.std() / np.sqrt(len(rows))) / variance,
        _most(fit.value, shuffled) * float((by_arms**2).mean()) / variance,
        p,
        share,
        error,
    )


def _most(value: Floats, reward: Floats) -> float:
    """The upper end of the share that terms could explain, by least squares and for the terms there are.

    The first column of rewards is judged, by how much the share varies over the others.
    """
    centred, target = value - value.mean(axis=0), reward - reward.mean(axis=0)
    size, axes = np.linalg.eigh(centred.T @ centred)
    axes = axes[:, size > 1e-9 * max(1.0, float(size[-1]))] if len(size) else axes
    size = size[len(size) - axes.shape[1] :]
    along = axes.T @ (centred.T @ target)
    n, whole = len(value), (along**2 / size[:, None]).sum(axis=0) / (target**2).sum(axis=0)
    share = 1 - (1 - whole) * (n - 1) / (n - 1 - len(size))
    rho = max(0.0, float(share[0]))
    return rho + ONE_SIDED * float(np.sqrt(share[1:].var() + 4 * rho * (1 - rho) ** 2 / n))


def _lost(
    place: int,
    rows: Ints,
    rest: Floats,
    fits: tuple[tuple[Terms, Floats, list[Floats]], ...],
    rng: np.random.Generator,
) -> Floats:
    """(rows,) By how much squared errors grow where a coordinate is exchanged among the rounds of a fold."""
    lost, fold = np.zeros(len(rows)), np.arange(len(rows)) % FOLDS
    for _ in range(EXCHANGES):
        order, moved = np.arange(len(rows)), np.zeros(len(rows))
        for k in range(FOLDS):
            order[fold == k] = rng.permutation(order[fold == k])
        for terms, value, weights in fits:
            knows = np.flatnonzero(terms.knows(place))
            if len(knows):
                change = terms.of(rows, place, rows[order]) - value[:, knows]
                moved += (change * np.stack([w[knows, 0] for w in weights])[fold]).sum(axis=1)
        lost += ((rest - moved) ** 2 - rest**2) / EXCHANGES
    return lost


class _Fit:
    """A ridge regression with a constant, once for each fold without it."""

    def __init__(self, value: Floats, shrinkage: float) -> None:
        self.value = value
        self._fold = np.arange(len(value)) % FOLDS
        self._mean: list[Floats] = []
        self._inverse: list[Floats] = []
        whole, total = value.T @ value, value.sum(axis=0)
        for fold in range(FOLDS):
            own = value[self._fold == fold]
            n = len(value) - len(own)
            mean = (total - own.sum(axis=0)) / n
            gram = whole - own.T @ own - n * np.outer(mean, mean)
            self._mean.append(mean)
            self._inverse.append(np.linalg.inv(gram + shrinkage * np.eye(len(gram))))

    def predicted(self, reward: Floats) -> tuple[Floats, list[Floats]]:
        """Rewards (rows, targets) as the other folds predict them, and with which weights (terms, targets)."""
        found, weights = np.empty_like(reward), []
        parts = [self.value[self._fold == fold].T @ reward[self._fold == fold] for fold in range(FOLDS)]
        for fold in range(FOLDS):
            own = self._fold == fold
            mean = reward[~own].mean(axis=0)
            right = sum(parts) - parts[fold] - (~own).sum() * np.outer(self._mean[fold], mean)
            weights.append(self._inverse[fold] @ right)
            found[own] = (self.value[own] - self._mean[fold]) @ weights[fold] + mean
        return found, weights


def _shrinkage(value: Floats, reward: Floats) -> tuple[Floats, float]:
    """What is left of rewards, and the shrinkage that predicts them best, by generalised cross-validation."""
    centred, target = value - value.mean(axis=0), reward - reward.mean()
    if not value.shape[1]:
        return target, 1.0
    size, axes = np.linalg.eigh(centred.T @ centred)
    size = np.maximum(size, 1e-9 * max(1.0, float(size[-1])))
    along = axes.T @ (centred.T @ target)
    kept = 1 / (size + SHRINKAGES[:, None])  # (shrinkages, terms)
    rest = target @ target - 2 * (kept * along**2).sum(axis=1) + (kept**2 * along**2 * size).sum(axis=1)
    freedom = np.maximum(1.0, len(target) - 1 - (kept * size).sum(axis=1))
    best = int(np.argmin(rest / freedom**2))
    return target - centred @ (axes @ (kept[best] * along)), float(SHRINKAGES[best])
