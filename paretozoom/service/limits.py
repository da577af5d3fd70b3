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
    group: int = 2_000  # requests of an experiment in one transaction
    waiting: int = 10_000  # decisions and rewards of an experiment that were not begun yet
    connections: int = 4_000
    head: int = 32_000  # bytes of a request before its body
    seconds_of_silence: float = 10.0  # of a client in the middle of a request
    seconds_to_answer: float = 5.0  # from a request to its commit
    seconds_to_end: float = 30.0  # from a signal to the end of the process
