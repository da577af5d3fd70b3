"""Committee: what estimators say together, each by its share.

Shares are not negative, add up to 1, and are those with which rewards would have been predicted best, each before it
was told (least squares); beforehand they are equal. A fixed form (trend, smooth estimate) is never quite right, however
many rewards there are, while levels are in the end. So once levels know the rewards well, a share of the variance that
is explained counts as the error of every fixed form: where all say nearly the same, levels do.

For the same reason it is levels that say how far off the committee may be where that is shown.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.pareto_zoom import directions, forms, levels, outliers, smooth, trend
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.functions import stand_at, stand_at_arms, stand_at_context
from paretozoom.kernels.pareto_zoom.settings import settings

SHOWN = 2.0  # squared standard errors of levels that are shown: one of what they say, one of what nobody can tell yet


@kernel
def solve_shares(products: Floats, penalty: Floats, share: Floats) -> None:
    """Write the shares that make the squared error least, among members whose penalty is finite.

    The error is s'(P + diag(penalty))s; members whose share would be negative get none. Beyond what numbers can hold
    the first member gets all.

    >>> share = np.zeros(3)
    >>> solve_shares(np.diag([1.0, 3.0, 1.0]), np.array([0.0, 0.0, math.inf]), share)
    >>> share.tolist()
    [0.75, 0.25, 0.0]
    """
    k = len(share)
    active = np.isfinite(penalty)
    for _ in range(k):
        a, x = np.zeros((k, k)), np.zeros(k)
        for p in range(k):
            if active[p]:
                x[p] = 1.0
                for q in range(k):
                    a[p, q] = products[p, q] if active[q] else 0.0
                a[p, p] += penalty[p]
            else:
                a[p, p] = 1.0
        for p in range(k):  # Gauss; the matrix is positive definite
            for q in range(p + 1, k):
                times = a[q, p] / a[p, p]
                for r in range(p, k):
                    a[q, r] -= times * a[p, r]
                x[q] -= times * x[p]
        for p in range(k - 1, -1, -1):
            for q in range(p + 1, k):
                x[p] -= a[p, q] * x[q]
            x[p] /= a[p, p]
        total, worst = x.sum(), 0
        for p in range(k):
            share[p] = x[p] / total
            worst = p if share[p] < share[worst] else worst
        if share[worst] >= 0.0:
            return
        active[worst] = False
    share[:] = 0.0
    share[0] = 1.0


@part
def update_shares(f: Floats, i: Ints) -> None:
    """Make the shares of all objectives anew."""
    for o in range(i[m.OBJECTIVES]):
        _update_shares(f, i, o)


@part
def _update_shares(f: Floats, i: Ints, o: int) -> None:
    s, penalty, compared = settings(f), np.empty(m.MEMBERS), m.compared(f, i)[o]
    explained = m.explained(f, i)[o]
    missed = (m.levels_variance(f, i)[o] + s.equal_rewards) / (compared + s.equal_rewards)
    bias = s.bias * min(1.0, s.bias * explained / max(1e-9, missed)) * explained * compared
    penalty[:] = s.equal_rewards + bias
    penalty[m.LEVELS_] = s.equal_rewards
    if i[m.TREND_TERMS] == 0:
        penalty[m.TREND_] = math.inf
    if i[m.SMOOTH_TERMS] == 0:
        penalty[m.SMOOTH_] = math.inf
    if i[m.FORMS] == 0:
        penalty[m.FORMS_] = math.inf
    solve_shares(m.products(f, i)[o], penalty, m.share(f, i)[o])


@kernel
def predict(f: Floats, i: Ints, point: Floats, arms: Floats, numbers: Ints, rows: int, shown: bool) -> None:
    """Write means and standard errors of all objectives at the context in `point` and the first rows of arms.

    A squared standard error is what levels and forms say of theirs, and how far members are apart, by their shares.
    What is `shown` has that of levels twice instead: fixed forms may be wrong by what levels cannot tell yet.
    """
    means, errors, member, share = m.mean(f, i, rows), m.error(f, i, rows), m.member_mean(f, i), m.share(f, i)
    if not levels.predict(f, i, point, arms, numbers, rows, means, errors):
        errors[:] = 1.0
        m.label_error(f, i)[:] = 1.0
        return
    fixed = 0.0
    for o in range(i[m.OBJECTIVES]):
        fixed += share[o, m.TREND_] + share[o, m.SMOOTH_] + share[o, m.FORMS_]
    if fixed == 0.0 and i[m.ARE_LABELS] == 0:
        if shown:
            errors *= math.sqrt(SHOWN)
        return
    stand_at_context(f, i, point)
    stand_at_arms(f, i, arms, rows)
    if i[m.FORMS] > 0:
        forms.stand_at(f, i)
    own_square, counts = m.member_square(f, i), 0.0 if shown else 1.0
    for o in range(i[m.OBJECTIVES]):
        mean, square, own = means[o], errors[o], share[o, m.LEVELS_]
        more = SHOWN - own if shown else 0.0
        for row in range(rows):
            variance = square[row] * square[row]
            square[row] = own * (variance + mean[row] * mean[row]) + more * variance
            mean[row] *= own
        for which in (m.TREND_, m.SMOOTH_):
            own = share[o, which]
            if own == 0.0:
                continue
            if which == m.TREND_:
                trend.predict(f, i, o, rows, member)
            else:
                smooth.predict(f, i, o, rows, member)
            for row in range(rows):
                mean[row] += own * member[row]
                square[row] += own * member[row] * member[row]
        own = share[o, m.FORMS_]
        if own > 0.0 or i[m.ARE_LABELS] == 1:
            forms.predict(f, i, o, numbers, rows, member, own_square)
            for row in range(rows):
                mean[row] += own * member[row]
                square[row] += own * (member[row] * member[row] + counts * own_square[row])
        if i[m.ARE_LABELS] == 1:
            for row in range(rows):
                m.label_error(f, i)[o, row] = math.sqrt(own_square[row])
        for row in range(rows):
            square[row] = math.sqrt(max(0.0, square[row] - mean[row] * mean[row]))


@part
def learn(f: Floats, i: Ints, point: Floats, arm: int, reward: Floats, residual: Floats, variance: Floats) -> None:
    """Compare the members with a reward before it is learned, and let fixed forms learn it.

    Writes by how much all together were off, and the squared standard error of that. Outliers are brought nearer then.
    """
    means, errors, rows, numbers = m.mean(f, i, 1), m.error(f, i, 1), m.arms(f, i), m.listed(f, i)
    numbers[0] = arm
    for j in range(i[m.ARM_DIM]):
        rows[0, j] = point[i[m.CONTEXT] + j]
    has_begun = levels.predict(f, i, point, rows, numbers, 1, means, errors)
    if i[m.TREND_TERMS] + i[m.SMOOTH_TERMS] + i[m.FORMS] > 0 or trend.learns(f, i):
        stand_at(f, i, point)
    if i[m.FORMS] > 0:
        forms.stand_at(f, i)
    if has_begun:
        _compare(f, i, numbers, reward, residual, variance)
    outliers.bring_near(f, i, reward, residual, variance)
    if i[m.PAST_ROOM] > 0:
        directions.keep(f, i, point, arm, reward)
    trend.learn(f, i, reward)
    smooth.learn(f, i, reward)
    if i[m.FORMS] > 0:
        forms.learn(f, i, arm, reward)


@part
def _compare(f: Floats, i: Ints, numbers: Ints, reward: Floats, residual: Floats, variance: Floats) -> None:
    """Compare the members with a reward where the functions stand."""
    s, means, errors, off, compared = settings(f), m.mean(f, i, 1), m.error(f, i, 1), m.off(f, i), m.compared(f, i)
    fixed = i[m.TREND_TERMS] + i[m.SMOOTH_TERMS] + i[m.FORMS]
    for o in range(i[m.OBJECTIVES]):
        if math.isnan(reward[o]):
            continue
        noise, share = m.noise(f, i)[o], m.share(f, i)[o]
        off[m.LEVELS_] = reward[o] - means[o, 0]
        off[m.TREND_] = reward[o] - trend.predict_at(f, i, o) if i[m.TREND_TERMS] > 0 else 0.0
        off[m.SMOOTH_] = reward[o] - smooth.predict_at(f, i, o) if i[m.SMOOTH_TERMS] > 0 else 0.0
        off[m.FORMS_] = 0.0
        if i[m.FORMS] > 0:
            forms.predict(f, i, o, numbers, 1, m.member_mean(f, i), m.member_square(f, i))
            off[m.FORMS_] = reward[o] - m.member_mean(f, i)[0]
        together, square, farthest = 0.0, 0.0, 0.0
        for p in range(m.MEMBERS):
            together += share[p] * off[p]
            square += share[p] * off[p] * off[p]
            farthest = max(farthest, off[p] * off[p])
        residual[o] = together
        own = errors[o, 0] * errors[o, 0]
        variance[o] = max(0.0, square - together * together) + share[m.LEVELS_] * own
        if fixed == 0:
            continue
        weight = 1.0 / (noise * max(1.0, farthest / (s.far * noise)))
        for p in range(m.MEMBERS):
            for q in range(m.MEMBERS):
                m.products(f, i)[o, p, q] += weight * off[p] * off[q]
        compared[o] += 1.0
        m.levels_variance(f, i)[o] += min(s.far, own / noise)  # with few rewards there may seem to be no noise


@kernel
def refit(f: Floats, i: Ints, digits: Ints, site_arms: Ints, forgets: bool, trend_lacks: bool) -> None:
    """Fit trend and smooth estimate while it is early, or retire those that hardly count; older comparisons fade.

    `trend_lacks` says that the sums of the trend lack what was told last.
    """
    s, told, share = settings(f), i[m.TOLD], m.share(f, i)
    if told <= s.last_trend_fit or (forgets and s.last_trend_fit > 0):
        trend.refit(f, i, digits, site_arms, forgets, trend_lacks)
    elif share[:, m.TREND_].max() < s.least_share:
        i[m.TREND_TERMS] = 0
    early = forgets or told <= s.last_smooth_fit
    if i[m.PAST_ROOM] > 0:
        if forgets:
            directions.keep_newer_half(f, i)
        if early and (forgets or told >= i[m.FOUND] * (1.0 + s.late_growth)):
            i[m.FOUND] = told
            directions.find(f, i)
    if i[m.SMOOTH_ROOM] > 0 and told >= 2.0 * s.first_rewards:
        largest = share[:, m.SMOOTH_].max()
        if early or (i[m.SMOOTH_TERMS] > 0 and largest >= s.least_share):
            smooth.refit(f, i, digits, site_arms, early, forgets)
        else:
            i[m.SMOOTH_TERMS] = 0
    if i[m.FORMS] > 0:
        forms.refit(f, i, forgets)
    m.products(f, i)[:] *= s.memory
    m.compared(f, i)[:] *= s.memory
    m.levels_variance(f, i)[:] *= s.memory
    update_shares(f, i)
