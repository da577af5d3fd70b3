"""Loops that call kernels by address, and what plays instead of them where such calls do not work.

Calls by address need more of numba than it promises. So a known one is tried first: if it fails, Python runs the loops,
and they call the kernels as Python does: slowly, but never wrongly.
"""

from __future__ import annotations

import functools
import types
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple, cast

import numpy as np

from paretozoom.kernels.core.addresses import ASK, CONTEXT, MEANS, MOVE, ROOM, TELL, address_of
from paretozoom.kernels.core.calls import borrowed, call_ask, kept, make_room, owned
from paretozoom.kernels.core.jit import Floats, Function, Ints, kernel, part


class Verbs(NamedTuple):
    """Where the machine code of a policy's kernels begins; the kernels themselves if Python runs the loops."""

    ask: Any
    tell: Any
    room: Any
    refit: Any  # 0 if the policy has none


class Laws(NamedTuple):
    """Where the machine code of a task's four kernels begins; the kernels themselves if Python runs the loops."""

    context: Any
    mean: Any
    spread: Any
    move: Any


def verbs_of(kernels: Any) -> Verbs:
    """What loops need to call a policy's kernels.

    >>> from paretozoom.kernels.arms import uniform
    >>> verbs_of(uniform) == verbs_of(uniform)
    True
    """
    refit = _callable(kernels.refit, ROOM) if hasattr(kernels, "refit") else 0
    return Verbs(_callable(kernels.ask, ASK), _callable(kernels.tell, TELL), _callable(kernels.room, ROOM), refit)


def laws_of(task: Any) -> Laws:
    """What loops need to call the kernels of a class of tasks.

    >>> from paretozoom.environments import PaperTask, Tents
    >>> laws_of(PaperTask).move == laws_of(Tents).move, laws_of(PaperTask).mean == laws_of(Tents).mean
    (True, False)
    """
    return Laws(
        _callable(task.context_kernel, CONTEXT),
        means_of(task.mean_kernel),
        means_of(task.spread_kernel),
        _callable(task.move_kernel, MOVE),
    )


def means_of(kernel: Any) -> Any:
    """What loops need to call a kernel `(world, point, out)` that writes a number for each objective.

    >>> from paretozoom.kernels.tasks.world import same_spread
    >>> means_of(same_spread) == means_of(same_spread)
    True
    """
    return _callable(kernel, MEANS)


def _callable(kernel: Any, verb: Any) -> Any:
    return address_of(kernel, verb) if calls_work() else kernel


def loop(function: Function) -> Function:
    """Compile a function that calls kernels by address; where such calls do not work, Python runs it.

    >>> from paretozoom.environments import Tents
    >>> from paretozoom.kernels.core.calls import call_means
    >>> @loop
    ... def twice(laws: Laws, world: Floats, point: Floats, out: Floats) -> None:
    ...     call_means(laws.mean, world, point, out)
    ...     out *= 2
    >>> twice(laws_of(Tents), Tents().world, np.array([0.5, 0.5]), out := np.zeros(2))
    >>> out.tolist() == (2 * Tents().means(np.array([[0.5, 0.5]]))[0]).tolist()
    True
    """
    compiled = kernel(function)

    @functools.wraps(function)
    def run(*given: Any) -> Any:
        return compiled(*given) if calls_work() else _interpreted(function)(*given)

    run.compiled = compiled  # type: ignore[attr-defined]
    return cast(Function, run)


@functools.cache
def calls_work() -> bool:
    """Whether a known call by address does what it should; tried once in a process, with a warning if not.

    >>> calls_work()
    True
    """
    try:
        wrong = None if _try() else "a known one gives a wrong answer"
    except Exception as error:  # numba raises many kinds
        wrong = f"a known one fails with {error!r}"
    if wrong is not None:
        warnings.warn(
            f"paretozoom: this version of numba cannot call kernels by address ({wrong}), so loops over rounds are "
            "interpreted, which is slow; see which versions pyproject.toml allows",
            RuntimeWarning,
            stacklevel=2,
        )
    return wrong is None


def _try() -> bool:
    """Whether memory grows and a decision is made as expected."""
    f, i, point = np.array([0.5, 0.25]), np.array([3]), np.array([0.125, 0.0])
    ask, room = address_of(_ask, ASK), address_of(_room, ROOM)
    f, i, answer = _grow_and_ask(ask, room, f, i, point, np.array([[2.0, 4.0]]))
    found = f.tolist(), i.tolist(), answer, point.tolist()
    return bool(found == ([0.5, 0.25, 8.0], [3], (10, 0.625, 3), [0.125, 12.0]))


@part
def _ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    point[1] = f[2] + allowed[0, 1]
    return number + i[0], f[0] + point[0], len(f)


@part
def _room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
    more = np.empty(len(f) + 1)
    more[:-1] = f
    more[-1] = 8.0
    return more, i


@kernel
def _grow_and_ask(
    ask: int, room: int, f: Floats, i: Ints, point: Floats, allowed: Floats
) -> tuple[Floats, Ints, tuple[int, float, int]]:
    f, i, owners = make_room(room, borrowed(f), borrowed(i), (kept(f), kept(i)))
    answer = call_ask(ask, f, i, 7, point, allowed)
    return owned(f, owners[0]), owned(i, owners[1]), answer


@functools.cache
def _interpreted(function: Callable[..., Any]) -> Callable[..., Any]:
    """A loop that Python runs: the same code with other meanings of the names for calls by address."""
    known = {**function.__globals__, **_IN_PYTHON}
    for name in function.__code__.co_names:
        called = getattr(known.get(name), "py_func", None)
        if called is not None and _IN_PYTHON.keys() & called.__code__.co_names:
            known[name] = _interpreted(called)
    return types.FunctionType(function.__code__, known, function.__name__)


def _call(kernel: Callable[..., Any], *given: Any) -> Any:
    return kernel(*given)


def _make_room(room: Callable[..., Any], f: Floats, i: Ints, owners: Any) -> Any:
    return *room(f, i), owners


_IN_PYTHON: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("call_ask", "call_tell", "call_context", "call_means", "call_move"), _call),
    "make_room": _make_room,
    "borrowed": lambda array: array,
    "kept": lambda array: 0,
    "owned": lambda array, owner: array,
}
