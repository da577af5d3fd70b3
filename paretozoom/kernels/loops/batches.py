"""Many decisions at once, of any policy."""

from __future__ import annotations

from paretozoom.kernels.core.calls import borrowed, call_ask, call_tell, kept, make_room, owned
from paretozoom.kernels.core.jit import Floats, Ints
from paretozoom.kernels.core.looping import Verbs, loop
from paretozoom.kernels.core.memory import REFIT


@loop
def ask_many(
    verbs: Verbs,
    f: Floats,
    i: Ints,
    number: int,
    allowed: Floats,
    point: Floats,
    arm: Ints,
    density: Floats,
    credit: Ints,
) -> None:
    """Ask for each context in the rows of `point`, from `number` on; fills the rows, `arm`, `density` and `credit`."""
    point = borrowed(point)
    for k in range(len(point)):
        arm[k], density[k], credit[k] = call_ask(verbs.ask, f, i, number + k, point[k], allowed)


@loop
def tell_many(
    verbs: Verbs, f: Floats, i: Ints, number: Ints, point: Floats, credit: Ints, reward: Floats
) -> tuple[Floats, Ints]:
    """Tell the rewards of many decisions, none told before; returns the arrays that hold what was learned."""
    owners = kept(f), kept(i)
    f, i, point, reward = borrowed(f), borrowed(i), borrowed(point), borrowed(reward)
    for k in range(len(point)):
        f, i, owners = make_room(verbs.room, f, i, owners)
        call_tell(verbs.tell, f, i, number[k], point[k], credit[k], reward[k], 0)
        if verbs.refit != 0 and i[REFIT] == 1:
            f, i, owners = make_room(verbs.refit, f, i, owners)
    return owned(f, owners[0]), owned(i, owners[1])
