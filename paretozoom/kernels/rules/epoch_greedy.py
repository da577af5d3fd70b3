"""Epoch-Greedy (Langford and Zhang, 2007), one decision at a time."""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.arms.table import table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.rules.classes import arms_at, class_of, draw, mark_best, place_of, site_of, tell

__all__ = ["ask", "enter", "room", "tell"]

# own constants: the factor c' of the exploitation rounds
# ints: the epoch entered counts from 1; it begins with its round of exploration


@kernel
def exploitation_rounds(epoch: int, factor: float, arms: int, rules: int) -> int:
    """How many rounds of exploitation follow the round of exploration: floor(c' sqrt(l / (K log N))).

    >>> [exploitation_rounds(l, 1.0, 10, 100) for l in (1, 46, 47, 100, 1000, 10_000)]
    [0, 0, 1, 1, 4, 14]
    """
    return int(factor * math.sqrt(epoch / (arms * math.log(max(rules, 2)))))


@kernel
def enter(f: Floats, i: Ints, number: int) -> None:
    """Note the epoch that a decision belongs to, and which decision it began with."""
    at = table(i)
    cl = class_of(f, at)
    while True:
        last = i[cl.began] + exploitation_rounds(i[cl.entered], f[cl.own], at.arms, cl.rules)
        if number <= last:
            break
        i[cl.entered] += 1
        i[cl.began] = last + 1


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, arm and probability)."""
    enter(f, i, number)
    at = table(i)
    cl = class_of(f, at)
    mass = np.zeros(at.arms)
    explores = number == i[cl.began]
    if not explores:
        best, chosen = mark_best(f, i, at, cl), np.empty(cl.rules, np.int64)
        arms_at(f, at, cl, site_of(f, i, at, cl, point), place_of(f, at, cl, point), chosen)
        for rule in range(cl.rules):
            mass[chosen[rule]] += best[rule]
    return draw(f, i, at, number, point, allowed, mass, explores)
