"""Draws from Beta distributions as a pure function of (key, counter)."""

from __future__ import annotations

import math

from paretozoom.kernels.core.jit import kernel
from paretozoom.kernels.core.philox import uniforms

BLOCKS = 32  # streams set apart for one draw, two attempts each; all fail once in 10^31 draws
_TINY = 1.0 / (1 << 54)


@kernel
def draw_beta(ones: float, zeros: float, key0: int, key1: int, number: int, stream: int) -> float:
    """Draw from Beta(1 + ones, 1 + zeros): algorithm BB of R. C. H. Cheng, CACM 21 (1978).

    >>> round(draw_beta(3.0, 1.0, 1, 2, 3, 0), 6)
    0.572955
    """
    small, large = 1.0 + min(ones, zeros), 1.0 + max(ones, zeros)
    total, told = small + large, ones + zeros
    slope = math.sqrt(told / (told + 2.0 * ones * zeros)) if told > 0.0 else 1.0
    steep = small + 1.0 / slope
    for block in range(BLOCKS):
        draws = uniforms(key0, key1, number, stream + block)
        for first in (draws[:2], draws[2:]):
            u, v = max(first[0], _TINY), max(first[1], _TINY)
            logit = slope * math.log(u / (1.0 - u))
            odds = small * math.exp(logit)
            z, rest = u * u * v, steep * logit - math.log(4.0)
            bound = small + rest - odds
            accepted = bound + 1.0 + math.log(5.0) >= 5.0 * z
            if not accepted:
                level = math.log(z)
                accepted = bound >= level or rest + total * math.log(total / (large + odds)) >= level
            if accepted:
                return (odds if ones <= zeros else large) / (large + odds)
    return (1.0 + ones) / total
