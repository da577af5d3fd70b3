"""What a policy is, in a line of the table that `paretozoom policies` prints."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import msgspec

HEADS = (
    "name",
    "here",
    "what it does",
    "multi-objective",
    "contextual",
    "similarity",
    "adaptive",
    "guarantee",
    "reference",
)


class Summary(msgspec.Struct, frozen=True):
    """The columns of the paper's Table 1 and where the algorithm comes from.

    >>> Summary("draws every arm uniformly").contextual
    False
    """

    line: str
    multi_objective: bool = False
    contextual: bool = False
    similarity: bool = False  # uses how alike contexts and arms are
    adaptive: bool = False  # divides the space where it pays
    guarantee: str = "none proved"
    reference: str = ""
    colour: str | None = None  # in figures; without one it takes turns with others


def rows_of(policies: Mapping[str, Any]) -> list[list[str]]:
    """A row of the table per policy class, by name; the cells are those of `HEADS`.

    >>> from paretozoom.policies import Random
    >>> rows_of({"random": Random})[0][:4]
    ['random', 'Random', 'every arm uniformly, whatever the context', 'no']
    """
    rows = []
    for name, policy in policies.items():
        summary: Summary = policy.summary
        marks = (summary.multi_objective, summary.contextual, summary.similarity, summary.adaptive)
        answers = ["yes" if mark else "no" for mark in marks]
        rows.append([name, policy.__name__, summary.line, *answers, summary.guarantee, summary.reference or "-"])
    return rows


def as_markdown(rows: Iterable[Iterable[str]]) -> str:
    """The table in Markdown.

    >>> print(as_markdown([["a", "A", "plays | rests", "no", "no", "no", "no", "none", "-"]]).split("\\n")[2])
    | a | A | plays \\| rests | no | no | no | no | none | - |
    """
    lines = [HEADS, ["---"] * len(HEADS), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)
