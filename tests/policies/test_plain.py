"""Policies in ordinary Python keep the whole contract, and say clearly what they cannot do."""

from __future__ import annotations

import doctest
import pickle
import runpy
from typing import Any

import numpy as np
import pytest

from paretozoom import (
    Asked,
    Categorical,
    Dropped,
    FiniteBandit,
    Integer,
    Objective,
    PaperTask,
    PlainPolicy,
    Problem,
    Real,
    Refused,
    Told,
    simulate,
    simulate_in_chunks,
)
from paretozoom.checks import PROBLEMS, CheckFailed, check_policy
from paretozoom.policies.plain import luck_of

ARMS = FiniteBandit().problem
LINE = Problem(
    context=[Real("x", 0, 10)], arm=[Real("y", 1, 3)], objectives=[Objective("gain", high=3), Objective("calm")]
)
GRID = Problem(
    context=[],
    arm=[Integer("size", 1, 3), Categorical("kind", ["a", "b"])],
    objectives=[Objective("cost", goal="min", high=50), Objective("gain", low=-1, high=3, bounded=False)],
)


class Explorer(PlainPolicy):
    """Prefers what brought most so far, on lists of arms and on continua; without `state`."""

    name = "explorer"

    def __init__(self, problem: Problem, *, boldness: float = 0.5, seed: int = 0) -> None:
        super().__init__(problem, seed=seed, parameters={"boldness": boldness})
        self.boldness = boldness
        self.heard: list[Any] = []
        self.best: tuple[float, Any] = (-np.inf, None)

    def choose(self, context: Any, candidates: Any, luck: np.random.Generator) -> Any:
        if candidates is None:
            return [
                d.decode(luck.random() if d.values == 0 else luck.integers(d.values)) for d in self.problem.arm
            ], 1.0
        bold = self.boldness if self.best[1] in candidates else 0.0
        arm = self.best[1] if luck.random() < bold else candidates[luck.integers(len(candidates))]
        return arm, (1 - bold) / len(candidates) + bold * (arm == self.best[1])

    def learn(self, context: Any, arm: Any, reward: Any) -> None:
        self.heard.append((context, arm, reward))
        self.best = max(self.best, (sum(reward.values()), arm), key=lambda pair: pair[0])


class Saved(Explorer):
    """The same, with a state."""

    name = "saved"

    def state(self) -> dict[str, Any]:
        return {"best": None if self.best[1] is None else [*self.best], "n": np.array([len(self.heard)])}

    def restore(self, state: dict[str, Any]) -> None:
        self.best = tuple(state["best"] or (-np.inf, None))
        self.heard = [None] * int(state["n"][0])


@pytest.mark.parametrize("policy", [Explorer, Saved])
def test_the_contract_is_kept(policy: Any) -> None:
    assert check_policy(policy) == list(PROBLEMS)


def test_what_choose_and_learn_are_given() -> None:
    seen: list[Any] = []

    class Nosy(Explorer):
        name = "nosy"

        def choose(self, context: Any, candidates: Any, luck: Any) -> Any:
            seen.append((context, candidates, luck.random()))
            context.clear()  # what it does to what it is given harms nobody
            if candidates is not None:
                candidates.append("nonsense")
            return ({"size": 2, "kind": "b"}, 0.25) if candidates else ([np.float32(1.5)], np.float64(2))

    grid = Nosy(GRID, seed=3)
    decision = grid.ask(feasible={"kind": "b"})
    arms = [{"size": size, "kind": "b"} for size in (1, 2, 3)]
    assert seen[0] == ({}, [*arms, "nonsense"], luck_of(3, 0).random())
    assert (decision.arm, decision.density, decision.credit) == ({"size": 2, "kind": "b"}, 0.25, 0)
    grid.tell(decision, [7, 0.1])
    assert grid.heard == [({}, {"size": 2, "kind": "b"}, {"cost": 7.0, "gain": 0.1})]
    line = Nosy(LINE, seed=3)
    decision = line.ask([4])
    assert seen[1][:2] == ({}, None)
    assert (decision.context, decision.arm, decision.density) == ({"x": 4.0}, {"y": 1.5}, 2.0)
    line.tell(decision, {"gain": 0.3, "calm": 1})
    assert line.heard == [({"x": 4.0}, {"y": 1.5}, {"gain": 0.3, "calm": 1.0})]


def test_parts_are_gathered_or_learned_one_by_one() -> None:
    class InParts(Explorer):
        name = "in-parts"
        in_parts = True

    whole, parts = Explorer(LINE), InParts(LINE)
    for policy in (whole, parts):
        decision, other = policy.ask([1]), policy.ask([2])
        policy.tell(decision, {"calm": 0.25})
        policy.tell(other, {"gain": 0.1})
        policy.tell(decision, [2.9, None])
        assert policy.open == [other]
    assert [reward for _, _, reward in whole.heard] == [{"gain": 2.9, "calm": 0.25}]
    assert [reward for _, _, reward in parts.heard] == [{"calm": 0.25}, {"gain": 0.1}, {"gain": 2.9}]


def test_draws_depend_on_seed_and_number_alone() -> None:
    policy = Explorer(LINE, seed=5)
    ahead = [policy.propose([1], ahead=k).arm for k in range(4)]
    assert [policy.ask([1]).arm for _ in range(4)] == ahead
    policy.reseed(6)
    other = Explorer(LINE, seed=6)
    assert policy.propose([1]).arm == other.propose([1], ahead=4).arm
    assert policy.seed == 6


def test_many_at_once_are_all_or_none() -> None:
    policy, twin = Saved(LINE, seed=1), Saved(LINE, seed=1)
    decisions = policy.ask_many([[1], [2], [3]])
    assert list(decisions) == [twin.ask([x]) for x in (1, 2, 3)]
    before = policy.dump().to_bytes()
    with pytest.raises(Refused, match=r"contexts\[1\]\['x'\]: 11 is outside \[0, 10\]"):
        policy.ask_many([[1], [11]])
    with pytest.raises(Refused, match=r"rewards\[1\]\['gain'\]: 4 is outside"):
        policy.tell_many(decisions, [[1, 1], [4, 1], [1, 1]])
    with pytest.raises(Refused, match="2 given for 3 decisions"):
        policy.tell_many(decisions, [[1, 1], [1, 1]])
    assert policy.dump().to_bytes() == before
    policy.tell_many(decisions, [[1, 0.5], {"gain": 2}, [3, 0.25]])
    for decision, reward in zip(decisions, ([1, 0.5], [2, None], [3, 0.25]), strict=True):
        twin.tell(decision, reward)
    assert policy.dump().to_bytes() == twin.dump().to_bytes()
    assert len(policy.heard) == 2


@pytest.mark.parametrize("kind", [Explorer, Saved])
def test_a_log_is_folded_without_choosing(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    policy, events = kind(ARMS, seed=2), []
    for k in range(60):
        decision = policy.ask()
        events.append(Asked(decision))
        if k % 5 == 0:
            policy.drop(decision)
            events.append(Dropped(decision.number))
        elif k % 3:
            policy.tell(decision, [1.0, k / 60])
            events.append(Told(decision.number, {"r1": 1.0, "r2": k / 60}))
    folded = kind(ARMS, seed=2)
    with monkeypatch.context() as patch:
        patch.setattr(kind, "choose", None)
        for event in events:
            folded.replay(event)
    assert folded.heard == policy.heard
    assert (folded.open, folded.number) == (policy.open, policy.number)
    assert [folded.ask() for _ in range(9)] == [policy.ask() for _ in range(9)]


def test_it_can_be_pickled_without_a_state() -> None:
    policy = Explorer(ARMS, seed=1)
    policy.tell(policy.ask(), [1.0, 1.0])
    again = pickle.loads(pickle.dumps(policy))
    assert (again.heard, again.number) == (policy.heard, 1)


def choosing(choice: Any) -> type[PlainPolicy]:
    class Given(Explorer):
        name = "given"

        def choose(self, context: Any, candidates: Any, luck: Any) -> Any:
            return choice

    return Given


@pytest.mark.parametrize(
    ("problem", "choice", "words"),
    [
        (ARMS, "a", "choose: 'a' given, expected an arm and its density"),
        (ARMS, ("z", 0.5), r"choose: arm: 'z' is not one of \["),
        (ARMS, ("arm9", 0.5), r"choose: arm 'arm9' is not one of the candidates \['arm1', 'arm2'\]"),
        (ARMS, ("arm1", 0.0), r"choose: density 0\.0 given, expected a probability, above 0 and at most 1"),
        (ARMS, ("arm1", 1.01), r"choose: density 1\.01 given, expected a probability"),
        (ARMS, ("arm1", float("nan")), "choose: density: nan is not a finite number"),
        (ARMS, ("arm1", "half"), "choose: density: 'half' is not a number"),
        (LINE, ([0.5], 1.0), r"choose: arm\['y'\]: 0\.5 is outside \[1, 3\]"),
        (LINE, ([2], -1.0), r"choose: density -1\.0 given, expected a positive number"),
        (LINE, ([2], float("inf")), "choose: density: inf is not a finite number"),
    ],
)
def test_impossible_choices_are_refused(problem: Problem, choice: Any, words: str) -> None:
    policy = choosing(choice)(problem)
    context, feasible = ([1], None) if problem is LINE else ([], ["arm1", "arm2"])
    for ask in (policy.ask, policy.propose):
        with pytest.raises(Refused, match=words):
            ask(context, feasible=feasible)
    assert (policy.number, policy.open) == (0, [])


def test_boxes_on_a_continuum_are_refused() -> None:
    policy = Explorer(LINE)
    with pytest.raises(Refused, match=r"feasible: \{'y': \(1, 2\)\} given, but 'explorer' chooses on a continuum"):
        policy.ask([1], feasible={"y": (1, 2)})
    with pytest.raises(Refused, match="feasible"):
        policy.ask([1], feasible={"z": (1, 2)})
    assert policy.number == 0


def test_what_learn_raises_reaches_whoever_told_and_the_reward_counts_as_told() -> None:
    class Clumsy(Explorer):
        name = "clumsy"

        def learn(self, context: Any, arm: Any, reward: Any) -> None:
            raise KeyError(arm)

    policy = Clumsy(ARMS)
    decision = policy.ask()
    with pytest.raises(KeyError):
        policy.tell(decision, [1.0, 1.0])
    assert policy.open == []
    with pytest.raises(Refused, match="already told"):
        policy.tell(decision, [1.0, 1.0])


# State.


def test_without_a_state_there_is_no_snapshot() -> None:
    policy = Explorer(ARMS)
    assert not policy.can_dump
    assert Saved(ARMS).can_dump
    with pytest.raises(Refused, match=r"dump: 'explorer' has no state\(\) and restore\(state\)"):
        policy.dump()
    snapshot = Saved(ARMS).dump()
    snapshot.header["policy"], snapshot.header["parameters"] = "explorer", {"boldness": 0.5}
    with pytest.raises(Refused, match="load: 'explorer' has no state"):
        policy.load(snapshot)


def test_a_state_is_arrays_and_what_json_can_hold() -> None:
    class Keeper(Explorer):
        name = "keeper"
        kept: Any = {}

        def state(self) -> Any:
            return self.kept

        def restore(self, state: Any) -> None:
            self.kept = state

    policy, other = Keeper(ARMS), Keeper(ARMS)
    policy.kept = {
        "n": 3,
        "by": {"a": [1.5, None, np.float64(2)]},
        "sums": np.array([[1.0, 2.0]]),
        "on": np.array(True),
    }
    other.load(policy.dump())
    assert other.kept["by"] == {"a": [1.5, None, 2.0]}
    assert other.kept["sums"].tolist() == [[1.0, 2.0]]
    assert other.dump().to_bytes() == policy.dump().to_bytes()
    other.kept["sums"][:] = 0
    assert policy.kept["sums"].tolist() == [[1.0, 2.0]]
    bad = {"{1: 2}": {1: 2}, r"\(1, 2\)": (1, 2), "nan": float("nan"), "object": object(), "array": [np.zeros(2)]}
    for words, value in bad.items():
        policy.kept = {"x": value}
        with pytest.raises(Refused, match=rf"state\['x'\]: .*{words}"):
            policy.dump()
    policy.kept = {"x": np.array(["a"])}
    with pytest.raises(Refused, match=r"state\['x'\]: an array of <U1, expected one of numbers or booleans"):
        policy.dump()
    policy.kept = [1]
    with pytest.raises(Refused, match=r"state: \[1\] is not a dict by name"):
        policy.dump()
    snapshot = other.dump()
    snapshot.header["state"] = None
    with pytest.raises(Refused, match="snapshot: state is None, expected a dict by name"):
        other.load(snapshot)


def test_classes_that_lack_something_are_refused() -> None:
    def choose(self: Any, context: Any, candidates: Any, luck: Any) -> Any:
        return candidates[0], 1.0

    def learn(self: Any, context: Any, arm: Any, reward: Any) -> None: ...

    parts = {"name": "mine", "choose": choose, "learn": learn}
    assert type("Mine", (PlainPolicy,), dict(parts))(ARMS).ask().arm == "arm1"
    for lacking, words in {
        "name": 'name: Mine has none; give the class one, as in name = "mine"',
        "choose": r"Mine: has no method choose\(self, context, candidates, luck\)",
        "learn": r"Mine: has no method learn\(self, context, arm, reward\)",
    }.items():
        rest = {key: value for key, value in parts.items() if key != lacking}
        with pytest.raises(Refused, match=words):
            type("Mine", (PlainPolicy,), rest)(ARMS)
    with pytest.raises(Refused, match=r"Mine: has no method restore\(self, state\), but its counterpart"):
        type("Mine", (PlainPolicy,), {**parts, "state": lambda self: {}})(ARMS)


# Where it plays.


@pytest.mark.parametrize("task", [FiniteBandit(), PaperTask()], ids=lambda task: task.name)
def test_it_plays_the_straight_line(task: Any) -> None:
    policy, twin = Saved(task.problem), Saved(task.problem)
    line = list(simulate(policy, task, 300, seed=3, delay=7))
    chunks = [played for some in simulate_in_chunks(twin, task, 300, seed=3, delay=7, chunk=100) for played in some]
    assert chunks == line
    assert twin.dump().to_bytes() == policy.dump().to_bytes()
    assert len(policy.open) == 7


def test_the_example_runs() -> None:
    namespace = runpy.run_path("examples/own_policy.py")
    own = namespace["EpsilonPareto"]
    assert check_policy(own) == ["finite arms with features", "contexts as they are", "finite arms, no context"]
    runner = doctest.DocTestRunner()
    for example in doctest.DocTestFinder().find(own, globs=namespace):
        runner.run(example)
    assert runner.summarize() == (0, 3)


class Unlucky(Explorer):
    """Draws from a generator of its own."""

    name = "unlucky"

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        super().__init__(problem, seed=seed)
        self.rng = np.random.default_rng(seed)

    def choose(self, context: Any, candidates: Any, luck: Any) -> Any:
        return super().choose(context, candidates, self.rng)


class Learning(Saved):
    """Learns while it chooses."""

    name = "learning"

    def choose(self, context: Any, candidates: Any, luck: Any) -> Any:
        self.heard.append(None)
        return super().choose(context, candidates, luck)


class Modest(Explorer):
    """Says that what it draws is rarer than it is."""

    name = "modest"

    def choose(self, context: Any, candidates: Any, luck: Any) -> Any:
        arm, density = super().choose(context, candidates, luck)
        return arm, density / 2


@pytest.mark.parametrize("broken", [Unlucky, Learning, Modest])
def test_broken_ones_are_caught(broken: type[PlainPolicy]) -> None:
    with pytest.raises(CheckFailed):
        check_policy(broken)
