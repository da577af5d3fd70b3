"""Policies whose memory is two arrays and whose mathematics is compiled.

A subclass names its kernel module and fills the two arrays; `ask` and `tell` do the checking and counting, the kernel
does the rest.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.core.looping import verbs_of
from paretozoom.kernels.core.memory import REFIT
from paretozoom.kernels.loops import batches
from paretozoom.policies.base import Policy
from paretozoom.policies.batches import DecisionColumns, Decisions, encode_contexts, encode_rewards
from paretozoom.policies.open_decisions import OpenDecision
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Decision, Snapshot, Values


class CompiledPolicy(Policy):
    """A policy made of kernels; see CONTRIBUTING for how to add one.

    >>> from paretozoom import PaperTask, Random
    >>> policy = Random(PaperTask().problem, seed=1)
    >>> isinstance(policy, CompiledPolicy), policy.kernel.__name__
    (True, 'paretozoom.kernels.arms.uniform')
    """

    kernel: ClassVar[ModuleType]

    def __init__(self, problem: Problem, *, seed: int, parameters: Mapping[str, Any]) -> None:
        super().__init__(problem, seed=seed, parameters=parameters)
        self._floats, self._ints = self._memory(_key_of(self._seed))

    # What a subclass provides.

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        """The two arrays of a fresh policy whose draws are keyed by `key` (2,)."""
        raise NotImplementedError

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        """What was learned, without spare capacity."""
        return {}

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        """The two arrays that hold what `_arrays` gave."""
        return self._memory(key)

    def _begins_epoch(self, number: int) -> bool:
        """Whether asking for a decision of this number would change what was learned."""
        return False

    # The verbs.

    def _draw_ahead(self, context: Values, feasible: Any, number: int) -> tuple[Decision, Floats]:
        if not self._begins_epoch(number):
            return self._draw(context, feasible, number)
        kept = self._floats, self._ints
        self._floats, self._ints = kept[0].copy(), kept[1].copy()
        try:
            return self._draw(context, feasible, number)
        finally:
            self._floats, self._ints = kept

    def _draw(self, context: Values, feasible: Any, number: int) -> tuple[Decision, Floats]:
        allowed = self._encode_feasible(feasible)
        point = np.empty(self._dim)
        plain = self.problem.encode_context(context, point)
        arm, density, credit = self.kernel.ask(self._floats, self._ints, number, point, allowed)
        return Decision(number, plain, self.problem.decode_arm(arm, point), density, credit), point

    def _make_room(self) -> None:
        self._floats, self._ints = self.kernel.room(self._floats, self._ints)

    def _update(self, entry: OpenDecision, given: Floats, before: int) -> None:
        self.kernel.tell(self._floats, self._ints, entry.number, entry.point, entry.credit, given, before)
        if hasattr(self.kernel, "refit") and self._ints[REFIT] == 1:
            self._rest = self._refit

    def _refit(self) -> None:
        self._floats, self._ints = self.kernel.refit(self._floats, self._ints)

    def ask_many(self, contexts: Sequence[Values] | npt.NDArray[Any], *, feasible: Any = None) -> Decisions:
        """Decide for many contexts: the decisions that `ask` would make one after another, in one compiled loop.

        A feasible set is the same for all of them.
        """
        allowed = self._encode_feasible(feasible)
        n, number = len(contexts), self.number
        point = np.empty((n, self._dim))
        plain = encode_contexts(self.problem, contexts, point)
        numbers = np.arange(number, number + n)
        columns = DecisionColumns(numbers, point, np.empty(n, np.int64), np.empty(n), np.empty(n, np.int64))
        batches.ask_many(verbs_of(self.kernel), self._floats, self._ints, number, allowed, *columns[1:])
        arms = None
        if not self.problem.exact:
            arms = [self.problem.decode_arm(arm, at) for arm, at in zip(columns.arm.tolist(), point, strict=True)]
            for arm, at in zip(arms, point, strict=True):
                self.problem.encode_arm(arm, at)
        decisions = Decisions(self.problem, plain, columns, arms)
        rows = zip(numbers.tolist(), columns.credit.tolist(), point, strict=True)
        self._open.update((m, OpenDecision(decisions, k, m, credit, at)) for k, (m, credit, at) in enumerate(rows))
        self.number = number + n
        return decisions

    def tell_many(self, decisions: Sequence[Decision], rewards: Sequence[Values] | npt.NDArray[Any]) -> None:
        """Learn many rewards, as `tell` would one after another; if one is refused, none is learned."""
        given = np.empty((len(rewards), self._objectives))
        told = encode_rewards(self.problem, rewards, given)
        whole = len(decisions) == len(rewards) and bool((told == self._complete).all())
        if not (whole and isinstance(decisions, Decisions) and self._is_untold(decisions)):
            self._tell_rows(decisions, told.tolist(), given)
            return
        columns = decisions.columns
        self.finish()
        self._floats, self._ints = batches.tell_many(
            verbs_of(self.kernel), self._floats, self._ints, columns.number, columns.point, columns.credit, given
        )
        for number in columns.number.tolist():
            del self._open[number]

    def _is_untold(self, decisions: Decisions) -> bool:
        """Whether a batch is as it was asked here, every row open and untold: then no record need be made of any."""
        entries = map(self._open.get, decisions.columns.number.tolist())
        return all(
            entry is not None and entry.source is decisions and entry.row == row and entry.told == 0
            for row, entry in enumerate(entries)
        )

    # State as data.

    def _rekey(self, seed: int) -> None:
        if self.number == 0:
            self._floats, self._ints = self._memory(_key_of(seed))
        else:
            self._floats, self._ints = self._filled(self._arrays(), _key_of(seed), self.number)

    @property
    def nbytes(self) -> int:
        """Bytes held for what was learned."""
        return self._floats.nbytes + self._ints.nbytes

    def _saved(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        return {}, self._arrays()

    def _read(self, snapshot: Snapshot, seed: int, number: int) -> Any:
        return self._filled(snapshot.arrays, _key_of(seed), number)

    def _take(self, learned: Any) -> None:
        self._floats, self._ints = learned


def _key_of(seed: int) -> Ints:
    return np.random.SeedSequence(seed).generate_state(2, np.uint64).view(np.int64)
