"""What is found in rounds: a record that a page, a terminal and a meter can all read."""

from __future__ import annotations

from typing import Any, Literal

import msgspec

Code = Literal["few-rewards", "rare-rewards", "idle-contexts", "coordinates", "steep-similarity", "flat-similarity"]


class Finding(msgspec.Struct, frozen=True):
    """Something that rounds say, and what to do about it.

    `number` is the one number that says it best; `numbers` has the others, JSON-ready. `objective` is None where the
    finding is about all of them.

    >>> found = Finding("rare-rewards", "sold", 0.01, "1 in 100 of 9,000 rewards.", "Wait.", {"rounds": 9000})
    >>> print(found)
    sold: 1 in 100 of 9,000 rewards. Wait.
    """

    code: Code
    objective: str | None
    number: float
    text: str
    advice: str
    numbers: dict[str, Any] = {}

    def __str__(self) -> str:
        about = "" if self.objective is None else f"{self.objective}: "
        return f"{about}{self.text} {self.advice}".rstrip()


def percent(share: float) -> str:
    """A share, short enough to be read.

    >>> percent(0.314), percent(0.0123), percent(0.0004)
    ('31 %', '1.2 %', '0.04 %')
    """
    shown = 100 * share
    return f"{shown:.0f} %" if abs(shown) >= 10 else f"{shown:.2g} %"
