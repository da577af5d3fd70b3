"""The rounds of an experiment, as its log has them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from paretozoom.records import Decision, Round
from paretozoom.store.events import Cancelled, Carried, Decided, Entry, Expired, Rewarded


def rounds_in(entries: Iterable[Entry], objectives: int) -> Iterator[Round]:
    """The rounds of a log: each when it was told in every objective, those told in part at the end.

    What never was told is left out, and what was erased.

    >>> decided = Decided(Decision(0, {}, "a", 0.5, 0))
    >>> log = [Entry(2, 0.0, decided), Entry(3, 0.0, Rewarded(0, {"r": 1.0})), Entry(4, 0.0, Rewarded(0, {"s": 2.0}))]
    >>> [round.reward for round in rounds_in(log, 2)]
    [{'r': 1.0, 's': 2.0}]
    """
    waiting: dict[int, tuple[Decision, dict[str, float]]] = {}
    for entry in entries:
        event = entry.event
        if isinstance(event, (Decided, Carried)):
            told = dict(event.reward) if isinstance(event, Carried) else {}
            waiting[event.decision.number] = event.decision, told
        elif isinstance(event, (Rewarded, Expired)) and event.reward and event.number in waiting:
            decision, told = waiting[event.number]
            told |= event.reward
            if len(told) == objectives:
                del waiting[event.number]
                yield Round(decision, told)
        elif isinstance(event, Cancelled):
            closed = waiting.pop(event.number, None)
            if closed is not None and closed[1]:
                yield Round(*closed)
    yield from (Round(decision, told) for decision, told in waiting.values() if told)
