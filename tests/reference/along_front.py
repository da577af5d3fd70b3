"""How much of a front each of its vectors stands for, word for word."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence

Place = tuple[float, ...]


def weigh(vectors: Sequence[Sequence[float]]) -> list[float]:
    """Of vectors on a front, objectives divided by their range.

    A pair of numbers stands for half of the way to the next one on both sides, a longer vector for a ball that reaches
    to the nearest one. Equal vectors share that. All alike if nothing is apart.
    """
    spans = [max(column) - min(column) for column in zip(*vectors, strict=True)]
    places = [tuple(v / s if s > 0 else 0.0 for v, s in zip(vector, spans, strict=True)) for vector in vectors]
    alike = Counter(places)
    if len(alike) == 1:
        return [1.0] * len(vectors)
    stands_for = _steps(list(alike)) if len(spans) == 2 else _balls(list(alike))
    return [stands_for[place] / alike[place] for place in places]


def _steps(places: list[Place]) -> dict[Place, float]:
    weights = dict.fromkeys(places, 0.0)
    for one, following in itertools.pairwise(sorted(places, key=lambda place: place[0])):
        half = distance(one, following) / 2.0
        weights[one] += half
        weights[following] += half
    return weights


def _balls(places: list[Place]) -> dict[Place, float]:
    return {
        place: min(distance(place, other) for other in places if other != place) ** (len(place) - 1) for place in places
    }


def distance(a: Sequence[float], b: Sequence[float]) -> float:
    """Of two places; summed in order."""
    square = 0.0
    for x, y in zip(a, b, strict=True):
        square += (x - y) * (x - y)
    return math.sqrt(square)


def draw(weights: Sequence[float], u: float) -> int:
    """Who is below a share u of all weight; never one without weight."""
    left = u * total(weights)
    heavy = [k for k, weight in enumerate(weights) if weight > 0.0]
    for k in heavy[:-1]:
        if left < weights[k]:
            return k
        left -= weights[k]
    return heavy[-1]


def total(weights: Sequence[float]) -> float:
    """The sum, in order."""
    added = 0.0
    for weight in weights:
        added += weight
    return added
