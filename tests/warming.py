"""Compiles the kernels of all policies, each once, before tests that need them run beside each other.

    python -m tests.warming

A family is compiled in one process: its policies have kernels in common. This needs no extra, so that compiling may
begin before all that tests need is installed.
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from paretozoom.policies import Policy

FIRST = ("pareto_zoom", "zooming", "linear")  # they take longest


def families() -> dict[str, list[type[Policy]]]:
    """The policies of each family, those families first that take longest."""
    from paretozoom.policies import Policy
    from paretozoom.registry import find_members

    found: dict[str, list[type[Policy]]] = {family: [] for family in FIRST}
    for member in find_members("paretozoom.policies", Policy).values():
        found.setdefault(member.__module__.split(".")[2], []).append(member)
    return found


def compile_family(family: str) -> str:
    """Play a few rounds with the policies of a family, in all ways that there are."""
    import numpy as np

    from paretozoom import PaperTask
    from paretozoom.policies.compiled import CompiledPolicy
    from paretozoom.policies.warming import warm
    from paretozoom.simulation import simulate_in_chunks

    gc.set_threshold(200_000, 50, 1000)  # a compiler makes much and throws little away: a tenth less time
    task = PaperTask()
    for member in families()[family]:
        if issubclass(member, CompiledPolicy):
            warm(member(task.problem, seed=7))
        policy = member(task.problem)
        for _ in simulate_in_chunks(policy, task, 3, seed=1):
            pass
        policy.tell_many(policy.ask_many([[0.5]]), np.zeros((1, 2)))
    return family


if __name__ == "__main__":
    begun, wanted = time.monotonic(), sys.argv[1:] or list(families())
    with multiprocessing.get_context("spawn").Pool(min(os.cpu_count() or 1, len(wanted))) as pool:
        for done, family in enumerate(pool.imap_unordered(compile_family, wanted), 1):
            seconds = time.monotonic() - begun
            print(f"kernels of {family} compiled: {done} of {len(wanted)}, {seconds:.0f} s", flush=True)
