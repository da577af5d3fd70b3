"""Features of contexts and arms for policies with linear models; `kernels/linear` says what a base vector is."""

from __future__ import annotations

import itertools
import math
from typing import Literal, NamedTuple, get_args

from paretozoom.kernels.core.kinds import CATEGORICAL, PERIODIC
from paretozoom.kernels.linear.linear import entries_of
from paretozoom.problem import Problem
from paretozoom.records import Refused

MOST_FEATURES = 512

Features = Literal["quadratic", "products", "linear"]


class Block(NamedTuple):
    """The entries of one coordinate in a base vector; their squares sum to at most 1."""

    entries: range
    kind: int
    of_arm: bool


class FeatureMap(NamedTuple):
    """Joint features: products of two entries of the base vector (1, context, arm), scaled to a norm of at most 1."""

    context_base: int  # entries of (1, context)
    base: int  # entries of (1, context, arm)
    pairs: list[tuple[int, int]]
    scale: float

    @classmethod
    def none(cls, problem: Problem, arms: int) -> FeatureMap:
        """A base vector and no joint features."""
        blocks = _blocks(problem, arms)
        context_base = 1 + sum(len(b.entries) for b in blocks if not b.of_arm)
        return cls(context_base, 1 + sum(len(b.entries) for b in blocks), [], 1.0)

    @classmethod
    def of(cls, problem: Problem, arms: int, features: Features | None = None) -> FeatureMap:
        """The entries and their "products" of a context with an arm, of any two ("quadratic"), or of none ("linear").

        None is the first of quadratic, products and linear that has not too many features.

        >>> from paretozoom import Objective, Real
        >>> plane = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])
        >>> FeatureMap.of(plane, 18, "products")
        FeatureMap(context_base=2, base=3, pairs=[(0, 0), (0, 1), (0, 2), (1, 2)], scale=0.5)
        """
        if features is not None and features not in get_args(Features):
            raise Refused(f"features: {features!r} is not one of {list(get_args(Features))!r}, or None")
        empty, blocks = cls.none(problem, arms), _blocks(problem, arms)
        for kind in get_args(Features) if features is None else (features,):
            groups = _groups(blocks, kind)
            size = sum(_size(group) for group in groups)
            if size <= MOST_FEATURES:
                pairs = [pair for group in groups for pair in _pairs(group)]
                return empty._replace(pairs=pairs, scale=1.0 / math.sqrt(len(groups)))
        raise Refused(f"features: {features!r} gives {size} joint features, expected at most {MOST_FEATURES}")


Group = tuple[Block, Block]  # the products of two blocks; their squares sum to at most 1
ONE = Block(range(1), -1, False)


def _blocks(problem: Problem, arms: int) -> list[Block]:
    blocks, place = [], 1
    encoding = problem.encoding
    for j, (kind, values) in enumerate(zip(encoding.kinds.tolist(), encoding.values.tolist(), strict=True)):
        entries = range(place, place + entries_of(kind, values, arms))
        blocks.append(Block(entries, kind, j >= encoding.context))
        place = entries.stop
    return blocks


def _groups(blocks: list[Block], features: str) -> list[Group]:
    groups = [(ONE, ONE)] + [(ONE, block) for block in blocks]
    if features == "products":
        groups += [(a, b) for a, b in itertools.combinations(blocks, 2) if not a.of_arm and b.of_arm]
    if features == "quadratic":
        groups += [
            (a, b)
            for a, b in itertools.combinations_with_replacement(blocks, 2)
            if a is not b or a.kind != CATEGORICAL  # the square of a one among zeros is nothing new
        ]
    return groups


def _size(group: Group) -> int:
    a, b = group
    return len(a.entries) if a is b else len(a.entries) * len(b.entries)


def _pairs(group: Group) -> list[tuple[int, int]]:
    a, b = group
    if a is b and a.kind == PERIODIC:  # the squares of cosine and sine sum to 1: one of them is enough
        return [(a.entries[0], e) for e in a.entries]
    return [(e, e) for e in a.entries] if a is b else list(itertools.product(a.entries, b.entries))
