"""Order: a merge sort, which compiles in a tenth of the time of numpy's."""

from __future__ import annotations

import numpy as np

from paretozoom.kernels.core.jit import Floats, Ints, kernel


@kernel
def order_of(values: Floats) -> Ints:
    """Where the smallest number is, then the next, to the largest; equal ones in the order they come in.

    >>> order_of(np.array([2.0, 1.0, 2.0, 0.5])).tolist()
    [3, 1, 0, 2]
    """
    n, width = len(values), 1
    order, merged = np.empty(n, np.int64), np.empty(n, np.int64)
    for k in range(n):
        order[k] = k
    while width < n:
        for start in range(0, n, 2 * width):
            middle, end = min(start + width, n), min(start + 2 * width, n)
            left, right = start, middle
            for place in range(start, end):
                if left < middle and (right == end or values[order[left]] <= values[order[right]]):
                    merged[place] = order[left]
                    left += 1
                else:
                    merged[place] = order[right]
                    right += 1
        order, merged = merged, order
        width *= 2
    return order
