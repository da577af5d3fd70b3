"""Checks of what policies are given when they are built."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from paretozoom.kernels.core.kinds import MOST_CANDIDATES
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, number_of
from paretozoom.records import Refused

LONGEST_HORIZON = 1 << 62
USUAL_HORIZON = 100_000  # taken by policies that need a horizon and are given none
SMALLEST_DELTA = 1e-200


def checked_problem(problem: Any) -> Problem:
    """A Problem."""
    if not isinstance(problem, Problem):
        raise Refused(f"problem: {problem!r} is not a Problem")
    return problem


def plain(value: Any) -> Any:
    """A parameter in Python's own types, whatever numpy types are in it; a snapshot can hold no others.

    >>> plain({"cells": np.int64(2), "weights": [np.float64(0.5), 0.5], "rules": np.array([[0, 1]])})
    {'cells': 2, 'weights': [0.5, 0.5], 'rules': [[0, 1]]}
    """
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    if isinstance(value, Mapping):
        return {key: plain(entry) for key, entry in value.items()}
    return [plain(entry) for entry in value] if isinstance(value, (list, tuple)) else value


def differing(field: str, theirs: Any, mine: Any) -> str:
    """In what two values differ; of mappings only the entries that do.

    >>> differing("parameters", {"noise": 1.0, "delta": None}, {"noise": 0.5, "delta": None})
    "parameters['noise'] is 1.0, expected 0.5"
    """
    if not (isinstance(theirs, dict) and isinstance(mine, dict)):
        return f"{field} is {theirs!r}, expected {mine!r}"
    keys = [key for key in [*mine, *(key for key in theirs if key not in mine)] if theirs.get(key) != mine.get(key)]
    if not keys:  # an entry of None that the other lacks
        return f"{field} is {theirs!r}, expected {mine!r}"
    return "; ".join(differing(f"{field}[{key!r}]", theirs.get(key), mine.get(key)) for key in keys)


def checked_horizon(horizon: Any) -> int | None:
    """None (unknown) or an integer from 2 to 2**62."""
    if horizon is None:
        return None
    if isinstance(horizon, bool) or not isinstance(horizon, (int, np.integer)) or not 2 <= horizon <= LONGEST_HORIZON:
        raise Refused(f"horizon: {horizon!r} is not an integer from 2 to 2**62, or None for an unknown one")
    return int(horizon)


def in_words(count: int) -> str:
    """A count that may have hundreds of digits, for a message.

    >>> in_words(20), in_words(2**385)
    ('20', 'more than 10^115')
    """
    return str(count) if count < 10**12 else f"more than 10^{int((count.bit_length() - 1) * math.log10(2))}"


def checked_count(value: Any, field: str, default: int | None = None) -> int:
    """A positive integer, or the default if None is given."""
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or value < 1:
        raise Refused(f"{field}: {value!r} is not a positive integer")
    return int(value)


def scalarisation(problem: Problem, objective: str | None, weights: Any, pareto: bool = False) -> list[float]:
    """One weight per objective for a policy that learns one number; none for one that learns each objective."""
    names = problem.objective_names
    if type(pareto) is not bool:
        raise Refused(f"pareto: {pareto!r} is not True or False")
    if pareto:
        for field, value in (("objective", objective), ("weights", weights)):
            if value is not None:
                raise Refused(f"pareto: True given together with {field} {value!r}; give one of them")
        return []
    if weights is None:
        chosen = names[0] if objective is None else objective
        if chosen not in names:
            raise Refused(f"objective: {chosen!r} is not one of {list(names)!r}")
        return [float(name == chosen) for name in names]
    if objective is not None:
        raise Refused(f"weights: {weights!r} given together with objective {objective!r}; give one of them")
    given: list[Any] = []
    if isinstance(weights, Mapping) and set(weights) == set(names):
        given = [weights[name] for name in names]
    elif isinstance(weights, (list, tuple)) or (isinstance(weights, np.ndarray) and weights.ndim == 1):
        given = list(weights)
    if len(given) != len(names):
        raise Refused(
            f"weights: {weights!r} given, expected a list of {len(names)} numbers, for {list(names)!r} in this order, "
            "or a mapping by these names"
        )
    numbers = [number_of(w, f"weights[{name!r}]") for w, name in zip(given, names, strict=True)]
    if min(numbers) < 0 or not math.isclose(sum(numbers), 1.0, rel_tol=1e-9):
        raise Refused(f"weights: {weights!r} are not non-negative numbers that sum to 1")
    return numbers


def checked_positive(value: Any, field: str) -> float:
    """A positive, finite number."""
    number = number_of(value, field)
    if number <= 0:
        raise Refused(f"{field}: {value!r} is not positive")
    return number


def checked_delta(delta: Any) -> float | None:
    """None (its default) or a probability strictly between 0 and 1."""
    if delta is None:
        return None
    number = number_of(delta, "delta")
    if not SMALLEST_DELTA < number < 1:
        raise Refused(f"delta: {delta!r} is not strictly between 0 and 1")
    return number


def epoch_delta(delta: float | None, horizon: int, epoch: int, doubling: bool) -> float:
    """The delta of one epoch: 1/T, or the given one, spread over the epochs of the doubling trick."""
    if delta is None:
        return 1.0 / horizon
    return delta * 6.0 / (math.pi * (epoch + 1)) ** 2 if doubling else delta


def check_scaled(problem: Problem, name: str, weights: Sequence[float] = ()) -> None:
    """Refuse objectives whose scale is unknown; of those with weights, if there are any, that count."""
    for o, objective in enumerate(checked_problem(problem).objectives):
        if objective.low is None and (not weights or weights[o] > 0):
            raise Refused(
                f"objectives[{objective.name!r}]: low and high are unknown, but {name} needs the scale of the "
                "expected reward"
            )


def check_zoomable(problem: Problem, name: str) -> None:
    """Refuse a problem that the zooming policies cannot handle."""
    check_scaled(problem, name)
    check_listable(problem, name)


def check_listable(problem: Problem, name: str) -> None:
    """Refuse arms with so many discrete combinations that candidates cannot be laid in all of them."""
    values = problem.encoding.values[problem.encoding.context :]
    combinations = math.prod(abs(v) for v in values.tolist() if v != 0)
    if len(problem.encoding.arms) == 0 and combinations > MOST_CANDIDATES:
        raise Refused(
            f"arm: its discrete dimensions have {combinations} combinations, {name} can handle {MOST_CANDIDATES} "
            f"beside continuous dimensions, or 100,000 alone; given {problem.arm!r}"
        )


def encoded_centre(problem: Problem, centre: Any) -> tuple[Floats, list[Any] | None]:
    """A pair (context, arm) as a point, and in plain types; NaN and None if none is given."""
    point = np.full(problem.dim, math.nan)
    if centre is None:
        return point, None
    if not isinstance(centre, (tuple, list)) or len(centre) != 2:
        raise Refused(f"centre: {centre!r} is not a pair (context, arm)")
    try:
        context = problem.encode_context(centre[0], point)
        number = problem.encode_arm(centre[1], point)
    except Refused as refusal:
        raise Refused(f"centre: {refusal}") from refusal
    return point, [context, problem.decode_arm(number, point)]
