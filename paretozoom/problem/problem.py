"""The border: what contexts, arms and objectives are, and how they become numbers in [0, 1].

Everything is encoded, oriented and scaled here, once. Inside, a *point* is the coordinates of a context
followed by those of an arm, each of range at most 1, and every reward is "bigger is better".
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import msgspec
import numpy as np

from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.problem.dimensions import (
    MIDDLE,
    Categorical,
    Dimension,
    Finite,
    Floats,
    Integer,
    Ints,
    Objective,
    Real,
)
from paretozoom.problem.vector import Vector
from paretozoom.records import Refused, Values

MOST_FINITE_ARMS = 100_000
MOST_OBJECTIVES = 32


class Encoding(NamedTuple):
    """What kernels must know of a problem."""

    context: int  # number of context coordinates
    kinds: Ints  # (dim,) how coordinates are compared
    arms: Floats  # (K, arm coordinates); no rows if the arms are not finitely many
    values: Ints  # (dim,) 0 if continuous, m if m spaced values, -m if m categories
    missing: Ints  # coordinates that are 1 where the number before them is missing


def same_encoding(one: Encoding, other: Encoding) -> bool:
    """Whether two encodings are equal in every part."""
    return one.context == other.context and all(map(np.array_equal, one[1:], other[1:]))


def random_points(encoding: Encoding, n: int, rng: np.random.Generator) -> Floats:
    """Uniform random points (n, dim): contexts and arms."""
    draws = rng.random((n, len(encoding.values)))
    points = np.empty_like(draws)
    for j, values in enumerate(encoding.values.tolist()):
        if values == 0:
            points[:, j] = draws[:, j]
        else:
            chosen = np.floor(draws[:, j] * abs(values))
            points[:, j] = chosen / (values - 1) if values > 0 else chosen
    for j in encoding.missing:
        points[points[:, j] == 1.0, j - 1] = MIDDLE
    if len(encoding.arms):
        points[:, encoding.context :] = encoding.arms[rng.integers(len(encoding.arms), size=n)]
    return points


class Problem(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True):
    """Contexts, arms and objectives, by name.

    >>> problem = Problem(context=[Real("load")], arm=[Real("price", 1, 9)],
    ...                   objectives=[Objective("profit"), Objective("churn", goal="min")])
    >>> point = np.zeros(2)
    >>> problem.encode_context({"load": 0.25}, point), problem.encode_arm([5], point), point.tolist()
    ({'load': 0.25}, -1, [0.25, 0.5])
    """

    context: Sequence[Dimension | Vector]
    arm: Finite | Sequence[Dimension]
    objectives: Sequence[Objective]

    def __post_init__(self) -> None:
        for field in ("context", "arm", "objectives"):
            value = getattr(self, field)
            if isinstance(value, Iterable) and not isinstance(value, (str, Mapping)):
                msgspec.structs.force_setattr(self, field, tuple(value))
        _check_members("context", self.context, (Real, Integer, Categorical, Vector))
        _check_members("objectives", self.objectives, (Objective,))
        if not isinstance(self.arm, Finite):
            _check_members("arm", self.arm, (Real, Integer, Categorical))
            if not self.arm:
                raise Refused("arm: no dimension given; expected a list of dimensions, or Finite(labels)")
        if not 1 <= len(self.objectives) <= MOST_OBJECTIVES:
            raise Refused(f"objectives: {len(self.objectives)} given, expected 1 to {MOST_OBJECTIVES}")

    @cached_property
    def encoding(self) -> Encoding:
        """What kernels must know of the problem."""
        contexts = [coordinate for d in self.context for coordinate in d.coordinates]
        if isinstance(self.arm, Finite):
            table, arms = self.arm.table, [(kind, 0) for kind in self.arm.kinds]
        else:
            arms = [coordinate for d in self.arm for coordinate in d.coordinates]
            values = [v for _, v in arms]
            table = np.zeros((0, len(arms)))
            if all(values) and math.prod(map(abs, values)) <= MOST_FINITE_ARMS:
                columns = [np.arange(-v, dtype=float) if v < 0 else np.arange(v, dtype=float) / (v - 1) for v in values]
                table = np.array(list(itertools.product(*columns)))
        kinds, counts = np.array([*contexts, *arms], np.int64).T
        return Encoding(
            len(contexts),
            np.ascontiguousarray(kinds),
            np.ascontiguousarray(table),
            np.ascontiguousarray(counts),
            np.array([at.start + 1 for d, at in zip(self.context, self.places, strict=True) if _may_miss(d)], np.int64),
        )

    @property
    def dim(self) -> int:
        """How many coordinates a point has."""
        return len(self.encoding.kinds)

    @cached_property
    def exact(self) -> bool:
        """Whether encoding changes nothing, so that compiled simulations and the user see the same numbers."""
        return self.exact_points and all(d.exact for d in self.context) and all(o.exact for o in self.objectives)

    @cached_property
    def exact_points(self) -> bool:
        """Whether every point comes back from the user's units as it went; rewards may be scaled."""
        arm_exact = isinstance(self.arm, Finite) or all(d.exact for d in self.arm) or len(self.encoding.arms) > 0
        return arm_exact and all(d.exact or d.values > 0 for d in self.context)

    @cached_property
    def _context_names(self) -> tuple[str, ...]:
        return tuple(d.name for d in self.context)

    @cached_property
    def objective_names(self) -> tuple[str, ...]:
        """The objectives' names, in order."""
        return tuple(o.name for o in self.objectives)

    @cached_property
    def _label_numbers(self) -> dict[Any, int]:
        assert isinstance(self.arm, Finite)
        return {label: k for k, label in enumerate(self.arm.labels)}

    @cached_property
    def _context_fields(self) -> tuple[tuple[Any, str], ...]:
        return tuple((d, f"context[{d.name!r}]") for d in self.context)

    @cached_property
    def places(self) -> tuple[slice, ...]:
        """Where the coordinates of each dimension of a context stand in a point.

        >>> from paretozoom import Finite, Vector
        >>> Problem([Real("hour"), Vector("prompt", 3)], Finite(["a", "b"]), [Objective("r")]).places
        (slice(0, 1, None), slice(1, 4, None))
        """
        ends = list(itertools.accumulate((len(d.coordinates) for d in self.context), initial=0))
        return tuple(slice(*pair) for pair in itertools.pairwise(ends))

    @cached_property
    def places_of_all(self) -> tuple[tuple[str, slice], ...]:
        """The name of each dimension of contexts and arms, and where its coordinates stand; a finite arm is one.

        >>> from paretozoom import Finite, Vector
        >>> Problem([Vector("prompt", 3)], Finite(["a"], features=[[1, 0]]), [Objective("r")]).places_of_all
        (('prompt', slice(0, 3, None)), ('arm', slice(3, 5, None)))
        """
        own = self.encoding.context
        found = [(d.name, place) for d, place in zip(self.context, self.places, strict=True)]
        if isinstance(self.arm, Finite):
            return (*found, ("arm", slice(own, self.dim)))
        return (*found, *((d.name, slice(own + k, own + k + 1)) for k, d in enumerate(self.arm)))

    @cached_property
    def holds_lists(self) -> bool:
        """Whether a context in plain types holds lists: vectors."""
        return any(isinstance(d, Vector) for d in self.context)

    @cached_property
    def _fills(self) -> bool:
        """Whether a dimension of the context writes its coordinates itself."""
        return any(d.fills for d in self.context)

    @cached_property
    def _reading(self) -> tuple[tuple[str, ...], tuple[tuple[Any, str], ...], bool]:
        """What every context is read by, in one place for speed."""
        return self._context_names, self._context_fields, self._fills

    @cached_property
    def _arm_names(self) -> tuple[str, ...]:
        return () if isinstance(self.arm, Finite) else tuple(d.name for d in self.arm)

    @cached_property
    def _arm_fields(self) -> tuple[tuple[Dimension, str], ...]:
        return () if isinstance(self.arm, Finite) else tuple((d, f"arm[{d.name!r}]") for d in self.arm)

    @cached_property
    def _reward_fields(self) -> tuple[tuple[Objective, str], ...]:
        return tuple((o, f"reward[{o.name!r}]") for o in self.objectives)

    def encode_context(self, context: Values, point: Floats) -> dict[str, Any]:
        """Write a context's coordinates to the head of `point`; returns the context by name, in plain types."""
        names, fields, fills = self._reading
        if fills:
            return self._fill_context(context, point)
        values = _in_order("context", names, context)
        plain: dict[str, Any] = {}
        for j, (dimension, field) in enumerate(fields):
            value = values[j]
            point[j] = dimension.encode(value, field)
            plain[dimension.name] = value if type(value) is float else dimension.plain(value)
        return plain

    def _fill_context(self, context: Values, point: Floats) -> dict[str, Any]:
        if self._is_one_vector(context):
            context = [context]
        values = _in_order("context", self._context_names, context)
        plain: dict[str, Any] = {}
        for (dimension, field), place, value in zip(self._context_fields, self.places, values, strict=True):
            if dimension.fills:
                plain[dimension.name] = dimension.fill(value, field, point[place])
            else:
                point[place] = dimension.encode(value, field)
                plain[dimension.name] = dimension.plain(value)
        return plain

    def _is_one_vector(self, context: Any) -> bool:
        """Whether a context is a bare vector: all that there is in contexts."""
        if len(self.context) > 1 or not isinstance(self.context[0], Vector):
            return False
        if isinstance(context, np.ndarray):
            return context.ndim == 1 and context.dtype.kind != "O"
        return isinstance(context, (list, tuple)) and len(context) == self.context[0].size > 1

    def encode_arm(self, arm: Any, point: Floats) -> int:
        """Write an arm's coordinates to the tail of `point`; returns its number if arms are finitely many, else -1."""
        start = self.encoding.context
        if isinstance(self.arm, Finite):
            try:
                number = self._label_numbers[arm]
            except (KeyError, TypeError):
                raise Refused(f"arm: {arm!r} is not one of {list(self.arm.labels)[:20]!r}") from None
            point[start:] = self.encoding.arms[number]
            return number
        values = _in_order("arm", self._arm_names, arm)
        number = 0
        for j, (dimension, field) in enumerate(self._arm_fields):
            point[start + j] = dimension.encode(values[j], field)
            if dimension.values:
                place = point[start + j] * (1 if dimension.kind == CATEGORICAL else dimension.values - 1)
                number = number * dimension.values + round(place)
        return number if len(self.encoding.arms) else -1

    def decode_context(self, point: Floats) -> dict[str, Any]:
        """The context of a point, in the user's units."""
        if self._fills:
            parts = zip(self._context_fields, self.places, strict=True)
            return {d.name: d.read(point[at]) if d.fills else d.decode(point[at.start]) for (d, _), at in parts}
        return {d.name: d.decode(point[j]) for j, (d, _) in enumerate(self._context_fields)}

    def decode_arm(self, number: int, point: Floats) -> Any:
        """The arm of a point (or of a finite arm's number), in the user's units."""
        if isinstance(self.arm, Finite):
            return self.arm.labels[number]
        start = self.encoding.context
        return {d.name: d.decode(float(point[start + j])) for j, d in enumerate(self.arm)}

    def encode_reward(self, reward: Values, out: Floats) -> int:
        """Write a reward to `out`, oriented and scaled, NaN where it is silent; returns what was told, a bit each.

        A reward may be partial: a mapping with some of the names, or a sequence with None in the other places.
        """
        names = self.objective_names
        if type(reward) is dict or isinstance(reward, Mapping):
            values: Any = [reward.get(name) for name in names]
            if len(reward) != len(names) or None in values:
                unknown = [name for name in reward if name not in names]
                if unknown:
                    raise Refused(f"reward: {unknown[0]!r} is not one of the objectives {list(names)!r}")
        else:
            values = _in_order("reward", names, reward)
        told = 0
        for o, (objective, field) in enumerate(self._reward_fields):
            value = values[o]
            if value is None:
                out[o] = math.nan
            else:
                out[o] = objective.encode(value, field)
                told |= 1 << o
        if told == 0:
            raise Refused(f"reward: {reward!r} tells nothing, expected a number for one or more of {list(names)!r}")
        return told

    def decode_reward(self, values: Iterable[float]) -> dict[str, float]:
        """A reward vector in the user's units, by name."""
        return {o.name: o.decode(float(v)) for o, v in zip(self.objectives, values, strict=True)}


def _may_miss(dimension: Any) -> bool:
    return isinstance(dimension, Real) and dimension.missing


def _check_playable(dimension: Any) -> None:
    """Refuse, in an arm, what only contexts can be."""
    for has, what in (
        (
            isinstance(dimension, Vector),
            "is a Vector, expected Real or Integer or Categorical; a Vector is for contexts",
        ),
        (getattr(dimension, "missing", False), "may be missing, but what is played always has a value"),
        (getattr(dimension, "other", False), "takes other values, but only what is listed can be played"),
        (getattr(dimension, "outside", "refuse") != "refuse", "clips, but nothing outside of its bounds is played"),
    ):
        if has:
            raise Refused(f"arm: {dimension.name!r} {what}")


def _check_members(field: str, members: Any, types: tuple[type, ...]) -> None:
    expected = " or ".join(t.__name__ for t in types)
    remedy = "; for labels use Finite([...])" if field == "arm" else ""
    if not isinstance(members, tuple):
        raise Refused(f"{field}: {members!r} given, expected a list of {expected}{remedy}")
    for member in members:
        if field == "arm":
            _check_playable(member)
        if not isinstance(member, types):
            article = "an" if expected.startswith("O") else "a"
            raise Refused(f"{field}: {member!r} is not {article} {expected}{remedy}")
    names = [member.name for member in members]
    for name in names:
        if names.count(name) > 1:
            raise Refused(f"{field}: the name {name!r} is given twice")


def _in_order(field: str, names: tuple[str, ...], values: Any) -> Any:
    """The values in the order of the names, whether they came as a mapping or as a sequence."""
    if type(values) is dict or isinstance(values, Mapping):
        if len(values) == len(names):
            try:
                return [values[name] for name in names]
            except KeyError:
                pass
        missing = [name for name in names if name not in values]
        extra = [name for name in values if name not in names]
        problem = f"{missing[0]!r} is missing" if missing else f"{extra[0]!r} is not a known name"
        raise Refused(f"{field}: {problem} in {dict(values)!r}, expected the names {list(names)!r}")
    if isinstance(values, (list, tuple)) or (isinstance(values, np.ndarray) and values.ndim == 1):
        if len(values) != len(names):
            raise Refused(f"{field}: {values!r} has {len(values)} entries, expected {len(names)} ({list(names)!r})")
        return values
    raise Refused(f"{field}: {values!r} is neither a mapping nor a sequence with {list(names)!r}")
