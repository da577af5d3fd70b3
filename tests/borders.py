"""Problems of all kinds of dimensions, and refusals by their words."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest

from paretozoom import Categorical, Finite, Integer, Objective, Problem, Real, Refused

MIXED = Problem(
    context=[
        Real("load", -5, 5),
        Real("price", 1, 1000, scale="log"),
        Real("hour", 0, 24, periodic=True),
        Integer("threads", 1, 9),
        Categorical("country", ["cz", "tr", "at"]),
    ],
    arm=[Integer("level", 0, 4), Categorical("codec", ["a", "b", "c"])],
    objectives=[Objective("speed", high=100), Objective("delay", goal="min", low=-1, high=3, bounded=False)],
)
PROBLEMS = {
    "mixed": MIXED,
    "unit": Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a"), Objective("b")]),
    "no-context": Problem(context=[], arm=Finite(["a", 1, 2.5, True][:3]), objectives=[Objective("r")]),
    "features": Problem(
        context=[Categorical("c", [0, 1.5, "x"])],
        arm=Finite(["s", "m", "l"], features=[[1, 7], [2, 7], [5, 7]]),
        objectives=[Objective("r", low=None, high=None), Objective("q", goal="min", bounded=False)],
    ),
    "two-arms": Problem(context=[], arm=[Real("y"), Integer("n", 0, 3)], objectives=[Objective("r")]),
}


@contextmanager
def refuses(*fragments: str) -> Iterator[None]:
    """Expect a refusal whose message contains every fragment."""
    with pytest.raises(Refused) as refusal:
        yield
    for fragment in fragments:
        assert fragment in str(refusal.value)


def encoded(problem: Problem, context: Any) -> tuple[list[float], dict[str, Any]]:
    """The coordinates of a context and the context in plain types."""
    point = np.full(problem.dim, math.nan)
    plain = problem.encode_context(context, point)
    return point[: len(problem.context)].tolist(), plain
