"""Who is best, on which task, for how long? Our policies and what users would pick today, on the same draws.

Only what is missing is played. The rivals' runs are kept in benchmarks/peers/runs.csv.gz, ours in results/leaderboard.
Run: python benchmarks/leaderboard.py (the rivals need pip install "paretozoom[peers]"; see
docs/reference/leaderboard.md)
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer
from peers import kept, schedule
from peers.figures import save_figures
from peers.kept import DETAILS, PLAYED
from peers.play import Board
from peers.rivals import RIVALS
from peers.schedule import RANDOM, RUNS, Pair, Results
from peers.table import OURS, Row, page_markdown, pairs_markdown, played_of, rows_of
from rich.console import Console
from rich.markdown import Markdown
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from paretozoom.study import Study

ROOT = Path(__file__).parents[1]
STUDY = ROOT / "studies" / "leaderboard.toml"
PAGE = ROOT / "docs" / "reference" / "leaderboard.md"


def main(
    tasks: Annotated[str, typer.Option(help="Titles of tasks, with commas; all of the study's by default.")] = "",
    horizons: Annotated[str, typer.Option(help="Numbers of rounds, with commas; all by default.")] = "",
    policies: Annotated[str, typer.Option(help='Names, with commas; also "ours" and "rivals"; all by default.')] = "",
    jobs: Annotated[int, typer.Option(help="Processes.")] = 1,
    most: Annotated[int, typer.Option(help="At most so many runs of each, for a first look.")] = max(RUNS.values()),
    only_table: Annotated[bool, typer.Option(help="Play nothing.")] = False,
    forget: Annotated[str, typer.Option(help="Rivals whose kept runs no longer hold, with commas.")] = "",
    page: Annotated[bool, typer.Option(help="Also write the kept details, and the table of the page.")] = False,
) -> None:
    """Play what is missing, print the table, draw a figure per task."""
    warnings.filterwarnings("ignore", module="(torch|botorch|gpytorch|linear_operator|optuna|sklearn|mabwiser)")
    study = Study.read(STUDY)
    board = Board(study)
    chosen_tasks = chosen(tasks, {}, board.tasks, "--tasks")
    chosen_horizons = [int(h) for h in chosen(horizons, {}, [str(h) for h in RUNS], "--horizons")]
    groups = {"ours": board.ours, "rivals": list(RIVALS)}
    players = chosen(policies, groups, [*board.ours, *RIVALS], "--policies")
    if forget:
        kept.keep(kept.Files(), chosen(forget, {}, list(RIVALS), "--forget"))
    results = Results(board)
    if not only_table:
        absent = [name for name in players if name in RIVALS and RIVALS[name].version() is None]
        if absent:
            Console(stderr=True).print(f"not played, because the extra 'peers' is not installed: {', '.join(absent)}")
        present = [name for name in dict.fromkeys([RANDOM, *players]) if name not in absent]
        pairs = schedule.pairs_of(board, present, chosen_tasks, chosen_horizons)
        play_all(results, pairs, jobs, {horizon: min(most, runs) for horizon, runs in RUNS.items()})
        if results.files.rivals.exists():
            kept.keep(results.files)
    rows = [row for task in board.tasks for horizon in RUNS for row in rows_of(results, task, horizon)]
    Console().print(Markdown(pairs_markdown(rows) + "\n" + played_of(results, board.tasks, list(RUNS))))
    PLAYED.mkdir(parents=True, exist_ok=True)
    kept.write_table(PLAYED / DETAILS.name, Row, rows)
    save_figures(results, board.tasks, list(RUNS), PLAYED)
    if page:
        write_details(rows, board, DETAILS, PAGE)


def write_details(rows: list[Row], board: Board, details: Path, page: Path) -> None:
    """Write all rows to the kept table, and the page's table from it; refused while ParetoZoom lacks runs.

    What was not played again stays as it was, so that looking at ParetoZoom alone loses none of the others.
    """
    known = {(row.task, row.horizon) for row in rows if row.player == OURS}
    pairs = [(task, horizon) for task in board.tasks for horizon in RUNS]
    if lacking := [f"{task} at {horizon:,}" for task, horizon in pairs if (task, horizon) not in known]:
        raise typer.BadParameter(f"{OURS} was not played on {', '.join(lacking)}", param_hint="--page")
    before = [row for row in kept.read_table(details, Row) if row.player in RIVALS or row.player in board.ours]
    merged = {(row.task, row.horizon, row.player): row for row in [*before, *rows]}
    ordered = sorted(
        (row for row in merged.values() if (row.task, row.horizon) in pairs),
        key=lambda row: (pairs.index((row.task, row.horizon)), row.regret),
    )
    kept.write_table(details, Row, ordered)
    write_page(page, {"results": page_markdown(ordered)})


def chosen(given: str, groups: dict[str, list[str]], known: list[str], option: str) -> list[str]:
    """The names of a list with commas, groups spelled out; all that are known if none is given."""
    names = [name for part in given.split(",") if part for name in groups.get(part, [part])] or known
    for name in names:
        if name not in known:
            raise typer.BadParameter(f"{name!r} is not one of {[*groups, *known]!r}", param_hint=option)
    return names


def play_all(results: Results, pairs: list[Pair], jobs: int, runs: dict[int, int]) -> None:
    """Play pairs, cheapest first, behind a progress bar."""
    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True)) as progress:
        bar = progress.add_task("playing", total=len(pairs))
        for pair, _ in schedule.play_all(results, pairs, jobs, runs):
            progress.update(bar, description=f"{pair.player} · {pair.task} · {pair.horizon:,}")
            progress.advance(bar)


def write_page(path: Path, parts: dict[str, str]) -> None:
    """Put each part between its marks in a page."""
    text = path.read_text(encoding="utf-8")
    for name, part in parts.items():
        begin, end = f"<!-- {name} -->", f"<!-- end of {name} -->"
        head, _, rest = text.partition(begin)
        _, _, foot = rest.partition(end)
        text = f"{head}{begin}\n{part.strip()}\n{end}{foot}"
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    typer.run(main)
