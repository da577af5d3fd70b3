"""Calls by address: loops that call the kernels of a policy or a task, compiled once for all of them.

What a kernel calls by name is compiled into it, so a loop would be compiled anew for each policy it plays on each task.
The verbs of all policies and the laws of all tasks have the same arguments and results: their addresses are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np
from numba import extending

from paretozoom.kernels.core.jit import Floats, Ints, kernel, uncached

types: Any = numba.types
_FLOATS, _INTS, _ROWS = types.float64[::1], types.int64[::1], types.float64[:, ::1]
_NUMBER, _NUMBERS = types.int64, types.Tuple((types.int64, types.float64, types.int64))

_ASK = _NUMBERS(_FLOATS, _INTS, _NUMBER, _FLOATS, _ROWS)
_TELL = types.none(_FLOATS, _INTS, _NUMBER, _FLOATS, _NUMBER, _FLOATS, _NUMBER)
_ROOM = types.Tuple((_FLOATS, _INTS))(_FLOATS, _INTS)

_CONTEXT = types.none(_FLOATS, _INTS, _FLOATS, _FLOATS)
_MEANS = types.none(_FLOATS, _FLOATS, _FLOATS)
_MOVE = types.none(_FLOATS, _NUMBER, _FLOATS)


class Verbs(NamedTuple):
    """Where the machine code of a policy's three kernels begins."""

    ask: int
    tell: int
    room: int


class Laws(NamedTuple):
    """Where the machine code of a task's four kernels begins."""

    context: int
    mean: int
    spread: int
    move: int


def verbs_of(kernels: Any) -> Verbs:
    """The addresses of a policy's kernels, compiled or found in the cache; they hold as long as the process.

    >>> from paretozoom.kernels.arms import uniform
    >>> verbs_of(uniform) == verbs_of(uniform)
    True
    """
    return Verbs(_address(kernels.ask, _ASK), _address(kernels.tell, _TELL), _address(kernels.room, _ROOM))


def laws_of(task: Any) -> Laws:
    """The addresses of the kernels of a class of tasks.

    >>> from paretozoom.environments import PaperTask, Tents
    >>> laws_of(PaperTask).move == laws_of(Tents).move, laws_of(PaperTask).mean == laws_of(Tents).mean
    (True, False)
    """
    return Laws(
        _address(task.context_kernel, _CONTEXT),
        address_of_means(task.mean_kernel),
        address_of_means(task.spread_kernel),
        _address(task.move_kernel, _MOVE),
    )


def address_of_means(kernel: Any) -> int:
    """The address of a kernel `(world, point, out)` that writes a number for each objective.

    >>> from paretozoom.kernels.tasks.world import same_spread
    >>> address_of_means(same_spread) == address_of_means(same_spread)
    True
    """
    return _address(kernel, _MEANS)


@cache  # which also keeps the kernel, and so its machine code
def _address(kernel: Any, verb: Any) -> int:
    if not hasattr(kernel, "py_func"):
        raise TypeError(
            f"{kernel!r} is not compiled, expected a function decorated with paretozoom.kernels.core.jit.kernel"
        )
    compiled = _compiled(kernel, verb)
    given = compiled.signature.return_type
    if types.unliteral(given) != verb.return_type:
        compiled = _compiled(_converted(kernel, verb), verb)
        if types.unliteral(compiled.signature.return_type) != verb.return_type:
            raise TypeError(f"{kernel.py_func.__name__}: it returns {given}, expected {verb.return_type}")
    address: int = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return address


def _compiled(kernel: Any, verb: Any) -> Any:
    """What numba made of a kernel for the arguments of a verb."""
    kernel.compile(verb.args)
    return kernel.overloads[verb.args]


def _converted(kernel: Any, verb: Any) -> Any:
    """A kernel that gives other types than its verb, made to give those."""
    if verb is _ASK:

        @uncached
        def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> Any:
            arm, density, credit = kernel(f, i, number, point, allowed)
            return np.int64(arm), np.float64(density), np.int64(credit)

        return ask
    if verb is _ROOM:

        @uncached
        def room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
            more_f, more_i = kernel(f, i)
            return np.ascontiguousarray(more_f), np.ascontiguousarray(more_i)

        return room
    if verb is _TELL:

        @uncached
        def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
            kernel(f, i, number, point, credit, reward, told)

        return tell
    if verb is _CONTEXT:

        @uncached
        def context(world: Floats, values: Ints, draws: Floats, point: Floats) -> None:
            kernel(world, values, draws, point)

        return context

    @uncached
    def write(world: Floats, given: Any, out: Floats) -> None:
        kernel(world, given, out)

    return write


def _intrinsic(generator: Callable[..., Any]) -> Any:
    """A function for kernels, without the first argument of what generates its code."""
    return extending.intrinsic(generator)


@_intrinsic
def call_ask(typing: Any, address: Any, f: Any, i: Any, number: Any, point: Any, allowed: Any) -> Any:
    """What the `ask` at an address returns."""
    return _called(typing, _ASK, f, i, number, point, allowed)


@_intrinsic
def call_tell(
    typing: Any, address: Any, f: Any, i: Any, number: Any, point: Any, credit: Any, reward: Any, told: Any
) -> Any:
    """Let the `tell` at an address learn."""
    return _called(typing, _TELL, f, i, number, point, credit, reward, told)


@_intrinsic
def call_context(typing: Any, address: Any, world: Any, values: Any, draws: Any, point: Any) -> Any:
    """Let the `context_kernel` at an address make a context of draws."""
    return _called(typing, _CONTEXT, world, values, draws, point)


@_intrinsic
def call_means(typing: Any, address: Any, world: Any, point: Any, out: Any) -> Any:
    """Let the kernel at an address write a number for each objective: means, spreads or peaks."""
    return _called(typing, _MEANS, world, point, out)


@_intrinsic
def call_move(typing: Any, address: Any, world: Any, number: Any, now: Any) -> Any:
    """Let the `move_kernel` at an address write the world of a round."""
    return _called(typing, _MOVE, world, number, now)


@_intrinsic
def _call_room(typing: Any, address: Any, f: Any, i: Any) -> Any:
    """What the `room` at an address returns."""
    return _called(typing, _ROOM, f, i)


def _called(typing: Any, verb: Any, *given: Any) -> Any:
    """The types of a call by address, and what writes it; nothing if the arguments are not the verb's."""
    if any(typing.can_convert(mine, its) is None for mine, its in zip(given, verb.args, strict=True)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, *values = arguments
        if verb is not _ROOM:  # the others keep no array, so they may borrow all
            values = [_lent(context, builder, *pair) for pair in zip(verb.args, values, strict=True)]
        convention = context.call_conv
        function = convention.get_function_type(verb.return_type, verb.args).as_pointer()
        pointer = builder.inttoptr(address, function)
        status, result = convention.call_function(builder, pointer, verb.return_type, verb.args, values)
        with builder.if_then(status.is_error, likely=False):
            convention.return_status_propagate(builder, status)
        return result

    return verb.return_type(types.int64, *verb.args), generate


# To count references takes longer than a quick kernel does, so loops borrow arrays: they count none.


def _lent(context: Any, builder: Any, kind: Any, value: Any, owner: Any = None) -> Any:
    """A value of some type, with an owner (an address) or without one if it is an array."""
    if not isinstance(kind, types.Array):
        return value
    array = context.make_array(kind)(context, builder, value)
    place = array.meminfo.type
    array.meminfo = place(None) if owner is None else builder.inttoptr(owner, place)
    return array._getvalue()


@_intrinsic
def borrowed(typing: Any, array: Any) -> Any:
    """An array that others keep: references to it, and to its rows, are not counted."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _lent(context, builder, array, *arguments)

    return array(array), generate


@_intrinsic
def kept(typing: Any, array: Any) -> Any:
    """The owner of an array, who gets a reference to it; `owned` takes that back."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        context.nrt.incref(builder, array, arguments[0])
        owner = context.make_array(array)(context, builder, arguments[0]).meminfo
        return builder.ptrtoint(owner, context.get_value_type(types.int64))

    return types.int64(array), generate


@_intrinsic
def owned(typing: Any, array: Any, owner: Any) -> Any:
    """A borrowed array as its owner kept it: references to it are counted again."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _lent(context, builder, array, *arguments)

    return array(array, types.int64), generate


@kernel
def make_room(address: int, f: Floats, i: Ints, owners: tuple[int, int]) -> tuple[Floats, Ints, tuple[int, int]]:
    """What the `room` at an address makes of two borrowed arrays: borrowed ones, and their owners."""
    more_f, more_i = _call_room(address, owned(f, owners[0]), owned(i, owners[1]))
    return borrowed(more_f), borrowed(more_i), (kept(more_f), kept(more_i))
