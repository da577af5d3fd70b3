"""ILOVETOCONBANDITS (Agarwal et al., 2014), one decision at a time."""

from __future__ import annotations

import math

from paretozoom.kernels.arms.table import table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.rules.classes import (
    begins_epoch,
    class_of,
    draw_rule,
    mark_best,
    share_of_sites,
    shortfalls,
    tell,
)
from paretozoom.kernels.rules.descent import solve

__all__ = ["ask", "enter", "room", "tell"]

# own constants: delta, psi, the confidence


@kernel
def smoothing_of(tau: int, arms: int, rules: int, delta: float, confidence: float) -> float:
    """The least probability mu_m of an arm in the epoch after round tau: sqrt(log(16 tau^2 N / delta) / (K tau)).

    >>> [round(smoothing_of(tau, 10, 100, 0.05, 1.0), 7) for tau in (1, 1024, 65536)]
    [0.05, 0.0486502, 0.007048]
    """
    least = math.sqrt(math.log(16.0 * float(tau) ** 2 * rules / delta) / (arms * tau))
    return min(1.0 / (2 * arms), confidence * least)


@kernel
def enter(f: Floats, i: Ints, number: int) -> None:
    """At the decisions 1, 2, 4, ..., solve for the weights of the rules from what was told so far."""
    at = table(i)
    cl = class_of(f, at)
    if not begins_epoch(i, cl, number):
        return
    delta, psi, confidence = f[cl.own], f[cl.own + 1], f[cl.own + 2]
    mu = smoothing_of(i[cl.entered], at.arms, cl.rules, delta, confidence)
    best = mark_best(f, i, at, cl)
    lenience = shortfalls(f, i, at, cl, best, i[cl.entered]) / (psi * mu)
    solve(f, i, at, cl, best, lenience, share_of_sites(i, cl), mu)


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, arm and probability)."""
    enter(f, i, number)
    return draw_rule(f, i, number, point, allowed)
