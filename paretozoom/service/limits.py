"""What the service takes at most."""

from __future__ import annotations

import msgspec


class Limits(msgspec.Struct, frozen=True):
    """What the service takes at most.

    >>> Limits().batch
    1000
    """

    body: int = 4_000_000  # bytes
    batch: int = 1_000  # decisions or rewards in one request
    open: int = 1_000_000  # decisions of an experiment that wait for rewards
    experiments: int = 1_000
    group: int = 2_000  # requests in one transaction
