"""Many rounds as columns, which read as a sequence of rounds."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple, overload

import numpy as np

from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Decision, Round


class Columns(NamedTuple):
    """The columns of n rounds, encoded: what compiled simulations write and metrics read."""

    number: Ints  # (n,)
    point: Floats  # (n, dim) context and arm coordinates
    arm: Ints  # (n,) the number of a finite arm, else -1
    density: Floats  # (n,)
    credit: Ints  # (n,)
    reward: Floats  # (n, objectives) oriented and scaled

    def take(self, rows: Any) -> Columns:
        """Some of the rows."""
        return Columns._make(column[rows] for column in self)


class Rounds(Sequence[Round]):
    """Some rounds of one problem, kept as columns.

    >>> from paretozoom.problem.dimensions import Finite, Objective, Real
    >>> task = Problem(context=[Real("x")], arm=Finite(["a", "b"]), objectives=[Objective("r")])
    >>> rounds = Rounds.of(task, [Round(Decision(0, {"x": 0.5}, "b", 0.5, 0), {"r": 1.0})])
    >>> rounds.columns.point.tolist(), rounds[0].decision.arm
    ([[0.5, 1.0]], 'b')
    """

    def __init__(self, problem: Problem, columns: Columns) -> None:
        self.problem = problem
        self.columns = columns

    @classmethod
    def of(cls, problem: Problem, rounds: Iterable[Round]) -> Rounds:
        """Encode rounds into columns."""
        rounds = list(rounds)
        n = len(rounds)
        point = np.empty((n, problem.dim))
        reward = np.empty((n, len(problem.objectives)))
        arm = np.empty(n, np.int64)
        for k, (decision, told) in enumerate((r.decision, r.reward) for r in rounds):
            problem.encode_context(decision.context, point[k])
            arm[k] = problem.encode_arm(decision.arm, point[k])
            problem.encode_reward(told, reward[k])
        decisions = [r.decision for r in rounds]
        return cls(
            problem,
            Columns(
                np.array([d.number for d in decisions], np.int64),
                point,
                arm,
                np.array([d.density for d in decisions], float),
                np.array([d.credit for d in decisions], np.int64),
                reward,
            ),
        )

    def __len__(self) -> int:
        return len(self.columns.number)

    @overload
    def __getitem__(self, key: int) -> Round: ...
    @overload
    def __getitem__(self, key: slice) -> Rounds: ...
    def __getitem__(self, key: int | slice) -> Round | Rounds:
        columns = self.columns
        if isinstance(key, slice):
            return Rounds(self.problem, columns.take(key))
        point = columns.point[key]
        decision = Decision(
            int(columns.number[key]),
            self.problem.decode_context(point),
            self.problem.decode_arm(int(columns.arm[key]), point),
            float(columns.density[key]),
            int(columns.credit[key]),
        )
        reward = self.problem.decode_reward(columns.reward[key])
        return Round(decision, {name: value for name, value in reward.items() if not math.isnan(value)})

    def __iter__(self) -> Iterator[Round]:
        return (self[k] for k in range(len(self)))
