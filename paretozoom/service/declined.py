"""What the service says when a request cannot be met."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from paretozoom.records import Refused


class Declined(Exception):
    """A request that cannot be met: the HTTP status that says why, a sentence, and when to try again.

    >>> Declined(404, "decision 7: there is no such decision").status
    404
    """

    def __init__(self, status: int, detail: str, *, after: int | None = None) -> None:
        super().__init__(detail)
        self.after = after  # so many seconds
        self.status = status
        self.detail = detail


@contextmanager
def at(place: str) -> Iterator[None]:
    """Say where in a request something was refused or declined; nowhere in particular if the place is empty.

    >>> with at("rewards[2]"):
    ...     raise Refused("reward: {} tells nothing")
    Traceback (most recent call last):
    paretozoom.records.Refused: rewards[2]: reward: {} tells nothing
    """
    before = f"{place}: " if place else ""
    try:
        yield
    except Declined as error:
        raise Declined(error.status, before + error.detail, after=error.after) from error
    except Refused as error:
        raise Refused(f"{before}{error}") from error
