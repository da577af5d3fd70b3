"""What a check says when a promise is broken."""

from __future__ import annotations


class CheckFailed(AssertionError):
    """A contract is broken."""


def expect(kept: bool, promise: str) -> None:
    """Fail with the promise unless it was kept.

    >>> expect(True, "one is one")
    """
    if not kept:
        raise CheckFailed(promise)
