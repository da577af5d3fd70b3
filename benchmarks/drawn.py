"""ParetoZoom and what users would pick, on tasks drawn at random: seeds below 100 are for development.

Every player meets the same contexts and the same luck, once per task. Runs are kept in results/drawn, and played anew
when the code of ParetoZoom has changed. Rivals get the mean of the scaled rewards; all their settings play.
Run: python benchmarks/drawn.py --tasks 100:200
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import numpy as np
import typer
from peers.play import Seat
from peers.rivals import RIVALS
from rich.progress import track

from paretozoom import Drawn, LinUCB, ParetoZoom, Random
from paretozoom.kernels.core.sources import fingerprint
from paretozoom.metrics import LocalEntropy
from paretozoom.metrics.truth.of_rounds import gaps_of
from paretozoom.problem import Problem
from paretozoom.simulation import simulate_in_chunks

ROOT = Path(__file__).parents[1]
PLAYED = ROOT / "results" / "drawn" / "runs.jsonl"
FAIR, EQUAL = "pareto-zoom", "pareto-zoom, equal weights"
SLOW = {10_000: 40}  # tasks at most, at a horizon


class Run(msgspec.Struct, frozen=True):
    """One player on one task: regret and weighted regret over Random's, local entropy, decisions per second."""

    player: str
    setting: str
    seed: int
    shape: str
    rounds: int
    code: str
    regret: float
    weighted: float
    early: float  # regret of the first 300 rounds
    late: float  # of the last fifth
    entropy: float | None


def ours() -> dict[str, Callable[[Problem], Any]]:
    """Our own players."""
    return {
        FAIR: ParetoZoom,
        EQUAL: lambda problem: ParetoZoom(problem, prefer={"weights": _equal(problem)}),
        "linucb, pareto": lambda problem: LinUCB(problem, pareto=True),
    }


def _equal(problem: Problem) -> dict[str, float]:
    """Weights under which all objectives count alike once they are scaled."""
    return {objective.name: 1.0 / objective.span for objective in problem.objectives}


def code_of(player: str) -> str:
    """What a run of ours depends on; rivals' runs hold for good."""
    if player in RIVALS:
        return str(RIVALS[player].version())
    package = ROOT / "paretozoom"
    where = ("kernels/core", "kernels/pareto_zoom", "policies/pareto_zoom", "environments/drawing")
    files = sorted(file for name in where for file in (package / name).rglob("*.py"))
    return fingerprint(*files)[:12]


def play(player: str, setting: str, seed: int, rounds: int) -> Run:
    """One run."""
    task = Drawn(seed)
    if player in RIVALS:
        seat: Any = Seat(RIVALS[player], task.problem, rounds, RIVALS[player].settings[setting])
    else:
        seat = ours()[player](task.problem)
    own, metric = _measure(seat, task, rounds, seed), LocalEntropy(task, rounds)
    for chunk in own[2]:
        metric.update(chunk)
    random = _measure(Random(task.problem), task, rounds, seed)
    first, last = slice(0, 300), slice(-(rounds // 5), None)
    ratios = [float(own[0][part].sum() / random[0][part].sum()) for part in (slice(None), first, last)]
    weighted = float(own[1].sum() / random[1].sum())
    entropy = metric.result()["local_entropy"]
    return Run(
        player, setting, seed, task.shape, rounds, code_of(player), ratios[0], weighted, ratios[1], ratios[2], entropy
    )


def _measure(player: Any, task: Drawn, rounds: int, seed: int) -> tuple[Any, Any, list[Any]]:
    """Gaps, gaps of the weighted sum, and the rounds themselves."""
    chunks = list(simulate_in_chunks(player, task, rounds, seed=seed))
    gaps = np.concatenate([gaps_of(task, chunk) for chunk in chunks])
    sums = []
    for chunk in chunks:
        means = task.means(chunk.columns.point).mean(axis=1)
        sums += [
            task.front_of_grid(p)[0].mean(axis=1).max() - own for p, own in zip(chunk.columns.point, means, strict=True)
        ]
    return gaps, np.maximum(0.0, sums), chunks


def known() -> dict[tuple[Any, ...], Run]:
    """Runs that still hold."""
    lines = PLAYED.read_bytes().splitlines() if PLAYED.exists() else []
    runs = [msgspec.json.decode(line, type=Run) for line in lines]
    return {key_of(run): run for run in runs if run.player in RIVALS or run.code == code_of(run.player)}


def key_of(run: Run) -> tuple[Any, ...]:
    """What makes a run this one."""
    return run.player, run.setting, run.seed, run.rounds


def wanted(
    players: list[str], seeds: range, horizons: list[int], settings: dict[str, Any]
) -> Iterator[tuple[Any, ...]]:
    """The runs of a table."""
    for rounds in horizons:
        for seed in seeds[: SLOW.get(rounds, len(seeds))]:
            for player in players:
                for setting in settings.get(player, ["defaults"]):
                    yield player, setting, seed, rounds


def table(runs: list[Run], rounds: int) -> str:
    """By shape and player: geometric means of regret and weighted regret over Random's, mean local entropy."""
    players = list(dict.fromkeys((run.player, run.setting) for run in runs))
    lines = ["| shape | player | tasks | regret | weighted | first 300 | last fifth | local entropy |"]
    lines.append("| --- | --- | --- | --- | --- | --- | --- | --- |")
    by = defaultdict(list)
    for run in runs:
        if run.rounds == rounds:
            by[run.shape, run.player, run.setting].append(run)
            by["all", run.player, run.setting].append(run)
    for shape in [*sorted({run.shape for run in runs}), "all"]:
        for player, setting in players:
            some = by[shape, player, setting]
            if some:
                cells = [
                    _mean([getattr(run, name) for run in some]) for name in ("regret", "weighted", "early", "late")
                ]
                entropy = [run.entropy for run in some if run.entropy is not None]
                name = player if setting == "defaults" else f"{player} ({setting})"
                figures = " | ".join(f"{cell:.3f}" for cell in cells)
                mean = f"{np.mean(entropy):.2f}" if entropy else "-"
                lines.append(f"| {shape} | {name} | {len(some)} | {figures} | {mean} |")
    return "\n".join(lines)


def _mean(values: list[float]) -> float:
    return math.exp(float(np.mean(np.log(np.maximum(1e-4, values)))))


def main(
    tasks: Annotated[str, typer.Option(help="Seeds, from:to.")] = "0:100",
    rounds: Annotated[str, typer.Option(help="Horizons.")] = "1000",
    players: Annotated[str, typer.Option(help="Names, with commas between; rivals need the extra peers.")] = "ours",
) -> None:
    """Play what is missing, and print the table."""
    names = list(ours()) if players == "ours" else players.split(";")
    first, last = map(int, tasks.split(":"))
    horizons = [int(part) for part in rounds.split(",")]
    settings = {name: list(RIVALS[name].settings) for name in names if name in RIVALS}
    found, keys = known(), list(wanted(names, range(first, last), horizons, settings))
    PLAYED.parent.mkdir(parents=True, exist_ok=True)
    with PLAYED.open("ab") as file:
        for key in track([key for key in keys if key not in found], "playing"):
            found[key] = play(*key)
            file.write(msgspec.json.encode(found[key]) + b"\n")
            file.flush()
    for horizon in horizons:
        print(table([found[key] for key in keys], horizon))


if __name__ == "__main__":
    typer.run(main)
