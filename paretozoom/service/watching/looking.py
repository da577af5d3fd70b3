"""Looks at the latest rounds of experiments now and then, one after another, in another thread."""

from __future__ import annotations

import asyncio
import logging
import time

from paretozoom.service.experiments.recent import look_at
from paretozoom.service.writing.live import LiveExperiments
from paretozoom.service.writing.live_experiment import LiveExperiment

log = logging.getLogger("paretozoom")
SECONDS_BETWEEN = 2.0
MOST_TIME = 0.02  # the share of all time that goes to looking: it takes up to a second


async def look_now_and_then(experiments: LiveExperiments) -> None:
    """Look for ever at those with news."""
    while True:
        took = 0.0
        for live in list(experiments.by_name.values()):
            if live.recent is not None and live.recent.is_due:
                began = time.perf_counter()
                await look_again(experiments, live)
                took = time.perf_counter() - began
                await asyncio.sleep(took / MOST_TIME)
        await asyncio.sleep(SECONDS_BETWEEN)


async def look_again(experiments: LiveExperiments, live: LiveExperiment) -> None:
    """Look at the latest rounds of an experiment."""
    recent, experiment = live.recent, live.experiment
    if recent is None or experiment is None:
        return
    forgotten, found = recent.times_forgotten, None
    try:
        found = await experiments.threads.read(look_at, experiment.problem, recent.rounds)
    except Exception:  # whatever it is, others are to be looked at
        log.exception("rounds could not be looked at", extra={"experiment": live.name})
    if recent.times_forgotten == forgotten:  # else it was found in rounds that are erased by now
        recent.look = found
