"""The paper's formulas as functions: confidence radii, regret bounds, packings, zooming dimension."""

from __future__ import annotations

import math


def confidence_constant(objectives: int, horizon: int, delta: float) -> float:
    """A_B = 1 + 2 log(2 sqrt(2) d_r T^(3/2) / delta), Section 3 of the paper.

    >>> round(confidence_constant(2, 100_000, 1e-5), 7)
    62.0303632
    """
    return 1.0 + 2.0 * math.log(2.0 * math.sqrt(2.0) * objectives * horizon**1.5 / delta)


def uncertainty(constant: float, count: int) -> float:
    """u_B = sqrt(2 A_B / N_B), infinite for an empty ball.

    >>> round(uncertainty(62.0303632, 125), 7)
    0.9962358
    """
    return math.sqrt(2.0 * constant / count) if count > 0 else math.inf
