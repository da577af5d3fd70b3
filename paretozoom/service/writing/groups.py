"""What is done for a group of requests: prepared, written in one transaction, learned."""

from __future__ import annotations

import logging
import time
from collections.abc import Generator
from typing import Any

from paretozoom.records import Refused
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.at_hand import NotAtHand
from paretozoom.service.experiments.pending import Pending
from paretozoom.service.experiments.pending_decisions import NotOpen
from paretozoom.service.writing.commits import Commits
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.live_experiment import AT_ONCE, LiveExperiment
from paretozoom.service.writing.loading import entries_about
from paretozoom.service.writing.submission import Submission
from paretozoom.service.writing.turns import Turn
from paretozoom.store import Addition, Conflict, Damaged, Entry, Full, Locked, ReadOnly, Repeated, StoreError
from paretozoom.store.events import Carried, Decided, number_of_decision

log = logging.getLogger("paretozoom")
SECONDS_WITHOUT_SPACE = 1.0  # until what is due is tried again


class Groups:
    """Does what groups of requests ask of an experiment, one group after another."""

    def __init__(self, live: LiveExperiment, experiments: LiveExperiments, commits: Commits, turn: Turn) -> None:
        self.live = live
        self._experiments = experiments
        self._commits = commits
        self._turn = turn

    async def serve(self, group: list[Submission]) -> None:
        """Do what was submitted and expire what is late, in one transaction."""
        live = self.live
        if live.experiment is None and live.damage is None:
            await self._experiments.reload(live)
        moment = self._experiments.now()
        late = live.late(moment)
        pending: Pending | None = None
        try:
            pending = await self._prepare_whole(group, late, moment, {})
            if _may_repeat(group) or not await self._try_to_write(pending):
                pending = await self._prepare_whole(group, late, moment, await self._decided_before(group))
                await self._write(pending)
        except StoreError as error:
            if isinstance(error, Full):  # for sure nothing was written: what is known stays true
                live.rest(moment + SECONDS_WITHOUT_SPACE)
            elif pending is None or pending.events:
                live.experiment = None  # what was prepared, numbers included, is forgotten with it
            for submission in group:
                submission.error = submission.error or _declined(error)
            log.error("nothing was written", extra={"experiment": live.name, "error": str(error)})
            return
        if pending is not None:
            try:
                await self._learn(pending)
            except Exception:
                log.exception("an experiment failed to take in its log", extra={"experiment": live.name})
                live.experiment = None

    async def _learn(self, pending: Pending) -> None:
        """Take in what was written down."""
        longest = whole = 0.0
        began = time.perf_counter()
        for _ in self.live.commit(pending):
            if pending.experiment.policy.unfinished:
                await self.live.finish(pending.experiment, self._experiments.threads.learning)
            took = time.perf_counter() - began
            longest, whole = max(longest, took), whole + took
            await self._turn.pause()
            began = time.perf_counter()
        if pending.events:
            self._commits.timed("learning", whole)
            self._commits.timed("longest_event", longest)

    async def _prepare_whole(
        self, group: list[Submission], late: list[int], now: float, decided_before: dict[str, Carried | Decided]
    ) -> Pending | None:
        """As `_prepare`, with all decisions at hand that must be known whole."""
        pending = await self._prepare(group, late, now, decided_before)
        while pending is not None and pending.missing:
            await self._bring_back(pending.missing)
            pending = await self._prepare(group, late, now, decided_before)
        return pending

    async def _prepare(
        self, group: list[Submission], late: list[int], now: float, decided_before: dict[str, Carried | Decided]
    ) -> Pending | None:
        """The events that a group adds to the experiment; each submission gets its answer or its error."""
        try:
            if self._experiments.get(self.live.name) is not self.live:
                raise Declined(404, f"experiment {self.live.name!r}: was deleted")
            experiment = self.live.ready()
            pending = Pending(experiment, now, decided_before, self._experiments.limits.open, self.live.epoch)
        except Declined as error:
            for submission in group:
                submission.error = error
            return None
        if not self.live.looked_at_clock:
            pending.look_at_clock()
        for k in range(0, len(late), AT_ONCE):
            pending.expire(late[k : k + AT_ONCE])
            await self._turn.pause()
        tick = self.live.next_tick()
        if tick is not None and tick <= now and not pending.events:
            pending.tick()
        for submission in group:
            submission.error = None
            try:
                submission.check_wanted()
                answer = submission.act(pending)
                submission.answer = await self._step_by_step(answer, submission)
            except (Declined, NotAtHand, NotOpen, Refused) as error:
                submission.error = error
            except Exception as error:  # a mistake of ours must not harm the others of the group
                log.exception("a request failed")
                submission.error = error
            await self._turn.pause()
        pending.begin_epoch()
        return pending

    async def _step_by_step(self, answer: Any, submission: Submission) -> Any:
        """What an act comes to; between its steps others have their turns, and its caller may leave."""
        if not isinstance(answer, Generator):
            return answer
        try:
            next(answer)
            while True:
                await self._turn.pause()
                try:
                    submission.check_wanted()
                except Declined as left:
                    answer.throw(left)
                next(answer)
        except StopIteration as end:
            return end.value

    async def _bring_back(self, missing: set[int]) -> None:
        """Read back from the log what must be known whole."""
        name, experiment = self.live.name, self.live.ready()
        found = await self._experiments.threads.read(self._find, missing)
        lost = set()
        for number, entries in found.items():
            lost |= experiment.bring_back((number,), entries)
            await self._turn.pause()
        experiment.at_hand.lost |= lost
        if lost:
            log.error("the log is damaged", extra={"experiment": name, "decisions": sorted(lost)[:10]})

    def _find(self, numbers: set[int]) -> dict[int, list[Entry]]:
        """What the log says of each of some decisions."""
        found: dict[int, list[Entry]] = {number: [] for number in numbers}
        for entry in entries_about(self._experiments.store, self.live.name, numbers):
            number = number_of_decision(entry.event)
            if number is not None and number in found:  # else the row is damaged
                found[number].append(entry)
        return found

    async def _decided_before(self, group: list[Submission]) -> dict[str, Carried | Decided]:
        """The decisions that were made earlier for requests of a group, by the request's id."""
        sought = {one for submission in group for one in submission.request_ids}
        if not sought:
            return {}

        def find() -> dict[str, Carried | Decided]:
            return {
                entry.event.request: entry.event
                for entry in self._experiments.store.read(self.live.name, requests=sought)
                if isinstance(entry.event, (Carried, Decided)) and entry.event.request is not None
            }

        return await self._experiments.threads.read(find)

    async def _try_to_write(self, pending: Pending | None) -> bool:
        """Commit what is pending, unless a request was met before: then its decision must be found."""
        try:
            await self._write(pending)
        except Repeated:
            return False
        return True

    async def _write(self, pending: Pending | None) -> None:
        """Commit what is pending."""
        if pending is not None and pending.events:
            await self._commits.write(Addition(self.live.name, pending.experiment.seq, pending.events, pending.now))


def _may_repeat(group: list[Submission]) -> bool:
    """Whether a request was declined that may have been met before: what is paused, or full, still gives that."""
    return any(submission.request_ids and isinstance(submission.error, Declined) for submission in group)


def _declined(error: StoreError) -> Declined:
    """What a client is told of a failure of the store."""
    if isinstance(error, Full):
        return Declined(507, "the store has no space left; nothing was written")
    if isinstance(error, Damaged):
        return Declined(503, f"what is stored is damaged: {error}")
    if isinstance(error, ReadOnly):
        return Declined(503, "the store takes no writes; nothing was written")
    if isinstance(error, (Conflict, Locked)):
        return Declined(503, "another process has written to this experiment; it is read again")
    return Declined(503, "the store cannot be reached; nothing was acknowledged")
