"""What does ask + tell cost from Python, for each policy there is? Microseconds on the paper's task.

Contexts and rewards are drawn beforehand. A policy plays until it has played all rounds or its time is up, which
matters for those that slow down as they learn. The figures are the best of several repeats.
Run: python benchmarks/policies.py [rounds] [seconds per repeat]
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable

import numpy as np
from rich.console import Console
from rich.progress import track
from rich.table import Table

from paretozoom import PaperTask
from paretozoom.policies import Policy
from paretozoom.records import Refused
from paretozoom.registry import check_parameters, find_members
from paretozoom.simulation import simulate

ROUNDS, SECONDS, REPEATS = 20_000, 5.0, 3

Numbers = list[list[float]]


def maker(member: type[Policy], task: PaperTask, rounds: int) -> Callable[[int], Policy]:
    """How to build a policy from a seed: with its defaults, and the horizon if it takes one."""
    try:
        check_parameters(member, {"horizon": rounds})
        given = {"horizon": rounds}
    except Refused:
        given = {}
    build: Callable[..., Policy] = member  # each policy has parameters of its own
    return lambda seed: build(task.problem, **given, seed=seed)


def ask_and_tell(
    policy: Policy, contexts: list[list[float]], rewards: list[list[float]], seconds: float
) -> list[float]:
    """When each round ended, in seconds from the beginning."""
    ends: list[float] = []
    begun = time.perf_counter()
    for context, reward in zip(contexts, rewards, strict=True):
        policy.tell(policy.ask(context), reward)
        ends.append(time.perf_counter() - begun)
        if ends[-1] > seconds:
            break
    return ends


def main(rounds: int = ROUNDS, seconds: float = SECONDS) -> None:
    """Measure and print."""
    task = PaperTask()
    rng = np.random.default_rng(0)
    contexts, rewards = rng.random((rounds, 1)).tolist(), (rng.random((rounds, 2)) < 0.3).astype(float).tolist()
    table = Table(title=f"ask + tell on the paper's task (best of {REPEATS})")
    for column in ("policy", "rounds", "mean, us", "last tenth, us", "per second"):
        table.add_column(column, justify="left" if column == "policy" else "right", no_wrap=True)
    members = find_members("paretozoom.policies", Policy)
    for name, member in track(members.items(), "measuring", console=Console(stderr=True), transient=True):
        make = maker(member, task, rounds)
        for _ in simulate(make(0), task, min(rounds, 50), seed=0):  # compile
            pass
        played = [ask_and_tell(make(seed), contexts, rewards, seconds) for seed in range(REPEATS)]
        count = min(len(ends) for ends in played)
        tenth = max(1, count // 10)
        mean = min(ends[count - 1] / count for ends in played)
        last = min((ends[count - 1] - (ends[count - 1 - tenth] if count > tenth else 0)) / tenth for ends in played)
        table.add_row(name, f"{count:,}", f"{mean * 1e6:.1f}", f"{last * 1e6:.1f}", f"{1 / mean:,.0f}")
    Console().print(table)


if __name__ == "__main__":
    main(*(kind(given) for kind, given in zip((int, float), sys.argv[1:], strict=False)))
