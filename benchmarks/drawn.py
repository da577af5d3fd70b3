"""ParetoZoom and what users would pick, on tasks drawn at random: seeds below 100 are for development.

Every player meets the same contexts and the same luck, once per task. Rivals learn the mean of the scaled rewards, with
the setting that is best on development tasks of the same shape. Runs are kept in results/drawn; those of ParetoZoom are
played anew when its code has changed.
Run: python benchmarks/drawn.py (docs/reference/drawn.md says what it makes)
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from draws import playing
from draws.choosing import choices_of, wanted
from draws.players import EQUAL, FAIR, FAIR_LINEAR, PLAYERS, RIVALS
from draws.statements import games_of, statements
from draws.tables import development_table, fair_table, parts_of, whole_table
from leaderboard import write_page
from rich.console import Console
from rich.progress import track

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "drawn.md"
GROUPS = {"ours": [FAIR, EQUAL, FAIR_LINEAR], "rivals": [*RIVALS, FAIR_LINEAR]}


def play_all(players: list[str], seeds: range, horizons: list[int]) -> None:
    """Play what is missing, behind a progress bar."""
    found = {key: run for key, run in playing.read().items() if playing.holds(run)}
    keys = [key for key in wanted(players, seeds, horizons, choices_of(found.values())) if key not in found]
    for key in track(keys, "playing", console=Console(stderr=True)):
        playing.add(playing.play(key))


def main(
    tasks: Annotated[str, typer.Option(help="Seeds to play, from:to.")] = "100:200",
    rounds: Annotated[str, typer.Option(help="Horizons, with commas.")] = "1000,10000",
    players: Annotated[str, typer.Option(help='Names, with semicolons; also "ours" and "rivals".')] = "ours",
    only_table: Annotated[bool, typer.Option(help="Play nothing.")] = False,
    development: Annotated[bool, typer.Option(help="Print what all settings had on development tasks.")] = False,
    page: Annotated[bool, typer.Option(help="Also write the kept runs and the page.")] = False,
) -> None:
    """Play what is missing, print the tables and what they say."""
    names = [name for part in players.split(";") for name in GROUPS.get(part, [part])]
    if unknown := [name for name in names if name not in PLAYERS]:
        raise typer.BadParameter(f"{unknown[0]!r} is not one of {[*GROUPS, *PLAYERS]!r}", param_hint="--players")
    first, last = map(int, tasks.split(":"))
    horizons = [int(part) for part in rounds.split(",")]
    if not only_table:
        play_all(names, range(first, last), horizons)
    runs = list(playing.read().values())
    choices = choices_of(runs)
    if development:
        typer.echo(development_table(runs, choices))
    for horizon in horizons:
        games = games_of(runs, horizon, choices)
        if games:
            lines = [whole_table(games, choices), fair_table(games), *statements(games, horizon)]
            typer.echo(f"\nT = {horizon:,}\n\n" + "\n".join(lines))
    if page:
        playing.keep(runs)
        write_page(PAGE, parts_of(runs, choices))


if __name__ == "__main__":
    typer.run(main)
