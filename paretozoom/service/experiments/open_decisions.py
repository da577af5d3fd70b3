"""Open decisions as columns: some thirty bytes each; what else is known of one is read back from the log."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
import numpy as np
import numpy.typing as npt

from paretozoom.policies.snapshots import checked_array
from paretozoom.records import Decision, Refused

FIRST_CAPACITY = 64
BLOCK = 4096  # rows that are looked through at once for the earliest
KINDS: dict[str, Any] = {
    "number": np.int64,
    "made": np.float64,  # when it was decided; rises with the number, as clocks here never go back
    "shown": np.float64,  # when its time began: later, of a deferred decision that was activated
    "told": np.uint32,  # bit o: objective o was told
    "deferred": np.bool_,  # waits until somebody says that it was shown
    "digest": np.uint64,  # of the decision, so that what is read back is what was decided
}
PREFIX = "waiting_"  # of the names of arrays in a snapshot


class OpenDecision(NamedTuple):
    """A row.

    >>> OpenDecision(row=0, number=7, shown=100.0, told=0, deferred=False, digest=1).is_late(now=110.0, wait=10.0)
    True
    """

    row: int
    number: int
    shown: float
    told: int
    deferred: bool
    digest: int

    def is_late(self, now: float, wait: float | None) -> bool:
        """Whether its time is over."""
        return wait is not None and self.shown + wait <= now


def digest_of(decision: Decision) -> int:
    """Eight bytes that tell a decision from others, in whatever order its names come.

    >>> digest_of(Decision(0, {}, "a", 0.5, 0)) == digest_of(Decision(0, {}, "a", 0.5, 1))
    False
    >>> digest_of(Decision(0, {"x": 1, "a": 2}, "a", 1, 0)) == digest_of(Decision(0, {"a": 2, "x": 1}, "a", 1, 0))
    True
    """
    text = msgspec.json.encode(decision, order="sorted")  # as snapshots are written
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


class OpenDecisions:
    """The open decisions of an experiment, in the order of their numbers.

    >>> waiting = OpenDecisions()
    >>> for number in range(3):
    ...     waiting.add(Decision(number, {}, "a", 1.0, 0), time=float(number), deferred=False)
    >>> waiting.close(1)
    >>> len(waiting), 1 in waiting, waiting.late(now=10.0, wait=8.5), waiting.earliest()
    (2, False, [0], 0.0)
    """

    def __init__(self) -> None:
        self._columns: dict[str, npt.NDArray[Any]] = {k: np.zeros(FIRST_CAPACITY, v) for k, v in KINDS.items()}
        self._closed = np.zeros(FIRST_CAPACITY, np.bool_)
        self._first = 0  # no row before it is open
        self._rows = 0
        self._open = 0

    def __len__(self) -> int:
        return self._open

    def __contains__(self, number: object) -> bool:
        return isinstance(number, int) and self.get(number) is not None

    def __iter__(self) -> Iterator[int]:
        return iter(self.numbers())

    def numbers(self) -> list[int]:
        """Of all that are open."""
        found: list[int] = self._columns["number"][self._standing()].tolist()
        return found

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return sum(column.nbytes for column in self._columns.values()) + self._closed.nbytes

    # What happens to one.

    def add(
        self, decision: Decision, time: float, deferred: bool, *, shown: float | None = None, told: int = 0
    ) -> None:
        """A decision was made, after all others."""
        if self._rows and decision.number <= self._columns["number"][self._rows - 1]:
            raise Refused(f"decision {decision.number}: comes after {self._columns['number'][self._rows - 1]}")
        if self._rows == len(self._closed):
            self._make_room()
        row, self._rows, self._open = self._rows, self._rows + 1, self._open + 1
        made = max(time, self._columns["made"][row - 1]) if row else time
        shown = made if shown is None else max(shown, made)
        values = (decision.number, made, shown, told, deferred, digest_of(decision))
        for column, value in zip(self._columns.values(), values, strict=True):
            column[row] = value
        self._closed[row] = False

    def get(self, number: int) -> OpenDecision | None:
        """The row of an open decision."""
        numbers = self._columns["number"]
        row = int(numbers[: self._rows].searchsorted(number)) if 0 <= number < 1 << 63 else self._rows
        if row == self._rows or numbers[row] != number or self._closed[row]:
            return None
        of = self._columns
        shown, told, deferred = float(of["shown"][row]), int(of["told"][row]), bool(of["deferred"][row])
        return OpenDecision(row, number, shown, told, deferred, int(of["digest"][row]))

    def activate(self, number: int, time: float) -> None:
        """A deferred decision was shown: its time begins."""
        row = self._row(number)
        self._columns["shown"][row] = max(time, self._columns["made"][row])
        self._columns["deferred"][row] = False

    def tell(self, number: int, objectives: int) -> int:
        """Some objectives (a bit each) were told; gives all that were told by now."""
        row = self._row(number)
        self._columns["told"][row] |= objectives
        self._columns["deferred"][row] = False
        return int(self._columns["told"][row])

    def close(self, number: int) -> None:
        """Nothing more is expected."""
        self._closed[self._row(number)] = True
        self._open -= 1
        while self._first < self._rows and self._closed[self._first]:
            self._first += 1

    def clear(self) -> None:
        """Close all."""
        self.__init__()  # type: ignore[misc]

    # Time.

    def late(self, now: float, wait: float, most: int | None = None) -> list[int]:
        """Those whose time is over, at most some of them."""
        of = self._columns
        if self._first == self._rows or of["made"][self._first] + wait > now:  # as nearly always
            return []
        end = self._first + int(of["made"][self._first : self._rows].searchsorted(now - wait, "right"))
        while end < self._rows and of["made"][end] + wait <= now:  # as it is rounded for one
            end += 1
        part = slice(self._first, end)
        rows = np.flatnonzero(~self._closed[part] & (of["shown"][part] + wait <= now))[:most]
        found: list[int] = of["number"][part][rows].tolist()
        return found

    def earliest(self) -> float | None:
        """When the time of the first to expire began."""
        least, shown, made = np.inf, self._columns["shown"], self._columns["made"]
        if self._first < self._rows and shown[self._first] == made[self._first]:  # as nearly always
            return float(shown[self._first])
        for start in range(self._first, self._rows, BLOCK):
            end = min(start + BLOCK, self._rows)
            least = min(least, float(np.min(shown[start:end], where=~self._closed[start:end], initial=np.inf)))
            if least <= made[end - 1]:  # no later row began before it
                break
        return least if np.isfinite(least) else None

    def forgive(self, before: float, seconds: float) -> None:
        """Let some time not count for those whose time had begun."""
        shown, made = self._columns["shown"][: self._rows], self._columns["made"][: self._rows]
        for column in (shown, made):
            column[column <= before] += seconds
        np.maximum.accumulate(made, out=made)

    # State as data.

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The open rows, as arrays of a snapshot."""
        standing = self._standing()
        return {PREFIX + name: column[standing] for name, column in self._columns.items()}

    @classmethod
    def of(cls, arrays: Mapping[str, npt.NDArray[Any]], next_number: int, objectives: int) -> OpenDecisions:
        """From what `columns` gave, checked."""
        numbers = arrays.get(PREFIX + "number")
        n = len(numbers) if isinstance(numbers, np.ndarray) and numbers.ndim == 1 else 0
        given = {name: checked_array(arrays, PREFIX + name, (n,), kind) for name, kind in KINDS.items()}
        number, made, shown, told = (given[name] for name in ("number", "made", "shown", "told"))
        for name, kept in (
            ("number", n == 0 or (number[0] >= 0 and (np.diff(number) > 0).all() and number[-1] < next_number)),
            ("made", np.isfinite(made).all() and (np.diff(made) >= 0).all()),
            ("shown", np.isfinite(shown).all() and (shown >= made).all()),
            ("told", (told < (1 << objectives) - 1).all()),
        ):
            if not kept:
                raise Refused(f"snapshot: {PREFIX}{name} holds what no open decisions have")
        table = cls()
        table._columns = {name: column.copy() for name, column in given.items()}
        table._closed = np.zeros(n, np.bool_)
        table._rows = table._open = n
        return table

    # Rows.

    def _row(self, number: int) -> int:
        found = self.get(number)
        if found is None:
            raise Refused(f"decision {number}: is not open")
        return found.row

    def _standing(self) -> npt.NDArray[np.int64]:
        return self._first + np.flatnonzero(~self._closed[self._first : self._rows])

    def _make_room(self) -> None:
        """Move the open rows together, to arrays that are at least half empty."""
        standing = self._standing()
        capacity = max(FIRST_CAPACITY, 2 * len(standing))
        for name, column in self._columns.items():
            self._columns[name] = np.zeros(capacity, column.dtype)
            self._columns[name][: len(standing)] = column[standing]
        self._closed = np.zeros(capacity, np.bool_)
        self._first, self._rows = 0, len(standing)


def bits_of(told: Iterable[str], names: Sequence[str]) -> int:
    """A bit for each objective that was told.

    >>> bits_of({"a": 1.0, "c": 0.5}, ["a", "b", "c"])
    5
    """
    return sum(1 << names.index(name) for name in told)


def names_of(bits: int, names: Iterable[str]) -> set[str]:
    """The objectives that bits stand for.

    >>> names_of(5, ["a", "b", "c"]) == {"a", "c"}
    True
    """
    return {name for o, name in enumerate(names) if bits >> o & 1}
