"""Random numbers as a pure function of (key, counter): Philox 4x64 with ten rounds.

``uniforms(key0, key1, n, stream)`` equals ``numpy.random.Generator(numpy.random.Philox(key=[key0, key1],
counter=[n, stream, 0, 0])).random(4)`` bit for bit, so a draw can be checked with numpy alone.
"""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.core.jit import kernel

_MULTIPLIER_0 = np.uint64(0xD2E7470EE14C6C93)
_MULTIPLIER_1 = np.uint64(0xCA5A826395121157)
_WEYL_0 = np.uint64(0x9E3779B97F4A7C15)
_WEYL_1 = np.uint64(0xBB67AE8584CAA73B)
_LOW = np.uint64(0xFFFFFFFF)
_HALF = np.uint64(32)
_ONE = np.uint64(1)
_ZERO = np.uint64(0)
_DROP = np.uint64(11)
_ULP = 1.0 / 9007199254740992.0


@kernel
def _high_product(a: np.uint64, b: np.uint64) -> np.uint64:
    """The upper 64 of the 128 bits of a * b."""
    a_low = a & _LOW
    a_high = a >> _HALF
    b_low = b & _LOW
    b_high = b >> _HALF
    cross = a_high * b_low + ((a_low * b_low) >> _HALF)
    other = a_low * b_high + (cross & _LOW)
    return a_high * b_high + (cross >> _HALF) + (other >> _HALF)


@kernel
def uniforms(key0: int, key1: int, number: int, stream: int) -> tuple[float, float, float, float]:
    """Four uniforms in [0, 1) for one counter; keys and counters are 64-bit words.

    >>> uniforms(1, 2, 3, 0) == tuple(
    ...     np.random.Generator(np.random.Philox(key=[1, 2], counter=[3, 0, 0, 0])).random(4))
    True
    """
    # numpy steps the counter before its first block, hence the + 1 (with its carry).
    c0 = np.uint64(number) + _ONE
    c1 = np.uint64(stream)
    if c0 == _ZERO:
        c1 = c1 + _ONE
    c2 = _ZERO
    c3 = _ZERO
    k0 = np.uint64(key0)
    k1 = np.uint64(key1)
    for _ in range(10):
        high0 = _high_product(_MULTIPLIER_0, c0)
        low0 = _MULTIPLIER_0 * c0
        high1 = _high_product(_MULTIPLIER_1, c2)
        low1 = _MULTIPLIER_1 * c2
        c0 = high1 ^ c1 ^ k0
        c1 = low1
        c2 = high0 ^ c3 ^ k1
        c3 = low0
        k0 = k0 + _WEYL_0
        k1 = k1 + _WEYL_1
    return (c0 >> _DROP) * _ULP, (c1 >> _DROP) * _ULP, (c2 >> _DROP) * _ULP, (c3 >> _DROP) * _ULP
