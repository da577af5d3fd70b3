"""Late, partial, reordered and lost feedback, and the state as a fold over the log."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from paretozoom import PCZ, Asked, Decision, Dropped, Finite, Objective, ParetoZoom, Problem, Real, Snapshot, Told
from paretozoom.policies.base import Policy
from paretozoom.records import Event
from tests.policies.border import CONTEXTS, MAKERS, PROBLEMS, UNIT, bytes_of, every_policy, refuses, used


def through_json(decision: Decision) -> Decision:
    """A decision after a journey."""
    return msgspec.json.decode(msgspec.json.encode(decision), type=Decision)


def told_counts(policy: Policy) -> list[int]:
    """How many rewards a zooming policy has learned from, per learned number."""
    return policy.dump().arrays["count"].sum(axis=0).tolist()


def test_pcz_learns_each_objective_when_it_comes() -> None:
    policy = MAKERS["pcz"](UNIT)
    decisions = [policy.ask([0.3]) for _ in range(4)]
    policy.tell(decisions[2], {"b": 0.5})
    assert told_counts(policy) == [0, 1]
    policy.tell(decisions[0], [0.25, None])
    assert told_counts(policy) == [1, 1]
    policy.tell(decisions[2], {"a": 0.5, "b": None})
    policy.tell(decisions[1], [0.5, 0.5])
    assert told_counts(policy) == [3, 2]
    assert policy.open == [decisions[0], decisions[3]]


@pytest.mark.parametrize(
    ("parameters", "needed", "learned"),
    [
        ({"weights": [0.25, 0.75]}, "ab", 0.25 * 0.5 + 0.75 * 1.0),
        ({"weights": [0.0, 1.0]}, "b", 1.0),
        ({"objective": "b"}, "b", 1.0),
        ({"weights": None}, "a", 0.5),
    ],
)
@pytest.mark.parametrize("order", ["ab", "ba"])
def test_contextual_zooming_learns_when_every_weighted_objective_has_come(
    parameters: dict[str, Any], needed: str, learned: float, order: str
) -> None:
    reward = {"a": 0.5, "b": 1.0}
    policy, whole = (MAKERS["contextual-zooming"](UNIT, **{"weights": None, **parameters}) for _ in range(2))
    decision = policy.ask([0.3])
    assert whole.ask([0.3]) == decision
    whole.tell(decision, reward)
    came = ""
    for name in order:
        before = policy.dump().arrays["total"].sum()
        assert policy.open == [decision]
        policy.tell(decision, {name: reward[name]})
        came += name
        complete, was_complete = set(needed) <= set(came), set(needed) <= set(came[:-1])
        assert told_counts(policy) == [int(complete)]
        gained = policy.dump().arrays["total"].sum() - before
        assert gained == (pytest.approx(learned) if complete and not was_complete else 0)
    assert policy.open == []
    assert bytes_of(policy) == bytes_of(whole)


@every_policy
@pytest.mark.parametrize("name", PROBLEMS)
def test_dropping_teaches_nothing(make: Callable[..., Policy], name: str) -> None:
    policy, twin = make(PROBLEMS[name]), make(PROBLEMS[name])
    for k in range(40):
        decision = policy.ask(CONTEXTS[name])
        assert twin.ask(CONTEXTS[name]) == decision
        learned = {k: v for k, v in policy.dump().arrays.items() if not k.startswith("open")}
        if k % 3 == 0:
            policy.drop(decision)
            assert decision not in policy.open
            for field, array in policy.dump().arrays.items():
                assert field.startswith("open") or np.array_equal(array, learned[field])
            twin.drop(decision)
        else:
            policy.tell(decision, [0.5, 0.5])
            twin.tell(decision, [0.5, 0.5])
    assert bytes_of(policy) == bytes_of(twin)
    assert policy.open == []


@pytest.mark.parametrize("make", [MAKERS["pcz"], MAKERS["contextual-zooming"]], ids=["pcz", "contextual-zooming"])
def test_dropping_the_rest_keeps_what_was_learned(make: Callable[..., Policy]) -> None:
    policy = make(UNIT)
    decision = policy.ask([0.3])
    policy.tell(decision, {"a": 0.5})
    counts = told_counts(policy)
    assert counts == ([1, 0] if policy.name == "pcz" else [0])
    policy.drop(decision)
    assert told_counts(policy) == counts
    assert policy.open == []


@every_policy
def test_asking_and_looking_teach_nothing(make: Callable[..., Policy]) -> None:
    policy = used(make)
    before = bytes_of(policy)
    for believed in (False, True):
        policy.front([0.7], believed=believed)
    assert bytes_of(policy) == before
    learned = {k: v for k, v in policy.dump().arrays.items() if not k.startswith("open")}
    for x in (0.0, 0.3, 1.0):
        policy.ask([x])
    for name, array in learned.items():
        assert np.array_equal(policy.dump().arrays[name], array)
    assert policy.number == 42


@every_policy
@pytest.mark.parametrize("name", PROBLEMS)
def test_open_decisions_survive_a_restart(make: Callable[..., Policy], name: str) -> None:
    policy = used(make, PROBLEMS[name])
    partly, untold = policy.open
    revived = make(PROBLEMS[name], seed=5)
    revived.load(Snapshot.from_bytes(bytes_of(policy)))
    assert revived.open == [partly, untold]
    with refuses(revived, "reward['a']"):
        revived.tell(through_json(partly), {"a": 0.5})
    for told, seen in ((policy, lambda d: d), (revived, through_json)):
        told.tell(seen(untold), {"b": 0.75})
        told.tell(seen(partly), {"b": 0.5})
        told.tell(seen(untold), {"a": 0.25})
        assert told.open == []
    assert bytes_of(revived) == bytes_of(policy)


def test_open_decisions_of_an_earlier_epoch_survive_a_restart() -> None:
    policy = MAKERS["pcz-doubling"](UNIT)
    for _ in range(61):
        policy.tell(policy.ask([0.3]), [0.5, 0.5])
    late, next_epoch = policy.ask([0.3]), policy.ask([0.3])
    assert late.credit > 0
    assert len(policy.dump().arrays["radius"]) == 1  # the ball that is credited was forgotten
    revived = MAKERS["pcz-doubling"](UNIT, seed=5)
    revived.load(Snapshot.from_bytes(bytes_of(policy)))
    learned = told_counts(revived)
    revived.tell(late, [0.5, 0.5])
    assert told_counts(revived) == learned == [0, 0]
    assert revived.open == [next_epoch]


def play(policy: Policy, contexts: list[Any], steps: list[tuple[str, int, float]]) -> Iterator[Event]:
    """Act on a policy by a script, giving the log it leaves; decisions pass through JSON on the way."""
    missing: dict[int, set[str]] = {}
    for verb, pick, u in steps:
        if verb == "ask" or not missing:
            decision = policy.ask(contexts[pick % len(contexts)])
            missing[decision.number] = {"a", "b"}
            yield Asked(decision)
            continue
        number = sorted(missing)[pick % len(missing)]
        decision = through_json(next(d for d in policy.open if d.number == number))
        if verb == "drop":
            policy.drop(decision)
            del missing[number]
            yield Dropped(number)
            continue
        reward = {name: u if name == "a" else 1 - u for name in sorted(missing[number]) if verb in ("tell", name)}
        if reward:
            policy.tell(decision, reward)
            missing[number] -= set(reward)
            if not missing[number]:
                del missing[number]
            yield Told(number, reward)


VERBS = st.sampled_from(["ask", "ask", "tell", "tell", "a", "b", "drop"])
SCRIPTS = st.lists(st.tuples(VERBS, st.integers(0, 50), st.floats(0, 1)), min_size=25, max_size=60)


@every_policy
@pytest.mark.parametrize("name", PROBLEMS)
@given(steps=SCRIPTS, cut=st.integers(0, 60))
@settings(max_examples=15)
def test_the_state_is_a_fold_over_the_log(
    make: Callable[..., Policy], name: str, steps: list[tuple[str, int, float]], cut: int
) -> None:
    contexts = [[0.3], [0.31], [0.9]] if name == "unit" else [[30, "desk"], [1000, "phone"]]
    policy, replica, revived = (make(PROBLEMS[name], seed=3) for _ in range(3))
    for k, event in enumerate(play(policy, contexts, steps)):
        if k == cut:
            late = make(PROBLEMS[name], seed=8)
            late.load(Snapshot.from_bytes(bytes_of(revived)))
            revived = late
        passed = msgspec.json.decode(msgspec.json.encode(event), type=Event)
        replica.replay(passed)
        revived.replay(passed)
        assert replica.number == policy.number
    assert bytes_of(replica) == bytes_of(policy)
    assert bytes_of(revived) == bytes_of(policy)
    assert replica.ask(contexts[0]) == policy.ask(contexts[0])


@given(order=st.permutations(range(12)))
def test_late_rewards_credit_the_decision_they_belong_to(order: list[int]) -> None:
    """With one ball the order of rewards cannot matter; each lands on its own decision."""
    policy = PCZ(UNIT, horizon=100, noise=5.0)
    decisions = [policy.ask([0.3]) for _ in range(12)]
    for k in order:
        policy.tell(decisions[k], [k / 16, 1 - k / 16])
    arrays = policy.dump().arrays
    assert arrays["count"].tolist() == [[12, 12]]
    assert arrays["total"].tolist() == [[66 / 16, 12 - 66 / 16]]
    assert policy.open == []


@every_policy
def test_rewards_in_the_users_units_teach_alike(make: Callable[..., Policy]) -> None:
    """A problem in other units is the same problem: equal decisions, equal arms once encoded."""
    other = Problem(
        context=[Real("x", -4, 4)],
        arm=[Real("y", 0, 16)],
        objectives=[Objective("a", low=-2, high=2), Objective("b", goal="min", low=0, high=8)],
    )
    policy, twin = make(UNIT, seed=4), make(other, seed=4)
    for k in range(30):
        mine, theirs = policy.ask([k % 4 / 4]), twin.ask([k % 4 * 2 - 4])
        assert theirs.arm["y"] / 16 == pytest.approx(mine.arm["y"], abs=1e-12)
        assert (theirs.credit, theirs.density) == (mine.credit, pytest.approx(mine.density, rel=1e-9))
        a, b = k % 3 / 2, k % 5 / 4
        policy.tell(mine, [a, b])
        twin.tell(theirs, [4 * a - 2, 8 - 8 * b])


def test_arms_of_labels_are_told_by_label() -> None:
    problem = Problem(context=[], arm=Finite(["s", 2, 2.5, True]), objectives=[Objective("a"), Objective("b")])
    for make in MAKERS.values():
        policy = make(problem)
        for _ in range(20):
            decision = policy.ask()
            assert decision.arm in ("s", 2, 2.5, True)
            policy.tell(through_json(decision), [0.5, 0.5])
        assert policy.open == []


@pytest.mark.parametrize("policy_class", [PCZ, ParetoZoom])
def test_a_decision_that_was_changed_by_its_owner_changes_nothing(policy_class: type[PCZ] | type[ParetoZoom]) -> None:
    """Rounding a price in place is the user's business: what was drawn is kept, dumped and learned from."""
    problem = Problem(context=[Real("x")], arm=[Real("price", 1, 50)], objectives=[Objective("sold")])
    policy, untouched = policy_class(problem, seed=3), policy_class(problem, seed=3)
    decision, same = policy.ask([0.5]), untouched.ask([0.5])
    for value in (20.0, 99.0, "junk"):
        decision.arm["price"] = value
        decision.context["y"] = value
        assert policy.dump().to_bytes() == untouched.dump().to_bytes()
    loaded = policy_class(problem)
    loaded.load(policy.dump())
    policy.tell(decision, [0.5])
    untouched.tell(same, [0.5])
    loaded.tell(same, [0.5])
    assert policy.dump().to_bytes() == untouched.dump().to_bytes() == loaded.dump().to_bytes()
