"""The straight line and its compiled twin: the same rounds, the same state."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from paretozoom import (
    PCZ,
    ContextualZooming,
    Decision,
    Finite,
    FiniteBandit,
    Objective,
    PaperTask,
    Problem,
    Random,
    Real,
    Refused,
    Rounds,
    SmoothRidges,
    Tents,
    simulate,
)
from paretozoom.policies.base import Policy
from paretozoom.simulation import can_compile, simulate_in_chunks
from tests.lines import POLICIES, ROUNDS, Shop, bytes_of, every_policy, in_chunks

TASKS: dict[str, Callable[[], Any]] = {
    "paper": PaperTask,
    "tents": lambda: Tents(3),
    "finite": lambda: Tents(arms=7),
    "gaussian": lambda: Tents(spread=0.05),
}
DELAYS: dict[str, Any] = {
    "at once": 0,
    "seven": 7,
    "random": lambda rng: int(rng.integers(0, 30)),
    "sometimes lost": lambda rng: None if rng.random() < 0.3 else rng.integers(0, 9),
    "lost": None,
}


class NamedShop(Shop):
    """The same, by name."""

    def observe(self) -> Any:
        return dict(zip(("device", "load"), super().observe(), strict=True))

    def respond(self, decision: Decision) -> Any:
        return dict(zip(("profit", "wait"), super().respond(decision), strict=True))


@every_policy
@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
@pytest.mark.parametrize("delay", DELAYS.values(), ids=DELAYS)
def test_the_compiled_twin_plays_the_same_rounds(make: Any, task: Any, delay: Any) -> None:
    environment, policy = task(), make(task().problem)
    line = list(simulate(policy, environment, ROUNDS, seed=5, delay=delay))
    state = bytes_of(policy)
    assert [r.decision.number for r in line] == list(range(ROUNDS))
    for chunk in (1, 37, ROUNDS, 8192):
        twin, its_environment = make(environment.problem), task()
        assert can_compile(twin, its_environment)
        chunks = list(simulate_in_chunks(twin, its_environment, ROUNDS, seed=5, delay=delay, chunk=chunk))
        assert [len(some) for some in chunks] == [min(chunk, ROUNDS - k) for k in range(0, ROUNDS, chunk)]
        assert [played for some in chunks for played in some] == line
        assert bytes_of(twin) == state
        assert its_environment.observed == environment.observed


@pytest.mark.parametrize("name", ["pcz", "pcz-doubling", "contextual-zooming", "weighted"])
def test_the_comparison_covers_policies_that_have_learned(name: str) -> None:
    task = Tents(arms=7)
    policy = POLICIES[name](task.problem)
    in_chunks(policy, task, ROUNDS, seed=5)
    assert len(policy.dump().arrays["radius"]) > 5


@every_policy
def test_the_compiled_twin_grows_past_its_first_capacity(make: Any) -> None:
    task = PaperTask()
    policy, twin = make(task.problem), make(task.problem)
    assert list(simulate(policy, task, 700, seed=2, delay=3)) == in_chunks(twin, task, 700, seed=2, delay=3, chunk=100)
    assert bytes_of(policy) == bytes_of(twin)


@every_policy
def test_a_policy_that_was_asked_before_goes_on(make: Any) -> None:
    task = PaperTask()
    policies = [make(task.problem) for _ in range(2)]
    for policy in policies:
        for k in range(20):
            decision = policy.ask([0.25])
            if k % 3:
                policy.tell(decision, [0.5, 1.0] if k % 2 else {"second": 0.5})
    line = list(simulate(policies[0], task, 60, seed=4, delay=5))
    assert in_chunks(policies[1], task, 60, seed=4, delay=5, chunk=25) == line
    assert bytes_of(policies[0]) == bytes_of(policies[1])
    assert line[0].decision.number == 20
    for policy in policies:
        policy.tell(policy.open[0], [0.5, 0.5])
        policy.tell(policy.open[-1], [0.5, 0.5])
    assert bytes_of(policies[0]) == bytes_of(policies[1])


@every_policy
def test_open_decisions_of_a_simulation_can_be_told_by_hand(make: Any) -> None:
    task = Tents(arms=7)
    policy, twin = make(task.problem), make(task.problem)
    line = list(simulate(policy, task, 50, seed=4, delay=None))
    in_chunks(twin, task, 50, seed=4, delay=None)
    assert policy.open == twin.open == [r.decision for r in line]
    for played in reversed(line):
        policy.tell(played.decision, played.reward)
        twin.tell(played.decision, played.reward)
    assert bytes_of(policy) == bytes_of(twin)
    assert policy.open == []


def test_what_is_told_between_chunks_stays_told() -> None:
    task = PaperTask()
    policy = PCZ(task.problem, horizon=100)
    decision = policy.ask([0.5])
    chunks = simulate_in_chunks(policy, task, 20, seed=1, chunk=10)
    next(chunks)
    policy.tell(decision, [0.5, 0.5])
    next(chunks)
    assert policy.open == []


def test_the_twin_is_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    task = PaperTask()

    def never(*_: Any) -> None:
        raise AssertionError("called from Python")

    for name in ("ask", "tell"):
        monkeypatch.setattr(Policy, name, never)
    monkeypatch.setattr(PaperTask, "respond", never)
    assert len(in_chunks(Random(task.problem), task, 40, seed=1)) == 40


def test_what_can_be_compiled() -> None:
    task = PaperTask()
    assert can_compile(Random(task.problem), task)
    assert can_compile(PCZ(task.problem), SmoothRidges())
    assert not can_compile(Random(Tents(3).problem), task)
    assert not can_compile(Random(Shop.problem), Shop())


@every_policy
@pytest.mark.parametrize("kind", [Shop, NamedShop])
@pytest.mark.parametrize("delay", [0, DELAYS["sometimes lost"]], ids=["at once", "sometimes lost"])
def test_a_users_own_environment_works(make: Any, kind: Any, delay: Any) -> None:
    policy, twin = make(Shop.problem), make(Shop.problem)
    line = list(simulate(policy, kind(), ROUNDS, seed=8, delay=delay))
    chunks = list(simulate_in_chunks(twin, kind(), ROUNDS, seed=8, delay=delay, chunk=50))
    assert [len(some) for some in chunks] == [50, 50, 20]
    assert all(isinstance(some, Rounds) for some in chunks)
    assert bytes_of(policy) == bytes_of(twin)
    assert len({r.decision.context["device"] for r in line}) == 3
    for mine, theirs in zip(line, (r for some in chunks for r in some), strict=True):
        one, other = mine.decision, theirs.decision
        assert (one.number, one.density, one.credit) == (other.number, other.density, other.credit)
        assert one.context["device"] == other.context["device"]
        assert other.context["load"] == pytest.approx(one.context["load"], rel=1e-12)
        assert 5 <= one.arm["price"] <= 50
        assert other.arm["price"] == pytest.approx(one.arm["price"], rel=1e-12)
        assert list(mine.reward) == ["profit", "wait"]
        assert theirs.reward == pytest.approx(mine.reward, rel=1e-12, abs=1e-12)


def test_minimising_is_learned() -> None:
    """A policy that watches the wait alone comes to ask low prices."""
    policy = ContextualZooming(Shop.problem, horizon=1500, objective="wait", radius="pcz", noise=0.05)
    prices = [r.decision.arm["price"] for r in simulate(policy, Shop(), 1500, seed=3)]
    assert np.mean(prices[-300:]) < 0.7 * np.mean(prices[:100])


def test_partial_rewards_of_a_users_environment() -> None:
    class Silent(NamedShop):
        def respond(self, decision: Decision) -> Any:
            reward = super().respond(decision)
            return {"wait": reward["wait"]} if decision.number % 2 else reward

    policy = PCZ(Shop.problem, horizon=100, noise=5.0)
    line = list(simulate(policy, Silent(), 20, seed=1))
    assert [list(r.reward) for r in line] == [["profit", "wait"], ["wait"]] * 10
    assert policy.dump().arrays["count"].tolist() == [[10, 20]]
    assert [d.number for d in policy.open] == list(range(1, 20, 2))


def test_a_policy_of_another_problem_is_refused_first() -> None:
    bandit = FiniteBandit()
    for play in (simulate, simulate_in_chunks):
        policy = Random(PaperTask().problem)
        with pytest.raises(Refused, match=r"policy: its problem is not the environment's; contexts are \['x'\]"):
            list(play(policy, bandit, 3, seed=1))
        assert policy.number == 0
    finite = Random(Tents(arms=3).problem)
    with pytest.raises(Refused, match=r"arms are \['y0', .*expected \['y'\], as in Random\(environment.problem\)"):
        next(simulate(finite, Tents(), 3, seed=1))


class Coin:
    """No more than `simulate` asks of a policy; by hand, so that it knows no problem and no seed."""

    def __init__(self) -> None:
        self.number = -1
        self.told: list[tuple[int, Any]] = []

    def ask(self, context: Any) -> Decision:
        self.number += 1
        return Decision(self.number, context, ["heads", "tails"][self.number % 2], 0.5, 0)

    def tell(self, decision: Decision, reward: Any) -> None:
        self.told.append((decision.number, reward))


class Table:
    """No more than `simulate` asks of an environment."""

    def reset(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def observe(self) -> Any:
        return {"weight": float(self.rng.random())}

    def respond(self, decision: Decision) -> Any:
        return {"won": float(decision.arm == "heads"), "weight": decision.context["weight"]}


def test_five_methods_are_enough() -> None:
    coin = Coin()
    line = list(simulate(coin, Table(), 6, seed=1, delay=2))
    assert [played.decision.arm for played in line] == ["heads", "tails"] * 3
    assert coin.told == [(number, line[number].reward) for number in range(4)]
    assert line == list(simulate(Coin(), Table(), 6, seed=1))
    assert line != list(simulate(Coin(), Table(), 6, seed=2))


def test_seeds_reach_whoever_has_reseed() -> None:
    class Seeded(Coin):
        def reseed(self, seed: int) -> None:
            self.seed = seed

    coins = [Seeded() for _ in range(3)]
    for coin, seed in zip(coins, (1, 1, 2), strict=True):
        list(simulate(coin, Table(), 1, seed=seed))
    policy = Random(PaperTask().problem)
    list(simulate(policy, PaperTask(), 1, seed=1))
    assert coins[0].seed == coins[1].seed == policy.seed != coins[2].seed


def test_rewards_without_names_take_those_of_the_problem() -> None:
    class Silent(Table):
        def respond(self, decision: Decision) -> Any:
            return (1, None)

    problem = Problem(
        context=[Real("weight")], arm=Finite(["heads", "tails"]), objectives=[Objective("won"), Objective("weight")]
    )
    for with_problem in (Coin(), Silent()):
        with_problem.problem = problem  # type: ignore[union-attr]
        policy = with_problem if isinstance(with_problem, Coin) else Coin()
        table = with_problem if isinstance(with_problem, Silent) else Silent()
        assert [played.reward for played in simulate(policy, table, 2, seed=1)] == [{"won": 1.0}] * 2
        chunks = list(simulate_in_chunks(policy, table, 5, seed=1, chunk=2))
        assert [len(some) for some in chunks] == [2, 2, 1]
        assert chunks[0].columns.arm.tolist() == [0, 1]
    with pytest.raises(Refused, match=r"reward: \(1, None\) names no objectives, and no problem does"):
        list(simulate(Coin(), Silent(), 1, seed=1))
    with pytest.raises(Refused, match="policy: Coin has no problem, and Table neither"):
        next(simulate_in_chunks(Coin(), Table(), 1, seed=1))


@pytest.mark.parametrize("won", [True, np.True_, "1.0", math.nan], ids=repr)
def test_what_is_no_number_is_no_reward(won: Any) -> None:
    """Whoever plays: nothing becomes a number on its way into a round."""

    class Yes(Table):
        def respond(self, decision: Decision) -> Any:
            return {"won": won, "weight": 0.5}

    coin = Coin()
    with pytest.raises(Refused) as refusal:
        list(simulate(coin, Yes(), 1, seed=1))
    assert f"reward['won']: {won!r} is not a" in str(refusal.value)
    assert coin.told == []
