"""The open decisions that a policy has whole; the others must be brought back from the log before they are told."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from itertools import islice

from paretozoom.policies.base import Policy
from paretozoom.records import Decision, Dropped
from paretozoom.service.experiments.open_decisions import OpenDecisions, bits_of, digest_of
from paretozoom.store.events import Carried, Decided, Entry, Rewarded

KEPT = 10_000  # open decisions that need not be read back from the log: those used last


class NotAtHand(Exception):
    """Decisions that must be read back from the log first."""

    def __init__(self, numbers: set[int]) -> None:
        super().__init__(sorted(numbers)[:10])
        self.numbers = numbers


class AtHand:
    """What the open decisions were told that a policy has; `waiting` are all that are open.

    >>> from paretozoom import PaperTask, Random
    >>> policy, waiting = Random(PaperTask().problem, seed=1), OpenDecisions()
    >>> at_hand = AtHand(policy, waiting)
    >>> decision = policy.ask([0.5])
    >>> waiting.add(decision, time=0.0, deferred=False)
    >>> at_hand.add(decision.number)
    >>> at_hand.put_away(0)
    False
    >>> at_hand.missing([0])
    {0}
    >>> at_hand.bring_back([0], [Entry(2, 0.0, Decided(decision))], until=2)
    set()
    >>> at_hand.reward_of(0)
    {}
    """

    def __init__(self, policy: Policy, waiting: OpenDecisions) -> None:
        self.waiting = waiting
        self.lost: set[int] = set()  # of which the log no longer says what was decided; not a part of the state
        self._policy = policy
        self._told: dict[int, dict[str, float]] = {}

    def add(self, number: int) -> None:
        """A decision was made, by the policy."""
        self._told[number] = {}

    def reward_of(self, number: int) -> dict[str, float]:
        """What an open decision was told so far; raises `NotAtHand` if that must be brought back first."""
        if number not in self._told:
            raise NotAtHand({number})
        return self._told[number]

    def tell(self, number: int, reward: dict[str, float]) -> None:
        """A decision was told more."""
        self._told[number] = {**self._told[number], **reward}

    def close(self, number: int) -> bool:
        """Nothing more is expected of a decision; whether it was at hand."""
        return self._told.pop(number, None) is not None

    def missing(self, numbers: Iterable[int]) -> set[int]:
        """Which of some decisions are open and must be brought back before they are told."""
        return {number for number in numbers if number not in self._told and number in self.waiting}

    def bring_back(self, numbers: Iterable[int], entries: Iterable[Entry], until: int) -> set[int]:
        """Have some open decisions at hand, from all that the log says of them until an entry; gives those of which it
        says something else.
        """
        lost = set()
        decisions: dict[int, Decision] = {}
        rewards: dict[int, dict[str, float]] = {}
        for entry in entries:
            event = entry.event
            if isinstance(event, (Decided, Carried)):
                decisions[event.decision.number] = event.decision
            if isinstance(event, (Rewarded, Carried)) and entry.seq <= until:
                number = event.number if isinstance(event, Rewarded) else event.decision.number
                rewards.setdefault(number, {}).update(event.reward)
        names = self._policy.problem.objective_names
        for number in numbers:
            found = self.waiting.get(number)
            if found is None or number in self._told:
                continue
            told, decision = rewards.get(number, {}), decisions.get(number)
            if decision is None or digest_of(decision) != found.digest or bits_of(told, names) != found.told:
                lost.add(number)
                continue
            self._policy.reopen(decision, told or None)
            self._told[number] = told
        return lost

    def put_away(self, most: int | None = None, at_once: int = sys.maxsize) -> bool:
        """Keep no more decisions at hand than some, `KEPT` unless it is said; whether others must still go."""
        surplus = len(self._told) - (KEPT if most is None else most)
        for number in list(islice(self._told, max(0, min(surplus, at_once)))):
            del self._told[number]
            self._policy.replay(Dropped(number))
        return surplus > at_once
