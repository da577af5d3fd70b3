"""Policies in ordinary Python: one method chooses an arm, another learns its reward.

They are policies like any other: late rewards, logs, studies, the service. They are played decision by decision, which
takes some tens of microseconds beside what their own code takes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import cached_property, partial
from typing import Any

import msgspec
import numpy as np
import numpy.typing as npt

from paretozoom.policies.base import Policy
from paretozoom.policies.open_decisions import OpenDecision
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, number_of
from paretozoom.records import Decision, Refused, Snapshot, Values

SLACK = 1e-9  # by which a probability may exceed 1, as sums of floats do
MOST_SHOWN = 20  # candidates in a message
PREFIX = "state."  # of the names of arrays in a snapshot


class PlainPolicy(Policy):
    """A policy whose subclass says in Python how it chooses and learns.

    `choose` must change nothing, and take all its luck from `luck`: it is asked for decisions that are never made, and
    not asked for those that are read from a log. `learn` is called once for each decision, when all its objectives
    were told; with ``in_parts = True`` for each part, with the objectives told in it. What it raises reaches whoever
    told, and the reward counts as told.

    >>> class Greedy(PlainPolicy):
    ...     '''Plays the arm of the best mean profit, and every tenth time any arm.'''
    ...
    ...     name = "greedy"
    ...
    ...     def __init__(self, problem, *, seed=0):
    ...         super().__init__(problem, seed=seed)
    ...         self.told = {arm: [1.0] for arm in problem.arm.labels}
    ...
    ...     def choose(self, context, candidates, luck):
    ...         best = max(candidates, key=lambda arm: np.mean(self.told[arm]))
    ...         arm = candidates[luck.integers(len(candidates))] if luck.random() < 0.1 else best
    ...         return arm, 0.1 / len(candidates) + 0.9 * (arm == best)
    ...
    ...     def learn(self, context, arm, reward):
    ...         self.told[arm].append(reward["profit"])
    >>> from paretozoom import Finite, Objective
    >>> shop = Problem(context=[], arm=Finite(["low", "high"]), objectives=[Objective("profit"), Objective("calm")])
    >>> policy = Greedy(shop, seed=1)
    >>> for _ in range(100):
    ...     decision = policy.ask()
    ...     policy.tell(decision, {"profit": float(decision.arm == "high"), "calm": 0.5})
    >>> len(policy.told["high"]) > 80
    True
    """

    in_parts = False

    def __init__(self, problem: Problem, *, seed: int = 0, parameters: Mapping[str, Any] | None = None) -> None:
        kind = type(self)
        if not isinstance(getattr(kind, "name", None), str):
            raise Refused(f'name: {kind.__name__} has none; give the class one, as in name = "mine"')
        for verb in ("choose(self, context, candidates, luck)", "learn(self, context, arm, reward)"):
            if _is_missing(kind, verb.partition("(")[0]):
                raise Refused(f"{kind.__name__}: has no method {verb}")
        if _is_missing(kind, "state") != _is_missing(kind, "restore"):
            lacks = "state(self)" if _is_missing(kind, "state") else "restore(self, state)"
            raise Refused(f"{kind.__name__}: has no method {lacks}, but its counterpart; give both, or none")
        super().__init__(problem, seed=seed, parameters=parameters or {})

    # What a subclass provides.

    def choose(
        self, context: dict[str, Any], candidates: list[Any] | None, luck: np.random.Generator
    ) -> tuple[Any, float]:
        """An arm, and the probability with which it is drawn: of arms on a continuum, the density.

        `context` is by name. `candidates` are the arms that can be played, or None if they cannot be listed. A density
        is relative to a uniform draw on the whole arm space: uniform play has density 1.
        """
        raise NotImplementedError

    def learn(self, context: dict[str, Any], arm: Any, reward: dict[str, float]) -> None:
        """Learn the reward of an arm in a context, by objective and in the user's units."""
        raise NotImplementedError

    def state(self) -> dict[str, Any]:
        """Everything that was learned, by name: arrays, or what JSON can hold. Needed only for `dump`."""
        raise NotImplementedError

    def restore(self, state: dict[str, Any]) -> None:
        """Take over what `state` gave."""
        raise NotImplementedError

    # The verbs.

    def _draw(self, context: Values, feasible: Any, number: int) -> tuple[Decision, Floats]:
        rows = self._encode_feasible(feasible)
        listed = self._listed
        if len(rows) and listed is None:
            raise Refused(
                f"feasible: {feasible!r} given, but {self.name!r} chooses on a continuum, and only arms that can be "
                "listed can be restricted for it"
            )
        allowed = range(len(listed or ())) if len(rows) == 0 else rows[:, 0].astype(int).tolist()
        candidates = None if listed is None else [_copied(listed[k]) for k in allowed]
        point = np.empty(self._dim)
        plain = self.problem.encode_context(context, point)
        choice = self.choose(dict(plain), candidates, luck_of(self._seed, number))
        if not isinstance(choice, tuple) or len(choice) != 2:
            raise Refused(f"choose: {choice!r} given, expected an arm and its density")
        try:
            played = self.problem.encode_arm(choice[0], point)
        except Refused as refusal:
            raise Refused(f"choose: {refusal}") from refusal
        if listed is not None and played not in allowed:
            shown = [listed[k] for k in allowed[:MOST_SHOWN]]
            raise Refused(f"choose: arm {choice[0]!r} is not one of the candidates {shown!r}")
        arm = self._plain_arm(choice[0]) if listed is None else _copied(listed[played])
        return Decision(number, plain, arm, _checked_density(choice[1], listed is not None), 0), point

    @cached_property
    def _listed(self) -> list[Any] | None:
        """Every arm, in the user's units; None on a continuum."""
        encoding, problem = self.problem.encoding, self.problem
        if isinstance(problem.arm, Finite):
            return list(problem.arm.labels)
        head = np.zeros(encoding.context)
        return [problem.decode_arm(k, np.append(head, arm)) for k, arm in enumerate(encoding.arms)] or None

    def _plain_arm(self, arm: Any) -> dict[str, Any]:
        """An arm of several dimensions by name, in plain types."""
        assert not isinstance(self.problem.arm, Finite)
        named = isinstance(arm, Mapping)
        return {d.name: d.plain(arm[d.name if named else j]) for j, d in enumerate(self.problem.arm)}

    def _encode_reward(self, reward: Values, out: Floats) -> int:
        told = self.problem.encode_reward(reward, out)
        names = self.problem.objective_names
        for o, name in enumerate(names):
            if told >> o & 1:
                out[o] = float(reward[name] if isinstance(reward, Mapping) else reward[o])  # not scaled
        return told

    def _update(self, entry: OpenDecision, given: Floats, before: int) -> None:
        decision = entry.record()
        pairs = zip(self.problem.objective_names, given.tolist(), strict=True)
        reward = {name: value for name, value in pairs if not math.isnan(value)}
        self._rest = partial(self.learn, decision.context, decision.arm, reward)

    # State as data.

    @property
    def can_dump(self) -> bool:
        """Whether the subclass has `state` and `restore`."""
        return not _is_missing(type(self), "state")

    def _saved(self) -> tuple[dict[str, Any], dict[str, npt.NDArray[Any]]]:
        self._check_state("dump")
        state = self.state()
        if not isinstance(state, dict) or not all(isinstance(name, str) for name in state):
            raise Refused(f"state: {state!r} is not a dict by name")
        arrays = {name: value for name, value in state.items() if isinstance(value, np.ndarray)}
        for name, array in arrays.items():
            if array.dtype.kind not in "biuf":
                raise Refused(f"state[{name!r}]: an array of {array.dtype}, expected one of numbers or booleans")
        others = {name: _through_json(value, name) for name, value in state.items() if name not in arrays}
        return {"state": others}, {PREFIX + name: array.copy() for name, array in arrays.items()}

    def _read(self, snapshot: Snapshot, seed: int, number: int) -> Any:
        self._check_state("load")
        others = snapshot.header.get("state")
        if not isinstance(others, dict):
            raise Refused(f"snapshot: state is {others!r}, expected a dict by name")
        arrays = {name: array for name, array in snapshot.arrays.items() if name.startswith(PREFIX)}
        return {**others, **{name.removeprefix(PREFIX): array.copy() for name, array in arrays.items()}}

    def _take(self, learned: Any) -> None:
        self.restore(learned)

    def _check_state(self, verb: str) -> None:
        if not self.can_dump:
            raise Refused(
                f"{verb}: {self.name!r} has no state() and restore(state), so it cannot be saved; replay(event) folds "
                "its log instead"
            )


def luck_of(seed: int, number: int) -> np.random.Generator:
    """The luck of a decision: a function of the seed and its number alone.

    >>> luck_of(1, 7).random() == luck_of(1, 7).random(), luck_of(1, 7).random() == luck_of(1, 8).random()
    (True, False)
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(number,)))


def _is_missing(kind: type[Policy], method: str) -> bool:
    return getattr(kind, method) is getattr(PlainPolicy, method)


def _copied(arm: Any) -> Any:
    return arm.copy() if type(arm) is dict else arm


def _checked_density(density: Any, is_probability: bool) -> float:
    number = number_of(density, "choose: density")
    if number <= 0 or (is_probability and number > 1 + SLACK):
        expected = "a probability, above 0 and at most 1" if is_probability else "a positive number"
        raise Refused(f"choose: density {density!r} given, expected {expected}")
    return number


def _through_json(value: Any, name: str) -> Any:
    """A value of a state, if it comes back from JSON as it went."""
    try:
        back = msgspec.json.decode(msgspec.json.encode(value, enc_hook=_scalar))
        if bool(back == value):
            return back
    except (TypeError, ValueError, OverflowError, msgspec.MsgspecError):
        pass
    raise Refused(
        f"state[{name!r}]: {value!r} does not come back from JSON as it went; expected an array, or numbers, strings, "
        "lists and dicts with strings as keys"
    )


def _scalar(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError
