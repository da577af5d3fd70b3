"""The straight line and its compiled twin: the same rounds, the same state, and machine code that is kept."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from paretozoom import (
    PCZ,
    Categorical,
    ContextualZooming,
    Decision,
    Objective,
    PaperTask,
    Problem,
    Random,
    Real,
    Refused,
    Round,
    Rounds,
    SmoothRidges,
    Tents,
    simulate,
)
from paretozoom.policies.base import Policy
from paretozoom.simulation import can_compile, simulate_in_chunks

ROUNDS = 120
# Little noise, so that balls split after a few rewards.
POLICIES: dict[str, Callable[[Problem], Policy]] = {
    "random": Random,
    "pcz": lambda problem: PCZ(problem, horizon=200, noise=0.1),
    "pcz-doubling": lambda problem: PCZ(problem, noise=0.05),
    "contextual-zooming": lambda problem: ContextualZooming(problem, horizon=200, radius="pcz", noise=0.1),
    "weighted": lambda problem: ContextualZooming(
        problem, weights=[1 / len(problem.objectives)] * len(problem.objectives), confidence=0.05
    ),
}
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
every_policy = pytest.mark.parametrize("make", POLICIES.values(), ids=POLICIES)
every_line = pytest.mark.parametrize("line", [simulate, simulate_in_chunks])


def bytes_of(policy: Policy) -> bytes:
    """A policy's whole state."""
    return policy.dump().to_bytes()


def in_chunks(policy: Policy, environment: Any, rounds: int, **more: Any) -> list[Round]:
    """The rounds of the compiled twin, one by one."""
    return [played for some in simulate_in_chunks(policy, environment, rounds, **more) for played in some]


class Shop:
    """An environment of a user's own: no kernel, other units, an objective to minimise; answers in order."""

    problem = Problem(
        context=[Categorical("device", ["phone", "desk", "watch"]), Real("load", 1, 1000, scale="log")],
        arm=[Real("price", 5, 50)],
        objectives=[Objective("profit", low=-10, high=90), Objective("wait", goal="min", low=0, high=200)],
    )

    def reset(self, seed: int) -> None:
        self.seed = seed
        self.rng = np.random.default_rng(seed)

    def observe(self) -> list[Any]:
        return [["phone", "desk", "watch"][self.rng.integers(3)], float(10 ** self.rng.uniform(0, 3))]

    def respond(self, decision: Decision) -> list[float]:
        luck = np.random.default_rng([self.seed % 2**32, decision.number]).uniform(-5, 5)
        price, load = decision.arm["price"], decision.context["load"]
        return [price - 5 + luck, 3 * price + 10 * math.log10(load) + luck + 5]


class NamedShop(Shop):
    """The same, by name."""

    def observe(self) -> Any:
        return dict(zip(("device", "load"), super().observe(), strict=True))

    def respond(self, decision: Decision) -> Any:
        return dict(zip(("profit", "wait"), super().respond(decision), strict=True))


# The compiled twin


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


# The seed and the delays


@every_line
@every_policy
def test_the_seed_decides_everything(make: Any, line: Any) -> None:
    def play(seed: int, start: int) -> list[Any]:
        task = PaperTask()
        task.reset(start)
        policy = make(task.problem)
        policy.reseed(start)
        return [
            r.columns.point.tolist() if line is simulate_in_chunks else r for r in line(policy, task, 30, seed=seed)
        ]

    assert play(1, 0) == play(1, 99)
    assert play(1, 0) != play(2, 0)


@every_line
def test_delays_have_a_stream_of_their_own(line: Any) -> None:
    seen: list[list[float]] = []
    for name in ("random", "pcz"):
        draws: list[float] = []

        def delay(rng: np.random.Generator, draws: list[float] = draws) -> int:
            draws.append(rng.random())
            return 0

        task = PaperTask()
        for _ in line(POLICIES[name](task.problem), task, 25, seed=6, delay=delay):
            pass
        seen.append(draws)
    assert seen[0] == seen[1]
    assert len(set(seen[0])) == 25


@pytest.mark.parametrize(("delay", "open_after"), [(0, 0), (1, 1), (7, 7), (ROUNDS, ROUNDS), (10**6, ROUNDS)])
@every_line
def test_a_reward_comes_after_its_delay(line: Any, delay: int, open_after: int) -> None:
    task = PaperTask()
    policy = PCZ(task.problem, horizon=200)
    for _ in line(policy, task, ROUNDS, seed=1, delay=delay):
        pass
    assert len(policy.open) == open_after
    assert policy.dump().arrays["count"].sum(axis=0).tolist() == [ROUNDS - open_after] * 2


@every_line
def test_no_rounds(line: Any) -> None:
    task = PaperTask()
    assert list(line(Random(task.problem), task, 0, seed=1)) == []


def test_numpy_integers_are_rounds_and_delays() -> None:
    task = PaperTask()
    plain = list(simulate(Random(task.problem), task, 12, seed=3, delay=2))
    assert list(simulate(Random(task.problem), task, np.int64(12), seed=np.int64(3), delay=np.int8(2))) == plain
    assert in_chunks(Random(task.problem), task, np.int64(12), seed=np.int64(3), delay=np.int8(2)) == plain


BAD_CALLS: list[tuple[str, Any]] = [
    *(("rounds", v) for v in (-1, 2.5, True, "x", None, math.nan)),
    *(("seed", v) for v in (-1, 1.5, True, "x", None, [1, 2])),
    *(("delay", v) for v in (-1, 1.5, True, "x", math.nan, [1])),
]


@pytest.mark.parametrize(("field", "value"), BAD_CALLS, ids=repr)
@every_line
def test_bad_calls_are_refused_and_change_nothing(line: Any, field: str, value: Any) -> None:
    task = PaperTask()
    task.reset(5)
    policy = PCZ(task.problem, seed=7)
    policy.ask([0.5])
    before, key = bytes_of(policy), task.key.tolist()
    arguments = {"rounds": 10, "seed": 1, "delay": 0, field: value}
    with pytest.raises(Refused) as refusal:
        list(line(policy, task, arguments.pop("rounds"), **arguments))
    assert field in str(refusal.value)
    assert repr(value) in str(refusal.value)
    assert bytes_of(policy) == before
    assert task.key.tolist() == key


@pytest.mark.parametrize("chunk", [0, -1, 2.5, True, "x", None], ids=repr)
@pytest.mark.parametrize("environment", [PaperTask, Shop])
def test_bad_chunks_are_refused_and_change_nothing(environment: Any, chunk: Any) -> None:
    policy = Random(environment().problem, seed=7)
    before = bytes_of(policy)
    with pytest.raises(Refused, match="chunk"):
        list(simulate_in_chunks(policy, environment(), 10, seed=1, chunk=chunk))
    assert bytes_of(policy) == before


@pytest.mark.parametrize("wait", [-1, 1.5, True, "x", math.nan], ids=repr)
@every_line
def test_bad_draws_of_a_delay_are_refused(line: Any, wait: Any) -> None:
    task = PaperTask()
    with pytest.raises(Refused) as refusal:
        list(line(Random(task.problem), task, 10, seed=1, delay=lambda _: wait))
    assert "delay" in str(refusal.value)
    assert repr(wait) in str(refusal.value)


@every_line
def test_a_bad_answer_of_an_environment_is_refused(line: Any) -> None:
    class Broken(Shop):
        def respond(self, decision: Decision) -> Any:
            return [1.0, 500.0] if decision.number == 3 else super().respond(decision)

    policy = Random(Shop.problem)
    with pytest.raises(Refused, match=r"reward\['wait'\]: 500.0"):
        list(line(policy, Broken(), 10, seed=1))


def test_an_endless_delay_is_never() -> None:
    task = PaperTask()
    policy, twin = Random(task.problem), Random(task.problem)
    assert list(simulate(policy, task, 5, seed=1, delay=10**30)) == in_chunks(twin, task, 5, seed=1, delay=10**30)
    assert bytes_of(policy) == bytes_of(twin)


# Machine code


def run(script: str, **environment: str) -> Any:
    """What a script prints as JSON in a process of its own, typed in rather than kept in a file."""
    done = subprocess.run(
        [sys.executable, "-c", script],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_second_process_compiles_nothing() -> None:
    task = PaperTask()
    policy = PCZ(task.problem, horizon=100)
    here = in_chunks(policy, task, 20, seed=1)
    policy.ask([0.5])
    found = run("""
import json
from paretozoom import PCZ, PaperTask
from paretozoom.kernels.fuse import _loaded
from paretozoom.simulation import simulate_in_chunks
task = PaperTask()
policy = PCZ(task.problem, horizon=100)
arms = [played.decision.arm["y"] for some in simulate_in_chunks(policy, task, 20, seed=1) for played in some]
policy.ask([0.5])
compiled = [module.loop for module in _loaded.values()] + [policy.kernel.ask]
print(json.dumps({
    "arms": arms,
    "hits": [sum(function.stats.cache_hits.values()) for function in compiled],
    "misses": [sum(function.stats.cache_misses.values()) for function in compiled],
}))
""")
    assert found["arms"] == [played.decision.arm["y"] for played in here]
    assert found["hits"] == [1, 1]
    assert found["misses"] == [0, 0]


@pytest.fixture(params=["no folder", "a file"])
def unwritable(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Names of places where no cache can be kept."""
    if request.param == "no folder":
        yield "/proc/nonexistent"
    else:
        (tmp_path / "file").write_text("")
        yield str(tmp_path / "file")


def test_without_a_cache_folder_there_is_one_warning_and_no_harm(unwritable: str) -> None:
    found = run(
        """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from paretozoom import PaperTask, Random
    from paretozoom.simulation import simulate_in_chunks
    task = PaperTask()
    policy = Random(task.problem)
    arms = [played.decision.arm["y"] for some in simulate_in_chunks(policy, task, 20, seed=1) for played in some]
    policy.tell(policy.ask([0.5]), [1, 0])
print(json.dumps({"arms": arms, "warnings": [[w.category.__name__, str(w.message)] for w in caught]}))
""",
        PARETOZOOM_CACHE=unwritable,
    )
    task = PaperTask()
    assert found["arms"] == [r.decision.arm["y"] for r in simulate(Random(task.problem), task, 20, seed=1)]
    [(category, message)] = found["warnings"]
    assert category == "RuntimeWarning"
    assert unwritable in message
    assert "PARETOZOOM_CACHE" in message


def test_functions_typed_at_a_prompt_are_fused_too() -> None:
    found = run("""
import json
from paretozoom import Objective, Problem, Random, Real, simulate
from paretozoom.environments import Task
from paretozoom.kernels.jit import kernel
from paretozoom.simulation import can_compile, simulate_in_chunks

@kernel
def slope(world, point, out):
    out[0] = world[0] * point[1]

class Slope(Task):
    name = "slope"
    mean_kernel = slope

problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])
task = Slope(problem, world=[0.5])
line = list(simulate(Random(problem), task, 50, seed=1))
chunks = [played for some in simulate_in_chunks(Random(problem), task, 50, seed=1, chunk=20) for played in some]
print(json.dumps({"same": line == chunks, "compiled": can_compile(Random(problem), task),
                  "total": sum(r.reward["r"] for r in line), "gap": task.gap([0.5], [0.5])}))
""")
    assert found["same"]
    assert found["compiled"]
    assert 0 < found["total"] < 30
    assert found["gap"] == pytest.approx(0.25)
