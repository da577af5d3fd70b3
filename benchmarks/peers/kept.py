"""Results as lines of JSON, one per run: read, added to, never played twice."""

from __future__ import annotations

import os
from pathlib import Path

import msgspec

HERE = Path(__file__).parent
RIVAL_RESULTS = HERE / "results.jsonl"
OUR_RESULTS = HERE.parents[1] / "results" / "leaderboard" / "ours.jsonl"


class Run(msgspec.Struct, frozen=True, omit_defaults=True):
    """One run of one player, and what was measured; `fingerprint` is of the task, and of our own policies' code."""

    player: str
    setting: str
    task: str
    horizon: int
    seed: int
    fingerprint: str
    version: str
    regret: float
    random: float  # the regret of Random on the same draws
    tail_gap: float | None
    random_tail: float | None
    front_tail: float | None
    bin_ratio: float | None
    local_entropy: float | None
    per_second: float


def read(path: Path) -> list[Run]:
    """The runs of a file, none if there is no file; a last line that was cut short is left out."""
    if not path.exists():
        return []
    decode = msgspec.json.Decoder(Run).decode
    runs = []
    for line in path.read_bytes().split(b"\n"):
        try:
            runs.append(decode(line))
        except msgspec.MsgspecError:
            continue
    return runs


def add(path: Path, run: Run) -> None:
    """Append a run, in one write; after a line that was cut short, on a new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a+b", buffering=0) as file:
        cut = file.tell() > 0 and os.pread(file.fileno(), 1, file.tell() - 1) != b"\n"
        file.write(b"\n" * cut + msgspec.json.encode(run) + b"\n")
