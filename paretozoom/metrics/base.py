"""What every metric shares: it reads rounds as they come and ends in JSON-ready numbers."""

from __future__ import annotations

from typing import Any, ClassVar, NamedTuple

from paretozoom.environments.base import Task
from paretozoom.problem.dimensions import Floats
from paretozoom.rounds import Rounds


class Column(NamedTuple):
    """A number of a result that reports show in a column.

    >>> Column("Front share", "front_share").decimals
    3
    """

    heading: str
    key: str
    decimals: int = 3


class Metric:
    """A streaming measurement over the rounds of one run in a task with known truth."""

    name: ClassVar[str]
    columns: ClassVar[tuple[Column, ...]] = ()  # of the table of results in a report
    words: ClassVar[dict[str, str]] = {}  # what a report says about them, by word

    def __init__(self, environment: Task, rounds: int) -> None:
        self.environment = environment
        self.rounds = rounds

    def update(self, rounds: Rounds) -> None:
        """Read some more rounds."""
        raise NotImplementedError

    def result(self) -> dict[str, Any]:
        """What was measured, JSON-ready; None stands for what cannot be said."""
        raise NotImplementedError

    def curves(self) -> dict[str, Floats]:
        """Arrays worth drawing, by name."""
        return {}
