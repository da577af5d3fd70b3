"""The latest rounds of an experiment, and what they say: looked at now and then, beside the loop."""

from __future__ import annotations

from collections.abc import Iterable

from paretozoom.findings import Look, look_at_rounds
from paretozoom.findings.look import FEWEST
from paretozoom.problem import Problem
from paretozoom.records import Decision, Round
from paretozoom.rounds import Rounds

MOST_KEPT = 1_500  # rounds; of decisions with hundreds of numbers fewer
MOST_NUMBERS = 300_000  # of these rounds together
GROWTH = 0.1  # of the rounds that were looked at: so many new ones are worth another look


class RecentRounds:
    """Rounds that were rewarded last, in whole or in part, since the service began.

    >>> from paretozoom import PaperTask, Random
    >>> task = PaperTask()
    >>> policy, recent = Random(task.problem, seed=1), RecentRounds(task.problem)
    >>> for k in range(200):
    ...     decision = policy.ask([0.5])
    ...     recent.tell(decision, {"first": float(k % 2)})
    ...     recent.tell(decision, {"second": 1.0})
    >>> recent.is_due, len(recent.rounds)
    (True, 200)
    >>> recent.look = look_at(task.problem, recent.rounds)
    >>> recent.is_due, recent.look.numbers()["first"]["mean"]
    (False, 0.5)
    """

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._most = min(MOST_KEPT, MOST_NUMBERS // (problem.dim + len(problem.objectives)))
        self._kept: dict[int, tuple[Decision, dict[str, float]]] = {}
        self._told = 0  # rounds so far
        self._looked_at = 0  # how many there were at the last look
        self._look: Look | None = None
        self.times_forgotten = 0

    def tell(self, decision: Decision, reward: dict[str, float]) -> None:
        """Take in some rewards of a decision."""
        known = self._kept.get(decision.number)
        if known is not None:
            known[1].update(reward)
            return
        self._kept[decision.number] = decision, dict(reward)
        self._told += 1
        if len(self._kept) > self._most:
            del self._kept[next(iter(self._kept))]

    def forget(self, numbers: Iterable[int]) -> None:
        """Keep nothing of some decisions, nor what was found when somebody looked at them."""
        for number in numbers:
            self._kept.pop(number, None)
        self._look, self._looked_at = None, 0
        self.times_forgotten += 1

    @property
    def rounds(self) -> list[Round]:
        """What is kept, as it is now."""
        return [Round(decision, dict(reward)) for decision, reward in self._kept.values()]

    @property
    def is_due(self) -> bool:
        """Whether there is enough new to look at."""
        return len(self._kept) >= FEWEST and self._told - self._looked_at >= max(1, GROWTH * len(self._kept))

    @property
    def look(self) -> Look | None:
        """What was found when somebody looked last; None if nothing could be."""
        return self._look

    @look.setter
    def look(self, found: Look | None) -> None:
        self._look, self._looked_at = found, self._told


def look_at(problem: Problem, rounds: Iterable[Round]) -> Look:
    """What some rounds say."""
    return look_at_rounds(Rounds.of(problem, rounds))
