"""ParetoZoom: its four verbs."""

from __future__ import annotations

import math
from typing import Any

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, long_kernel, part
from paretozoom.kernels.core.lattice import draw, lay, measure, size_of, walk
from paretozoom.kernels.core.memory import REFIT, lend_row, resized
from paretozoom.kernels.core.philox import uniforms
from paretozoom.kernels.pareto_zoom import committee, drift, levels, trend
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.chooser import choose, draw_by_weight, weigh_front
from paretozoom.kernels.pareto_zoom.settings import settings
from paretozoom.kernels.pareto_zoom.sites import add_to_site, digits_at, fill_slots, forget_half, list_digits


@inlined
def _boxes(f: Floats, i: Ints, allowed: Floats) -> Any:
    return allowed if len(allowed) > 0 else m.boxes(f, i)


@part
def list_candidates(f: Floats, i: Ints, number: int, allowed: Floats) -> int:
    """List the candidates of a decision; returns how many they are. A negative number stands for no decision's luck."""
    arms = m.arms(f, i)
    if i[m.ARMS] == 0:
        values = m.values(f, i)[i[m.CONTEXT] :]
        return lay(i[m.KEY0], i[m.KEY1], number, values, _boxes(f, i, allowed), i[m.PER_CELL], arms)
    listed, features = m.listed(f, i), m.features(f, i)
    rows = len(allowed) if len(allowed) > 0 else i[m.ARMS]
    for row in range(rows):
        arm = int(allowed[row, 0]) if len(allowed) > 0 else row
        listed[row] = arm
        for j in range(i[m.ARM_DIM]):
            arms[row, j] = features[arm, j]
    return rows


@kernel
def look(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats, shown: bool) -> int:
    """List the candidates of a decision and predict their rewards; returns how many they are."""
    rows = list_candidates(f, i, number, allowed)
    committee.predict(f, i, point, m.arms(f, i), m.listed(f, i), rows, shown)
    return rows


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an allowed arm for the context in `point`, writing it there; returns (finite arm, density, finite arm)."""
    rows = look(f, i, number, point, allowed, False)
    choose(f, i, rows)
    marks, u = lend_row(m.front(f, i), 0, rows), uniforms(i[m.KEY0], i[m.KEY1], number, 0)[0]
    values, boxes = m.values(f, i)[i[m.CONTEXT] :], _boxes(f, i, allowed)
    if i[m.ALONG_FRONT] == 1:
        weights = weigh_front(m.mean(f, i, rows), marks)
        row = draw_by_weight(weights, u)
        density = weights[row] / weights.sum()
        if i[m.ARMS] == 0:
            density /= size_of(values, boxes, i[m.PER_CELL], row)
    elif i[m.ARMS] > 0:
        marked = marks.sum()
        row, density = walk(marks, 0, int(u * marked)), 1.0 / marked
    else:
        size = measure(values, boxes, i[m.PER_CELL], marks)
        row, density = draw(values, boxes, i[m.PER_CELL], marks, u * size), 1.0 / size
    for j in range(i[m.ARM_DIM]):
        point[i[m.CONTEXT] + j] = m.arms(f, i)[row, j]
    arm = m.listed(f, i)[row] if i[m.ARMS] > 0 else -1
    return arm, density, arm


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, arm: int, reward: Floats, told: int) -> None:
    """Learn from the entries of `reward` that are not NaN. Needs room."""
    d, offset = i[m.OBJECTIVES], m.offset(f, i)
    rest, residual, variance, digits, parts = m.rest(f, i), m.residual(f, i), m.variance(f, i), m.digits(f, i), 0
    residual[:] = math.nan
    for o in range(d):
        if math.isnan(offset[o]):
            offset[o] = reward[o]
        rest[o] = reward[o] - offset[o]
        parts += not math.isnan(rest[o])
    key = digits_at(f, i, point, arm, digits)
    committee.learn(f, i, point, arm, rest, residual, variance)
    if i[m.LEVELS] > 1:
        drift.watch(f, i, digits, residual, variance)
    site = add_to_site(f, i, key, rest)
    levels.learn(f, i, digits, arm, site, rest)
    i[m.PARTS] += parts
    i[m.TOLD] += i[m.PARTS] // d
    i[m.PARTS] %= d
    if i[m.LEVELS] > 0 and i[m.TOLD] >= i[m.DUE]:
        drift.conclude(f, i)
        levels.correct_all(f, i, digits)
        committee.update_shares(f, i)
    i[REFIT] = int(i[m.TOLD] >= i[m.NEXT])


@long_kernel
def refit(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """The same state with all estimators fitted anew. Forgets half first if the world has changed."""
    s, forgets, trend_lacks = settings(f), i[m.FORGETS] == 1, not trend.learns(f, i)
    if forgets:
        forget_half(f, i)
        m.watched(f, i)[:] = 0.0
        m.last(f, i)[:] = 0.0
    digits, site_arms = list_digits(f, i)
    committee.refit(f, i, digits, site_arms, forgets, trend_lacks)
    growth = s.early_growth if i[m.TOLD] < s.last_learned_at_once else s.late_growth
    i[m.NEXT] = i[m.TOLD] + max(int(s.first_rewards) // 2, int(i[m.TOLD] * growth))
    i[REFIT] = 0
    return levels.refit(f, i, digits, site_arms, forgets)


@kernel
def room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """The same state with space for what one more reward may need."""
    more = i[m.OBJECTIVES] * m.STATISTICS * i[m.NUMBERED]
    has_sites = i[m.SITES] < i[m.SITE_ROOM]
    if has_sites and i[m.BLOCKS] + i[m.LEVELS] <= i[m.BLOCK_ROOM] and i[m.USED] + more <= i[m.CELL_ROOM]:
        return f, i
    head = i[: m.HEADER].copy()
    while head[m.SITE_ROOM] <= i[m.SITES]:
        head[m.SITE_ROOM] *= 2
    while head[m.BLOCK_ROOM] < i[m.BLOCKS] + i[m.LEVELS]:
        head[m.BLOCK_ROOM] *= 2
    head[m.SITE_SLOTS], head[m.BLOCK_SLOTS] = 2 * head[m.SITE_ROOM], 2 * head[m.BLOCK_ROOM]
    head[m.CELL_ROOM] = max(i[m.CELL_ROOM], 2 * (i[m.USED] + more))
    more_f, more_i = resized(f, i, head, m.TABLE)
    fill_slots(m.site_slot(more_f, more_i), m.site_key(more_f, more_i), i[m.SITES])
    fill_slots(m.block_slot(more_f, more_i), m.block_key(more_f, more_i), i[m.BLOCKS])
    return more_f, more_i
