"""Events of a group of requests: checked against their experiment and against each other, not yet written down."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import suppress
from typing import Any, TypeVar

import numpy as np

from paretozoom.service.clock import DAY
from paretozoom.service.declined import Declined, at
from paretozoom.service.experiments.experiment import Experiment, NotAtHand, Status
from paretozoom.service.experiments.open_decisions import OpenDecision, names_of
from paretozoom.store.events import (
    Activated,
    Cancelled,
    ClockJudged,
    ClockJumped,
    Decided,
    EpochBegan,
    Event,
    Expired,
    Paused,
    Resumed,
    Retired,
    Rewarded,
    Ticked,
    WaitChanged,
)

Given = TypeVar("Given")
Answer = TypeVar("Answer")


class NotOpen(Exception):
    """A decision that is not open: the log must say what became of it."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


class Pending:
    """The events that a group of requests adds to an experiment, which does not change.

    `decided_before` are decisions that were made earlier, by the ids of requests of the group, `most_open` is the limit
    of open decisions, `epoch` that of decisions that are made now.

    >>> from paretozoom import PaperTask
    >>> from paretozoom.store.events import Created, Entry
    >>> begin = Entry(1, 0.0, Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    >>> pending = Pending(Experiment("prices", begin), now=1.0)
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
        decided_before: Mapping[str, Decided] | None = None,
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

    def all_or_none(
        self, act: Callable[[Pending, Given], Answer], wanted: Mapping[str, Given]
    ) -> Generator[None, None, list[Answer]]:
        """Do the same with all of some wishes, by their places in a request, step by step; if one raises, or something
        is thrown in between, none is done.
        """
        before = len(self.events), dict(self._decided_before), self._decided, dict(self._told), dict(self._closed)
        place, missing, answers = "", set[int](), []
        try:
            for place in wanted:
                try:
                    answers.append(act(self, wanted[place]))
                except NotAtHand as away:  # of the others it may be known too
                    missing |= away.numbers
                yield
            if missing:
                raise NotAtHand(missing)
        except Exception:
            count, self._decided_before, self._decided, self._told, self._closed = before
            del self.events[count:]
            with at(place):
                raise
        return answers

    def begin_epoch(self) -> None:
        """Let the log say in which epoch the decisions were made, unless it does already."""
        if self.epoch is not None and self._decided and self.epoch != self.experiment.epochs.current:
            self.events.insert(0, EpochBegan(self.epoch))

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
    ) -> Decided:
        """Decide for a context; a request that was met before gets the same decision."""
        experiment = self.experiment
        if request is not None and request in self._decided_before:
            before = self._decided_before[request]
            plain = experiment.problem.encode_context(context, np.empty(experiment.problem.dim))
            if (plain, feasible, deferred) != (before.decision.context, before.feasible, before.deferred):
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
        if number in self.experiment.lost:
            raise Declined(503, f"decision {number}: the log is damaged, it does not say any more what was decided")
        try:
            return self.experiment.reward_of(number)
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
        if missing and number in self.experiment.lost:
            missing = {}
        if missing:
            self._reward_of(number)  # the policy learns from it
        self._closed[number] = Expired
        self.events.append(Expired(number, missing or None))

    # The experiment itself.

    def pause(self, by: str) -> bool:
        """No decisions until further notice; whether that was news."""
        return self._move("running", "paused", Paused(by))

    def resume(self, by: str) -> bool:
        """Decisions again; whether that was news."""
        return self._move("paused", "running", Resumed(by))

    def retire(self, by: str) -> bool:
        """The end; whether that was news."""
        return self._status != "retired" and self._move(self._status, "retired", Retired(by))

    # The clock.

    def look_at_clock(self) -> None:
        """Before anything else of a run: note if the clock has jumped since the last one."""
        experiment = self.experiment
        if len(experiment.open_decisions) and self.now - experiment.time > DAY:
            self._jumped = True
            self.events.append(ClockJumped(experiment.time))

    def tick(self) -> None:
        """Say that the service was there, so that the next run does not take a quiet time for a jump."""
        self.events.append(Ticked())

    def judge_clock(self, counts: bool, by: str) -> bool:
        """The time by which the clock jumped counts, or not; whether it had jumped."""
        if not self.experiment.jumps and not self._jumped:
            return False
        self.events.append(ClockJudged(counts, by))
        return True

    def change_wait(self, wait: float | None, default: dict[str, float] | None, by: str) -> bool:
        """Another time to wait, or another default, also for what is open now; whether that was news."""
        if self._status == "retired":
            raise Declined(410, f"experiment {self.experiment.name!r}: is retired")
        if (wait, default) == (self._wait, self._default):
            return False
        self._wait, self._default = wait, default
        self.events.append(WaitChanged(wait, default, by))
        return True

    def _move(self, before: Status, after: Status, event: Event) -> bool:
        if self._status == "retired":
            raise Declined(410, f"experiment {self.experiment.name!r}: is retired")
        if self._status != before:
            return False
        self._status = after
        self.events.append(event)
        return True


def untold_part(number: int, reward: Any, told: Mapping[str, float], names: tuple[str, ...]) -> dict[str, float]:
    """What a reward says that was not told yet; a contradiction is declined.

    >>> untold_part(3, {"a": 1, "b": 0.5}, {"a": 1.0}, ("a", "b"))
    {'b': 0.5}
    """
    given = reward if isinstance(reward, Mapping) else dict(zip(names, reward, strict=True))
    news = {}
    for name, value in given.items():
        if value is None:
            continue
        if name not in told:
            news[name] = float(value)
        elif told[name] != value:
            raise Declined(409, f"reward[{name!r}]: decision {number} was rewarded with {told[name]!r}, now {value!r}")
    return news
