"""What a group of requests decides and rewards: checked against its experiment, not yet written down."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any

import numpy as np

from paretozoom.service.declined import Declined
from paretozoom.service.experiments.at_hand import NotAtHand
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.experiments.open_decisions import OpenDecision, names_of
from paretozoom.service.experiments.outcomes import untold_part
from paretozoom.store.events import Activated, Cancelled, Carried, Decided, Event, Expired, Rewarded


class NotOpen(Exception):
    """A decision that is not open: the log must say what became of it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class PendingDecisions:
    """The events about decisions that a group of requests adds to an experiment, which does not change.

    `decided_before` are decisions that were made earlier, by the ids of requests of the group, `most_open` is the limit
    of open decisions, `epoch` that of decisions that are made now.

    >>> from paretozoom import PaperTask
    >>> from paretozoom.store.events import Created, Entry
    >>> begin = Entry(1, 0.0, Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    >>> pending = PendingDecisions(Experiment("prices", begin), now=1.0)
    >>> decided = pending.decide({"x": 0.5}, request="a")
    >>> pending.decide({"x": 0.5}, request="a") is decided, pending.decide({"x": 0.5}).decision.number
    (True, 1)
    >>> len(pending.events)
    2
    """

    def __init__(
        self,
        experiment: Experiment,
        now: float,
        decided_before: Mapping[str, Carried | Decided] | None = None,
        most_open: int = 1_000_000,
        epoch: str | None = None,
    ) -> None:
        self.experiment = experiment
        self.now = now
        self.events: list[Event] = []
        self.epoch = epoch
        self._most_open = most_open
        self._decided_before = dict(decided_before or {})
        self._decided = 0
        self._told: dict[int, dict[str, float]] = {}
        self._closed: dict[int, type[Event]] = {}
        self._activated: set[int] = set()
        self.missing: set[int] = set()  # decisions that must be brought back, before all is done again
        self._jumped = False
        self._status = experiment.status
        self._wait, self._default = experiment.wait, experiment.default
        self._scratch = np.empty(len(experiment.problem.objectives))

    # Decisions.

    def id_of(self, number: int) -> str:
        """The public id of a decision, also of one that is not written down yet."""
        if number >= self.experiment.policy.number:
            return f"{self.epoch}-{number}"
        return self.experiment.epochs.id_of(number)

    def decide(
        self,
        context: Any,
        *,
        feasible: Any = None,
        request: str | None = None,
        deferred: bool = False,
        subject: str | None = None,
    ) -> Carried | Decided:
        """Decide for a context; a request that was met before gets the same decision."""
        experiment = self.experiment
        if request is not None and request in self._decided_before:
            before = self._decided_before[request]
            plain = experiment.problem.encode_context(context, np.empty(experiment.problem.dim))
            shown = deferred if isinstance(before, Carried) else before.deferred  # it may have been shown since
            if (plain, feasible, deferred) != (before.decision.context, before.feasible, shown):
                raise Declined(409, f"request_id: {request!r} was used with the context {before.decision.context!r}")
            return before
        if self._status == "retired":
            raise Declined(410, f"experiment {experiment.name!r}: is retired")
        if self._status == "paused":
            raise Declined(409, f"experiment {experiment.name!r}: is paused")
        if len(experiment.open_decisions) + self._decided >= self._most_open:
            raise Declined(429, f"experiment {experiment.name!r}: {self._most_open:,} decisions wait for rewards")
        decision = experiment.policy.propose(context, feasible=feasible, ahead=self._decided)
        self._decided += 1
        event = Decided(decision, deferred, request, feasible, subject)
        if request is not None:
            self._decided_before[request] = event
        self.events.append(event)
        return event

    def activate(self, number: int) -> None:
        """A deferred decision was shown; again is fine."""
        found = self._find(number)
        if found.deferred and number not in self._activated:
            self._activated.add(number)
            self.events.append(Activated(number))

    def cancel(self, number: int) -> None:
        """A decision was never shown; again is fine."""
        if self._closed.get(number) is Cancelled:
            return
        found = self._find(number)
        if found.told or self._told.get(number):
            raise Declined(409, f"decision {number}: has a reward already, so it was shown")
        self._closed[number] = Cancelled
        self.events.append(Cancelled(number))

    # Rewards.

    def reward(self, number: int, reward: Any) -> bool:
        """Reward a decision, in whole or in part; whether that was news."""
        self._check(reward)
        if self._closed.get(number) is not Rewarded:
            self._find(number)
            told = {**self._reward_of(number), **self._told.get(number, {})}
        else:
            told = self._told[number]
        news = untold_part(number, reward, told, self.experiment.problem.objective_names)
        if not news:
            return False
        self._told[number] = {**told, **news}
        if len(self._told[number]) == len(self._scratch):
            self._closed[number] = Rewarded
        self.events.append(Rewarded(number, news))
        return True

    def _check(self, reward: Any) -> None:
        if self._status == "retired":
            raise Declined(410, f"experiment {self.experiment.name!r}: is retired")
        self.experiment.problem.encode_reward(reward, self._scratch)

    def _find(self, number: int) -> OpenDecision:
        found = self.experiment.open_decisions.get(number)
        closed = self._closed.get(number)
        if found is None:
            raise NotOpen(number)
        if closed is Cancelled:
            raise Declined(410, f"decision {number}: was cancelled")
        if closed is Rewarded:
            raise Declined(409, f"decision {number}: has all its rewards")
        if closed is Expired or self._is_late(found):
            self._expire(number, found)
            raise Declined(410, f"decision {number}: has expired")
        return found

    def _is_late(self, found: OpenDecision) -> bool:
        held = self._jumped or self.experiment.jumps
        return not held and found.number not in self._activated and found.is_late(self.now, self._wait)

    def _reward_of(self, number: int) -> dict[str, float]:
        """What an open decision was told before this group, if it is at hand."""
        if number in self.experiment.at_hand.lost:
            raise Declined(503, f"decision {number}: the log is damaged, it does not say any more what was decided")
        try:
            return self.experiment.at_hand.reward_of(number)
        except NotAtHand:
            self.missing.add(number)
            raise

    def expire(self, numbers: list[int]) -> None:
        """Close those of some decisions whose time is over."""
        for number in numbers:
            found = self.experiment.open_decisions.get(number)
            if found is not None and self._is_late(found):
                with suppress(NotAtHand):
                    self._expire(number, found)

    def _expire(self, number: int, found: OpenDecision) -> None:
        if number in self._closed:
            return
        missing: dict[str, float] = {}
        if not found.deferred or number in self._activated:  # else nobody saw it
            told = names_of(found.told, self.experiment.problem.objective_names) | self._told.get(number, {}).keys()
            missing = {name: value for name, value in (self._default or {}).items() if name not in told}
        if missing and number in self.experiment.at_hand.lost:
            missing = {}
        if missing:
            self._reward_of(number)  # the policy learns from it
        self._closed[number] = Expired
        self.events.append(Expired(number, missing or None))
