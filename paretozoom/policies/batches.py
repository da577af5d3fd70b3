"""Many decisions at once: asked and told in compiled loops, equal to one call after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, TypeVar, overload

import numpy as np

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import LARGEST_REWARD, Floats, Ints, Real
from paretozoom.records import Decision, Refused

Encoded = TypeVar("Encoded")
Place = TypeVar("Place")


class DecisionColumns(NamedTuple):
    """The columns of n decisions."""

    number: Ints  # (n,)
    point: Floats  # (n, dim) encoded context and arm
    arm: Ints  # (n,) the number of a finite arm, else -1
    density: Floats  # (n,)
    credit: Ints  # (n,)


class Decisions(Sequence[Decision]):
    """Decisions that were asked together, kept as columns; reads as a sequence of decisions.

    >>> from paretozoom import PaperTask, Random
    >>> decisions = Random(PaperTask().problem, seed=1).ask_many([[0.1], [0.2]])
    >>> len(decisions), decisions[1].number, decisions.columns.density.tolist()
    (2, 1, [1.0, 1.0])
    """

    def __init__(
        self,
        problem: Problem,
        contexts: list[dict[str, Any]] | Floats,
        columns: DecisionColumns,
        arms: list[Any] | None = None,
    ) -> None:
        self.problem = problem
        self.contexts = contexts
        self.columns = columns
        self.arms = arms  # in the user's units, where decoding and encoding do not give the same bits back

    def __len__(self) -> int:
        return len(self.columns.number)

    @overload
    def __getitem__(self, key: int) -> Decision: ...
    @overload
    def __getitem__(self, key: slice) -> Decisions: ...
    def __getitem__(self, key: int | slice) -> Decision | Decisions:
        columns = self.columns
        if isinstance(key, slice):
            arms = None if self.arms is None else self.arms[key]
            return Decisions(self.problem, self.contexts[key], DecisionColumns._make(c[key] for c in columns), arms)
        context = self.contexts[key]
        if not isinstance(context, dict):
            context = dict(zip((d.name for d in self.problem.context), context.tolist(), strict=True))
        arm = (
            self.problem.decode_arm(int(columns.arm[key]), columns.point[key]) if self.arms is None else self.arms[key]
        )
        number, density, credit = int(columns.number[key]), float(columns.density[key]), int(columns.credit[key])
        return Decision(number, context, arm, density, credit)

    def __iter__(self) -> Iterator[Decision]:
        return (self[k] for k in range(len(self)))


def of_row(field: str, k: int, encode: Callable[[Any, Place], Encoded], value: Any, out: Place) -> Encoded:
    """What `encode` makes of one of many values; a refusal names which."""
    try:
        return encode(value, out)
    except Refused as refusal:
        rest = str(refusal).removeprefix(field.removesuffix("s"))  # "context['x']: ..." is "contexts[k]['x']: ..."
        raise Refused(f"{field}[{k}]{rest}") from refusal


def encode_contexts(problem: Problem, contexts: Any, points: Floats) -> list[dict[str, Any]] | Floats:
    """Write the coordinates of many contexts to the heads of `points`; gives the contexts in plain types."""
    simple = all(isinstance(d, Real) and d.scale == "linear" and not d.missing for d in problem.context)
    if not (simple and isinstance(contexts, np.ndarray) and contexts.dtype == np.float64 and contexts.ndim == 2):
        return [of_row("contexts", k, problem.encode_context, c, points[k]) for k, c in enumerate(contexts)]
    if contexts.shape[1] != len(problem.context):
        raise Refused(f"contexts: rows of {contexts.shape[1]} entries, expected {len(problem.context)}")
    for j, dimension in enumerate(problem.context):
        assert isinstance(dimension, Real)
        column = contexts[:, j]
        inside = (column >= dimension.low) & (column <= dimension.high)
        if not inside.all():
            outside = np.flatnonzero(~(np.isfinite(column) if dimension.outside == "clip" else inside))
            if len(outside):
                dimension.encode(float(column[outside[0]]), f"contexts[{outside[0]}][{dimension.name!r}]")
            column = np.clip(column, dimension.low, dimension.high)
        points[:, j] = (column - dimension.low) / (dimension.high - dimension.low)
    return contexts.copy()


def encode_rewards(problem: Problem, rewards: Any, out: Floats) -> Ints:
    """Write many rewards, oriented and scaled, to `out`; gives what was told in each, a bit per objective."""
    if not (isinstance(rewards, np.ndarray) and rewards.dtype == np.float64 and rewards.shape == out.shape):
        told = [of_row("rewards", k, problem.encode_reward, reward, out[k]) for k, reward in enumerate(rewards)]
        return np.array(told, np.int64)
    for o, objective in enumerate(problem.objectives):
        column = rewards[:, o]
        fine = np.abs(column) <= LARGEST_REWARD * min(1.0, objective.span)
        if objective.bounded:
            fine &= (column >= objective.low) & (column <= objective.high)
        bad = np.flatnonzero(~fine)
        if len(bad):
            objective.encode(float(column[bad[0]]), f"rewards[{bad[0]}][{objective.name!r}]")
        if objective.low is None or objective.high is None:
            out[:, o] = column if objective.goal == "max" else -column
        elif objective.goal == "max":
            out[:, o] = (column - objective.low) / objective.span
        else:
            out[:, o] = (objective.high - column) / objective.span
    return np.full(len(out), (1 << len(problem.objectives)) - 1, np.int64)
