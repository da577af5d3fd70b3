"""Events of a group of requests: checked against their experiment and against each other, not yet written down."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from typing import TypeVar

from paretozoom.service.clock import DAY
from paretozoom.service.declined import Declined, at
from paretozoom.service.experiments.at_hand import NotAtHand
from paretozoom.service.experiments.pending_decisions import PendingDecisions
from paretozoom.service.experiments.state import Status
from paretozoom.store.events import (
    ClockJudged,
    ClockJumped,
    EpochBegan,
    Event,
    Paused,
    Resumed,
    Retired,
    Ticked,
    WaitChanged,
)

Given = TypeVar("Given")
Answer = TypeVar("Answer")


class Pending(PendingDecisions):
    """The events that a group of requests adds to an experiment: about its decisions, and about itself.

    >>> from paretozoom import PaperTask
    >>> from paretozoom.service.experiments.experiment import Experiment
    >>> from paretozoom.store.events import Created, Entry
    >>> begin = Entry(1, 0.0, Created(PaperTask().problem, "random", {}, 7, 1, by="loopback"))
    >>> pending = Pending(Experiment("prices", begin), now=1.0)
    >>> pending.pause("ops"), pending.pause("ops"), pending.events
    (True, False, [Paused(by='ops')])
    """

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
