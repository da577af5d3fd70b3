"""Runs on disk: lines of JSON while they are played, one compressed table for those that the repository keeps."""

from __future__ import annotations

import csv
import gzip
import io
import os
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

import msgspec

HERE = Path(__file__).parent
PLAYED = HERE.parents[1] / "results" / "leaderboard"
DETAILS = HERE / "details.csv.gz"  # what the runs of all players add up to
Record = TypeVar("Record", bound=msgspec.Struct)


class Files(NamedTuple):
    """Where runs are: the rivals' that the repository keeps, the rivals' played since, and ours."""

    kept: Path = HERE / "runs.csv.gz"
    rivals: Path = PLAYED / "rivals.jsonl"
    ours: Path = PLAYED / "ours.jsonl"


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
    """The runs of a file of lines, none if there is no file; a last line that was cut short is left out."""
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


def read_table(path: Path, kind: type[Record]) -> list[Record]:
    """The records of a compressed table, none if there is no file."""
    if not path.exists():
        return []
    rows = csv.DictReader(io.StringIO(gzip.decompress(path.read_bytes()).decode()))
    return [msgspec.convert({name: text or None for name, text in row.items()}, kind, strict=False) for row in rows]


def write_table(path: Path, kind: type[Record], records: Sequence[Record]) -> None:
    """Replace a compressed table; the same records give the same bytes."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(kind.__struct_fields__)
    writer.writerows(msgspec.structs.astuple(record) for record in records)
    whole = path.with_name(f"{path.name}.part")
    whole.write_bytes(gzip.compress(text.getvalue().encode(), mtime=0))
    whole.replace(path)


def rivals_of(files: Files) -> list[Run]:
    """All runs of rivals, in the order of what they are of; of two of the same the newer."""
    runs = [*read_table(files.kept, Run), *read(files.rivals)]
    known = {(run.player, run.task, run.horizon, run.setting, run.seed, run.fingerprint): run for run in runs}
    return [known[key] for key in sorted(known)]


def keep(files: Files, without: Sequence[str] = ()) -> None:
    """Move the rivals' new runs into the table that is kept; leave out all runs of some players."""
    write_table(files.kept, Run, [run for run in rivals_of(files) if run.player not in without])
    files.rivals.unlink(missing_ok=True)
