"""Forms: a linear form of the context for each finite arm, and what all of them have in common.

A reward of arm a is c'(w + u_a) and noise, where c holds simple functions of the context. Beforehand w and all u_a are
normal with variances of their own relative to the noise: how much arms have in common, the rewards say. Given w, arms
tell nothing of each other; so a reward changes two matrices of the size of c, however many arms there are.
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.core.matrices import factorise, invert
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.functions import add_up, stand_at_context
from paretozoom.kernels.pareto_zoom.settings import settings


@part
def stand_at(f: Floats, i: Ints) -> None:
    """Write c, where the functions of the context stand."""
    here, raw = m.form_here(f, i), m.raw(f, i)
    if i[m.WIDE] > 0:
        add_up(m.direction(f, i), raw, here)
    else:
        here[:] = raw[: len(here)]


@part
def _write_precisions(f: Floats, i: Ints, size: int, out: Floats) -> None:
    """Write one over the variance of each term that an arm has of its own.

    That of its level is never below some: if arms seemed alike for good, an unlucky one were not tried again.
    """
    out[:] = 4.0**-size
    out[0] = 4.0 ** -max(float(size), settings(f).form_level)


@part
def predict(f: Floats, i: Ints, o: int, arms: Ints, rows: int, mean: Floats, square: Floats) -> None:
    """Write means and squared standard errors of an objective for the first rows of arms, where c stands."""
    p, here, seen = i[m.FORM_TERMS], m.form_here(f, i), m.form_seen(f, i)
    common, common_inverse = m.form_common(f, i)[o], m.form_common_inverse(f, i)[o]
    apart, noise = m.form_apart(f, i), m.form_noise(f, i)[o]
    _write_precisions(f, i, m.form_size(f, i)[o, 1], apart)
    for row in range(rows):
        inverse, right = m.form_inverse(f, i)[o * i[m.FORMS] + arms[row]], m.form_right(f, i)[o, arms[row]]
        _times(inverse, here, seen)
        total, own, shared = 0.0, 0.0, 0.0
        for k in range(p):
            total += seen[k] * (right[k] + common[k] * apart[k])
            own += seen[k] * here[k]
            seen[k] *= apart[k]
        for k in range(p):
            line, part_of = common_inverse[k], 0.0
            for c in range(p):
                part_of += line[c] * seen[c]
            shared += seen[k] * part_of
        mean[row], square[row] = total, noise * max(0.0, own + shared)


@part
def _times(matrix: Floats, vector: Floats, out: Floats) -> None:
    """Write a symmetric matrix times a vector."""
    out[:] = 0.0
    for k in range(len(vector)):
        line, times = matrix[k], vector[k]
        for c in range(len(vector)):
            out[c] += times * line[c]


@part
def learn(f: Floats, i: Ints, arm: int, reward: Floats) -> None:
    """Learn a reward of an arm where c stands."""
    p, here, gain = i[m.FORM_TERMS], m.form_here(f, i), m.form_seen(f, i)
    for o in range(len(reward)):
        if math.isnan(reward[o]):
            continue
        block = o * i[m.FORMS] + arm
        inverse, right, gram = m.form_inverse(f, i)[block], m.form_right(f, i)[o, arm], m.form_gram(f, i)[block]
        common_right, common_inverse = m.form_common_right(f, i)[o], m.form_common_inverse(f, i)[o]
        apart = m.form_apart(f, i)
        _write_precisions(f, i, m.form_size(f, i)[o, 1], apart)
        _times(inverse, right, gain)
        common_right -= gain * apart
        _times(inverse, here, gain)
        below = 1.0
        for k in range(p):
            below += here[k] * gain[k]
        below = max(below, 0.5)  # that it is below 1 is rounding; the next fit mends it
        for k in range(p):
            line, sums, step = inverse[k], gram[k], gain[k] / below
            for c in range(p):
                line[c] -= step * gain[c]
                sums[c] += here[k] * here[c]
            right[k] += here[k] * reward[o]
        m.form_square(f, i)[o] += reward[o] * reward[o]
        gain *= apart
        moved = m.form_moved(f, i)
        _times(common_inverse, gain, moved)
        spread = 0.0
        for k in range(p):
            spread += gain[k] * moved[k]
        under = below + max(0.0, spread)
        for k in range(p):
            line, step = common_inverse[k], moved[k] / under
            for c in range(p):
                line[c] -= step * moved[c]
        _times(inverse, right, gain)
        common_right += gain * apart
        _times(common_inverse, common_right, m.form_common(f, i)[o])


@kernel
def _judge(f: Floats, i: Ints, o: int, keeps: bool) -> tuple[float, float]:
    """How likely rewards are (a logarithm, but for a constant) by the variances of forms; and their noise.

    With `keeps` what is known of all forms is written.
    """
    p, arms, count = i[m.FORM_TERMS], i[m.FORMS], 0.0
    grams, rights, inverses = m.form_gram(f, i), m.form_right(f, i)[o], m.form_inverse(f, i)
    total, right, logs, known = np.zeros((p, p)), np.zeros(p), 0.0, 0.0
    common, apart = 4.0 ** m.form_size(f, i)[o, 0], np.empty(p)
    _write_precisions(f, i, m.form_size(f, i)[o, 1], apart)
    a, y, inverse, seen = np.empty((p, p)), np.empty(p), np.empty((p, p)), np.empty(p)
    for arm in range(arms):
        gram = grams[o * arms + arm]
        if gram[0, 0] == 0.0:
            if keeps:
                inverses[o * arms + arm][:] = np.diag(1.0 / apart)
            continue
        count += gram[0, 0]
        a[:], y[:] = gram, rights[arm]
        for k in range(p):
            a[k, k] += apart[k]
        half, square = factorise(a, y)
        invert(a, inverse)
        _times(inverse, rights[arm], seen)
        logs += half - 0.5 * np.log(apart).sum()
        known += square
        right += seen * apart
        for k in range(p):
            total[k, k] += apart[k]
            for c in range(p):
                total[k, c] -= apart[k] * inverse[k, c] * apart[c]
        if keeps:
            inverses[o * arms + arm][:] = inverse
    y[:] = right
    for k in range(p):
        total[k, k] += 1.0 / common
    half, square = factorise(total, y)
    logs += half + 0.5 * p * math.log(common)
    rest = max(m.form_square(f, i)[o] - known - square, 1e-12 * m.form_square(f, i)[o], 1e-300)
    if keeps:
        m.form_common_right(f, i)[o] = right
        invert(total, inverse)
        m.form_common_inverse(f, i)[o][:] = inverse
        _times(inverse, right, m.form_common(f, i)[o])
    noise = max(rest / count, 1e-300)
    return -logs - 0.5 * count * math.log(noise), noise


@part
def _sum_anew(f: Floats, i: Ints) -> None:
    """Sum all that is kept of the past along the directions."""
    grams, rights, squares = m.form_gram(f, i), m.form_right(f, i), m.form_square(f, i)
    rewards, arms, here = m.past_reward(f, i), m.past_arm(f, i), m.form_here(f, i)
    grams[:] = 0.0
    rights[:] = 0.0
    squares[:] = 0.0
    for row in range(i[m.PAST]):
        stand_at_context(f, i, m.past_point(f, i)[row])
        stand_at(f, i)
        for o in range(i[m.OBJECTIVES]):
            reward, arm = rewards[row, o], arms[row]
            if m.past_told(f, i)[row, o] == 1:
                gram = grams[o * i[m.FORMS] + arm]
                for k in range(len(here)):
                    rights[o, arm, k] += here[k] * reward
                    for c in range(len(here)):
                        gram[k, c] += here[k] * here[c]
                squares[o] += reward * reward


@kernel
def refit(f: Floats, i: Ints, forgets: bool) -> None:
    """Let both variances take a step to what makes rewards likeliest; sum all anew before if directions are new."""
    s, sizes = settings(f), m.form_size(f, i)
    if forgets:
        m.form_gram(f, i)[:] *= 0.5
        m.form_right(f, i)[:] *= 0.5
        m.form_square(f, i)[:] *= 0.5
    elif i[m.TOLD] < i[m.FORM_FITTED] * (1.0 + s.late_growth):
        return
    i[m.FORM_FITTED] = i[m.TOLD]
    if i[m.WIDE] > 0 and i[m.FOUND] == i[m.TOLD]:
        _sum_anew(f, i)
    for o in range(i[m.OBJECTIVES]):
        if m.form_gram(f, i)[o * i[m.FORMS] : (o + 1) * i[m.FORMS], 0, 0].sum() == 0.0:  # c begins with 1
            continue
        likely = _judge(f, i, o, False)[0]
        for which in range(2):
            for step in (1, -1):
                sizes[o, which] += step
                value = -math.inf
                if abs(sizes[o, which]) <= s.sizes + 2:
                    value = _judge(f, i, o, False)[0]
                if value > likely:
                    likely = value
                    break
                sizes[o, which] -= step
        m.form_noise(f, i)[o] = _judge(f, i, o, True)[1]
