"""Dominance, word for word (Definition 1 of the paper)."""

from __future__ import annotations

from collections.abc import Sequence

Vector = Sequence[float]


def dominated(a: Vector, b: Vector) -> bool:
    """Whether b is nowhere below a and somewhere above it."""
    return all(x <= y for x, y in zip(a, b, strict=True)) and any(x < y for x, y in zip(a, b, strict=True))


def front(vectors: Sequence[Vector]) -> list[int]:
    """The places of the vectors that no other one dominates; equal vectors stay together."""
    return [k for k, a in enumerate(vectors) if not any(dominated(a, b) for b in vectors)]
