"""What do open decisions cost? Memory beside the model, the start of a service, a late reward, and expiry.

Run: python benchmarks/open_decisions.py [decisions] [policy]
"""

from __future__ import annotations

import asyncio
import gc
import os
import random
import sys
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Any

from paretozoom import Finite, Objective, Problem, Real
from paretozoom.service.experiments.compiling import compile_policy
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.experiments.pending import Pending
from paretozoom.service.experiments.policies import make_policy
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.writer import Writer
from paretozoom.store import Addition, Entry, open_store
from paretozoom.store.events import Created, Decided

PROBLEM = Problem(
    context=[Real("age", 18, 98), Real("hour", 0, 24, periodic=True)],
    arm=Finite(["news", "sport", "film"]),
    objectives=[Objective("click"), Objective("minutes", high=30)],
)
TOGETHER = 10_000
LATE = 1_000  # rewards of old decisions


def megabytes() -> float:
    """Memory that this process holds."""
    gc.collect()
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


def fill(folder: Path, count: int, policy: str) -> None:
    """A store with an experiment of many open decisions, and its snapshot."""
    store = open_store(folder)
    version = make_policy(policy, PROBLEM, {}, 1).version
    begun = time.time()
    created = Created(PROBLEM, policy, {}, 1, version, by="benchmark", wait=30 * 86_400.0)
    store.append([Addition("shop", 0, [created], begun)])
    experiment = Experiment("shop", Entry(1, begun, created))
    luck = random.Random(1)
    while experiment.policy.number < count:
        events: list[Any] = []
        for ahead in range(min(TOGETHER, count - experiment.policy.number)):
            context = [luck.uniform(18, 98), luck.uniform(0, 24)]
            events.append(Decided(experiment.policy.propose(context, ahead=ahead)))
        store.append([Addition("shop", experiment.seq, events, time.time())])
        for event in events:
            experiment.fold(Entry(experiment.seq + 1, time.time(), event))
        experiment.at_hand.put_away()
    store.append([Addition("shop", experiment.seq, (), time.time(), snapshot=experiment.dump().to_bytes())])
    store.close()


async def serve(folder: Path, count: int, policy: str) -> None:
    """Start, take late rewards, expire everything."""
    compile_policy(Created(PROBLEM, policy, {}, 1, 1, by="benchmark"))
    alone = megabytes()
    began = time.perf_counter()
    experiments = LiveExperiments(open_store(folder))
    await experiments.start()
    live = experiments.by_name["shop"]
    live.compiled = True
    started = time.perf_counter() - began
    experiment = live.ready()
    held = megabytes() - alone
    print(f"{len(experiment.open_decisions):,} open decisions of {policy}: ", end="")
    print(f"{held:.0f} MB, columns {experiment.open_decisions.nbytes / 1e6:.0f} MB; started in {started:.2f} s")
    writer = Writer(experiments)
    writer.start()
    numbers = random.Random(2).sample(range(count), LATE)
    began = time.perf_counter()
    for number in numbers:
        await writer.submit("shop", partial(_reward, number=number))
    print(f"a late reward, alone: {(time.perf_counter() - began) / LATE * 1e3:.2f} ms")
    began = time.perf_counter()
    later = random.Random(3).sample(range(count), LATE)
    wanted = {str(number): number for number in later if number in experiment.open_decisions}
    await writer.submit("shop", lambda pending: pending.all_or_none(_reward, wanted))
    print(f"{len(wanted)} late rewards in a batch: {(time.perf_counter() - began) * 1e3:.0f} ms")
    print(f"{megabytes() - alone:.0f} MB after that")
    began, before = time.perf_counter(), len(experiment.open_decisions)
    await writer.submit("shop", lambda pending: pending.change_wait(1e-6, None, "benchmark"))
    while len(live.ready().open_decisions) > before - 20_000 and len(live.ready().open_decisions):
        await asyncio.sleep(0.01)
    closed = before - len(live.ready().open_decisions)
    print(f"expiry: {closed / (time.perf_counter() - began):,.0f} a second; {megabytes() - alone:.0f} MB")
    await writer.submit("shop", lambda pending: pending.change_wait(None, None, "benchmark"))
    await writer.stop()
    await experiments.stop()


def _reward(pending: Pending, number: int) -> bool:
    return pending.reward(number, {"click": 0.0, "minutes": 0.0})


def main(count: int = 1_000_000, policy: str = "pareto-ucb1") -> None:
    """Fill in a process of its own, so that what it leaves behind is not counted."""
    with tempfile.TemporaryDirectory() as folder:
        child = os.fork()
        if child == 0:
            fill(Path(folder), count, policy)
            os._exit(0)
        os.waitpid(child, 0)
        asyncio.run(serve(Path(folder), count, policy))


if __name__ == "__main__":
    main(*(int(word) if word.isdigit() else word for word in sys.argv[1:]))  # type: ignore[arg-type]
