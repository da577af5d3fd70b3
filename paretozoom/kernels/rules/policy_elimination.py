"""PolicyElimination (Dudik et al., 2011), one decision at a time."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.arms.table import table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.rules.classes import begins_epoch, class_of, draw_rule, mark_best, shortfalls, tell
from paretozoom.kernels.rules.descent import solve

__all__ = ["ask", "enter", "room", "tell"]

# own constants: delta, the confidence


@kernel
def doubt(t: int, rules: int, delta: float) -> float:
    """log(1 / delta_t) with delta_t = delta / (4 N t^2).

    >>> round(doubt(1000, 100, 0.05), 7)
    22.8027074
    """
    return math.log(4.0 * rules * float(t) ** 2 / delta)


@kernel
def width_of(t: int, arms: int, rules: int, delta: float) -> float:
    """How uncertain the value of a rule is: b_t = 2 sqrt(2 K log(1 / delta_t) / t).

    >>> round(width_of(1000, 10, 100, 0.05), 7)
    1.3506356
    >>> [2 * width_of(t, 10, 100, 0.05) < 1 for t in (8679, 8680)]
    [False, True]
    """
    return 2.0 * math.sqrt(2.0 * arms * doubt(t, rules, delta) / t)


@kernel
def smoothing_of(t: int, arms: int, rules: int, delta: float, confidence: float) -> float:
    """The least probability mu_t of an arm: sqrt(log(1 / delta_t) / (2 K t)), at most 1 / (2 K).

    >>> round(smoothing_of(1000, 10, 100, 0.05, 1.0), 7)
    0.0337659
    """
    return min(1.0 / (2 * arms), confidence * math.sqrt(doubt(t, rules, delta) / (2.0 * arms * t)))


@kernel
def enter(f: Floats, i: Ints, number: int) -> None:
    """Drop rules that are surely worse; if there are any, or at the decisions 1, 2, 4, ..., find weights anew."""
    if number == 0:
        return
    at = table(i)
    cl = class_of(f, at)
    delta, confidence, solves = f[cl.own], f[cl.own + 1], begins_epoch(i, cl, number)
    best = mark_best(f, i, at, cl)
    short = shortfalls(f, i, at, cl, best, number)
    most = 2.0 * confidence * width_of(number, at.arms, cl.rules, delta)
    for rule in range(cl.rules):
        if i[cl.alive + rule] == 1 and short[rule] > most:
            i[cl.alive + rule] = 0
            solves = True
    if not solves:
        return
    mu = smoothing_of(number, at.arms, cl.rules, delta, confidence)
    f[cl.solved : cl.solved + cl.rules] = 0.0
    solve(f, i, at, cl, best, np.zeros(cl.rules), np.full(cl.sites, 1.0 / cl.sites), mu)


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, arm and probability)."""
    enter(f, i, number)
    return draw_rule(f, i, number, point, allowed)
