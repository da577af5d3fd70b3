"""What the runs add up to: per task and horizon who is first, where ParetoZoom stands, and every miss."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np

from paretozoom.study.results import ratio_of
from peers.kept import Run
from peers.rivals import RIVALS
from peers.schedule import RANDOM, RUNS, Pair, Results, pairs_of

OURS = "pareto-zoom"
NEAR, FAR = 1.15, 1.5  # times the first: within reach, and never worse
PAIRS = "| task | T | ParetoZoom | local entropy | rank | first | its regret | times |"


class Row(msgspec.Struct, frozen=True):
    """One player on one task for so many rounds: means over runs, and standard errors."""

    task: str
    horizon: int
    player: str
    setting: str
    runs: int
    regret: float  # over Random's
    regret_error: float | None
    tail: float | None  # the mean gap of the last fifth, over Random's
    front: float | None  # the share of Pareto optimal arms in the last fifth
    bin_ratio: float | None
    local_entropy: float | None
    local_entropy_error: float | None
    per_second: float


class Verdict(NamedTuple):
    """Where ParetoZoom stands on one task for so many rounds."""

    own: Row
    rank: int
    players: int
    first: Row
    times: float  # its regret over that of the first
    rivals: list[Row]  # least regret first
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
    row = Row(
        runs[0].task,
        runs[0].horizon,
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
        float(f"{np.median([r.per_second for r in runs]):.2g}"),
    )
    rounded: dict[str, Any] = {k: float(f"{v:.6g}") for k, v in msgspec.structs.asdict(row).items() if type(v) is float}
    return msgspec.structs.replace(row, **rounded)


def _mean(values: Sequence[float | None]) -> tuple[float | None, float | None]:
    known = [v for v in values if v is not None]
    error = float(np.std(known, ddof=1) / np.sqrt(len(known))) if len(known) > 1 else None
    return (float(np.mean(known)) if known else None), error


def rows_of(results: Results, task: str, horizon: int) -> list[Row]:
    """All that played a pair, least regret first; Random is what they are measured by, and not among them."""
    players = [name for name in (*results.board.ours, *RIVALS) if name != RANDOM]
    played = [runs for name in players if (runs := results.of(Pair(name, task, horizon)))]
    return sorted((row_of(runs) for runs in played), key=lambda row: row.regret)


def verdict_of(rows: Sequence[Row]) -> Verdict | None:
    """Where ParetoZoom stands among the rows of one task and horizon; None if it did not play."""
    rows = sorted(rows, key=lambda row: row.regret)
    own = next((row for row in rows if row.player == OURS), None)
    if own is None:
        return None
    rivals = [row for row in rows if row.player in RIVALS]
    ahead = [row for row in rivals if row.regret < own.regret and _is_more(row, own)]
    return Verdict(own, rows.index(own) + 1, len(rows), rows[0], own.regret / rows[0].regret, rivals, ahead)


def _is_more(row: Row, own: Row) -> bool:
    return row.local_entropy is not None and own.local_entropy is not None and row.local_entropy > own.local_entropy


def verdicts_of(rows: Sequence[Row]) -> list[Verdict]:
    """Where ParetoZoom stands, everywhere it played, in the order of the rows."""
    pairs: dict[tuple[str, int], list[Row]] = {}
    for row in rows:
        pairs.setdefault((row.task, row.horizon), []).append(row)
    return [verdict for some in pairs.values() if (verdict := verdict_of(some)) is not None]


def pairs_markdown(rows: Sequence[Row]) -> str:
    """The table of pairs, what it adds up to, and every miss."""
    verdicts = verdicts_of(rows)
    lines = [summary_of(verdicts), "", PAIRS, ruled("lrrrrlrr")]
    for v in verdicts:
        mark = " **miss**" if v.is_miss else ""
        own, best = (_with_error(row.regret, row.regret_error) for row in (v.own, v.first))
        lines.append(
            f"| {v.own.task} | {v.own.horizon:,} | {own} | {_number(v.own.local_entropy)} | "
            f"{v.rank} of {v.players} | {v.first.player} | {best} | {v.times:.2f}{mark} |"
        )
    lines += ["", "Misses:", ""]
    lines += [f"- {_why(v)}" for v in verdicts if v.is_miss] or ["- none."]
    return "\n".join(lines) + "\n"


def summary_of(verdicts: Sequence[Verdict]) -> str:
    """What the pairs add up to, in three sentences."""
    met = [v for v in verdicts if v.rivals]
    if not met:
        return "ParetoZoom has met no rival yet."
    near = sum(v.times <= NEAR for v in met)
    worst = max(met, key=lambda v: v.times)
    both = sum(bool(v.ahead) for v in met)
    return (
        f"ParetoZoom has the least regret, or at most 15 % more, on {near} of {len(met)} pairs of task and horizon. "
        f"Its worst is {worst.times:.2f} times the least ({worst.own.task}, T = {worst.own.horizon:,}). "
        f"A rival has both less regret and more local entropy on {both} of them."
    )


def played_of(results: Results, tasks: Sequence[str], horizons: Sequence[int]) -> str:
    """How much of what is to be played was played."""
    pairs = [p for p in pairs_of(results.board, list(RIVALS), list(tasks), list(horizons)) if not results.stops(p)]
    begun = [pair for pair in pairs if results.of(pair)]
    whole = [pair for pair in begun if len(results.of(pair)) >= RUNS.get(pair.horizon, 1)]
    return (
        f"Of {len(pairs)} triples of rival, task and horizon, without those known to be too slow, {len(whole)} have "
        f"all their runs and {len(begun) - len(whole)} some of them. "
        "Where no standard error is shown, one run alone has that figure.\n"
    )


def _why(v: Verdict) -> str:
    text = (
        f"{v.own.task}, T = {v.own.horizon:,}: {v.own.regret:.3g} is {v.times:.2f} times the {v.first.regret:.3g} of "
    )
    text += v.first.player
    text += " (worse than 1.5)" if v.times > FAR else ""
    own = _number(v.own.local_entropy)
    both = [f"{row.player} ({row.regret:.3g}, {_number(row.local_entropy)} against {own})" for row in v.ahead]
    return text + (f"; ahead in regret and local entropy: {', '.join(both)}" if both else "") + "."


def page_markdown(rows: Sequence[Row]) -> str:
    """The table of the page: a row per task, and for each horizon ParetoZoom and the rival of least regret."""
    verdicts = [v for v in verdicts_of(rows) if v.rivals]
    horizons = sorted({v.own.horizon for v in verdicts})
    head = [f"ParetoZoom, T = {horizon:,} | best rival" for horizon in horizons]
    lines = [summary_of(verdicts), "", f"| task | {' | '.join(head)} |", ruled("l" * (1 + 2 * len(horizons)))]
    for task in dict.fromkeys(v.own.task for v in verdicts):
        found = {v.own.horizon: v for v in verdicts if v.own.task == task}
        lines.append(f"| {task} | {' | '.join(_cells(found.get(horizon)) for horizon in horizons)} |")
    means = [_means([v for v in verdicts if v.own.horizon == horizon]) for horizon in horizons]
    return "\n".join([*lines, f"| *all tasks* | {' | '.join(means)} |"]) + "\n"


def _cells(v: Verdict | None) -> str:
    if v is None:
        return "– | –"  # noqa: RUF001
    best = v.rivals[0]
    name = f"**{best.player}**" if best.regret < v.own.regret else best.player
    return f"{_cell(v.own)} | {_cell(best)}, {name}"


def _cell(row: Row) -> str:
    return f"{_with_error(row.regret, row.regret_error)}; {_number(row.local_entropy, 2)}"


def _means(verdicts: Sequence[Verdict]) -> str:
    """The geometric mean of regrets and the mean of local entropies, of ParetoZoom and of each task's best rival."""
    sides = [[v.own for v in verdicts], [v.rivals[0] for v in verdicts]]
    return " | ".join(
        f"{np.exp(np.mean([np.log(row.regret) for row in side])):.3f}; "
        f"{_number(_mean([row.local_entropy for row in side])[0], 2)}"
        for side in sides
    )


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
