"""Even play along the front in the space of objectives, in NumPy: what kernels must weigh."""

from __future__ import annotations

import itertools

import numpy as np

from paretozoom.problem.dimensions import Floats


def weigh(vectors: Floats) -> Floats:
    """How much of the front each of its vectors (rows) stands for, objectives being divided by their range.

    A pair of numbers stands for half of the way to the next one on both sides, a longer vector for a ball that reaches
    to the nearest one. Equal vectors share that. All alike if nothing is apart.

    >>> weigh(np.array([[0.0, 1.0], [0.5, 0.9], [1.0, 0.0]])).round(2).tolist()
    [0.25, 0.77, 0.51]
    """
    spans = np.ptp(vectors, axis=0)
    places = np.where(spans > 0, vectors / np.where(spans > 0, spans, 1), 0)
    places, alike, times = np.unique(places, axis=0, return_inverse=True, return_counts=True)
    apart = np.sqrt(((places[:, None] - places) ** 2).sum(axis=2))
    if len(places) == 1:
        return np.ones(len(vectors))
    if vectors.shape[1] == 2:  # places are in the order of their first number
        weights = np.zeros(len(places))
        for k, following in itertools.pairwise(range(len(places))):
            weights[[k, following]] += apart[k, following] / 2
    else:
        weights = (apart + np.diag([np.inf] * len(places))).min(axis=1) ** (vectors.shape[1] - 1)
    return (weights / times)[alike]
