"""A vector: one named part of a context that holds many numbers, such as an embedding."""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, ClassVar

import msgspec
import numpy as np

from paretozoom.kernels.core.kinds import LINEAR
from paretozoom.problem.dimensions import Coordinates, Floats, Outside, number_of
from paretozoom.problem.values import check_name, check_outside
from paretozoom.records import Refused

MOST_NUMBERS = 4096
ROUNDING = 1e-3  # of the length: what 16-bit numbers of unit length may be longer


class Vector(msgspec.Struct, frozen=True, forbid_unknown_fields=True, dict=True, tag="vector"):
    """So many numbers of a context under one name, given as an array or a list; each lies between low and high.

    With a `length`, such as 1 for embeddings of unit length, what is limited is the Euclidean length instead. A
    distance takes the vector as one dimension: the Euclidean distance, divided by the largest there is. That is
    twice the length, or the diagonal of the box from low to high. The diagonal grows with the size: if you know
    the length, say so. With ``outside="clip"`` numbers beyond the bounds count as the nearest bound, and a vector
    that is too long as one of the full length.

    >>> out = np.empty(4)
    >>> plain = Vector("prompt", 4).fill(np.array([-1, 0, 0.5, 1], np.float32), "context['prompt']", out)
    >>> plain, out.tolist()
    ([-1.0, 0.0, 0.5, 1.0], [0.0, 0.5, 0.75, 1.0])
    """

    name: str
    size: int
    low: float = -1.0
    high: float = 1.0
    length: float | None = None
    outside: Outside = "refuse"

    def __post_init__(self) -> None:
        check_name("Vector", self.name)
        if isinstance(self.size, bool) or not isinstance(self.size, (int, np.integer)):
            raise Refused(f"{self.name}: size is {self.size!r}, expected a whole number")
        if not 1 <= self.size <= MOST_NUMBERS:
            raise Refused(f"{self.name}: size is {self.size!r}, expected 1 to {MOST_NUMBERS}")
        low, high = number_of(self.low, f"{self.name}: low"), number_of(self.high, f"{self.name}: high")
        if not low < high:
            raise Refused(f"{self.name}: low {low!r} must be below high {high!r}")
        if not math.isfinite((high - low) * math.sqrt(self.size)):
            raise Refused(f"{self.name}: from {low!r} to {high!r} is further than a float can hold")
        length = self.length
        if length is not None:
            length = number_of(length, f"{self.name}: length")
            if not 0 < length < 1e150:
                raise Refused(f"{self.name}: length is {self.length!r}, expected a positive number below 1e150")
            if (low, high) not in ((-1.0, 1.0), (-length, length)):
                raise Refused(f"{self.name}: length {length!r} is given together with low and high; give one of them")
            low, high = -length, length
        check_outside(self.name, self.outside)
        for field, value in (("size", int(self.size)), ("low", low), ("high", high), ("length", length)):
            msgspec.structs.force_setattr(self, field, value)

    @cached_property
    def coordinates(self) -> Coordinates:
        """The kind and values of each coordinate."""
        return ((LINEAR, 0),) * self.size

    values: ClassVar[int] = 0  # a continuum
    fills: ClassVar[bool] = True  # writes its coordinates itself

    @property
    def diameter(self) -> float:
        """The largest Euclidean distance of two such vectors, in units of high - low."""
        return 1.0 if self.length is not None else math.sqrt(self.size)

    def fill(self, value: Any, field: str, out: Floats) -> list[float]:
        """Write the coordinates of a vector to `out`; returns its numbers as they were given."""
        given = self._numbers(value, field)
        if not np.isfinite(given).all():
            k = int(np.argmin(np.isfinite(given)))
            raise Refused(f"{field}[{k}]: {float(given[k])!r} is not a finite number")
        numbers = self._inside(given, field) if self.length is None else self._cut(given, field)
        # Rounding of a length, and of the division, may lead beyond the bounds.
        np.clip((numbers - self.low) / (self.high - self.low), 0.0, 1.0, out=out)
        plain: list[float] = given.tolist()
        return plain

    def read(self, coordinates: Floats) -> list[float]:
        """From coordinates to a vector; of those beyond the length, to the nearest one."""
        numbers = np.clip(self.low + coordinates * (self.high - self.low), self.low, self.high)
        plain: list[float] = (self._cut(numbers) if self.length is not None else numbers).tolist()
        return plain

    @property
    def exact(self) -> bool:
        """Whether encoding and decoding change nothing."""
        return self.low == 0 and self.high == 1 and self.length is None

    def _numbers(self, value: Any, field: str) -> Floats:
        if not isinstance(value, np.ndarray):
            if isinstance(value, (list, tuple)):
                value = np.array(
                    [v if type(v) is float else number_of(v, f"{field}[{k}]") for k, v in enumerate(value)], float
                )
            elif hasattr(value, "__array__") and not isinstance(value, np.generic):  # of other libraries
                value = np.asarray(value)
        if not isinstance(value, np.ndarray):
            raise Refused(f"{field}: {value!r} is not an array or a list of {self.size} numbers")
        if value.shape != (self.size,):
            raise Refused(f"{field}: an array of shape {value.shape} given, expected {self.size} numbers")
        if value.dtype.kind not in "iuf":
            raise Refused(f"{field}: an array of {value.dtype} given, expected {self.size} numbers")
        return value.astype(np.float64)

    def _inside(self, given: Floats, field: str) -> Floats:
        if self.outside == "clip":
            return np.clip(given, self.low, self.high)
        inside = (given >= self.low) & (given <= self.high)
        if not inside.all():
            k = int(np.argmin(inside))
            raise Refused(f"{field}[{k}]: {float(given[k])!r} is outside [{self.low:g}, {self.high:g}]")
        return given

    def _cut(self, given: Floats, field: str | None = None) -> Floats:
        """A vector of at most the length; with a field, one that is longer may be refused."""
        assert self.length is not None
        length = math.hypot(*given.tolist())  # by the same steps on every machine, unlike numpy's
        if length <= self.length * (1 + ROUNDING):
            return given
        if field is not None and self.outside != "clip":
            raise Refused(f"{field}: its length is {length:g}, expected at most {self.length:g}")
        return np.asarray(given * (self.length / length))
