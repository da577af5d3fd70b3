"""A user's function as machine code that kernels can call by its address: compiled if numba can, else interpreted."""

from __future__ import annotations

import ctypes
import warnings
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

import numba
import numpy as np

_SIGNATURE = "float64(CPointer(float64), CPointer(float64), int64)"
_PROTOTYPE = ctypes.CFUNCTYPE(
    ctypes.c_double, ctypes.POINTER(ctypes.c_double), ctypes.POINTER(ctypes.c_double), ctypes.c_int64
)


class Callback(NamedTuple):
    """A function kernels can call; it lives as long as this record."""

    address: int
    compiled: bool
    owner: Any


def callable_from_kernels(function: Callable[..., float]) -> Callback:
    """Make a function of two arrays of equal length callable from kernels.

    >>> callable_from_kernels(lambda a, b: abs(a[0] - b[0])).compiled
    True
    """
    try:
        return _compiled(function)
    except Exception as error:  # numba raises many kinds; whatever it cannot compile is interpreted
        reason = str(error).strip().splitlines()[0] if str(error).strip() else repr(error)
        warnings.warn(
            f"similarity: function {function!r} cannot be compiled and is interpreted, which is slow: {reason}",
            RuntimeWarning,
            stacklevel=2,
        )
        return _interpreted(function)


def _compiled(function: Callable[..., float]) -> Callback:
    inner = function if hasattr(function, "py_func") else numba.njit(error_model="numpy")(function)

    carray: Any = numba.carray  # type: ignore[attr-defined]

    def outer(a: Any, b: Any, dim: int) -> float:
        return inner(carray(a, (dim,)), carray(b, (dim,)))

    compiled: Any = numba.cfunc(_SIGNATURE)(outer)
    return Callback(compiled.address, True, compiled)


def _interpreted(function: Callable[..., float]) -> Callback:
    def outer(a: Any, b: Any, dim: int) -> float:
        try:
            copies = (np.ctypeslib.as_array(p, (dim,)).copy() for p in (a, b))
            return float(function(*copies))
        except BaseException as error:  # nothing can be raised through machine code
            with suppress(Warning):
                warnings.warn(f"similarity: function {function!r} failed, 1 is taken: {error!r}", stacklevel=2)
            return 1.0

    callback = _PROTOTYPE(outer)
    address = ctypes.cast(callback, ctypes.c_void_p).value
    assert address is not None
    return Callback(address, False, callback)
