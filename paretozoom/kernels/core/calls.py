"""Calls by address: loops that call the kernels of a policy or a task, compiled once for all of them.

What a kernel calls by name is compiled into it, so a loop would be compiled anew for each policy it plays on each task.
The verbs of all policies and the laws of all tasks have the same arguments and results: their addresses are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import extending

from paretozoom.kernels.core.addresses import ASK, CONTEXT, MEANS, MOVE, ROOM, TELL, types
from paretozoom.kernels.core.jit import Floats, Ints, kernel


def _intrinsic(generator: Callable[..., Any]) -> Any:
    """A function for kernels, without the first argument of what generates its code."""
    return extending.intrinsic(generator)


@_intrinsic
def call_ask(typing: Any, address: Any, f: Any, i: Any, number: Any, point: Any, allowed: Any) -> Any:
    """What the `ask` at an address returns."""
    return _called(typing, ASK, f, i, number, point, allowed)


@_intrinsic
def call_tell(
    typing: Any, address: Any, f: Any, i: Any, number: Any, point: Any, credit: Any, reward: Any, told: Any
) -> Any:
    """Let the `tell` at an address learn."""
    return _called(typing, TELL, f, i, number, point, credit, reward, told)


@_intrinsic
def call_context(typing: Any, address: Any, world: Any, values: Any, draws: Any, point: Any) -> Any:
    """Let the `context_kernel` at an address make a context of draws."""
    return _called(typing, CONTEXT, world, values, draws, point)


@_intrinsic
def call_means(typing: Any, address: Any, world: Any, point: Any, out: Any) -> Any:
    """Let the kernel at an address write a number for each objective: means, spreads or peaks."""
    return _called(typing, MEANS, world, point, out)


@_intrinsic
def call_move(typing: Any, address: Any, world: Any, number: Any, now: Any) -> Any:
    """Let the `move_kernel` at an address write the world of a round."""
    return _called(typing, MOVE, world, number, now)


@_intrinsic
def _call_room(typing: Any, address: Any, f: Any, i: Any) -> Any:
    """What the `room` at an address returns."""
    return _called(typing, ROOM, f, i)


def _called(typing: Any, verb: Any, *given: Any) -> Any:
    """The types of a call by address, and what writes it; nothing if the arguments are not the verb's."""
    if any(typing.can_convert(mine, its) is None for mine, its in zip(given, verb.args, strict=True)):
        return None

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        address, *values = arguments
        if verb is not ROOM:  # the others keep no array, so they may borrow all
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
