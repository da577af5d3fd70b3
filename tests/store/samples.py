"""Events of every kind, and processes that use a store."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from paretozoom import Categorical, Decision, Finite, Integer, Objective, Problem, Real
from paretozoom.store import Event, Store, open_store
from paretozoom.store.events import (
    Activated,
    Cancelled,
    Carried,
    ClockJudged,
    ClockJumped,
    Created,
    Decided,
    EpochBegan,
    Erased,
    Expired,
    Paused,
    Removed,
    Resumed,
    Retired,
    Rewarded,
    Ticked,
    TokenCreated,
    TokenRevoked,
    WaitChanged,
)

BOXES = Problem(
    [Real("größe", 0.1, 1e300, scale="log"), Categorical("国", ["日本", "türkiye", "🦓"])],
    [Integer("n", -3, 5), Real("y", 0, 0.1 + 0.2)],
    [Objective("r"), Objective("kosten €", goal="min", low=-1e300, high=5e-324)],
)
LABELS = Problem([], Finite(["a", "b\x00c", "\n\t\"'\\"]), [Objective("r")])
FLOATS = {"small": 5e-324, "large": 1e300, "sum": 0.1 + 0.2, "minus zero": -0.0, "third": 1 / 3, "whole": 2.0}

EVENTS: list[Event] = [
    Created(BOXES, "pcz", {"horizon": 100, "δ": 0.1 + 0.2, "none": None}, 2**53 - 1, 3, by="ops"),
    Created(LABELS, "random", {}, 0, 1, by="loopback", wait=5e-324, default={"r": 1e300}, snapshot=True),
    EpochBegan("k3f9x2a7bq"),
    Decided(Decision(0, {}, "b\x00c", 0.1 + 0.2, 0)),
    Decided(Decision(2**53 - 1, FLOATS, {"n": -3, "y": 5e-324}, 1e300, -1), True, "käse-🧀", {"y": [0, 1]}),
    Decided(Decision(7, {"of": None, "flag": True, "国": "日本"}, None, 1.0, 2**62), request="", feasible=["a"]),
    Activated(7),
    Rewarded(7, FLOATS),
    Rewarded(7, {}),
    Expired(7, None),
    Expired(8, FLOATS),
    Cancelled(0),
    Paused("ops"),
    Resumed(""),
    Retired("Ærøskøbing"),
    WaitChanged(5e-324, {"r": 1e300}, "ops"),
    WaitChanged(None, None, ""),
    Ticked(),
    ClockJumped(0.1 + 0.2),
    ClockJudged(True, "ops"),
    Carried(Decision(7, FLOATS, "日本", 5e-324, 2**53 - 1), FLOATS, True, 0.1 + 0.2, 1e300),
    Carried(Decision(8, {}, "a", 1.0, 0), {}, False, 0.0, 0.0, "日本", "größe", ["a"]),
    Erased("00" * 32, 7),
    Erased("ff" * 32),
    Removed("ops", "erasure", (3, 2**53)),
    Removed("ops", "cut", ()),
    TokenCreated("ab12", "00ff", ("decide", "read"), "prices", 0.1 + 0.2, "für die Kasse"),
    TokenCreated("ab13", "00ff", (), None, None),
    TokenRevoked("ab12"),
]

LOCK = """
import sys
from paretozoom.store import open_store

store = open_store(sys.argv[1])
lock = store.lock("prices")
print("taken", flush=True)
sys.stdin.read()
"""

OPEN = """
import sys
from paretozoom.store import open_store

print("ready", flush=True)
sys.stdin.readline()
store = open_store(sys.argv[1])
print(store.logs())
store.close()
"""


def decided(number: int, request: str | None = None) -> Decided:
    """A decision of no interest."""
    return Decided(Decision(number, {"x": 0.5}, {"y": 0.25}, 1.0, 0), request=request)


@contextmanager
def running(program: str, where: str) -> Iterator[subprocess.Popen[str]]:
    """Another process, which is killed at the end if it still runs."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", program, where], stdin=pipe, stdout=pipe, stderr=pipe, text=True
    ) as process:
        try:
            yield process
        finally:
            process.kill()


def resident(process: int | str = "self") -> float:
    """Megabytes of a process in memory."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS")) / 1024


@contextmanager
def opened(where: Path | str, durability: str = "commit") -> Iterator[Store]:
    """A store that is closed at the end."""
    store = open_store(where, durability=durability)
    try:
        yield store
    finally:
        store.close()
