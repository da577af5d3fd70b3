"""Public ids of decisions: an epoch and a number, so that no id is ever given twice.

Numbers begin again where a store was restored to an earlier moment, or lost its last entries with the power. Epochs do
not: one is drawn whenever the right to write to a log is taken.
"""

from __future__ import annotations

import re
import secrets
from bisect import bisect_right

from paretozoom.records import Refused
from paretozoom.service.declined import Declined

LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"  # none that is taken for another
LENGTH = 10  # 50 bits
_name = re.compile(f"[{LETTERS}]{{{LENGTH}}}")


def new_epoch() -> str:
    """A name for the time from now on.

    >>> len(new_epoch()), new_epoch() == new_epoch()
    (10, False)
    """
    return "".join(secrets.choice(LETTERS) for _ in range(LENGTH))


def number_in(public: str) -> int:
    """The number that an id ends in.

    >>> number_in("k3f9x2a7bq-17")
    17
    """
    return int(public.partition("-")[2])


class Epochs:
    """The epochs of a log, and the first number that was given in each.

    >>> epochs = Epochs()
    >>> epochs.begin("aaaaaaaaaa", 0)
    >>> epochs.begin("bbbbbbbbbb", 7)
    >>> epochs.id_of(6), epochs.id_of(7)
    ('aaaaaaaaaa-6', 'bbbbbbbbbb-7')
    >>> epochs.number_of("bbbbbbbbbb-7", until=8)
    7
    >>> epochs.number_of("aaaaaaaaaa-7", until=8)
    Traceback (most recent call last):
    paretozoom.service.declined.Declined: decision 'aaaaaaaaaa-7': there is no such decision: this log gave no such id
    """

    def __init__(self) -> None:
        self._names: list[str] = []
        self._firsts: list[int] = []
        self._places: dict[str, int] = {}

    @property
    def current(self) -> str | None:
        """The newest epoch."""
        return self._names[-1] if self._names else None

    def begin(self, epoch: str, first: int) -> None:
        """From a number on there is a new epoch."""
        if epoch in self._places or not _name.fullmatch(epoch):
            raise Refused(f"epoch: {epoch!r} is not a new one of {LENGTH} letters and digits")
        if first < max([0, *self._firsts[-1:]]):
            raise Refused(f"epoch: {epoch!r} begins with {first}, after {self._firsts[-1:]!r}")
        self._places[epoch] = len(self._names)
        self._names.append(epoch)
        self._firsts.append(first)

    def id_of(self, number: int) -> str:
        """The public id of a decision."""
        place = bisect_right(self._firsts, number) - 1
        if place < 0:
            raise Refused(f"decision {number}: was made before the first epoch")
        return f"{self._names[place]}-{number}"

    def number_of(self, public: str, until: int) -> int:
        """The number of a decision, if this log gave the id; numbers from `until` on were not given yet."""
        place, number = self._places.get(public.partition("-")[0], -1), number_in(public)
        after = self._firsts[place + 1] if place + 1 < len(self._firsts) else until
        if place < 0 or not self._firsts[place] <= number < after:
            raise Declined(404, f"decision {public!r}: there is no such decision: this log gave no such id")
        return number

    def dump(self) -> list[tuple[str, int]]:
        """As data."""
        return list(zip(self._names, self._firsts, strict=True))

    @classmethod
    def load(cls, begun: list[tuple[str, int]], until: int) -> Epochs:
        """What `dump` gave, of a log that gave the numbers until one."""
        epochs = cls()
        if begun and begun[0][1] != 0:
            raise Refused(f"epoch: {begun[0][0]!r} is the first and begins with {begun[0][1]}, expected 0")
        for epoch, first in begun:
            epochs.begin(epoch, first)
        if epochs._firsts[-1:] > [until]:
            raise Refused(f"epoch: {epochs.current!r} begins with {epochs._firsts[-1]}, beyond the last decision")
        return epochs
