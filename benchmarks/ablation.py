"""What is each part of ParetoZoom worth, and how much do its numbers matter? Parts are switched off, numbers changed.

Every number of `Settings` is halved and doubled, one at a time, on the tasks that it was tuned on. Nothing is compiled
anew. Only what is missing is played: runs are kept in results/ablation, as long as code and tasks stay as they are.
Run: python benchmarks/ablation.py (with --page it writes docs/reference/ablation.md, too)
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from pathlib import Path
from typing import Annotated

import typer
from ablations.effects import Detail, defaults_table, detail_of, numbers_table, switches_table
from ablations.variants import DEFAULTS, SWITCHES, title_of, variants
from leaderboard import chosen, write_page
from peers import kept, schedule
from peers.kept import Files
from peers.play import Board
from peers.schedule import RANDOM, Pair, Results
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from paretozoom.environments import ZOO
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.policies import ParetoZoom
from paretozoom.study import Spec, Study

ROOT = Path(__file__).parents[1]
PLAYED = ROOT / "results" / "ablation"
FILES = Files(PLAYED / "none", PLAYED / "none", PLAYED / "runs.jsonl")  # no rivals play
PAGE = ROOT / "docs" / "reference" / "ablation.md"
DETAILS = ROOT / "benchmarks" / "ablation.csv.gz"
RUNS = {1_000: 3, 10_000: 2}
OF_DEFAULTS = 8  # times as many runs: their luck is in all ratios
NUMBERS_UNTIL = 1_000  # rounds up to which each number is changed; beyond, only parts are switched off


def board_of(tasks: Sequence[str]) -> Board:
    """Random and all variants on some tasks."""
    specs = [Spec(ParetoZoom.name, title, {"settings": of} if of else {}) for title, of in variants().items()]
    return Board(Study("ablation", min(RUNS), 1, tuple(map(Spec, tasks)), (Spec(RANDOM), *specs)))


# Play.


def play(pairs: list[Pair], runs: dict[int, int]) -> Iterator[Pair]:
    """Play pairs of one task; yields each as it is done."""
    results = Results(board_of([pairs[0].task]), FILES)
    for pair in pairs:
        times = OF_DEFAULTS if pair.player == DEFAULTS else 1
        for _ in schedule.play(results, pair, {pair.horizon: times * runs[pair.horizon]}):
            pass
        yield pair


def play_all(pairs: list[Pair], runs: dict[int, int], jobs: int) -> None:
    """Play pairs, task by task, behind a progress bar."""
    from joblib import Parallel, delayed

    by_task = [[pair for pair in pairs if pair.task == task] for task in dict.fromkeys(pair.task for pair in pairs)]
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("playing", total=len(pairs))
        if jobs == 1:
            for some in by_task:
                for pair in play(some, runs):
                    progress.update(bar, description=f"{pair.task} · {pair.player} · {pair.horizon:,}", advance=1)
            return
        pool = Parallel(n_jobs=jobs, return_as="generator_unordered")
        for task, played in pool(delayed(_play)(some, runs) for some in by_task):
            progress.update(bar, description=task, advance=played)


def _play(pairs: list[Pair], runs: dict[int, int]) -> tuple[str, int]:
    """The pairs of a task, in a process of its own."""
    return pairs[0].task, sum(1 for _ in play(pairs, runs))


def main(
    tasks: Annotated[str, typer.Option(help="Names of tasks, with commas; the zoo by default.")] = "",
    horizons: Annotated[str, typer.Option(help="Numbers of rounds, with commas; all by default.")] = "",
    runs: Annotated[int, typer.Option(help="Runs of each; by default more of the shorter ones.")] = 0,
    settings: Annotated[str, typer.Option(help='Names, with commas; also "switches" and "numbers".')] = "",
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    only_table: Annotated[bool, typer.Option(help="Play nothing.")] = False,
    page: Annotated[bool, typer.Option(help="Also write the details and the tables of the page.")] = False,
) -> None:
    """Play what is missing, print the tables."""
    known = variants()
    off = [title_of(one) for one in SWITCHES.values()]
    numbers = [title for title in known if title not in off and title != DEFAULTS]
    groups = {s.name: [title for title, of in known.items() if list(of) == [s.name]] for s in fields(Settings)}
    if page and tasks:
        raise typer.BadParameter("the page is about all tasks", param_hint="--page")
    players = chosen(settings, {"switches": off, "numbers": numbers} | groups, list(known), "--settings")
    where = chosen(tasks, {}, list(ZOO), "--tasks")
    lengths = [int(h) for h in chosen(horizons, {}, [str(h) for h in RUNS], "--horizons")]
    if not only_table:
        pairs = [Pair(player, task, h) for task in where for h in lengths for player in [RANDOM, DEFAULTS, *players]]
        pairs = [pair for pair in pairs if pair.horizon <= NUMBERS_UNTIL or pair.player not in numbers]
        play_all(list(dict.fromkeys(pairs)), {h: runs or RUNS[h] for h in lengths}, jobs)
    results = Results(board_of(where), FILES)
    found = [detail_of(results, v, t, h) for h in RUNS for v in known for t in where]
    details = [one for one in found if one is not None]
    parts = {
        "defaults": defaults_table(details, list(RUNS)),
        "switches": switches_table(results, where, list(RUNS)),
        "numbers": numbers_table(results, where, min(RUNS)),
    }
    typer.echo("\n".join(parts.values()))
    if page:
        kept.write_table(DETAILS, Detail, details)
        write_page(PAGE, parts)


if __name__ == "__main__":
    typer.run(main)
