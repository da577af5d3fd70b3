"""What the runs add up to: per task and horizon who is first, where ParetoZoom stands, and every miss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from paretozoom.study.results import ratio_of
from peers.kept import Run
from peers.rivals import RIVALS
from peers.schedule import PILOT, RANDOM, RUNS, Pair, Results, pairs_of

OURS = "pareto-zoom"
NEAR, FAR = 1.15, 1.5  # times the first: within reach, and never worse
PAIRS = "| task | T | ParetoZoom | local entropy | rank | first | its regret | times |"
COLUMNS = "| player | setting | runs | regret / Random's | tail | front | m/M | local entropy | per second |"


class Row(NamedTuple):
    """One player on one task for so many rounds: means over runs, and standard errors."""

    player: str
    setting: str
    runs: int
    regret: float  # over Random's
    regret_error: float | None
    tail: float | None
    front: float | None
    ratio: float | None
    entropy: float | None
    entropy_error: float | None
    per_second: float


class Verdict(NamedTuple):
    """Where ParetoZoom stands on one task for so many rounds."""

    task: str
    horizon: int
    own: Row
    rank: int
    players: int
    first: Row
    times: float  # its regret over that of the first
    rivals: int
    ahead: list[Row]  # rivals with less regret and more local entropy

    @property
    def is_miss(self) -> bool:
        """Whether it is not within 15 % of the first, or a rival is ahead in both."""
        return self.times > NEAR or bool(self.ahead)


def row_of(runs: Sequence[Run]) -> Row:
    """The runs of one player, added up."""
    regret, error = ratio_of(np.array([r.regret for r in runs]), np.array([r.random for r in runs]))
    tails = [(r.tail_gap, r.random_tail) for r in runs if r.tail_gap is not None and r.random_tail]
    tail = sum(own for own, _ in tails) / sum(random for _, random in tails) if tails else None
    entropy, entropy_error = _mean([r.local_entropy for r in runs])
    return Row(
        runs[0].player,
        runs[0].setting,
        len(runs),
        regret,
        error,
        tail,
        _mean([r.front_tail for r in runs])[0],
        _mean([r.bin_ratio for r in runs])[0],
        entropy,
        entropy_error,
        float(np.median([r.per_second for r in runs])),
    )


def _mean(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    known = [v for v in values if v is not None]
    error = float(np.std(known, ddof=1) / np.sqrt(len(known))) if len(known) > 1 else None
    return (float(np.mean(known)) if known else None), error


def rows_of(results: Results, task: str, horizon: int) -> list[Row]:
    """All that played a pair, least regret first; Random is what they are measured by, and not among them."""
    players = [name for name in (*results.board.ours, *RIVALS) if name != RANDOM]
    played = [runs for name in players if (runs := results.of(Pair(name, task, horizon)))]
    return sorted((row_of(runs) for runs in played), key=lambda row: row.regret)


def verdict_of(rows: list[Row], task: str, horizon: int) -> Verdict | None:
    """Where ParetoZoom stands; None if it did not play."""
    own = next((row for row in rows if row.player == OURS), None)
    if own is None:
        return None
    ahead = [row for row in rows if row.player in RIVALS and row.regret < own.regret and _more(row, own)]
    first = rows[0]
    rivals = sum(row.player in RIVALS for row in rows)
    return Verdict(task, horizon, own, rows.index(own) + 1, len(rows), first, own.regret / first.regret, rivals, ahead)


def _more(row: Row, own: Row) -> bool:
    return row.entropy is not None and own.entropy is not None and row.entropy > own.entropy


def verdicts_of(results: Results, tasks: Sequence[str], horizons: Sequence[int]) -> list[Verdict]:
    """Where ParetoZoom stands, everywhere it played."""
    found = [verdict_of(rows_of(results, task, h), task, h) for task in tasks for h in horizons]
    return [verdict for verdict in found if verdict is not None]


def markdown(results: Results, tasks: Sequence[str], horizons: Sequence[int]) -> str:
    """The table of pairs, what it adds up to, and every miss."""
    verdicts = verdicts_of(results, tasks, horizons)
    lines = [*_summary(verdicts), "", _played(results, tasks, horizons), "", PAIRS, ruled("lrrrrlrr")]
    for v in verdicts:
        mark = " **miss**" if v.is_miss else ""
        own, best = _with_error(v.own.regret, v.own.regret_error), _with_error(v.first.regret, v.first.regret_error)
        lines.append(
            f"| {v.task} | {v.horizon:,} | {own} | {_number(v.own.entropy)} | "
            f"{v.rank} of {v.players} | {v.first.player} | {best} | {v.times:.2f}{mark} |"
        )
    lines += ["", "Misses:", ""]
    misses = [v for v in verdicts if v.is_miss]
    lines += [f"- {_why(v)}" for v in misses] or ["- none."]
    return "\n".join(lines) + "\n"


def _summary(verdicts: list[Verdict]) -> list[str]:
    met = [v for v in verdicts if v.rivals]
    if not met:
        return ["ParetoZoom has met no rival yet."]
    near = sum(v.times <= NEAR for v in met)
    worst = max(met, key=lambda v: v.times)
    both = sum(bool(v.ahead) for v in met)
    return [
        f"ParetoZoom is first, or within 15 % of the first, on {near} of the {len(met)} pairs of task and horizon "
        f"where it has met a rival ({near / len(met):.0%}). Its worst is {worst.times:.2f} times the first "
        f"({worst.task}, T = {worst.horizon:,}). A rival is ahead in both regret and local entropy on {both}."
    ]


def _played(results: Results, tasks: Sequence[str], horizons: Sequence[int]) -> str:
    """How much of what is to be played was played."""
    pairs = [p for p in pairs_of(results.board, list(RIVALS), list(tasks), list(horizons)) if not results.stops(p)]
    begun = [pair for pair in pairs if results.of(pair)]
    whole = [pair for pair in begun if len(results.of(pair)) >= RUNS.get(pair.horizon, 1)]
    return (
        f"Of {len(pairs)} triples of rival, task and horizon, without those known to be too slow, {len(whole)} have "
        f"all their runs and {len(begun) - len(whole)} some of them. "
        "Where no standard error is shown, one run alone has that figure."
    )


def _why(v: Verdict) -> str:
    text = f"{v.task}, T = {v.horizon:,}: {v.own.regret:.3g} is {v.times:.2f} times the {v.first.regret:.3g} of "
    text += v.first.player
    text += " (worse than 1.5)" if v.times > FAR else ""
    own = _number(v.own.entropy)
    both = [f"{row.player} ({row.regret:.3g}, {_number(row.entropy)} against {own})" for row in v.ahead]
    return text + (f"; ahead in regret and local entropy: {', '.join(both)}" if both else "") + "."


def task_markdown(results: Results, task: str, horizons: Sequence[int]) -> str:
    """Everything that was measured on a task."""
    lines = [f"### {task}", "", f"![{task}](images/leaderboard/{task}.png)", ""]
    for horizon in horizons:
        rows = rows_of(results, task, horizon)
        if not rows:
            continue
        lines += [f"T = {horizon:,}", "", COLUMNS, ruled("llrrrrrrr")]
        for row in rows:
            name = f"**{row.player}**" if row.player == OURS else row.player
            regret, entropy = _with_error(row.regret, row.regret_error), _with_error(row.entropy, row.entropy_error)
            lines.append(
                f"| {name} | {row.setting} | {row.runs} | {regret} | {_number(row.tail)} | {_number(row.front, 2)} | "
                f"{_number(row.ratio, 2)} | {entropy} | {float(f'{row.per_second:.2g}'):,.0f} |"
            )
        lines.append("")
    return "\n".join(lines)


def settings_markdown() -> str:
    """The three settings of each rival."""
    lines = ["| rival | settings | pilot |", "|---|---|---|"]
    for name, rival in RIVALS.items():
        limits = [
            f"{runs} of {h:,} rounds" for h, runs in sorted({**PILOT, **rival.pilot}.items()) if h <= rival.longest
        ]
        limits += ["none longer"] * (rival.longest < max(RUNS))
        lines.append(f"| {name} | {'; '.join(rival.settings)} | {', '.join(limits)} |")
    return "\n".join(lines) + "\n"


def ruled(sides: str) -> str:
    """The line under the head of a table.

    >>> ruled("lr")
    '|---|--:|'
    """
    return "".join("|--:" if side == "r" else "|---" for side in sides) + "|"


def _number(value: float | None, digits: int = 3) -> str:
    return "–" if value is None else f"{value:.{digits}f}"  # noqa: RUF001


def _with_error(value: float | None, error: float | None) -> str:
    return _number(value) if error is None or value is None else f"{value:.3f} ± {error:.3f}"
