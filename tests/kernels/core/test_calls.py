"""Kernels of all kinds, called by address from the loops."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numba.core.runtime import _nrt_python as memory
from numba.core.runtime import rtsys

from paretozoom import PaperTask, Random, simulate
from paretozoom.environments import ConvexFront, SmoothRidges, Task
from paretozoom.kernels.arms import uniform
from paretozoom.kernels.core.jit import Floats, Ints, kernel
from paretozoom.kernels.core.looping import verbs_of
from tests.lines import in_chunks

TASK = PaperTask()
ROUNDS = 50


@kernel
def _note(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    """Write the number to the end of `f`."""
    f[-1] = number


@kernel
def _grow(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """One more place in `f`."""
    more = np.empty(len(f) + 1)
    more[:-1] = f
    return more, i


@kernel
def _cut(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """The same memory, but for the first place."""
    return f[1:], i


@kernel
def _cut_backwards(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    """The same memory in the other order, but for the last place."""
    return f[-2::-1], i


@kernel
def _ask_other_types(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[bool, int, np.uint8]:
    """Play the middle, and say so in other types than most."""
    point[1] = 0.5
    return number < 0, 1, np.uint8(7)


@kernel
def _tell_and_answer(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> int:
    """Write the credit to the end of `f`, and return it."""
    f[-1] = credit
    return credit


@kernel
def _ask_a_few_times(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    if number == 3:
        raise ValueError("three were enough")
    point[1] = 0.5
    return -1, 1.0, 0


@kernel
def _tell_a_few_times(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
    if number == 3:
        raise ValueError("three were enough")


def policy_with(memory: int = 1, **kernels: Any) -> Random:
    """A policy like Random in all but some kernels, with places in its memory."""
    verbs = {"ask": uniform.ask, "tell": uniform.tell, "room": uniform.room, **kernels}
    kind = type("Own", (Random,), {"name": "own", "kernel": SimpleNamespace(**verbs)})
    policy: Random = kind(TASK.problem)
    make = policy._memory
    policy._memory = lambda key: (np.full(memory, -1.0), make(key)[1])  # type: ignore[method-assign]
    policy._floats = np.full(memory, -1.0)
    return policy


def play_in_chunks(policy: Random) -> None:
    in_chunks(policy, TASK, ROUNDS, seed=1, chunk=20)


def play_in_batches(policy: Random) -> None:
    for start in range(0, ROUNDS, 10):
        policy.tell_many(policy.ask_many(np.full((10, 1), start / ROUNDS)), np.zeros((10, 2)))


def play_one_by_one(policy: Random) -> None:
    for _ in simulate(policy, TASK, ROUNDS, seed=1):
        pass


every_way = pytest.mark.parametrize("play", [play_in_chunks, play_in_batches, play_one_by_one])


@every_way
def test_arrays_may_grow_with_every_reward(play: Callable[[Random], None]) -> None:
    policy = policy_with(tell=_note, room=_grow)
    play(policy)
    assert policy._floats.tolist() == [-1.0, *range(ROUNDS)]


@every_way
@pytest.mark.parametrize("room", [_cut, _cut_backwards])
def test_arrays_may_be_a_part_of_those_before(play: Callable[[Random], None], room: Any) -> None:
    policy = policy_with(memory=ROUNDS + 3, tell=_note, room=room)
    play(policy)
    gc.collect()
    others = [np.full(ROUNDS + 3, 7.0) for _ in range(100)]  # they would take the memory if it were free
    assert len(policy._floats) == 3
    assert policy._floats[-1] == ROUNDS - 1
    assert 7.0 not in policy._floats
    assert len(others) == 100


@every_way
def test_arrays_that_are_left_are_let_go(play: Callable[[Random], None]) -> None:
    play(policy_with(tell=_note, room=_grow))  # compile
    policy = policy_with(tell=_note, room=_grow)
    first = weakref.ref(policy._floats)
    memory.memsys_enable_stats()
    try:
        gc.collect()
        before = rtsys.get_allocation_stats()
        play(policy)
        gc.collect()
        after = rtsys.get_allocation_stats()
    finally:
        memory.memsys_disable_stats()
    assert first() is None
    assert after.alloc - before.alloc >= ROUNDS
    assert (after.alloc - before.alloc) - (after.free - before.free) <= 2


@every_way
def test_verbs_may_give_other_types(play: Callable[[Random], None]) -> None:
    policy = policy_with(ask=_ask_other_types, tell=_tell_and_answer, room=_grow)
    play(policy)
    assert policy._floats.tolist() == [-1.0, *[7.0] * ROUNDS]


@every_way
@pytest.mark.parametrize("kernels", [{"ask": _ask_a_few_times}, {"tell": _tell_a_few_times}], ids=["ask", "tell"])
def test_what_a_verb_raises_is_raised(play: Callable[[Random], None], kernels: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="three were enough"):
        play(policy_with(**kernels))


def test_a_room_of_other_numbers_is_refused() -> None:
    @kernel
    def room(f: Floats, i: Ints) -> tuple[Floats, Any]:
        return f, i.astype(np.int32)

    with pytest.raises(TypeError, match=r"room: it returns .*int32.*, expected .*int64"):
        play_in_chunks(policy_with(room=room))


def test_kernels_are_kept_with_their_addresses() -> None:
    @kernel
    def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
        f[0] += 1

    policy = policy_with(tell=tell)
    address = verbs_of(policy.kernel).tell
    alive = weakref.ref(tell)
    del tell, policy
    gc.collect()
    kept = alive()
    assert kept is not None
    assert verbs_of(SimpleNamespace(ask=uniform.ask, tell=kept, room=uniform.room)).tell == address


@kernel
def _answering_mean(world: Floats, point: Floats, out: Floats) -> float:
    """What the paper's task has, and an answer that nobody asked for."""
    out[:] = point[0] * point[1]
    return out[0]


@kernel
def _failing_mean(world: Floats, point: Floats, out: Floats) -> None:
    if point[0] > 0.5:
        raise ValueError("too far")
    out[:] = 0.0


@kernel
def _answering_move(world: Floats, number: int, now: Floats) -> int:
    """Count rounds."""
    now[0] = number
    return number


@kernel
def _counted_mean(world: Floats, point: Floats, out: Floats) -> None:
    out[:] = world[0]


@kernel
def _answering_context(world: Floats, values: Ints, draws: Floats, point: Floats) -> bool:
    """The squares of the draws."""
    point[0] = draws[0] ** 2
    return True


def task_with(**kernels: Any) -> Task:
    """A task on the paper's problem with kernels of its own."""
    kind = type("Own", (Task,), {"name": "own", "mean_kernel": _answering_mean, **kernels})
    task: Task = kind(TASK.problem, world=np.arange(4.0)[::2])  # with a gap between its numbers
    return task


POINTS = np.array([[0.25, 0.5], [0.75, 0.5]])


def test_laws_may_answer() -> None:
    assert task_with().means(POINTS).tolist() == [[0.125, 0.125], [0.375, 0.375]]
    moving = task_with(mean_kernel=_counted_mean, move_kernel=_answering_move)
    assert moving.at(np.array([3, 8])).means(POINTS).tolist() == [[3.0, 3.0], [8.0, 8.0]]
    drawn = np.array([[0.5], [0.25]])
    task_with(context_kernel=_answering_context).make_contexts(drawn, there := POINTS.copy())
    assert there[:, 0].tolist() == [0.25, 0.0625]


def test_what_a_law_raises_is_raised() -> None:
    task = task_with(mean_kernel=_failing_mean)
    assert task.means(POINTS[:1]).tolist() == [[0.0, 0.0]]
    with pytest.raises(ValueError, match="too far"):
        task.means(POINTS)
    with pytest.raises(ValueError, match="too far"):
        in_chunks(Random(TASK.problem), task, ROUNDS, seed=1)


@pytest.mark.parametrize("task", [TASK, SmoothRidges(), ConvexFront()], ids=lambda task: task.name)
def test_truth_of_points_that_cannot_be_written(task: Task) -> None:
    points = POINTS.copy()
    points.flags.writeable = False
    for truth in (task.means, task.gaps, task.are_optimal):
        assert truth(points).tolist() == truth(POINTS).tolist()
        assert truth(np.asfortranarray(POINTS)).tolist() == truth(POINTS).tolist()


def test_a_law_that_is_not_compiled_is_refused() -> None:
    task = task_with(mean_kernel=_failing_mean.py_func)  # type: ignore[attr-defined]
    with pytest.raises(TypeError, match=r"_failing_mean at .* is not compiled"):
        task.means(POINTS)
