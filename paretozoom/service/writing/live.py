"""The experiments of a store as one service serves them."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Collection, Sequence

import msgspec

from paretozoom.service.access.tokens import ADMIN_LOG
from paretozoom.service.clock import Clock
from paretozoom.service.declined import Declined
from paretozoom.service.experiments.compiling import TYPICAL
from paretozoom.service.experiments.epochs import new_epoch
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.experiments.folding import fold_all
from paretozoom.service.limits import Limits
from paretozoom.service.writing.compilations import Compilations
from paretozoom.service.writing.health import StoreHealth
from paretozoom.service.writing.live_experiment import LiveExperiment
from paretozoom.service.writing.loading import load_experiment
from paretozoom.service.writing.store_lock import StoreLock
from paretozoom.service.writing.threads import Threads
from paretozoom.store import Addition, Conflict, Damaged, Entry, Full, Store, StoreError
from paretozoom.store.events import Carried, Created, Decided

log = logging.getLogger("paretozoom")
SECONDS_WITHOUT_CHECK = 1.0  # after the store was written to


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
        self.threads = Threads(store, self.limits, self.health)
        self.compilations = Compilations(self.threads.compiling)
        self._creating = asyncio.Lock()
        self._stopping = False

    # Life.

    async def start(self) -> None:
        """Lock the store and read every experiment of it; raises `Locked` if another process has one."""
        await self.threads.write(self._store_lock.acquire)
        for name in await self.threads.write(self.store.logs):
            if name == ADMIN_LOG:
                continue
            self.by_name[name] = LiveExperiment(name, await self.threads.write(self.store.lock, name))
        for live in self.by_name.values():
            await self.reload(live)

    async def lock_store_again(self) -> None:
        """Lock the store if its lock was lost with the database; raises `Locked` if another service was faster."""
        if not self._stopping:
            await self.threads.write(self._store_lock.acquire)

    async def stop(self) -> None:
        """Give back all locks."""
        self._stopping = True
        for live in self.by_name.values():
            await self.threads.write(live.lock.release)
        await self.threads.write(self._store_lock.release)
        self.threads.stop()

    async def check_store(self) -> None:
        """Find out whether the store can be written to, unless it just was."""
        if self.health.is_known(SECONDS_WITHOUT_CHECK) or self._stopping:
            return
        await self.threads.write(self.store.check, isinstance(self.health.failure, Full))

    async def compile_all(self) -> None:
        """Compile the kernels of the default policy and of all experiments; then the service is ready."""
        await self.compilations.compile(TYPICAL)
        for live in list(self.by_name.values()):
            await self.compilations.finish(live)
        gc.collect()
        gc.freeze()  # the compiler leaves a million objects, and looking through them takes a tenth of a second
        self.compiled = True

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
        return await self.threads.look(lambda: list(self.store.read(name, number=number)))

    async def ids_for(self, name: str, requests: Collection[str]) -> dict[str, str]:
        """The ids of decisions by the requests they were made for, as far as there are any."""
        epochs = self.find(name).epochs
        entries = await self.threads.look(lambda: list(self.store.read(name, requests=requests)))
        return {
            str(entry.event.request): epochs.id_of(entry.event.decision.number)
            for entry in entries
            if isinstance(entry.event, (Carried, Decided))
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
                data = await self.threads.read(experiment.dump().to_bytes)
            additions = [Addition(name, 0, [created], now, snapshot=data, pinned=True)]
            if carried:
                additions.append(Addition(name, 1, carried, now))
            lock = await self.threads.write(self.store.lock, name)
            try:
                await self.threads.write(self.store.append, additions)
            except Conflict as error:
                await self.threads.write(lock.release)
                raise Declined(409, f"experiment {name!r}: exists already") from error
            except BaseException:
                await self.threads.write(lock.release)
                raise
            fold_all(experiment, (Entry(2 + k, now, event) for k, event in enumerate(carried)))
            live = LiveExperiment(name, lock)
            live.epoch, live.looked_at_clock = epoch, True
            live.resume(experiment, 0 if data is None else 1)
            self.by_name[name] = live
            self.compilations.begin(live)
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
            await self.threads.write(lock)
            experiment, snapshot_seq = await self.threads.read(load_experiment, self.store, live.name)
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
                self.compilations.begin(live)
