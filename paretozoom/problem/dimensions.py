"""Dimensions, finite arms and objectives: each knows how its values become numbers in [0, 1]."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from numbers import Number
from typing import Any, ClassVar, Literal, cast

import msgspec
import numpy as np
import numpy.typing as npt

from paretozoom.kernels.core.kinds import CATEGORICAL, LINEAR, PERIODIC
from paretozoom.problem.values import (
    check_flag,
    check_name,
    check_outside,
    checked_choices,
    is_missing,
    is_plain,
    plain_of,
)
from paretozoom.records import Refused

LARGEST_REWARD = 1e100  # in units of an objective's scale
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Coordinates = tuple[tuple[int, int], ...]  # of each coordinate its kind and values: 0, m if spaced, -m if categories
Outside = Literal["refuse", "clip"]
MIDDLE = 0.5  # the coordinate of a number that is missing
OTHER = "other"  # stands for what is not among the choices


def number_of(value: Any, field: str) -> float:
    """A finite float, or a refusal that names the field.

    >>> number_of(2, "context['x']")
    2.0
    """
    if type(value) is not float:
        if isinstance(value, (np.generic, np.ndarray)):
            is_number = value.dtype.kind in "iuf"
        else:
            is_number = isinstance(value, Number) and not isinstance(value, bool)
        if not is_number:
            raise Refused(f"{field}: {value!r} is not a number")
        try:
            value = float(value)
        except (TypeError, ValueError, OverflowError) as error:
            raise Refused(f"{field}: {value!r} is not a number that a float can hold") from error
    if not math.isfinite(value):
        raise Refused(f"{field}: {value!r} is not a finite number")
    return cast(float, value)


class Real(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="real"):
    """A real number between low and high; on a log scale if its ratios matter; periodic if high is low again.

    In contexts it may be `missing`: None and NaN are then taken too, and the log says None. To a policy that is a
    number in the middle and a coordinate of its own, which is 1 where the number is missing and 0 elsewhere. With
    ``outside="clip"`` a number beyond the bounds counts as the nearest bound; the log has it as it was given.

    >>> Real("price", 1, 100, scale="log").encode(10, "price")
    0.5
    >>> out = np.empty(2)
    >>> Real("age", 0, 100, missing=True).fill(math.nan, "context['age']", out), out.tolist()
    (None, [0.5, 1.0])
    >>> Real("age", 0, 100, outside="clip").encode(120, "context['age']")
    1.0
    """

    name: str
    low: float = 0.0
    high: float = 1.0
    scale: Literal["linear", "log"] = "linear"
    periodic: bool = False
    missing: bool = False
    outside: Outside = "refuse"

    def __post_init__(self) -> None:
        check_name("Real", self.name)
        low, high = number_of(self.low, f"{self.name}: low"), number_of(self.high, f"{self.name}: high")
        if not low < high:
            raise Refused(f"{self.name}: low {low!r} must be below high {high!r}")
        if self.scale not in ("linear", "log"):
            raise Refused(f"{self.name}: scale is {self.scale!r}, expected 'linear' or 'log'")
        if self.scale == "log" and low <= 0:
            raise Refused(f"{self.name}: low is {low!r}, but a log scale needs low above 0")
        if self.scale == "log" and self.periodic:
            raise Refused(f"{self.name}: a periodic dimension cannot have a log scale")
        check_flag(f"{self.name}: periodic", self.periodic)
        check_flag(f"{self.name}: missing", self.missing)
        check_outside(self.name, self.outside)
        if not math.isfinite(high / low if self.scale == "log" else high - low):
            raise Refused(f"{self.name}: from {low!r} to {high!r} is further than a float can hold")
        msgspec.structs.force_setattr(self, "low", low)
        msgspec.structs.force_setattr(self, "high", high)

    @property
    def kind(self) -> int:
        """How two coordinates are compared."""
        return PERIODIC if self.periodic else LINEAR

    @property
    def coordinates(self) -> Coordinates:
        """The kind and values of each coordinate."""
        return ((self.kind, 0), (CATEGORICAL, -2)) if self.missing else ((self.kind, 0),)

    @property
    def fills(self) -> bool:
        """Whether it writes its coordinates itself."""
        return self.missing

    @property
    def values(self) -> int:
        """0: a continuum."""
        return 0

    def fill(self, value: Any, field: str, out: Floats) -> float | None:
        """Write the coordinates of a number that may be missing to `out`; returns it in a plain type."""
        if is_missing(value):
            out[:] = MIDDLE, 1.0
            return None
        out[:] = self.encode(value, field), 0.0
        return self.plain(value)

    def read(self, coordinates: Floats) -> float | None:
        """From the coordinates of a number that may be missing."""
        return None if coordinates[1] == 1.0 else self.decode(float(coordinates[0]))

    def encode(self, value: Any, field: str) -> float:
        """From the user's units to [0, 1]."""
        number = value if type(value) is float else number_of(value, field)
        if not self.low <= number <= self.high:
            number_of(value, field)
            if self.outside == "refuse":
                raise Refused(f"{field}: {value!r} is outside [{self.low:g}, {self.high:g}]")
            number = self.low if number < self.low else self.high
        if self.scale == "log":
            return math.log(number / self.low) / math.log(self.high / self.low)
        return (number - self.low) / (self.high - self.low)

    def decode(self, coordinate: float) -> float:
        """From [0, 1] to the user's units."""
        if self.scale == "log":
            number = self.low * (self.high / self.low) ** coordinate
        else:
            number = self.low + coordinate * (self.high - self.low)
        return float(number if self.low <= number <= self.high else min(max(number, self.low), self.high))

    def plain(self, value: Any) -> float:
        """A value in Python's own type."""
        return float(value)

    @property
    def exact(self) -> bool:
        """Whether encoding and decoding change nothing."""
        return self.low == 0 and self.high == 1 and self.scale == "linear" and not self.missing


class Integer(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="integer"):
    """A whole number from low to high, both included; with ``outside="clip"`` others count as the nearest of these.

    >>> Integer("threads", 1, 9).encode(5, "threads")
    0.5
    >>> Integer("threads", 1, 9, outside="clip").encode(64, "context['threads']")
    1.0
    """

    name: str
    low: int
    high: int
    outside: Outside = "refuse"

    def __post_init__(self) -> None:
        check_name("Integer", self.name)
        for bound in (self.low, self.high):
            if isinstance(bound, bool) or not isinstance(bound, (int, np.integer)):
                raise Refused(f"{self.name}: the bound {bound!r} is not an integer")
        if not self.low < self.high:
            raise Refused(f"{self.name}: low {self.low!r} must be below high {self.high!r}")
        check_outside(self.name, self.outside)
        msgspec.structs.force_setattr(self, "low", int(self.low))
        msgspec.structs.force_setattr(self, "high", int(self.high))

    kind: ClassVar[int] = LINEAR
    exact: ClassVar[bool] = False
    fills: ClassVar[bool] = False

    @property
    def coordinates(self) -> Coordinates:
        """The kind and values of each coordinate."""
        return ((self.kind, self.values),)

    @property
    def values(self) -> int:
        """How many values there are."""
        return self.high - self.low + 1

    def encode(self, value: Any, field: str) -> float:
        """From the user's units to [0, 1]."""
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)):
            raise Refused(f"{field}: {value!r} is not an integer")
        if not self.low <= value <= self.high:
            if self.outside == "refuse":
                raise Refused(f"{field}: {value!r} is outside [{self.low}, {self.high}]")
            return 0.0 if value < self.low else 1.0
        return float((value - self.low) / (self.high - self.low))

    def decode(self, coordinate: float) -> int:
        """From [0, 1] to the user's units."""
        return self.low + round(coordinate * (self.high - self.low))

    def plain(self, value: Any) -> int:
        """A value in Python's own type."""
        return int(value)


class Categorical(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="categorical"):
    """One of some choices, any two of which are equally far apart.

    In contexts it may be something `other`: whatever is not listed is then one more choice, "other", and so are None
    and NaN. The log has it as it was given, NaN as None.

    >>> Categorical("country", ["cz", "tr"]).encode("tr", "country")
    1.0
    >>> Categorical("country", ["cz", "tr"], other=True).encode("at", "context['country']")
    2.0
    """

    name: str
    choices: Sequence[str | int | float | bool]
    other: bool = False

    def __post_init__(self) -> None:
        check_name("Categorical", self.name)
        msgspec.structs.force_setattr(self, "choices", checked_choices(self.choices, f"{self.name}: choices"))
        if len(self.choices) < 2 or len(set(self.choices)) < len(self.choices):
            raise Refused(f"{self.name}: choices are {self.choices!r}, expected two or more different ones")
        check_flag(f"{self.name}: other", self.other)
        if self.other and OTHER in self.choices:
            raise Refused(f"{self.name}: {OTHER!r} is one of the choices, but with other=True it stands for the others")

    kind: ClassVar[int] = CATEGORICAL
    exact: ClassVar[bool] = False

    @property
    def fills(self) -> bool:
        """Whether it writes its coordinates itself."""
        return self.other

    @property
    def coordinates(self) -> Coordinates:
        """The kind and values of each coordinate."""
        return ((self.kind, -self.values),)

    @property
    def values(self) -> int:
        """How many choices there are, all others being one."""
        return len(self.choices) + self.other

    def fill(self, value: Any, field: str, out: Floats) -> Any:
        """Write the number of a choice, or of what is none, to `out`; returns the value in a plain type."""
        out[0] = self.encode(value, field)
        return self.plain(value)

    def read(self, coordinates: Floats) -> Any:
        """From a coordinate to a choice."""
        return self.decode(float(coordinates[0]))

    def encode(self, value: Any, field: str) -> float:
        """From a choice to its number."""
        try:
            return float(self.choices.index(value))
        except ValueError:
            if not self.other:
                raise Refused(f"{field}: {value!r} is not one of {list(self.choices)!r}") from None
        if not (is_missing(value) or is_plain(plain_of(value))):
            raise Refused(f"{field}: {value!r} is not a string, a number, a boolean or None")
        return float(len(self.choices))

    def decode(self, coordinate: float) -> Any:
        """From its number to a choice; "other" stands for what is none."""
        number = int(coordinate)
        return self.choices[number] if number < len(self.choices) else OTHER

    def plain(self, value: Any) -> Any:
        """A value as it was written in the choices; as it was given, if it is none of them."""
        if self.other and value not in self.choices:
            return None if is_missing(value) else plain_of(value)
        return self.choices[self.choices.index(value)]


Dimension = Real | Integer | Categorical


class Finite(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag="finite"):
    """Finitely many arms, known by labels; features, scaled to [0, 1], say which arms resemble each other.

    >>> Finite(["small", "large"], features=[[1], [5]]).table.tolist()
    [[0.0], [1.0]]
    """

    labels: Sequence[str | int | float | bool]
    features: Sequence[Sequence[float]] | None = None

    def __post_init__(self) -> None:
        if isinstance(self.labels, Mapping):
            raise Refused(
                f"arm: labels are {self.labels!r}, expected a list; features go beside it, as in "
                f"Finite({list(self.labels)!r}, features=[...])"
            )
        labels = checked_choices(self.labels, "arm: labels")
        msgspec.structs.force_setattr(self, "labels", labels)
        if not labels or len(set(labels)) < len(labels):
            raise Refused(f"arm: labels are {labels!r}, expected one or more different ones")
        if self.features is None:
            return
        try:
            rows = tuple(
                tuple(number_of(v, f"arm: features of {label!r}") for v in row)
                for label, row in zip(labels, self.features, strict=False)
            )
        except TypeError:
            raise Refused(f"arm: features are {self.features!r}, expected a row of numbers per label") from None
        if len(self.features) != len(labels) or len({len(row) for row in rows}) != 1 or not rows[0]:
            raise Refused(
                f"arm: features have {len(self.features)} rows of lengths "
                f"{sorted({len(row) for row in rows})}, expected {len(labels)} rows of one length"
            )
        for column in zip(*rows, strict=True):
            if not math.isfinite(max(column) - min(column)):
                raise Refused(
                    f"arm: features from {min(column)!r} to {max(column)!r} are further than a float can hold"
                )
        msgspec.structs.force_setattr(self, "features", rows)

    @property
    def kinds(self) -> tuple[int, ...]:
        """How the coordinates of two arms are compared."""
        return (CATEGORICAL,) if self.features is None else (LINEAR,) * len(self.features[0])

    @property
    def table(self) -> Floats:
        """One row of coordinates per label."""
        if self.features is None:
            return np.arange(len(self.labels), dtype=float)[:, None]
        rows = np.array(self.features, dtype=float)
        span = np.ptp(rows, axis=0)
        return np.asarray((rows - rows.min(axis=0)) / np.where(span > 0, span, 1.0))


class Objective(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is rewarded: low and high are the scale of the *expected* reward.

    A bounded objective refuses rewards outside [low, high]; with ``bounded=False`` any finite reward is
    taken; ``low=None, high=None`` says that the scale is unknown, which some policies refuse.

    >>> Objective("latency", goal="min", low=0, high=200).encode(50, "latency")
    0.75
    """

    name: str
    goal: Literal["max", "min"] = "max"
    low: float | None = 0.0
    high: float | None = 1.0
    bounded: bool = True

    def __post_init__(self) -> None:
        check_name("Objective", self.name)
        if self.goal not in ("max", "min"):
            raise Refused(f"{self.name}: goal is {self.goal!r}, expected 'max' or 'min'")
        if self.low is None or self.high is None:
            if self.low is not self.high:
                raise Refused(f"{self.name}: low is {self.low!r} and high {self.high!r}; give both or neither")
            check_flag(f"{self.name}: bounded", self.bounded)
            msgspec.structs.force_setattr(self, "bounded", False)
            return
        check_flag(f"{self.name}: bounded", self.bounded)
        low, high = number_of(self.low, f"{self.name}: low"), number_of(self.high, f"{self.name}: high")
        if not low < high:
            raise Refused(f"{self.name}: low {low!r} must be below high {high!r}")
        if not math.isfinite(high - low):
            raise Refused(f"{self.name}: from {low!r} to {high!r} is further than a float can hold")
        msgspec.structs.force_setattr(self, "low", low)
        msgspec.structs.force_setattr(self, "high", high)

    @property
    def span(self) -> float:
        """High minus low; 1 if the scale is unknown."""
        return 1.0 if self.low is None or self.high is None else self.high - self.low

    def encode(self, value: Any, field: str) -> float:
        """From the user's units to "bigger is better", on [0, 1] if bounded."""
        number = value if type(value) is float and math.isfinite(value) else number_of(value, field)
        if self.bounded and self.low is not None and self.high is not None and not self.low <= number <= self.high:
            raise Refused(f"{field}: {value!r} is outside [{self.low:g}, {self.high:g}]")
        if not abs(number) <= LARGEST_REWARD * min(1.0, self.span):
            raise Refused(f"{field}: {value!r} is too large to be summed")
        if self.low is None or self.high is None:
            return number if self.goal == "max" else -number
        return (number - self.low) / self.span if self.goal == "max" else (self.high - number) / self.span

    def decode(self, value: float) -> float:
        """Back to the user's units."""
        if self.low is None or self.high is None:
            return float(value if self.goal == "max" else -value)
        return float(self.low + value * self.span if self.goal == "max" else self.high - value * self.span)

    @property
    def exact(self) -> bool:
        """Whether encoding and decoding change nothing."""
        return self.goal == "max" and self.low in (0, None) and self.high in (1, None)
