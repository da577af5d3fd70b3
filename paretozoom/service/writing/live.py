"""The experiments of a store as one service serves them: locked, read from their logs, compiled."""

from __future__ import annotations

import asyncio
import gc
import logging
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, NamedTuple, TypeVar

import msgspec

from paretozoom.records import Decision, Snapshot
from paretozoom.service.access.tokens import ADMIN_LOG
from paretozoom.service.clock import Clock
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.compiling import TYPICAL, compile_policy, kind_of
from paretozoom.service.experiments.epochs import new_epoch
from paretozoom.service.experiments.experiment import Experiment, fold_all
from paretozoom.service.experiments.fairness import RecentFairness, with_positions
from paretozoom.service.experiments.pending import Pending
from paretozoom.service.limits import Limits
from paretozoom.service.writing.health import StoreHealth
from paretozoom.service.writing.loading import load_experiment
from paretozoom.service.writing.store_lock import StoreLock
from paretozoom.store import Addition, Conflict, Damaged, Entry, Full, Lock, Store, StoreError
from paretozoom.store.events import Carried, Created, Decided

log = logging.getLogger("paretozoom")
Answer = TypeVar("Answer")
SECONDS_BETWEEN_TICKS = 6 * 3_600.0
AT_ONCE = 20  # decisions that are closed or put away in one step
LATE_AT_ONCE = 1_000  # decisions that expire in one transaction
SECONDS_WITHOUT_CHECK = 1.0  # after the store was written to
QUICK = 0.001  # seconds that learning may take on the loop
READERS = 4  # threads that read the store, or encode a copy


class AboutPolicy(NamedTuple):
    """What a policy says of itself."""

    seed: int
    notes: list[str]
    nbytes: int


class LiveExperiment:
    """An experiment whose log is locked, and its state as far as it is known."""

    def __init__(self, name: str, lock: Lock) -> None:
        self.name = name
        self.lock = lock
        self.epoch = new_epoch()  # of decisions that are made from now on
        self.experiment: Experiment | None = None  # None: must be read from the log before it is used
        self.fairness: RecentFairness | None = None
        self._latest: tuple[Decision, float] | None = None  # decision, and when it was made
        self.snapshot_seq = 0  # the entry of the newest snapshot
        self.damage: str | None = None  # why it cannot be read: it is not tried again
        self.read_at = 0.0  # when it was last read from the log
        self.compiled = False
        self.looked_at_clock = False  # in this run
        self.learning: asyncio.Future[None] | None = None  # in another thread, which holds the policy
        self._learns_quickly: bool | None = None  # as far as is known
        self._about: AboutPolicy | None = None
        self._rests_until = 0.0  # nothing is done unasked before

    def resume(self, experiment: Experiment, snapshot_seq: int) -> None:
        """Go on from a state that was read from the log."""
        self.experiment, self.snapshot_seq = experiment, snapshot_seq
        self._about = None
        self.fairness = self.fairness or RecentFairness(experiment.problem, experiment.positions)

    def commit(self, pending: Pending) -> Iterator[None]:
        """Take in events that were written down, step by step; after each, its experiment may have to `finish`."""
        experiment = pending.experiment
        for event in pending.events:
            experiment.fold(Entry(experiment.seq + 1, pending.now, event), finish=False)
            if isinstance(event, Decided):
                self._latest = event.decision, pending.now
            yield
        while experiment.put_away(at_once=AT_ONCE):
            yield
        self.looked_at_clock = True

    async def finish(self, experiment: Experiment, threads: ThreadPoolExecutor) -> None:
        """Learn what an event has left; in a thread, unless that never took long.

        Where it is done changes nothing of what is learned, as nothing else is done to the experiment meanwhile.
        """
        began = time.perf_counter()
        if self._learns_quickly:
            experiment.finish()
        else:
            self.about_policy()
            self.learning = asyncio.get_running_loop().run_in_executor(threads, experiment.finish)
            try:
                await self.learning
            finally:
                self.learning = None
        quick = time.perf_counter() - began < QUICK
        self._learns_quickly = quick and self._learns_quickly is not False

    def about_policy(self) -> AboutPolicy:
        """What the policy says of itself; while it learns in another thread, what it said before."""
        policy = self.state().policy
        if self._about is None or self.learning is None:
            self._about = AboutPolicy(policy.seed, policy.notes, policy.nbytes)
        return self._about

    def sample_fairness(self) -> None:
        """Look where the latest decision fell; called when everybody has an answer."""
        if self._latest is not None and self.experiment is not None and self.fairness is not None:
            self.fairness.sample(self._latest[0], self.experiment.policy, self._latest[1])
        self._latest = None

    @property
    def unsaved(self) -> int:
        """How many entries are not in a snapshot; none where there can be no snapshot."""
        if self.experiment is None or not self.experiment.policy.can_dump:
            return 0
        return self.experiment.seq - self.snapshot_seq

    def positions(self) -> list[float | None]:
        """Where recent decisions fell on their fronts."""
        return [] if self.fairness is None else self.fairness.positions

    def to_be_saved(self) -> Snapshot:
        """A snapshot as it is stored, of the state as it is now; to encode it takes long."""
        return with_positions(self.state().dump(), self.positions())

    def late(self, now: float) -> list[int]:
        """Decisions whose time is over, not more than one group should close."""
        if self.experiment is None or not self.compiled or now < self._rests_until:
            return []
        return self.experiment.late(now, LATE_AT_ONCE)

    def next_deadline(self) -> float | None:
        """When a decision expires next."""
        return None if self.experiment is None or not self.compiled else self.experiment.next_deadline()

    def next_tick(self) -> float | None:
        """When it should say that it is still there, unless something happens before."""
        idle = self.experiment is None or not self.compiled or not len(self.experiment.open_decisions)
        return None if idle or self.experiment is None else self.experiment.time + SECONDS_BETWEEN_TICKS

    def next_moment(self) -> float | None:
        """When there is something to do next though nobody asks: at once, before it has looked at the clock."""
        moments = [moment for moment in (self.next_deadline(), self.next_tick()) if moment is not None]
        if not moments:
            return None
        return max(min(moments) if self.looked_at_clock else 0.0, self._rests_until)

    def rest(self, until: float) -> None:
        """Do nothing unasked for a while, as it cannot be written down."""
        self._rests_until = until

    def state(self) -> Experiment:
        """The experiment, if it is known how far it is."""
        if self.damage is not None:
            raise Declined(503, f"experiment {self.name!r}: cannot be served, and others go on: {self.damage}")
        if self.experiment is None:
            raise Declined(503, f"experiment {self.name!r}: the store cannot be reached")
        return self.experiment

    def ready(self) -> Experiment:
        """The experiment, if it can decide now."""
        experiment = self.state()
        if not self.compiled:
            raise Declined(503, f"experiment {self.name!r}: kernels are being compiled; try again in a minute")
        return experiment


class LiveExperiments:
    """All experiments of a store.

    They are used on one event loop. In other threads the store is used, and an experiment only learns what takes long.
    """

    def __init__(self, store: Store, limits: Limits | None = None, *, now: Callable[[], float] | None = None) -> None:
        self.store = store
        self.limits = limits or Limits()
        self._clock = Clock()
        self.now: Callable[[], float] = now or self._clock
        self.by_name: dict[str, LiveExperiment] = {}
        self.compiled = False  # the kernels of all that were there at the start
        self.health = StoreHealth(self.limits.seconds_to_answer)
        self._store_lock = StoreLock(store)
        self._store_thread = ThreadPoolExecutor(1, "paretozoom-store")
        self._reading_threads = ThreadPoolExecutor(READERS, "paretozoom-read")
        self._compiling_thread = ThreadPoolExecutor(1, "paretozoom-compile")
        self.learning_threads = ThreadPoolExecutor(self.limits.experiments, "paretozoom-learn")  # made when needed
        self._compilations: dict[tuple[object, ...], asyncio.Future[None]] = {}  # by kind
        self._creating = asyncio.Lock()
        self._stopping = False
        self._tasks: set[asyncio.Task[None]] = set()

    # Life.

    async def start(self) -> None:
        """Lock the store and read every experiment of it; raises `Locked` if another process has one."""
        await self.in_store_thread(self._store_lock.acquire)
        for name in await self.in_store_thread(self.store.logs):
            if name == ADMIN_LOG:
                continue
            self.by_name[name] = LiveExperiment(name, await self.in_store_thread(self.store.lock, name))
        for live in self.by_name.values():
            await self.reload(live)

    async def lock_store_again(self) -> None:
        """Lock the store if its lock was lost with the database; raises `Locked` if another service was faster."""
        if not self._stopping:
            await self.in_store_thread(self._store_lock.acquire)

    async def stop(self) -> None:
        """Give back all locks."""
        self._stopping = True
        for live in self.by_name.values():
            await self.in_store_thread(live.lock.release)
        await self.in_store_thread(self._store_lock.release)
        self._store_thread.shutdown()
        self._reading_threads.shutdown(wait=False, cancel_futures=True)
        self._compiling_thread.shutdown(wait=False, cancel_futures=True)
        self.learning_threads.shutdown(wait=False)

    async def in_store_thread(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Call what uses the store, one call after another."""
        writes = function in (self.store.append, self.store.check)
        call = partial(self.health.call, partial(function, *arguments), writes)
        return await asyncio.get_running_loop().run_in_executor(self._store_thread, call)

    async def check_store(self) -> None:
        """Find out whether the store can be written to, unless it just was."""
        if self.health.is_known(SECONDS_WITHOUT_CHECK) or self._stopping:
            return
        await self.in_store_thread(self.store.check, isinstance(self.health.failure, Full))

    async def in_reading_thread(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Call what reads the store, or encodes a copy."""
        return await asyncio.get_running_loop().run_in_executor(self._reading_threads, partial(function, *arguments))

    async def look(self, function: Callable[..., Answer], *arguments: Any) -> Answer:
        """Call what reads the store for a request, which does not wait for ever."""
        try:
            async with asyncio.timeout(self.limits.seconds_to_answer):
                return await self.in_reading_thread(function, *arguments)
        except TimeoutError:
            raise Declined(503, "the store did not answer in time") from None

    # Experiments.

    @property
    def damaged(self) -> dict[str, str]:
        """The experiments that cannot be read, and why."""
        return {name: live.damage for name, live in sorted(self.by_name.items()) if live.damage is not None}

    def get(self, name: str) -> LiveExperiment:
        """An experiment that may not be ready."""
        if name not in self.by_name:
            raise Declined(404, f"experiment {name!r}: there is none of this name")
        return self.by_name[name]

    def find(self, name: str) -> Experiment:
        """An experiment to look at; whoever changes it submits to the writer."""
        return self.get(name).ready()

    async def find_at_rest(self, name: str) -> Experiment:
        """An experiment whose policy can be asked what it learned: not while it learns in another thread."""
        try:
            async with asyncio.timeout(self.limits.seconds_to_answer):
                while (learning := self.get(name).learning) is not None:
                    await asyncio.wait([learning])
        except TimeoutError:
            raise Declined(503, f"experiment {name!r}: is learning, which takes long") from None
        return self.find(name)

    async def entries_about(self, name: str, number: int) -> list[Entry]:
        """All that the log says of a decision."""
        return await self.look(lambda: list(self.store.read(name, number=number)))

    async def ids_for(self, name: str, requests: Collection[str]) -> dict[str, str]:
        """The ids of decisions by the requests they were made for, as far as there are any."""
        epochs = self.find(name).epochs
        entries = await self.look(lambda: list(self.store.read(name, requests=requests)))
        return {
            str(entry.event.request): epochs.id_of(entry.event.decision.number)
            for entry in entries
            if isinstance(entry.event, Decided)
        }

    async def create(
        self, name: str, created: Created, imported: Experiment | None = None, carried: Sequence[Carried] = ()
    ) -> Experiment:
        """Begin an experiment, from one that was imported with its open decisions if there is one."""
        async with self._creating:
            if name in self.by_name:
                raise Declined(409, f"experiment {name!r}: exists already")
            if len(self.by_name) >= self.limits.experiments:
                raise Declined(429, f"experiments: there are {len(self.by_name)} already")
            now, data = self.now(), None
            epoch = new_epoch()
            created = msgspec.structs.replace(created, epoch=epoch)
            if imported is None:
                experiment = Experiment(name, Entry(1, now, created))
            else:
                experiment = imported
                experiment.created, experiment.created_at, experiment.seq, experiment.time = created, now, 1, now
                experiment.epochs.begin(epoch, experiment.policy.number)
                data = await self.in_reading_thread(experiment.dump().to_bytes)
            additions = [Addition(name, 0, [created], now, snapshot=data, pinned=True)]
            if carried:
                additions.append(Addition(name, 1, carried, now))
            lock = await self.in_store_thread(self.store.lock, name)
            try:
                await self.in_store_thread(self.store.append, additions)
            except Conflict as error:
                await self.in_store_thread(lock.release)
                raise Declined(409, f"experiment {name!r}: exists already") from error
            except BaseException:
                await self.in_store_thread(lock.release)
                raise
            fold_all(experiment, (Entry(2 + k, now, event) for k, event in enumerate(carried)))
            live = LiveExperiment(name, lock)
            live.epoch, live.looked_at_clock = epoch, True
            live.resume(experiment, 0 if data is None else 1)
            self.by_name[name] = live
            self._spawn(self._compile(live))
            log.info("experiment created", extra={"experiment": name, "by": created.by})
            return experiment

    async def reload(self, live: LiveExperiment) -> None:
        """Read an experiment from its log, with the lock in hand."""
        live.read_at = self.now()
        live.epoch = new_epoch()  # what was decided before may be lost, and its numbers given again

        def lock() -> None:
            if not live.lock.is_held():
                live.lock.release()
                live.lock = self.store.lock(live.name)

        try:
            await self.in_store_thread(lock)
            experiment, snapshot_seq = await self.in_reading_thread(load_experiment, self.store, live.name)
        except Exception as error:
            if isinstance(error, StoreError) and not isinstance(error, Damaged):
                log.warning("an experiment cannot be read", extra={"experiment": live.name, "error": str(error)})
            else:  # it would not be another time: the others go on
                live.damage = str(error)
                log.error("an experiment is damaged", extra={"experiment": live.name, "error": str(error)})
        else:
            self._clock.never_before(experiment.time)
            live.resume(experiment, snapshot_seq)
            if not live.compiled and self.compiled:
                self._spawn(self._compile(live))

    # Compiling.

    @property
    def is_compiling(self) -> bool:
        """Whether kernels are being compiled at the moment."""
        return any(not compilation.done() for compilation in self._compilations.values())

    async def compile_all(self) -> None:
        """Compile the kernels of the default policy and of all experiments; then the service is ready."""
        await self._compile_policy(TYPICAL)
        for live in list(self.by_name.values()):
            await self._compile(live)
        gc.collect()
        gc.freeze()  # the compiler leaves a million objects, and looking through them takes a tenth of a second
        self.compiled = True

    async def _compile(self, live: LiveExperiment) -> None:
        """Compile the kernels of an experiment's policy, once for all of its kind."""
        if live.experiment is None:
            return
        await self._compile_policy(live.experiment.created)
        live.compiled = True

    async def _compile_policy(self, created: Created) -> None:
        kind = kind_of(created)
        if kind not in self._compilations:
            loop = asyncio.get_running_loop()
            self._compilations[kind] = loop.run_in_executor(self._compiling_thread, compile_policy, created)
        await asyncio.shield(self._compilations[kind])

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
