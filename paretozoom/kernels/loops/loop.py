"""The straight line, compiled: rounds of any policy on any task."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.core.calls import (
    borrowed,
    call_ask,
    call_context,
    call_means,
    call_move,
    call_tell,
    kept,
    make_room,
    owned,
)
from paretozoom.kernels.core.jit import Floats, Ints
from paretozoom.kernels.core.looping import Laws, Verbs, loop
from paretozoom.kernels.core.memory import REFIT
from paretozoom.kernels.tasks.world import draw_numbers, draw_reward, settle


@loop
def play(
    verbs: Verbs,
    laws: Laws,
    f: Floats,
    i: Ints,
    world: Floats,
    key0: int,
    key1: int,
    values: Ints,
    draws: Floats,
    noise: Ints,
    spreads: Floats,
    units: Floats,
    first: int,
    first_number: int,
    carried: int,
    number: Ints,
    point: Floats,
    arm: Ints,
    density: Floats,
    credit: Ints,
    reward: Floats,
    due: Ints,
    order: Ints,
) -> tuple[Floats, Ints]:
    """Play a round for each row from `carried` on; returns the arrays that hold what was learned.

    Rows [0, carried) are decisions of earlier chunks whose rewards are still to come, the others this chunk's.
    `order` lists rows by the round in which their rewards are due.
    """
    mean, allowed, now = np.empty(reward.shape[1]), np.empty((0, 0)), world.copy()
    owners = kept(f), kept(i)
    f, i, point, reward = borrowed(f), borrowed(i), borrowed(point), borrowed(reward)
    delivered = 0
    for row in range(carried, len(point)):
        t = first + row - carried
        here, told = point[row], reward[row]
        draw_numbers(key0, key1, t, draws)
        call_context(laws.context, world, values, draws, here)
        number[row] = first_number + t
        arm[row], density[row], credit[row] = call_ask(verbs.ask, f, i, number[row], here, allowed)
        call_move(laws.move, world, number[row], now)
        call_means(laws.mean, now, here, mean)
        call_means(laws.spread, now, here, spreads)
        draw_reward(key0, key1, number[row], noise, spreads, mean, told)
        if len(units) > 0:
            settle(units, told)
        while delivered < len(order) and due[order[delivered]] <= t:
            old = order[delivered]
            f, i, owners = make_room(verbs.room, f, i, owners)
            call_tell(verbs.tell, f, i, number[old], point[old], credit[old], reward[old], 0)
            if verbs.refit != 0 and i[REFIT] == 1:
                f, i, owners = make_room(verbs.refit, f, i, owners)
            delivered += 1
    return owned(f, owners[0]), owned(i, owners[1])
