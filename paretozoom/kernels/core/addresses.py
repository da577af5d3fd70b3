"""The addresses of kernels, by what they are for: all that are for one thing take and give the same types."""

from __future__ import annotations

from functools import cache
from typing import Any

import numba
import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, uncached

types: Any = numba.types
_FLOATS, _INTS, _ROWS = types.float64[::1], types.int64[::1], types.float64[:, ::1]
_NUMBER, _NUMBERS = types.int64, types.Tuple((types.int64, types.float64, types.int64))

ASK = _NUMBERS(_FLOATS, _INTS, _NUMBER, _FLOATS, _ROWS)
TELL = types.none(_FLOATS, _INTS, _NUMBER, _FLOATS, _NUMBER, _FLOATS, _NUMBER)
ROOM = types.Tuple((_FLOATS, _INTS))(_FLOATS, _INTS)

CONTEXT = types.none(_FLOATS, _INTS, _FLOATS, _FLOATS)
MEANS = types.none(_FLOATS, _FLOATS, _FLOATS)
MOVE = types.none(_FLOATS, _NUMBER, _FLOATS)


@cache  # which also keeps the kernel, and so its machine code
def address_of(kernel: Any, verb: Any) -> int:
    """Where the machine code of a kernel begins, compiled or found in the cache; it holds as long as the process.

    >>> from paretozoom.kernels.tasks.world import same_spread
    >>> address_of(same_spread, MEANS) == address_of(same_spread, MEANS)
    True
    """
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
    if verb is ASK:

        @uncached
        def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> Any:
            arm, density, credit = kernel(f, i, number, point, allowed)
            return np.int64(arm), np.float64(density), np.int64(credit)

        return ask
    if verb is ROOM:

        @uncached
        def room(f: Floats, i: Ints) -> tuple[Floats, Ints]:
            more_f, more_i = kernel(f, i)
            return np.ascontiguousarray(more_f), np.ascontiguousarray(more_i)

        return room
    if verb is TELL:

        @uncached
        def tell(f: Floats, i: Ints, number: int, point: Floats, credit: int, reward: Floats, told: int) -> None:
            kernel(f, i, number, point, credit, reward, told)

        return tell
    if verb is CONTEXT:

        @uncached
        def context(world: Floats, values: Ints, draws: Floats, point: Floats) -> None:
            kernel(world, values, draws, point)

        return context

    @uncached
    def write(world: Floats, given: Any, out: Floats) -> None:
        kernel(world, given, out)

    return write
