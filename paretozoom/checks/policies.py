"""The contracts of policies, environments and metrics, as functions that test any class, yours included.

Each raises CheckFailed with a sentence that says what was promised and what was seen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np

from paretozoom.checks.expecting import CheckFailed, expect
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.policies.base import Policy
from paretozoom.problem import Problem, random_points
from paretozoom.problem.dimensions import Categorical, Finite, Integer, Objective, Real
from paretozoom.problem.vector import Vector
from paretozoom.records import Asked, Decision, Dropped, Event, Refused, Told

Maker = Callable[[Problem, int], Policy]
DRAWS = 400  # in one context, to see whether densities can be true

PROBLEMS = {
    "one real context, one real arm": Problem(
        context=[Real("x")], arm=[Real("y")], objectives=[Objective("first"), Objective("second")]
    ),
    "units, goals and scales": Problem(
        context=[Real("size", 1, 1000, scale="log"), Categorical("place", ["north", "south"])],
        arm=[Real("angle", 0, 360, periodic=True)],
        objectives=[Objective("cost", goal="min", low=0, high=50), Objective("gain", low=-1, high=3, bounded=False)],
    ),
    "finite arms with features": Problem(
        context=[Integer("hour", 0, 23)],
        arm=Finite(["a", "b", "c"], features=[[0, 1], [2, 1], [5, 0]]),
        objectives=[Objective("only")],
    ),
    "contexts as they are": Problem(
        context=[
            Vector("prompt", 3, length=1),
            Real("age", 0, 99, missing=True, outside="clip"),
            Categorical("country", ["cz", "tr"], other=True),
        ],
        arm=Finite(["a", "b", "c"]),
        objectives=[Objective("first"), Objective("second")],
    ),
    "finite arms, no context": Problem(
        context=[], arm=Finite(["a", "b"]), objectives=[Objective("first"), Objective("second")]
    ),
}


def check_policy(policy: type[Policy] | Maker, rounds: int = 120) -> list[str]:
    """Test a policy on several problems: its class, or what builds one as `make(problem, seed)`.

    A policy may refuse a problem it cannot handle when it is built, but not all of them. Gives the titles of those
    that it took.

    >>> from paretozoom import PCZ, Random
    >>> len(check_policy(Random)), len(check_policy(lambda problem, seed: PCZ(problem, noise=0.5, seed=seed)))
    (5, 5)
    """
    make = _maker_of(policy)
    taken = []
    for title, problem in PROBLEMS.items():
        try:
            make(problem, 0)
        except Refused:
            continue
        taken.append(title)
        _check_decisions(make, problem, rounds)
        _check_densities(make, problem, rounds)
        _check_state(make, problem, rounds)
        _check_refusals(make, problem)
    expect(bool(taken), f"a policy takes at least one of the problems {list(PROBLEMS)}")
    return taken


def _maker_of(policy: Any) -> Maker:
    if isinstance(policy, type):
        return lambda problem, seed: policy(problem, seed=seed)
    return policy  # type: ignore[no-any-return]


def _context(problem: Problem, rng: np.random.Generator) -> dict[str, Any]:
    return problem.decode_context(random_points(problem.encoding, 1, rng)[0])


def _reward(problem: Problem, rng: np.random.Generator) -> dict[str, float]:
    return problem.decode_reward(rng.random(len(problem.objectives)))


def _play(policy: Policy, rounds: int, seed: int) -> tuple[list[Decision], list[Event]]:
    """Ask and tell with late, reordered, partial and missing rewards; gives the decisions and the log."""
    rng = np.random.default_rng(seed)
    decisions: list[Decision] = []
    events: list[Event] = []
    waiting: list[tuple[Decision, dict[str, float]]] = []
    for _ in range(rounds):
        decisions.append(policy.ask(_context(policy.problem, rng)))
        events.append(Asked(decisions[-1]))
        waiting.append((decisions[-1], _reward(policy.problem, rng)))
        while waiting and rng.random() < 0.7:
            decision, reward = waiting.pop(int(rng.integers(len(waiting))))
            if rng.random() < 0.1:
                policy.drop(decision)
                events.append(Dropped(decision.number))
            elif rng.random() < 0.3:
                for name, value in reward.items():
                    policy.tell(decision, {name: value})
                    events.append(Told(decision.number, {name: value}))
            else:
                policy.tell(decision, reward)
                events.append(Told(decision.number, reward))
    return decisions, events


def _bytes(policy: Policy) -> bytes:
    """The whole state; of a policy that cannot be saved, what is known of it from outside."""
    if policy.can_dump:
        return policy.dump().to_bytes()
    told = [(decision, policy._open[decision.number].told) for decision in policy.open]
    return msgspec.json.encode([str(policy.seed), policy.number, told])


def _check_decisions(make: Maker, problem: Problem, rounds: int) -> None:
    first, _ = _play(make(problem, 1), rounds, 0)
    again, _ = _play(make(problem, 1), rounds, 0)
    other, _ = _play(make(problem, 2), rounds, 0)
    certain = make(problem, 1).density_kind == "probability" and all(d.density == 1.0 for d in first)
    expect(first == again, "the same seed and the same rewards give the same decisions")
    expect([d.arm for d in first] != [d.arm for d in other] or not first or certain, "another seed gives other draws")
    policy, context = make(problem, 1), _context(problem, np.random.default_rng(6))
    proposed = [policy.propose(context, ahead=1), policy.propose(context), policy.ask(context), policy.ask(context)]
    expect(proposed == [proposed[3], proposed[2], *proposed[2:]], "what is asked is what was proposed, also ahead")
    point = np.empty(problem.dim)
    for number, decision in enumerate(first):
        expect(decision.number == number, f"decisions are numbered from 0; number {number} is {decision.number}")
        expect(decision.density > 0, f"an arm that was drawn has a positive density, not {decision.density!r}")
        problem.encode_arm(decision.arm, point)  # refuses an arm that is none
        sent = msgspec.json.decode(msgspec.json.encode(decision), type=Decision)
        expect(sent == decision, f"a decision survives JSON; {decision!r} came back as {sent!r}")


def _check_densities(make: Maker, problem: Problem, rounds: int) -> None:
    """Draw at one context without telling: 1/density averages to the size of what can be drawn, and that was drawn."""
    policy = make(problem, 7)
    _play(policy, rounds, 4)
    first, context = policy.number, _context(problem, np.random.default_rng(5))
    inverse = [1.0 / policy.ask(context).density for _ in range(DRAWS)]
    error = 5.0 * float(np.std(inverse)) / DRAWS**0.5 + 1e-9
    points = np.array([entry.point for number, entry in policy._open.items() if number >= first])
    arms = points[:, problem.encoding.context :]
    limits = np.where(problem.encoding.kinds[problem.encoding.context :] == CATEGORICAL, np.inf, 1.0)
    expect(bool(np.isfinite(arms).all() and (arms >= 0).all() and (arms <= limits).all()), "arms are encoded in [0, 1]")
    if policy.density_kind == "estimate":
        return
    if policy.density_kind == "probability":
        size, slack = float(len(np.unique(arms, axis=0))), 0.0
    elif arms.shape[1] == 1:
        size, slack = float(np.ptp(arms)), 20.0 / DRAWS
    else:
        return
    expect(
        float(np.mean(inverse)) <= size * (1.0 + slack) + error,
        f"1/density averages to the size of what can be drawn, at most {size:.3f} here; it is {np.mean(inverse):.3f}",
    )


def _check_state(make: Maker, problem: Problem, rounds: int) -> None:
    policy = make(problem, 3)
    _, events = _play(policy, rounds, 1)
    events.append(Asked(policy.ask(_context(problem, np.random.default_rng(8)))))  # so that a decision is open
    state = _bytes(policy)
    replayed = make(problem, 3)
    for event in events:
        replayed.replay(event)
    expect(_bytes(replayed) == state, "replaying the log gives the same bytes")
    others = {"replayed": replayed}
    if policy.can_dump:
        loaded = others["loaded"] = make(problem, 4)
        loaded.load(policy.dump())
        expect(_bytes(loaded) == state, "load(dump()) gives the same bytes")
        learned = [array for name, array in policy.dump().arrays.items() if not name.startswith("open_")]
        expect(all(bool(np.isfinite(array).all()) for array in learned), "what was learned is finite, also in parts")
        expect(loaded.open == policy.open, "open decisions survive load(dump())")
    ahead = _play(policy, 20, 2)[0], _bytes(policy)
    for how, other in others.items():
        expect((_play(other, 20, 2)[0], _bytes(other)) == ahead, f"a {how} policy continues bit for bit")


def _check_refusals(make: Maker, problem: Problem) -> None:
    policy = make(problem, 5)
    rng = np.random.default_rng(3)
    decision, foreign = policy.ask(_context(problem, rng)), make(problem, 6).ask(_context(problem, rng))
    told = policy.ask(_context(problem, rng))
    policy.tell(told, _reward(problem, rng))
    state = _bytes(policy)
    name = problem.objective_names[0]
    altered = msgspec.structs.replace(decision, density=decision.density / 2)
    refused: dict[str, Callable[[], Any]] = {
        "a context with too many entries": lambda: policy.ask([0.5] * (len(problem.context) + 1)),
        "a reward of NaN": lambda: policy.tell(decision, {name: float("nan")}),
        "a reward for an unknown objective": lambda: policy.tell(decision, {"nonsense": 1.0}),
        "an empty reward": lambda: policy.tell(decision, {}),
        "a repeated reward": lambda: policy.tell(told, _reward(problem, rng)),
        "an altered decision": lambda: policy.tell(altered, _reward(problem, rng)),
        "dropping a foreign decision": lambda: policy.drop(msgspec.structs.replace(foreign, number=99)),
        "a replayed decision out of turn": lambda: policy.replay(Asked(decision)),
    }
    if policy.can_dump:
        other = msgspec.structs.replace(policy.dump(), header={**policy.dump().header, "policy": "another"})
        refused["a snapshot of another policy"] = lambda: policy.load(other)
    for what, call in refused.items():
        try:
            call()
        except Refused:
            expect(_bytes(policy) == state, f"{what} is refused and changes nothing; the state changed")
        else:
            raise CheckFailed(f"{what} is refused; it was accepted")
