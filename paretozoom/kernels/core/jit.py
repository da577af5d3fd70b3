"""The one decorator that compiles a kernel, and its relatives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

from paretozoom.kernels.core.cache import MachineCode
from paretozoom.kernels.core.sources import note_file

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
# Instead of literals: a kernel is compiled anew for each that it is called with.
ZERO: Any = np.int64(0)
MINUS_ONE: Any = np.int64(-1)
Function = TypeVar("Function", bound=Callable[..., object])


def kernel(function: Function) -> Function:
    """Compile ``function`` with numba, keeping its machine code for the next process.

    >>> @kernel
    ... def twice(value: float) -> float:
    ...     return 2 * value
    >>> twice(1.5)
    3.0
    """
    return _compiled(function, "never")


def long_kernel(function: Function) -> Function:
    """Compile a kernel that takes long: while it runs, other threads do.

    So nobody else may touch its arrays; a policy holds its lock.

    >>> @long_kernel
    ... def half_of(value: float) -> float:
    ...     return value / 2
    >>> half_of(3.0)
    1.5
    """
    return _compiled(function, "never", nogil=True)


def part(function: Function) -> Function:
    """Compile a function that only other kernels call: Python cannot, and what would let it is not compiled.

    A layout has dozens of entries; taking it from Python takes the compiler longer than most kernels.

    >>> @part
    ... def thrice(value: float) -> float:
    ...     return 3 * value
    >>> @kernel
    ... def sixfold(value: float) -> float:
    ...     return 2 * thrice(value)
    >>> sixfold(1.5)
    9.0
    """
    return _compiled(function, "never", no_cpython_wrapper=True)


def inlined(function: Function) -> Function:
    """Compile a small function into each of its callers: for what is called in the innermost loops with many arguments.

    >>> @inlined
    ... def half(value: float) -> float:
    ...     return value / 2
    >>> half(3.0)
    1.5
    """
    return _compiled(function, "always")


def uncached(function: Function) -> Function:
    """Compile a function whose machine code is not kept: one made at run time, around others.

    >>> @uncached
    ... def square(value: float) -> float:
    ...     return value * value
    >>> square(1.5)
    2.25
    """
    compiler: Any = numba.njit
    return cast(Function, compiler(error_model="numpy", no_cfunc_wrapper=True)(function))


def _compiled(function: Function, inline: Literal["never", "always"], **more: bool) -> Function:
    compiler: Any = numba.njit
    options = {"error_model": "numpy", "inline": inline, "no_cfunc_wrapper": True, **more}  # no C code calls them
    compiled: Any = compiler(**options)(function)
    if hasattr(compiled, "py_func"):  # else numba is told to compile nothing
        note_file(function)
        compiled._cache = MachineCode(function)
    return cast(Function, compiled)
