"""Rounds from the entries of a log."""

from __future__ import annotations

from paretozoom import Decision
from paretozoom.store.events import Cancelled, Carried, Decided, Entry, Erased, Event, Expired, Paused, Rewarded
from paretozoom.store.rounds import rounds_in


def read(*events: Event) -> list[tuple[int, dict[str, float]]]:
    entries = [Entry(2 + k, float(k), event) for k, event in enumerate(events)]
    return [(round.decision.number, round.reward) for round in rounds_in(entries, 2)]


def decided(number: int) -> Decided:
    return Decided(Decision(number, {}, "a", 0.5, 0))


def test_rewards_meet_their_decisions_in_any_order() -> None:
    assert read(
        decided(0), decided(1), Rewarded(1, {"r": 1.0, "s": 2.0}), Paused("ops"), Rewarded(0, {"s": 3.0}), decided(2)
    ) == [(1, {"r": 1.0, "s": 2.0}), (0, {"s": 3.0})]


def test_what_expired_was_told_its_default_and_what_was_cancelled_what_it_was_told() -> None:
    assert read(decided(0), decided(1), Rewarded(0, {"r": 1.0}), Expired(0, {"s": 0.0}), Expired(1, None)) == [
        (0, {"r": 1.0, "s": 0.0})
    ]
    assert read(decided(0), decided(1), Rewarded(0, {"r": 1.0}), Cancelled(0), Cancelled(1)) == [(0, {"r": 1.0})]


def test_what_was_carried_or_erased() -> None:
    carried = Carried(Decision(7, {}, "a", 0.5, 0), {"r": 1.0}, False, 0.0, 0.0)
    assert read(carried, Rewarded(7, {"s": 2.0})) == [(7, {"r": 1.0, "s": 2.0})]
    assert read(Erased("00", 3), Rewarded(3, {"r": 1.0})) == []
