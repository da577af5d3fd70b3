"""The one writer: requests that arrive together share a transaction, and are answered after its commit."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Collection
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from paretozoom.records import Refused
from paretozoom.service.access.tokens import ADMIN_LOG
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.compiling import USUAL, compile_policy
from paretozoom.service.experiments.draft import Draft, NotOpen
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.writing.holding import Serving
from paretozoom.service.writing.kept import Kept, Limits
from paretozoom.service.writing.loading import load_experiment
from paretozoom.store import Addition, Conflict, Entry, Full, Held, Repeated, Store, StoreError
from paretozoom.store.events import Activated, Created, Decided

log = logging.getLogger("paretozoom")
Answer = TypeVar("Answer")
SECONDS_BETWEEN_TRIES = 1.0  # to reach a store that is away


class _Request:
    """Something to do to an experiment, and who waits for it."""

    __slots__ = ("act", "answer", "error", "future", "name", "requests")

    def __init__(self, name: str, act: Callable[[Draft], Any], requests: Collection[str]) -> None:
        self.name = name
        self.act = act
        self.requests = requests
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


class Keeper:
    """All experiments of a store: who asks for something submits a function of a draft, and gets what it returns.

    It is used on one event loop. Only the store is used in other threads: an experiment never is.
    """

    def __init__(
        self,
        store: Store,
        limits: Limits | None = None,
        *,
        snapshot_every: int = 100_000,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.store = store
        self.limits = limits or Limits()
        self.kept: dict[str, Kept] = {}
        self.started = False
        self._serving = Serving(store)
        self._now = now
        self._snapshot_every = snapshot_every
        self._queue: list[_Request] = []
        self._wake = asyncio.Event()
        self._writing = ThreadPoolExecutor(1, "paretozoom-store")
        self._compiling = ThreadPoolExecutor(1, "paretozoom-compile")
        self._creating = asyncio.Lock()
        self._warm: dict[str, asyncio.Future[None]] = {}
        self._stopping = False
        self._worker: asyncio.Task[None] | None = None
        self._tasks: set[asyncio.Task[None]] = set()

    # For whoever serves requests.

    async def submit(self, name: str, act: Callable[[Draft], Answer], requests: Collection[str] = ()) -> Answer:
        """Do something to an experiment; returns after it is written down, or raises why it is not."""
        if name not in self.kept:
            raise Declined(404, f"experiment {name!r}: there is none of this name")
        if self._stopping:
            raise Declined(503, "the service is shutting down")
        request = _Request(name, act, requests)
        self._queue.append(request)
        self._wake.set()
        answer: Answer = await request.future
        return answer

    def find(self, name: str) -> Experiment:
        """An experiment to look at; whoever changes it submits."""
        if name not in self.kept:
            raise Declined(404, f"experiment {name!r}: there is none of this name")
        return self.kept[name].ready()

    async def create(self, name: str, created: Created, snapshot: bytes | None = None) -> Experiment:
        """Begin an experiment, from a snapshot if there is one."""
        async with self._creating:
            if name in self.kept:
                raise Declined(409, f"experiment {name!r}: exists already")
            if len(self.kept) >= self.limits.experiments:
                raise Declined(429, f"experiments: there are {len(self.kept)} already")
            now = self._now()
            if snapshot is None:
                experiment = Experiment(name, Entry(1, now, created))
            else:
                experiment = Experiment.load(name, snapshot)
                experiment.created, experiment.created_at, experiment.seq = created, now, 1
            data = None if snapshot is None else experiment.dump().to_bytes()
            hold = await self._in_thread(self.store.hold, name)
            try:
                addition = Addition(name, 0, [created], now, snapshot=data, pinned=True)
                await self._in_thread(self.store.append, [addition])
            except Conflict as error:
                await self._in_thread(hold.release)
                raise Declined(409, f"experiment {name!r}: exists already") from error
            except BaseException:
                await self._in_thread(hold.release)
                raise
            kept = Kept(name, hold)
            kept.take(experiment, 0 if data is None else 1)
            self.kept[name] = kept
            self._spawn(self._compile(kept))
            log.info("experiment created", extra={"experiment": name, "by": created.by})
            return experiment

    async def look_up(self, name: str, number: int) -> list[Entry]:
        """All that the log says of a decision."""
        return await asyncio.to_thread(lambda: list(self.store.read(name, number=number)))

    # Life.

    async def start(self) -> None:
        """Take the store and every experiment of it; raises `Held` if another process has one."""
        await self._in_thread(self._serving.take)
        for name in await self._in_thread(self.store.logs):
            if name == ADMIN_LOG:
                continue
            self.kept[name] = Kept(name, await self._in_thread(self.store.hold, name))
        for kept in self.kept.values():
            await self._reload(kept)
        self._worker = asyncio.create_task(self._work())

    async def hold_store(self) -> None:
        """Take the store again if it was lost with the database; raises `Held` if another service was faster."""
        if not self._stopping:
            await self._in_thread(self._serving.take)

    async def compile_all(self) -> None:
        """Compile the kernels of the default policy and of all experiments; then the service is ready."""
        await self._warm_up(USUAL)
        for kept in list(self.kept.values()):
            await self._compile(kept)
        gc.collect()
        gc.freeze()  # the compiler leaves a million objects, and looking through them takes a tenth of a second
        self.started = True

    async def stop(self) -> None:
        """Finish what was begun, save a snapshot of every experiment that has news, and let go."""
        self._stopping = True
        self._wake.set()
        if self._worker is not None:
            await self._worker
        for kept in self.kept.values():
            if kept.experiment is not None and kept.saved < kept.experiment.seq:
                try:
                    await self._in_thread(self.store.append, [self._snapshot(kept, kept.experiment)])
                except StoreError as error:
                    log.warning("no snapshot at the end", extra={"experiment": kept.name, "error": str(error)})
            await self._in_thread(kept.hold.release)
        await self._in_thread(self._serving.release)
        self._writing.shutdown()
        self._compiling.shutdown(wait=False, cancel_futures=True)

    # The one writer.

    async def _work(self) -> None:
        while self._queue or not self._stopping:
            await self._sleep()
            await asyncio.sleep(0)  # whoever is ready joins the group
            group, self._queue = self._queue[: self.limits.group], self._queue[self.limits.group :]
            try:
                await self._serve(group)
            except Exception as error:
                log.exception("a group of requests failed")
                for request in group:
                    request.error = request.error or error
                for kept in self.kept.values():
                    kept.experiment = None  # nobody knows what was done: the logs do
            for request in group:
                request.settle()
            await self._save()

    async def _sleep(self) -> None:
        """Until there is a request, a deadline has come, or it is time to look whether the store is back."""
        if self._queue or self._stopping:
            return
        self._wake.clear()
        moments = [
            kept.due[0][0] if kept.experiment is not None else kept.tried + SECONDS_BETWEEN_TRIES
            for kept in self.kept.values()
            if kept.experiment is None or (kept.due and kept.compiled)
        ]
        timeout = max(0.001, min(moments) - self._now()) if moments else None
        try:
            await asyncio.wait_for(self._wake.wait(), timeout)
        except TimeoutError:
            return

    async def _serve(self, group: list[_Request]) -> None:
        wanted = {request.name for request in group}
        for kept in list(self.kept.values()):
            if kept.experiment is None and (kept.name in wanted or self._now() >= kept.tried + SECONDS_BETWEEN_TRIES):
                await self._reload(kept)
        now = self._now()
        late = {kept.name: kept.late(now) for kept in self.kept.values() if kept.compiled and kept.experiment}
        drafts: dict[str, Draft] = {}
        try:
            drafts = self._draft(group, late, now, {})
            if _may_be_known(group) or not await self._could_write(drafts):
                drafts = self._draft(group, late, now, await self._find_known(group))
                await self._write(drafts)
        except StoreError as error:
            lost = {name for name, draft in drafts.items() if draft.events} if drafts else wanted
            for name in lost:
                self.kept[name].experiment = None  # what was drafted, numbers included, is forgotten with it
            for request in group:
                if request.name in lost:
                    request.error = request.error or _declined(error)
            log.error("nothing was written", extra={"error": str(error), "kind": type(error).__name__})
            return
        for name, draft in drafts.items():
            self._fold(self.kept[name], draft)

    async def _write(self, drafts: dict[str, Draft]) -> None:
        """Commit what was drafted."""
        additions = [Addition(name, d.experiment.seq, d.events, d.now) for name, d in drafts.items() if d.events]
        if additions:
            await self._in_thread(self.store.append, additions)

    async def _could_write(self, drafts: dict[str, Draft]) -> bool:
        """Commit what was drafted, unless a request was met before: then its decision must be found."""
        try:
            await self._write(drafts)
        except Repeated:
            return False
        return True

    async def _find_known(self, group: list[_Request]) -> dict[str, dict[str, Decided]]:
        """The decisions that were made earlier for requests of a group."""
        sought: dict[str, set[str]] = {}
        for request in group:
            if request.requests:
                sought.setdefault(request.name, set()).update(request.requests)
        if not sought:
            return {}

        def find() -> dict[str, dict[str, Decided]]:
            return {
                name: {
                    entry.event.request: entry.event
                    for entry in self.store.read(name, requests=ids)
                    if isinstance(entry.event, Decided) and entry.event.request is not None
                }
                for name, ids in sought.items()
            }

        return await self._in_thread(find)

    def _draft(
        self, group: list[_Request], late: dict[str, list[int]], now: float, known: dict[str, dict[str, Decided]]
    ) -> dict[str, Draft]:
        drafts: dict[str, Draft] = {}

        def draft_of(name: str) -> Draft:
            if name not in drafts:
                drafts[name] = Draft(self.kept[name].ready(), now, known.get(name), self.limits.open)
            return drafts[name]

        for name, numbers in late.items():
            if numbers:
                draft_of(name).expire(numbers)
        for request in group:
            request.error = None
            try:
                request.answer = request.act(draft_of(request.name))
            except (Declined, NotOpen, Refused) as error:
                request.error = error
            except Exception as error:  # a mistake of ours must not harm the others of the group
                log.exception("a request failed")
                request.error = error
        return drafts

    def _fold(self, kept: Kept, draft: Draft) -> None:
        experiment = draft.experiment
        for event in draft.events:
            experiment.fold(Entry(experiment.seq + 1, draft.now, event))
            if isinstance(event, Decided):
                kept.look_at(event.decision, draft.now)
            if experiment.created.wait is not None and isinstance(event, (Decided, Activated)):
                number = event.decision.number if isinstance(event, Decided) else event.number
                kept.due.append((draft.now + experiment.created.wait, number))

    # Snapshots, and what is read back.

    async def _save(self) -> None:
        """Save snapshots of experiments with enough news: more of them if many open decisions make one slow."""
        additions = [
            self._snapshot(kept, kept.experiment)
            for kept in self.kept.values()
            if kept.experiment is not None and kept.news >= self._snapshot_every + 4 * len(kept.experiment.opened)
        ]
        if additions:
            try:
                await self._in_thread(self.store.append, additions)
            except StoreError as error:  # the next time will do
                log.warning("no snapshot", extra={"error": str(error)})

    def _snapshot(self, kept: Kept, experiment: Experiment) -> Addition:
        kept.saved = experiment.seq
        return Addition(kept.name, experiment.seq, (), self._now(), snapshot=experiment.dump().to_bytes())

    async def _reload(self, kept: Kept) -> None:
        """Read an experiment from its log, with the lock in hand."""
        kept.tried = self._now()

        def load() -> tuple[Experiment, int]:
            if not kept.hold.is_kept():
                kept.hold.release()
                kept.hold = self.store.hold(kept.name)
            return load_experiment(self.store, kept.name)

        try:
            experiment, saved = await self._in_thread(load)
        except StoreError as error:
            log.warning("an experiment cannot be read", extra={"experiment": kept.name, "error": str(error)})
        else:
            kept.take(experiment, saved)
            if not kept.compiled and self.started:
                self._spawn(self._compile(kept))

    async def _compile(self, kept: Kept) -> None:
        """Compile the kernels of an experiment's policy, once for all of its kind."""
        if kept.experiment is None:
            return
        await self._warm_up(kept.experiment.created)
        kept.compiled = True
        self._wake.set()  # a deadline may have passed meanwhile

    async def _warm_up(self, created: Created) -> None:
        if created.policy not in self._warm:
            loop = asyncio.get_running_loop()
            self._warm[created.policy] = loop.run_in_executor(self._compiling, compile_policy, created)
        await self._warm[created.policy]

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _in_thread(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        return await asyncio.get_running_loop().run_in_executor(self._writing, lambda: function(*arguments))


def _may_be_known(group: list[_Request]) -> bool:
    """Whether a request was declined that may have been met before: what is paused, or full, still gives that."""
    return any(request.requests and isinstance(request.error, Declined) for request in group)


def _declined(error: StoreError) -> Declined:
    """What a client is told of a failure of the store."""
    if isinstance(error, Full):
        return Declined(507, "the store has no space left; nothing was written")
    if isinstance(error, (Conflict, Held)):
        return Declined(503, "another process has written to this experiment; it is read again")
    return Declined(503, "the store cannot be reached; nothing was acknowledged")
