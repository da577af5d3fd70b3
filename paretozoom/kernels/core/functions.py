"""Calls of a user's own distance, compiled, by its address."""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from paretozoom.kernels.core.jit import Floats, kernel


@intrinsic
def call_function(typing: Any, address: Any, a: Any, b: Any, dim: Any) -> Any:
    """Call the compiled function at an address with the addresses of two points and their number of coordinates."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        word = ir.IntType(64)
        function = ir.FunctionType(ir.DoubleType(), [word, word, word])
        return builder.call(builder.inttoptr(arguments[0], function.as_pointer()), arguments[1:])

    return types.float64(types.int64, types.int64, types.int64, types.int64), generate


@kernel
def called_between(address: int, a: Floats, b: Floats) -> Floats:
    """What the compiled function at an address says of the rows of two arrays (n, dim)."""
    n, dim = a.shape
    found = np.empty(n)
    for k in range(n):
        row = 8 * dim * k
        found[k] = call_function(address, a.ctypes.data + row, b.ctypes.data + row, dim)  # type: ignore[call-arg]
    return found
