"""The straight line as a generator, and its compiled twin; both call the same kernels."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from paretozoom.environments.base import Task
from paretozoom.kernels.core.looping import laws_of, verbs_of
from paretozoom.kernels.loops import loop
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.policies.open_decisions import OpenDecision, OpenDecisions
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Ints, number_of
from paretozoom.records import Decision, Environment, Policy, Refused, Round, Values, checked_seed
from paretozoom.rounds import Columns, Rounds

Delay = int | Callable[[np.random.Generator], int | None] | None
NEVER = np.iinfo(np.int64).max
CHUNK = 8192


def simulate(policy: Policy, environment: Environment, rounds: int, *, seed: int, delay: Delay = 0) -> Iterator[Round]:
    """Play `rounds` rounds and yield each as it is asked.

    A policy is any object with `ask(context)` and `tell(decision, reward)`, an environment any with `reset(seed)`,
    `observe()` and `respond(decision)`. The seed gives the environment, the policy (if it has `reseed(seed)`) and the
    delays a stream each. A reward arrives `delay` rounds after its decision: a number, a function that draws one from a
    generator, or None for never (a drawn None likewise).

    >>> from paretozoom import PaperTask, Random
    >>> task = PaperTask()
    >>> [round(r.decision.context["x"], 3) for r in simulate(Random(task.problem), task, 3, seed=1)]
    [0.544, 0.781, 0.501]
    """
    deliveries, problem = _start(policy, environment, rounds, seed, delay), _problem_of(policy, environment)
    waiting: dict[int, list[tuple[Decision, Any]]] = {}
    for t in range(rounds):
        context = environment.observe()
        decision = policy.ask(context)
        reward = environment.respond(decision)
        played = Round(decision, _by_name(problem, reward))  # refused before anything is learned
        waiting.setdefault(int(deliveries.due(t, 1)[0]), []).append((decision, reward))
        for told, its_reward in waiting.pop(t, []):
            policy.tell(told, its_reward)
        yield played


def simulate_in_chunks(
    policy: Policy, environment: Environment, rounds: int, *, seed: int, delay: Delay = 0, chunk: int = CHUNK
) -> Iterator[Rounds]:
    """The rounds of `simulate` as columns, many at a time, compiled where policy and environment allow it.

    >>> from paretozoom import PaperTask, Random
    >>> task = PaperTask()
    >>> [len(rounds) for rounds in simulate_in_chunks(Random(task.problem), task, 10_000, seed=1)]
    [8192, 1808]
    """
    if isinstance(chunk, bool) or not isinstance(chunk, (int, np.integer)) or chunk < 1:
        raise Refused(f"chunk: {chunk!r} is not a positive integer")
    if not can_compile(policy, environment):
        problem = _problem_of(policy, environment)
        if problem is None:
            raise Refused(
                f"policy: {type(policy).__name__} has no problem, and {type(environment).__name__} neither, so there "
                "are no columns; simulate gives the rounds one by one"
            )
        line = simulate(policy, environment, rounds, seed=seed, delay=delay)
        while batch := list(itertools.islice(line, chunk)):
            yield Rounds.of(problem, batch)
        return
    assert isinstance(policy, CompiledPolicy)
    assert isinstance(environment, Task)
    deliveries = _start(policy, environment, rounds, seed, delay)
    verbs, laws = verbs_of(policy.kernel), laws_of(type(environment))
    key0, key1 = environment.key
    first_number = policy.number
    carried = _rows(policy, 0)
    due = np.zeros(0, np.int64)
    for first in range(0, rounds, chunk):
        length = min(chunk, rounds - first)
        fresh = _rows(policy, length)
        columns = Columns._make(np.concatenate(pair) for pair in zip(carried, fresh, strict=True))
        due = np.concatenate([due, deliveries.due(first, length)])
        order = np.flatnonzero(due < first + length)
        if callable(delay):  # else they are due in the order of their numbers
            order = order[np.argsort(due[order], kind="stable")]
        still = due >= first + length
        with policy._lock:
            policy._floats, policy._ints = loop.play(
                verbs,
                laws,
                policy._floats,
                policy._ints,
                environment.world,
                key0,
                key1,
                environment.problem.encoding.values,
                environment.empty_draws(),
                environment.noise_kinds,
                environment.spreads.copy(),
                environment.units,
                first,
                first_number,
                len(carried.number),
                *columns,
                due,
                order,
            )
            played, carried = columns.take(slice(len(carried.number), None)), columns.take(still)
            policy.number = first_number + first + length
            theirs = {n: e for n, e in policy._open.items() if n < first_number}
            policy._open = OpenDecisions({**theirs, **_opened(policy, carried)})
        environment.observed += length
        due = due[still]
        yield Rounds(policy.problem, played)


def can_compile(policy: Policy, environment: Environment) -> bool:
    """Whether a policy and an environment can run in one compiled loop.

    Both have kernels, and encoding and decoding contexts and arms changes nothing; rewards may have any scale.
    """
    return (
        isinstance(environment, Task)
        and isinstance(policy, CompiledPolicy)
        and policy.problem == environment.problem
        and policy.problem.exact_points
    )


def _start(policy: Policy, environment: Environment, rounds: int, seed: int, delay: Delay) -> _Deliveries:
    """Hand out the three streams; gives what says when rewards are due."""
    theirs, mine = getattr(environment, "problem", None), getattr(policy, "problem", None)
    if isinstance(theirs, Problem) and isinstance(mine, Problem):
        for field, (known, asked) in {k: (v, _names(theirs)[k]) for k, v in _names(mine).items()}.items():
            if known != asked:
                raise Refused(
                    f"policy: its problem is not the environment's; {field} {known!r}, expected {asked!r}, as in "
                    f"{type(policy).__name__}(environment.problem)"
                )
    if isinstance(rounds, bool) or not isinstance(rounds, (int, np.integer)) or rounds < 0:
        raise Refused(f"rounds: {rounds!r} is not a non-negative integer")
    if isinstance(delay, bool) or not (delay is None or callable(delay) or isinstance(delay, (int, np.integer))):
        raise Refused(f"delay: {delay!r} is not a number of rounds, a function of a generator, or None")
    if isinstance(delay, (int, np.integer)) and delay < 0:
        raise Refused(f"delay: {delay!r} is negative")
    streams = np.random.SeedSequence(checked_seed(seed)).spawn(3)
    seeds = [int.from_bytes(stream.generate_state(4).tobytes(), "little") for stream in streams]
    environment.reset(seeds[0])
    reseed = getattr(policy, "reseed", None)
    if reseed is not None:
        reseed(seeds[1])
    return _Deliveries(delay, np.random.default_rng(seeds[2]))


def _names(problem: Problem) -> dict[str, list[Any]]:
    """What policy and environment call things when they talk to each other."""
    arm = problem.arm.labels if isinstance(problem.arm, Finite) else [d.name for d in problem.arm]
    contexts, objectives = [d.name for d in problem.context], list(problem.objective_names)
    return {"contexts are": contexts, "arms are": list(arm)[:20], "objectives are": objectives}


class _Deliveries:
    """When rewards are due, from the delay stream."""

    def __init__(self, delay: Delay, rng: np.random.Generator) -> None:
        self.delay = delay
        self.rng = rng

    def due(self, first: int, length: int) -> Ints:
        """The rounds in which the rewards of the next `length` rounds, from `first` on, are due."""
        if self.delay is None:
            return np.full(length, NEVER, np.int64)
        if callable(self.delay):
            return np.array([self._drawn(t) for t in range(first, first + length)], np.int64)
        return np.arange(first, first + length) + min(int(self.delay), NEVER - first - length)

    def _drawn(self, t: int) -> int:
        wait = self.delay(self.rng) if callable(self.delay) else self.delay
        if wait is not None and (isinstance(wait, bool) or not isinstance(wait, (int, np.integer)) or wait < 0):
            raise Refused(f"delay: {wait!r} is not a number of rounds, or None")
        return NEVER if wait is None else min(t + int(wait), NEVER)


def _rows(policy: CompiledPolicy, n: int) -> Columns:
    return Columns(
        np.empty(n, np.int64),
        np.empty((n, policy.problem.dim)),
        np.empty(n, np.int64),
        np.empty(n),
        np.empty(n, np.int64),
        np.empty((n, len(policy.problem.objectives))),
    )


def _opened(policy: CompiledPolicy, columns: Columns) -> dict[int, OpenDecision]:
    """The open decisions of a policy after a compiled stretch."""
    rounds = Rounds(policy.problem, columns)
    return {
        round.decision.number: OpenDecision.of(round.decision, point.copy())
        for round, point in zip(rounds, columns.point, strict=True)
    }


def _problem_of(policy: Policy, environment: Environment) -> Problem | None:
    """The problem of one of the two, if any of them has one."""
    known = (getattr(one, "problem", None) for one in (policy, environment))
    return next((problem for problem in known if isinstance(problem, Problem)), None)


def _by_name(problem: Problem | None, reward: Values) -> dict[str, float]:
    """A reward by the names of its objectives, without those that it leaves out."""
    if isinstance(reward, Mapping):
        pairs: Iterable[tuple[str, Any]] = reward.items()
    elif problem is None:
        raise Refused(f"reward: {reward!r} names no objectives, and no problem does; expected a mapping by their names")
    else:
        pairs = zip(problem.objective_names, reward, strict=True)
    return {name: number_of(value, f"reward[{name!r}]") for name, value in pairs if value is not None}
