"""COFIBA (Li, Karatzoglou and Gentile, 2016), one decision at a time."""

from __future__ import annotations

import math

from paretozoom.kernels.arms.table import Table, table
from paretozoom.kernels.arms.uniform import room
from paretozoom.kernels.clusters.clusters import (
    ALPHA_2,
    Clusters,
    ask,
    bonus,
    clusters,
    divide,
    divide_items,
    item_at,
    learn,
)
from paretozoom.kernels.core.inverses import dot, form
from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part

__all__ = ["ask", "room", "tell"]


@kernel
def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Learn a reward, then cut edges: of its user to users unlike, of its item to items that divide users otherwise."""
    at = table(i)
    c = clusters(f, i, at)
    user, item = credit // at.arms, credit % at.arms
    learn(f, i, at, c, user, item, reward)
    _refresh(f, at, c, user)
    unit = bonus(f[at.constants + ALPHA_2], 1.0, number)
    _cut_users(f, i, at, c, user, item, unit)
    _cut_items(f, i, at, c, user, item, unit)


@part
def _refresh(f: Floats, at: Table, c: Clusters, user: int) -> None:
    """Compute a user's estimate of every item, and its width, anew."""
    for item in range(c.items):
        x, row = item_at(at, c, item), user * c.items + item
        f[c.width + row] = math.sqrt(form(f, c.inverse + user * c.size * c.size, x, c.size))
        for o in range(at.learned):
            theta = c.theta + (user * at.learned + o) * c.size
            f[c.estimate + row * at.learned + o] = dot(f, theta, x, c.size)


@inlined
def _are_near(f: Floats, at: Table, c: Clusters, user: int, other: int, item: int, unit: float) -> bool:
    """Whether the estimates of two users agree on an item: |(w_i - w_j)'x| <= cb_i(x) + cb_j(x), in every number."""
    a, b, near = user * c.items + item, other * c.items + item, True
    room_between = unit * (f[c.width + a] + f[c.width + b])
    for o in range(at.learned):
        apart = f[c.estimate + a * at.learned + o] - f[c.estimate + b * at.learned + o]
        near &= abs(apart) <= room_between
    return near


@part
def _cut_users(f: Floats, i: Ints, at: Table, c: Clusters, user: int, item: int, unit: float) -> None:
    graph, cut = i[c.cluster + item], False
    edges = c.edge + graph * c.users * c.users
    for other in range(c.users):
        if i[edges + user * c.users + other] == 1 and not _are_near(f, at, c, user, other, item, unit):
            i[edges + user * c.users + other] = i[edges + other * c.users + user] = 0
            cut = True
    if cut:
        divide(f, i, at, c, graph, user)


@part
def _cut_items(f: Floats, i: Ints, at: Table, c: Clusters, user: int, item: int, unit: float) -> None:
    cut = False
    for other_item in range(c.items):
        if i[c.item_edge + item * c.items + other_item] == 0:
            continue
        same = True
        for other in range(c.users):
            if other != user:
                here = _are_near(f, at, c, user, other, item, unit)
                same &= here == _are_near(f, at, c, user, other, other_item, unit)
        if not same:
            i[c.item_edge + item * c.items + other_item] = i[c.item_edge + other_item * c.items + item] = 0
            cut = True
    if cut:
        divide_items(f, i, at, c, item)
