"""The lane of one experiment: what is asked of it, one group after another, in turns with the other experiments."""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Awaitable, Callable, Generator
from typing import Any

from paretozoom.records import Refused
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.experiment import NotAtHand
from paretozoom.service.experiments.pending import NotOpen, Pending
from paretozoom.service.writing.commits import Commits
from paretozoom.service.writing.live import AT_ONCE, LiveExperiment, LiveExperiments
from paretozoom.service.writing.loading import entries_about
from paretozoom.service.writing.submission import Submission
from paretozoom.store import Addition, Conflict, Damaged, Entry, Full, Locked, ReadOnly, Repeated, StoreError
from paretozoom.store.events import Decided, number_of_decision

log = logging.getLogger("paretozoom")
SECONDS_OF_A_TURN = 0.0002  # a request of a neighbour meets some ten turns on its way
SECONDS_BETWEEN_TRIES = 1.0  # to reach a store that is away

Chore = tuple[Callable[[LiveExperiment], Awaitable[Any]], "asyncio.Future[Any]"]


class Lane:
    """Takes submissions to an experiment, and expires its decisions."""

    def __init__(self, live: LiveExperiment, experiments: LiveExperiments, commits: Commits, every: int) -> None:
        self.live = live
        self.queue: deque[Submission] = deque()
        self.waiting = 0  # decisions and rewards in the queue
        self.group: list[Submission] = []  # what is being done
        self.chores: deque[Chore] = deque()
        self._experiments = experiments
        self._commits = commits
        self._snapshot_every = every
        self._task: asyncio.Task[None] | None = None
        self._alarm: asyncio.TimerHandle | None = None
        self._turn_ends = 0.0

    def put(self, submission: Submission) -> None:
        """Let something wait until it is its turn."""
        self.queue.append(submission)
        self.waiting += submission.size
        self.wake()

    def put_chore(self, work: Callable[[LiveExperiment], Awaitable[Any]]) -> asyncio.Future[Any]:
        """Let something be done while no group is."""
        future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.chores.append((work, future))
        self.wake()
        return future

    def wake(self) -> None:
        """Begin to work, if there may be something to do."""
        if self._task is None or self._task.done():
            self._task = asyncio.create_task(self._run())

    async def rest(self) -> None:
        """Wait until all is done."""
        while self._task is not None and not self._task.done():
            await self._task
        if self._alarm is not None:
            self._alarm.cancel()

    def is_due(self) -> bool:
        """Whether there is something to do though nobody asks: by the clock, or as the log must be read again."""
        if self.chores:
            return True
        now = self._experiments.now()
        if self.live.damage is not None or self._experiments.by_name.get(self.live.name) is not self.live:
            return False
        if self.live.experiment is None:
            return now >= self.live.read_at + SECONDS_BETWEEN_TRIES
        moment = self.live.next_moment()
        return moment is not None and moment <= now

    async def _run(self) -> None:
        if self._alarm is not None:
            self._alarm.cancel()
            self._alarm = None
        self._turn_ends = time.perf_counter() + SECONDS_OF_A_TURN
        while self.queue or self.is_due():
            self.group = self._take()
            try:
                await self._serve(self.group)
            except Exception as error:
                log.exception("a group of requests failed", extra={"experiment": self.live.name})
                for submission in self.group:
                    submission.error = submission.error or error
                self.live.experiment = None  # nobody knows what was done: the log does
            for submission in self.group:
                submission.settle()
            self.group = []
            await asyncio.sleep(0)  # answers are sent first
            self.live.sample_fairness()
            await self._save_snapshot()
            while self.chores:
                await self._do(*self.chores.popleft())
        moment = self.live.next_moment()
        if moment is not None:
            later = max(0.001, moment - self._experiments.now())
            self._alarm = asyncio.get_running_loop().call_later(later, self.wake)

    async def _do(self, work: Callable[[LiveExperiment], Awaitable[Any]], future: asyncio.Future[Any]) -> None:
        """What must not happen while a group is written."""
        try:
            answer = await work(self.live)
        except Exception as error:
            if isinstance(error, StoreError) and not isinstance(error, Full):
                self.live.experiment = None  # it may be written or not: the log says
            if not future.done():
                future.set_exception(error)
        else:
            if not future.done():
                future.set_result(answer)

    def _take(self) -> list[Submission]:
        """The next group: bounded by requests and by decisions, but whoever comes first may bring many."""
        limits = self._experiments.limits
        group: list[Submission] = []
        size = 0
        while self.queue and len(group) < limits.group and (not group or size + self.queue[0].size <= limits.batch):
            submission = self.queue.popleft()
            self.waiting -= submission.size
            size += submission.size
            group.append(submission)
        return group

    async def _pause(self) -> None:
        """Let the others have their turn, if this one was long."""
        if time.perf_counter() >= self._turn_ends:
            await asyncio.sleep(0)
            self._turn_ends = time.perf_counter() + SECONDS_OF_A_TURN

    async def _serve(self, group: list[Submission]) -> None:
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
                live.rest(moment + SECONDS_BETWEEN_TRIES)
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
                await self.live.finish(pending.experiment, self._experiments.learning_threads)
            took = time.perf_counter() - began
            longest, whole = max(longest, took), whole + took
            await self._pause()
            began = time.perf_counter()
        if pending.events:
            self._commits.timed("learning", whole)
            self._commits.timed("longest_event", longest)

    async def _prepare_whole(
        self, group: list[Submission], late: list[int], now: float, decided_before: dict[str, Decided]
    ) -> Pending | None:
        """As `_prepare`, with all decisions at hand that must be known whole."""
        pending = await self._prepare(group, late, now, decided_before)
        while pending is not None and pending.missing:
            await self._bring_back(pending.missing)
            pending = await self._prepare(group, late, now, decided_before)
        return pending

    async def _prepare(
        self, group: list[Submission], late: list[int], now: float, decided_before: dict[str, Decided]
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
            await self._pause()
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
            await self._pause()
        pending.begin_epoch()
        return pending

    async def _step_by_step(self, answer: Any, submission: Submission) -> Any:
        """What an act comes to; between its steps others have their turns, and its caller may leave."""
        if not isinstance(answer, Generator):
            return answer
        try:
            next(answer)
            while True:
                await self._pause()
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
        found = await self._experiments.in_reading_thread(self._find, missing)
        lost = set()
        for number, entries in found.items():
            lost |= experiment.bring_back((number,), entries)
            await self._pause()
        experiment.lost |= lost
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

    async def _decided_before(self, group: list[Submission]) -> dict[str, Decided]:
        """The decisions that were made earlier for requests of a group, by the request's id."""
        sought = {one for submission in group for one in submission.request_ids}
        if not sought:
            return {}

        def find() -> dict[str, Decided]:
            return {
                entry.event.request: entry.event
                for entry in self._experiments.store.read(self.live.name, requests=sought)
                if isinstance(entry.event, Decided) and entry.event.request is not None
            }

        return await self._experiments.in_reading_thread(find)

    # What is written.

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

    async def _save_snapshot(self) -> None:
        """Save a snapshot after enough entries."""
        if self.live.unsaved < self._snapshot_every:
            return
        try:
            await self.save_snapshot()
        except Exception as error:  # of the store, or of the operator's own policy: the next time will do
            log.warning("no snapshot", extra={"experiment": self.live.name, "error": str(error)})

    async def save_snapshot(self) -> None:
        """Save the state as it is now, if it is known."""
        experiment = self.live.experiment
        if experiment is None:
            return
        self.live.snapshot_seq = experiment.seq
        data = await self._experiments.in_reading_thread(self.live.to_be_saved().to_bytes)
        await self._commits.write(Addition(self.live.name, experiment.seq, (), self._experiments.now(), snapshot=data))


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
