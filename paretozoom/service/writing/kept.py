"""An experiment in the keeper's hands, and what the service takes at most."""

from __future__ import annotations

from collections import deque

import msgspec

from paretozoom.records import Decision
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.experiments.plays import Plays
from paretozoom.store import Hold


class Limits(msgspec.Struct, frozen=True):
    """What the service takes at most.

    >>> Limits().batch
    1000
    """

    body: int = 4_000_000  # bytes
    batch: int = 1_000  # decisions or rewards in one request
    open: int = 1_000_000  # decisions of an experiment that wait for rewards
    experiments: int = 1_000
    group: int = 2_000  # requests in one transaction


class Kept:
    """An experiment in the keeper's hands."""

    def __init__(self, name: str, hold: Hold) -> None:
        self.name = name
        self.hold = hold
        self.experiment: Experiment | None = None  # None: must be read from the log before it is used
        self.saved = 0  # the entry of the newest snapshot
        self.due: deque[tuple[float, int]] = deque()  # deadlines, in order
        self.compiled = False
        self.tried = 0.0  # when it was last read from the log
        self.plays: Plays | None = None

    def take(self, experiment: Experiment, saved: int) -> None:
        """Go on from a state that was read from the log."""
        self.experiment, self.saved = experiment, saved
        self.plays = self.plays or Plays(experiment.problem)
        opened = ((opened.deadline, number) for number, opened in experiment.opened.items())
        self.due = deque(sorted((deadline, number) for deadline, number in opened if deadline is not None))

    @property
    def news(self) -> int:
        """How many entries are not in a snapshot."""
        return 0 if self.experiment is None else self.experiment.seq - self.saved

    def late(self, now: float) -> list[int]:
        """The decisions whose deadlines have come, each named once."""
        numbers = []
        while self.due and self.due[0][0] <= now:
            numbers.append(self.due.popleft()[1])
        return numbers

    def look_at(self, decision: Decision, now: float) -> None:
        """Note where some of the decisions fell on the front."""
        if self.plays is not None and self.experiment is not None and self.plays.wants(now):
            self.plays.note(decision, self.experiment.policy.front(decision.context, believed=True))

    def ready(self) -> Experiment:
        """The experiment, if it can be used now."""
        if self.experiment is None:
            raise Declined(503, f"experiment {self.name!r}: the store cannot be reached")
        if not self.compiled:
            raise Declined(503, f"experiment {self.name!r}: kernels are being compiled; try again in a minute")
        return self.experiment
