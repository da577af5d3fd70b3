"""The one writer: requests that arrive together share a transaction, and are answered after its commit."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection
from typing import Any, TypeVar

from paretozoom.records import Refused
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.experiment import Experiment, NotAtHand
from paretozoom.service.experiments.pending import NotOpen, Pending
from paretozoom.service.writing.live import LiveExperiment, LiveExperiments
from paretozoom.store import Addition, Conflict, Entry, Full, Locked, Repeated, StoreError
from paretozoom.store.events import Decided

log = logging.getLogger("paretozoom")
Answer = TypeVar("Answer")
SECONDS_BETWEEN_TRIES = 1.0  # to reach a store that is away


class _Submission:
    """Something to do to an experiment, and who waits for it."""

    __slots__ = ("act", "answer", "error", "future", "name", "request_ids")

    def __init__(self, name: str, act: Callable[[Pending], Any], request_ids: Collection[str]) -> None:
        self.name = name
        self.act = act
        self.request_ids = request_ids
        self.future: asyncio.Future[Any] = asyncio.get_running_loop().create_future()
        self.answer: Any = None
        self.error: Exception | None = None

    def settle(self) -> None:
        """Let go whoever waits."""
        if self.future.done():  # gave up
            return
        if self.error is None:
            self.future.set_result(self.answer)
        else:
            self.future.set_exception(self.error)


class Writer:
    """Writes to the experiments of a store: who asks for something submits a function of what is pending, and gets
    what it returns.
    """

    def __init__(self, experiments: LiveExperiments, *, snapshot_every: int = 100_000) -> None:
        self._experiments = experiments
        self._snapshot_every = snapshot_every
        self._queue: list[_Submission] = []
        self._stopping = False
        self._loop: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to take what is submitted."""
        self._loop = asyncio.create_task(self._run())

    async def submit(self, name: str, act: Callable[[Pending], Answer], request_ids: Collection[str] = ()) -> Answer:
        """Do something to an experiment; returns after it is written down, or raises why it is not."""
        self._experiments.get(name)
        if self._stopping:
            raise Declined(503, "the service is shutting down")
        submission = _Submission(name, act, request_ids)
        self._queue.append(submission)
        self._experiments.changed.set()
        answer: Answer = await submission.future
        return answer

    async def stop(self) -> None:
        """Finish what was begun, and save a snapshot of every experiment that has entries beyond its last one."""
        self._stopping = True
        self._experiments.changed.set()
        if self._loop is not None:
            await self._loop
        for live in self._experiments.by_name.values():
            if live.experiment is not None and live.unsaved:
                try:
                    await self._append([self._snapshot(live, live.experiment)])
                except Exception as error:  # of the store, or of the operator's own policy: the others are saved
                    log.warning("no snapshot at the end", extra={"experiment": live.name, "error": str(error)})

    # Groups.

    async def _run(self) -> None:
        most = self._experiments.limits.group
        while self._queue or not self._stopping:
            await self._sleep()
            await asyncio.sleep(0)  # whoever is ready joins the group
            group, self._queue = self._queue[:most], self._queue[most:]
            try:
                await self._serve(group)
            except Exception as error:
                log.exception("a group of requests failed")
                for submission in group:
                    submission.error = submission.error or error
                for live in self._experiments.by_name.values():
                    live.experiment = None  # nobody knows what was done: the logs do
            for submission in group:
                submission.settle()
            await self._save_snapshots()

    async def _sleep(self) -> None:
        """Until something was submitted, a deadline has come, or it is time to look whether the store is back."""
        if self._queue or self._stopping:
            return
        self._experiments.changed.clear()
        moments = []
        for live in self._experiments.by_name.values():
            if live.experiment is None:
                moments.append(live.read_at + SECONDS_BETWEEN_TRIES)
            moments += [moment for moment in (live.next_deadline(), live.next_tick()) if moment is not None]
        timeout = max(0.001, min(moments) - self._experiments.now()) if moments else None
        try:
            await asyncio.wait_for(self._experiments.changed.wait(), timeout)
        except TimeoutError:
            return

    async def _serve(self, group: list[_Submission]) -> None:
        """Do what was submitted and expire what is late, in one transaction."""
        wanted = {submission.name for submission in group}
        by_name, now = self._experiments.by_name, self._experiments.now
        for live in list(by_name.values()):
            if live.experiment is None and (live.name in wanted or now() >= live.read_at + SECONDS_BETWEEN_TRIES):
                await self._experiments.reload(live)
        moment = now()
        late = {live.name: live.late(moment) for live in by_name.values()}
        pending: dict[str, Pending] = {}
        try:
            pending = self._prepare(group, late, moment, {})
            if await self._bring_back(pending):
                pending = self._prepare(group, late, moment, {})
            if _may_repeat(group) or not await self._try_to_write(pending):
                pending = self._prepare(group, late, moment, await self._decided_before(group))
                await self._write(pending)
        except StoreError as error:
            lost = {name for name, one in pending.items() if one.events} if pending else wanted
            for name in lost:
                by_name[name].experiment = None  # what was prepared, numbers included, is forgotten with it
            for submission in group:
                if submission.name in lost:
                    submission.error = submission.error or _declined(error)
            log.error("nothing was written", extra={"error": str(error), "kind": type(error).__name__})
            return
        for name, one in pending.items():
            by_name[name].commit(one)
            by_name[name].looked_at_clock = True

    def _prepare(
        self,
        group: list[_Submission],
        late: dict[str, list[int]],
        now: float,
        decided_before: dict[str, dict[str, Decided]],
    ) -> dict[str, Pending]:
        """The events that a group adds to each experiment; each submission gets its answer or its error."""
        pending: dict[str, Pending] = {}

        def pending_of(name: str) -> Pending:
            if name not in pending:
                experiment = self._experiments.by_name[name].ready()
                pending[name] = Pending(experiment, now, decided_before.get(name), self._experiments.limits.open)
            return pending[name]

        for live in self._experiments.by_name.values():
            if not live.looked_at_clock and live.compiled and live.experiment is not None:
                pending_of(live.name).look_at_clock()
        for name, numbers in late.items():
            if numbers:
                pending_of(name).expire(numbers)
        for live in self._experiments.by_name.values():
            tick = live.next_tick()
            if tick is not None and tick <= now and not pending_of(live.name).events:
                pending_of(live.name).tick()
        for submission in group:
            submission.error = None
            try:
                submission.answer = submission.act(pending_of(submission.name))
            except (Declined, NotAtHand, NotOpen, Refused) as error:
                submission.error = error
            except Exception as error:  # a mistake of ours must not harm the others of the group
                log.exception("a request failed")
                submission.error = error
        return pending

    async def _bring_back(self, pending: dict[str, Pending]) -> bool:
        """Read back from the logs what decisions must be known whole; whether there were any."""
        missing = {name: one.missing for name, one in pending.items() if one.missing}
        if not missing:
            return False

        def find() -> dict[str, list[Entry]]:
            return {name: list(self._experiments.store.read(name, numbers=some)) for name, some in missing.items()}

        for name, entries in (await self._experiments.in_store_thread(find)).items():
            experiment = self._experiments.by_name[name].ready()
            lost = experiment.bring_back(missing[name], entries)
            experiment.lost |= lost
            if lost:
                log.error("the log is damaged", extra={"experiment": name, "decisions": sorted(lost)[:10]})
        return True

    async def _decided_before(self, group: list[_Submission]) -> dict[str, dict[str, Decided]]:
        """The decisions that were made earlier for requests of a group, by experiment and by the request's id."""
        sought: dict[str, set[str]] = {}
        for submission in group:
            if submission.request_ids:
                sought.setdefault(submission.name, set()).update(submission.request_ids)
        if not sought:
            return {}

        def find() -> dict[str, dict[str, Decided]]:
            return {
                name: {
                    entry.event.request: entry.event
                    for entry in self._experiments.store.read(name, requests=ids)
                    if isinstance(entry.event, Decided) and entry.event.request is not None
                }
                for name, ids in sought.items()
            }

        return await self._experiments.in_store_thread(find)

    # What is written.

    async def _try_to_write(self, pending: dict[str, Pending]) -> bool:
        """Commit what is pending, unless a request was met before: then its decision must be found."""
        try:
            await self._write(pending)
        except Repeated:
            return False
        return True

    async def _write(self, pending: dict[str, Pending]) -> None:
        """Commit what is pending."""
        await self._append(
            [Addition(name, one.experiment.seq, one.events, one.now) for name, one in pending.items() if one.events]
        )

    async def _save_snapshots(self) -> None:
        """Save snapshots of experiments with enough entries."""
        every = self._snapshot_every
        try:
            additions = [
                self._snapshot(live, live.experiment)
                for live in self._experiments.by_name.values()
                if live.experiment is not None and live.unsaved >= every
            ]
            await self._append(additions)
        except Exception as error:  # of the store, or of the operator's own policy: the next time will do
            log.warning("no snapshot", extra={"error": str(error)})

    def _snapshot(self, live: LiveExperiment, experiment: Experiment) -> Addition:
        live.snapshot_seq = experiment.seq
        now = self._experiments.now()
        return Addition(live.name, experiment.seq, (), now, snapshot=experiment.dump().to_bytes())

    async def _append(self, additions: list[Addition]) -> None:
        if additions:
            await self._experiments.in_store_thread(self._experiments.store.append, additions)


def _may_repeat(group: list[_Submission]) -> bool:
    """Whether a request was declined that may have been met before: what is paused, or full, still gives that."""
    return any(submission.request_ids and isinstance(submission.error, Declined) for submission in group)


def _declined(error: StoreError) -> Declined:
    """What a client is told of a failure of the store."""
    if isinstance(error, Full):
        return Declined(507, "the store has no space left; nothing was written")
    if isinstance(error, (Conflict, Locked)):
        return Declined(503, "another process has written to this experiment; it is read again")
    return Declined(503, "the store cannot be reached; nothing was acknowledged")
