"""Open decisions as columns: what they answer, by the plainest model; and that nothing is lost by reading back."""

from __future__ import annotations

import gc
import tracemalloc
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import Decision, Finite, LinUCB, Objective, Problem, Real, Refused
from paretozoom.policies import Policy
from paretozoom.registry import find_members
from paretozoom.service.experiments import at_hand, folding
from paretozoom.service.experiments.at_hand import NotAtHand
from paretozoom.service.experiments.experiment import Experiment
from paretozoom.service.experiments.folding import fold_all
from paretozoom.service.experiments.open_decisions import KINDS, OpenDecisions, digest_of, names_of
from paretozoom.store.events import (
    Activated,
    Cancelled,
    Created,
    Decided,
    Entry,
    Event,
    Expired,
    Rewarded,
    WaitChanged,
    number_of_decision,
)

PROBLEM = Problem([Real("x")], Finite(["a", "b", "c"]), [Objective("left"), Objective("right")])
ACTS = st.one_of(
    st.tuples(st.just("add"), st.booleans()),
    st.tuples(st.sampled_from(["close", "activate", "tell", "get"]), st.integers(0, 90)),
    st.tuples(st.just("pass"), st.floats(0, 5)),
)


def some(number: int) -> Decision:
    return Decision(number, {"x": 0.5}, "a", 0.25, number)


class Model:
    """Rows in a dictionary, looked through one by one."""

    def __init__(self) -> None:
        self.rows: dict[int, dict[str, Any]] = {}

    def late(self, now: float, wait: float) -> list[int]:
        return [number for number, row in self.rows.items() if row["shown"] + wait <= now]


@settings(max_examples=200, deadline=None)
@given(acts=st.lists(ACTS, max_size=400), wait=st.floats(0.1, 20))
def test_columns_say_what_a_dictionary_says(acts: list[tuple[str, Any]], wait: float) -> None:
    table, model, now, made = OpenDecisions(), Model(), 0.0, 0
    for act, value in acts:
        row = model.rows.get(value) if act != "pass" else None
        if act == "add":
            table.add(some(made), now, value)
            model.rows[made] = {"shown": now, "told": 0, "deferred": value}
            made += 1
        elif act == "pass":
            now += value
        elif row is None:
            assert table.get(value) is None
        elif act == "close":
            table.close(value)
            del model.rows[value]
        elif act == "activate":
            table.activate(value, now)
            row.update(shown=now, deferred=False)
        elif act == "tell":
            row.update(told=row["told"] | 1, deferred=False)
            assert table.tell(value, 1) == row["told"]
        assert len(table) == len(model.rows)
        assert table.late(now, wait) == model.late(now, wait)
        assert table.late(now, wait, 1) == model.late(now, wait)[:1]
        assert table.earliest() == min((row["shown"] for row in model.rows.values()), default=None)
    assert list(table) == table.numbers() == list(model.rows)
    for number, row in model.rows.items():
        found: Any = table.get(number)
        assert {"shown": found.shown, "told": found.told, "deferred": found.deferred} == row
        assert found.digest == digest_of(some(number))
    again = OpenDecisions.of(table.columns(), made, 2)
    assert {k: v.tobytes() for k, v in again.columns().items()} == {k: v.tobytes() for k, v in table.columns().items()}
    assert again.late(now, wait) == table.late(now, wait)


def test_a_row_takes_a_few_bytes() -> None:
    table = OpenDecisions()
    for number in range(10_000):
        table.add(some(number), float(number), False)
    assert table.nbytes < 80 * 10_000
    for number in range(9_000):
        table.close(number)
    for number in range(10_000, 20_000):
        table.add(some(number), float(number), False)
    assert table.nbytes < 80 * 11_000


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("number", lambda c: c[::-1]),
        ("number", lambda c: c + 1000),
        ("number", lambda c: c - 5),
        ("number", lambda c: c.astype(np.int32)),
        ("made", lambda c: c[::-1]),
        ("made", lambda c: c * np.nan),
        ("shown", lambda c: c + np.inf),
        ("told", lambda c: c + np.uint32(3)),
        ("digest", lambda c: c[:-1]),
        ("deferred", lambda c: None),
    ],
)
def test_columns_that_cannot_be_are_refused(name: str, change: Any) -> None:
    table = OpenDecisions()
    for number in range(4):
        table.add(some(number), float(number), False)
    columns = {key: column.copy() for key, column in table.columns().items()}
    OpenDecisions.of(columns, 4, 2)
    columns[f"waiting_{name}"] = change(columns[f"waiting_{name}"])
    with pytest.raises(Refused, match="snapshot: waiting_"):
        OpenDecisions.of(columns, 4, 2)
    assert set(KINDS) == {key.removeprefix("waiting_") for key in table.columns()}


# The fold.


class Log:
    """A log in a list, and the lookups that were made in it."""

    def __init__(self, policy: str) -> None:
        created = Created(PROBLEM, policy, {}, 7, find_members("paretozoom.policies", Policy)[policy].version, "me")
        self.entries = [Entry(1, 0.0, created)]
        self.lookups = 0

    def add(self, experiment: Experiment, event: Event) -> None:
        self.entries.append(Entry(len(self.entries) + 1, float(len(self.entries)), event))
        if isinstance(event, (Rewarded, Expired)) and experiment.at_hand.missing({event.number}):
            experiment.bring_back({event.number}, self.about({event.number}))
        experiment.fold(self.entries[-1])
        experiment.at_hand.put_away()

    def about(self, numbers: set[int]) -> list[Entry]:
        self.lookups += 1
        return [entry for entry in self.entries if number_of_decision(entry.event) in numbers]


def play(log: Log) -> Experiment:
    """An experiment whose rewards come late, in parts, in another order, or by default."""
    experiment = Experiment("shop", log.entries[0])
    rng = np.random.default_rng(5)
    for k in range(60):
        log.add(experiment, Decided(experiment.policy.propose([k % 7 / 7]), deferred=k % 9 == 0))
        number = int(rng.integers(k + 1))
        row = experiment.open_decisions.get(number)
        if row is None:
            continue
        untold = {"left": k / 60, "right": 0.5}
        for name in names_of(row.told, PROBLEM.objective_names):
            del untold[name]
        first = dict(list(untold.items())[:1])
        acts = [Rewarded(number, untold), Rewarded(number, first), Expired(number, first), Cancelled(number)]
        acts += [Rewarded(number, first)] * 4 + [Expired(number, None), Activated(number)]
        log.add(experiment, acts[int(rng.integers(len(acts)))])
    log.add(experiment, WaitChanged(9.0, {"left": 0.0}, "me"))
    return experiment


@pytest.mark.parametrize("policy", ["random", "pcz", "pareto-ucb1", "linucb", "pareto-zoom", "epoch-greedy", "club"])
def test_what_is_kept_at_hand_changes_no_byte(policy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log(policy)
    whole = play(log).dump().to_bytes()
    assert log.lookups == 0
    for kept in (0, 3):
        monkeypatch.setattr(at_hand, "KEPT", kept)
        log = Log(policy)
        experiment = play(log)
        assert len(experiment.policy.open) <= kept
        assert log.lookups > 0
        assert experiment.dump().to_bytes() == whole
        for cut in (1, 20, 50, len(log.entries)):
            monkeypatch.setattr(folding, "TOGETHER", 7)
            start = fold_all(Experiment("shop", log.entries[0]), log.entries[1:cut], log.about)
            loaded = Experiment.load("shop", start.dump().to_bytes())
            assert loaded.policy.open == []
            assert fold_all(loaded, log.entries[cut:], log.about).dump().to_bytes() == whole


def test_an_experiment_keeps_little_of_what_is_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside those at hand, of which there are so many however many are open."""
    monkeypatch.setattr(at_hand, "KEPT", 100)
    log = Log("random")
    experiment = Experiment("shop", log.entries[0])

    def decide(count: int) -> int:
        for _ in range(count):
            decision = experiment.policy.propose([0.5])
            experiment.fold(Entry(experiment.seq + 1, 1.0, Decided(decision)))
            experiment.at_hand.put_away()
        gc.collect()
        return tracemalloc.get_traced_memory()[0]

    tracemalloc.start()
    try:
        assert decide(5_000) + 5_000 * 200 > decide(5_000)
    finally:
        tracemalloc.stop()
    assert len(experiment.open_decisions) == 10_000


def test_a_decision_is_not_told_before_it_is_at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    log = Log("linucb")
    experiment = Experiment("shop", log.entries[0])
    log.add(experiment, Decided(experiment.policy.propose([0.5])))
    experiment.at_hand.put_away(0)
    before = experiment.dump().to_bytes()
    with pytest.raises(NotAtHand):
        experiment.fold(Entry(3, 3.0, Rewarded(0, {"left": 1.0})))
    assert experiment.dump().to_bytes() == before
    decided: Any = log.entries[1].event
    other = Entry(2, 2.0, Decided(msgspec.structs.replace(decided.decision, arm="c", credit=2)))
    assert experiment.bring_back({0}, [other]) == {0}
    assert experiment.bring_back({0}, []) == {0}
    assert experiment.bring_back({0}, log.about({0})) == set()
    experiment.fold(Entry(3, 3.0, Rewarded(0, {"left": 1.0})))


def test_reopening_restores_what_was_told() -> None:
    policy = LinUCB(PROBLEM, seed=1)
    first, second = policy.ask([0.5]), policy.ask([0.25])
    policy.tell(first, {"left": 0.5})
    policy.tell(second, {"left": 0.25})
    before = policy.dump().to_bytes()
    for decision, reward in ((second, 0.25), (first, 0.5)):
        policy.drop(decision)
        policy.reopen(decision, {"left": reward})
    assert policy.dump().to_bytes() == before
    for again in (lambda: policy.reopen(first), lambda: policy.reopen(msgspec.structs.replace(first, number=2))):
        with pytest.raises(Refused, match=r"decision \d: is open, or was never made"):
            again()
    policy.drop(first)
    with pytest.raises(Refused, match="credits 99"):
        policy.reopen(msgspec.structs.replace(first, credit=99))
    with pytest.raises(Refused, match="leaves nothing open"):
        policy.reopen(first, {"left": 0.5, "right": 0.5})
