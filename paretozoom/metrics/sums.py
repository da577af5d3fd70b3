"""Sums, shares and tails that come out the same however the rounds were cut into chunks."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from paretozoom.problem.dimensions import Floats

Column = TypeVar("Column", bound=npt.NDArray[Any])


def add_up(total: Floats, values: Floats) -> Floats:
    """The running sums of `total` and the rows of `values`, added one by one, so that chunks leave no trace.

    >>> add_up(np.array(1.0), np.array([2.0, 3.0])).tolist()
    [1.0, 3.0, 6.0]
    """
    return np.cumsum(np.concatenate([total[None], values]), axis=0)


def tail(values: Column, seen: int, rounds: int) -> Column:
    """Those values that belong to the last fifth of a run of `rounds` rounds, `seen` of which came before them.

    >>> tail(np.array([6, 7, 8, 9, 10]), 5, 10).tolist()
    [9, 10]
    """
    return values[max(0, 4 * rounds // 5 - seen) :]  # type: ignore[return-value]


def share(part: float, whole: float) -> float | None:
    """Part over whole, or None if there is nothing to share.

    >>> share(1, 4), share(0, 0)
    (0.25, None)
    """
    return float(part / whole) if whole else None
