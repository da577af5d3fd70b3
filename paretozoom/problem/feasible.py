"""Feasible sets: which arms may be played in one round, from the user's labels or boxes to rows of numbers."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Categorical, Dimension, Finite, Floats, Integer, Real
from paretozoom.records import Refused

ANY: Floats = np.zeros((0, 0))  # every arm is feasible
MOST_ROWS = 2048
SHORTEST = 1e-9  # an encoded interval below this is refused
SLIVER = 1e-12  # what subtraction leaves below this is dropped

Interval = tuple[float, float]
Piece = tuple[Interval, ...]  # an encoded box, one interval per coordinate; a discrete value is (value, value)


def encode_feasible(problem: Problem, feasible: Any) -> Floats:
    """The feasible arms as rows: numbers of arms (n, 1), or lows then highs of disjoint boxes (n, 2 * coordinates).

    Finite arms are given by their labels; arms by dimensions are given by a box or a list of boxes. A box maps
    names of dimensions to what is allowed: (low, high) for a Real, through the end if it is periodic and low is
    above high; (low, high), both included, or one integer; a list of choices or one choice. A name left out is
    unrestricted, and so is everything if `feasible` is None. The rows depend on the boxes, not on their order.

    >>> from paretozoom.problem.dimensions import Objective
    >>> problem = Problem(context=[], arm=[Real("price", 0, 8), Categorical("size", ["s", "l"])],
    ...                   objectives=[Objective("profit")])
    >>> encode_feasible(problem, [{"price": (2, 4)}, {"price": [3, 6], "size": "l"}]).tolist()
    [[0.25, 0.0, 0.5, 0.0], [0.25, 1.0, 0.75, 1.0]]
    """
    if feasible is None:
        return ANY
    if isinstance(problem.arm, Finite):
        return _numbers_of_labels(problem, problem.arm, feasible)
    if len(problem.encoding.arms):
        return _numbers_in_boxes(problem.arm, feasible)
    return _rows(problem.arm, feasible)


def _numbers_of_labels(problem: Problem, arm: Finite, feasible: Any) -> Floats:
    labels = _listed(feasible)
    if labels is None:
        raise Refused(f"feasible: {feasible!r} is not a list of labels")
    if not labels:
        raise Refused(f"feasible: {feasible!r} has no label, so the feasible set is empty")
    point = np.empty(problem.dim)
    numbers = set()
    for label in labels:
        try:
            numbers.add(problem.encode_arm(label, point))
        except Refused:
            raise Refused(f"feasible: {label!r} is not one of {list(arm.labels)[:20]!r}") from None
    return np.array(sorted(numbers), dtype=float)[:, None]


def _numbers_in_boxes(arm: Sequence[Dimension], feasible: Any) -> Floats:
    allowed = np.zeros([d.values for d in arm], dtype=bool)
    for field, box in _boxes(arm, feasible):
        allowed[np.ix_(*(_places(d, box, field) for d in arm if not isinstance(d, Real)))] = True
    return np.flatnonzero(allowed).astype(float)[:, None]


def _rows(arm: Sequence[Dimension], feasible: Any) -> Floats:
    """Lows then highs of disjoint boxes, ordered by their discrete values first."""
    reals = [j for j, d in enumerate(arm) if isinstance(d, Real)]
    pieces: dict[Piece, set[Piece]] = {}  # by their discrete values: others never overlap
    for field, box in _boxes(arm, feasible):
        sides = [_intervals(d, box, field) if isinstance(d, Real) else _values(d, box, field) for d in arm]
        if math.prod(map(len, sides)) > MOST_ROWS:
            raise _too_many(field)
        for piece in itertools.product(*sides):
            discrete = tuple(side for j, side in enumerate(piece) if j not in reals)
            pieces.setdefault(discrete, set()).add(piece)
    rows = []
    for discrete, group in pieces.items():
        for piece in _merged(group, reals[0]) if len(reals) == 1 else _disjoint(group, reals):
            rows.append((discrete, piece))
            if len(rows) > MOST_ROWS:
                raise _too_many("feasible")
    table = np.array([piece for _, piece in sorted(rows)])
    return np.ascontiguousarray(table.transpose(0, 2, 1).reshape(len(rows), -1))


def _boxes(arm: Sequence[Dimension], feasible: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """Every box and the words that refusals call it by."""
    if isinstance(feasible, Mapping):
        boxes: list[tuple[str, Any]] = [("feasible", feasible)]
    elif isinstance(feasible, (list, tuple)):
        boxes = [(f"feasible[{k}]", box) for k, box in enumerate(feasible)]
    else:
        raise Refused(f"feasible: {feasible!r} is neither a box nor a list of boxes")
    if not boxes:
        raise Refused(f"feasible: {feasible!r} has no box, so the feasible set is empty")
    names = [d.name for d in arm]
    for field, box in boxes:
        if not isinstance(box, Mapping):
            raise Refused(f"{field}: {box!r} is not a box, expected a mapping from names of {names!r}")
        for name in box:
            if name not in names:
                raise Refused(f"{field}: {name!r} is not one of the arm's dimensions {names!r}")
    return boxes


def _intervals(real: Real, box: Mapping[str, Any], field: str) -> list[Interval]:
    """What a box allows of a Real dimension: two intervals if it goes through the end of a period."""
    if real.name not in box:
        return [(0.0, 1.0)]
    field, given = f"{field}[{real.name!r}]", box[real.name]
    ends = _listed(given)
    if ends is None or len(ends) != 2 or isinstance(given, (set, frozenset)):
        raise Refused(f"{field}: {given!r} is not (low, high); a Real dimension needs an interval of positive length")
    low, high = real.encode(ends[0], field), real.encode(ends[1], field)
    through_the_end = real.periodic and float(ends[0]) > float(ends[1])
    intervals = [(0.0, high), (low, 1.0)] if through_the_end else [(low, high)]
    if sum(last - first for first, last in intervals) < SHORTEST:
        raise Refused(
            f"{field}: {given!r} given, but a Real dimension needs an interval of positive length, "
            f"at least {SHORTEST:g} of it, with low below high"
        )
    return [(first, last) for first, last in intervals if last - first >= SLIVER]


def _values(dimension: Integer | Categorical, box: Mapping[str, Any], field: str) -> list[Interval]:
    places = _places(dimension, box, field)
    if len(places) > MOST_ROWS:
        raise _too_many(f"{field}[{dimension.name!r}]")
    steps = dimension.values - 1 if isinstance(dimension, Integer) else 1
    return [(place / steps, place / steps) for place in places]


def _places(dimension: Integer | Categorical, box: Mapping[str, Any], field: str) -> Sequence[int]:
    """The numbers, from 0 on and in order, of the values that a box allows."""
    if dimension.name not in box:
        return range(dimension.values)
    field, given = f"{field}[{dimension.name!r}]", box[dimension.name]
    listed = _listed(given)
    if isinstance(dimension, Categorical):
        if listed == []:
            raise Refused(f"{field}: {given!r} has no choice, so the feasible set is empty")
        choices = [given] if listed is None else listed
        return sorted({int(dimension.encode(choice, field)) for choice in choices})
    if isinstance(given, (set, frozenset)) and given:
        return sorted({round(dimension.encode(value, field) * (dimension.values - 1)) for value in given})
    if listed is not None and len(listed) != 2:
        raise Refused(f"{field}: {given!r} is neither (low, high) nor an integer nor a set of integers")
    ends = [given, given] if listed is None else listed
    low, high = (end.item() if isinstance(end, np.integer) else end for end in ends)
    for end in (low, high):
        dimension.encode(end, field)
    if low > high:
        raise Refused(f"{field}: {given!r} has low above high, so the feasible set is empty")
    return range(low - dimension.low, high - dimension.low + 1)


def _merged(pieces: Iterable[Piece], real: int) -> list[Piece]:
    """The union of boxes that differ in one coordinate alone."""
    merged: list[Piece] = []
    for piece in sorted(pieces):
        if merged and piece[real][0] <= merged[-1][real][1]:
            low, high = merged[-1][real]
            merged[-1] = _with_side(piece, real, (low, max(high, piece[real][1])))
        else:
            merged.append(piece)
    return merged


def _disjoint(pieces: Iterable[Piece], reals: list[int]) -> Iterator[Piece]:
    """The union of boxes, each without those before it; large ones first, for they swallow small ones whole."""
    before: list[Piece] = []
    for piece in sorted(pieces, key=lambda p: (-math.prod(p[j][1] - p[j][0] for j in reals), p)):
        rest = [piece]
        for other in before:
            rest = [part for box in rest for part in _minus(box, other, reals)]
        if rest:
            before.append(piece)
            yield from rest


def _minus(box: Piece, other: Piece, reals: list[int]) -> list[Piece]:
    """A box without another of the same discrete values: at most two boxes per Real coordinate."""
    if any(box[j][0] >= other[j][1] or other[j][0] >= box[j][1] for j in reals):
        return [box]
    rest = []
    for j in reals:
        (low, high), (first, last) = box[j], other[j]
        rest += [_with_side(box, j, side) for side in ((low, first), (last, high)) if side[1] - side[0] >= SLIVER]
        box = _with_side(box, j, (max(low, first), min(high, last)))
    return rest


def _with_side(piece: Piece, j: int, side: Interval) -> Piece:
    return (*piece[:j], side, *piece[j + 1 :])


def _listed(value: Any) -> list[Any] | None:
    """The members of a collection; None if it is none."""
    if isinstance(value, (list, tuple, set, frozenset)) or (isinstance(value, np.ndarray) and value.ndim == 1):
        return list(value)
    return None


def _too_many(field: str) -> Refused:
    return Refused(f"{field}: the feasible set has more than {MOST_ROWS} disjoint boxes, expected at most {MOST_ROWS}")
