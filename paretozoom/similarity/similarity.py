"""The metric D on encoded context-arm pairs, of diameter at most 1."""

from __future__ import annotations

import hashlib
import importlib
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from operator import add
from typing import Any

import numpy as np

from paretozoom.kernels.core import kinds
from paretozoom.problem import Encoding, Problem
from paretozoom.problem.dimensions import Categorical, Finite, Floats, Integer, Ints, Real, number_of
from paretozoom.problem.vector import Vector
from paretozoom.records import Refused

Distance = Callable[[Floats, Floats], float]
# What a number and whether it is missing contribute to their gap, by the norm: of a linear and of a periodic number.
# A missing one lies in the middle, up to 1/2 from a linear number and up to 1 from a periodic one; at most 1 in all.
MISSING: dict[float, tuple[tuple[float, float], tuple[float, float]]] = {
    1.0: ((1.0, 0.5), (0.5, 0.5)),
    2.0: ((1.0, 0.75), (0.5, 0.5)),
    math.inf: ((1.0, 1.0), (1.0, 1.0)),
}
KERNEL_NORMS = {1.0: kinds.NORM_ONE, 2.0: kinds.NORM_TWO, math.inf: kinds.NORM_MAX}


@dataclass(frozen=True, eq=False)
class Similarity:
    """D(a, b) = min(1, scale * distance), where the distance of two encoded points is one of

    - a weighted mean of the coordinates' gaps (`norm` 1), the root of their weighted mean square (2), or their largest
      weighted gap (inf); a gap is 0 or 1 for categories and goes the shorter way round for periodic coordinates;
    - an entry of `matrix`, one row and column for each context-arm pair, contexts before arms;
    - what `function` says of the two points, compiled if it can be.

    A vector counts as one coordinate whose gap is its Euclidean distance divided by the largest there is. A number
    that may be missing counts as one too: two missing ones are alike, and one is far from every number, 0.86 or more
    (1/2 for norm 1). If it is periodic that is 0.7 or more (1/2), and two numbers are nearer by the same factor.

    Without arguments it is the root mean square; with one real context and one real arm that is the D of the paper's
    Appendix D. A scale of L makes Assumption 1 hold for expected rewards that change up to L times as fast as the
    distance without it; the weights tell in which coordinates they change fastest.

    >>> from paretozoom import Objective, Real
    >>> task = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])
    >>> a, b = np.array([[0.0, 0.0]]), np.array([[0.4, 0.8]])
    >>> Similarity.of(task, norm=1).distances(a, b).round(3).tolist()
    [[0.6]]
    >>> Similarity.of(task, norm=1, weights={"x": 3}).distances(a, b).round(3).tolist()
    [[0.5]]
    """

    encoding: Encoding
    norm: float
    weights: Floats  # of each dimension, and of each feature of finite arms
    shares: Floats  # (dim,) of each coordinate in the gap of its dimension, squared for norm 2
    owners: Ints  # (dim,) the dimension of each coordinate
    scale: float
    matrix: Floats | None = None
    function: Distance | None = None

    @classmethod
    def of(
        cls,
        problem: Problem,
        *,
        norm: float | str = 2,
        weights: Sequence[float] | Mapping[str, float] | None = None,
        scale: float = 1.0,
        matrix: Any = None,
        function: Distance | str | None = None,
    ) -> Similarity:
        """The similarity of a problem; a function may also be named, as "module:name"."""
        given = [name for name, value in (("matrix", matrix), ("function", function)) if value is not None]
        if len(given) == 2 or (given and (weights is not None or norm != 2)):
            raise Refused(f"similarity: {given[0]!r} is given together with another distance; give one of them")
        number = number_of(scale, "similarity: scale")
        if number <= 0:
            raise Refused(f"similarity: scale {scale!r} is not positive")
        power = _checked_norm(norm)
        shares = shares_of(problem, power)
        found = cls(
            problem.encoding,
            power,
            _checked_weights(problem, weights),
            np.concatenate(shares),
            np.repeat(np.arange(len(shares)), [len(share) for share in shares]),
            number,
            None if matrix is None else _checked_matrix(problem, matrix),
            None if function is None else _checked_function(function),
        )
        if not (np.isfinite(found.factors).all() and (found.factors > 0).all()):
            raise Refused(f"similarity: weights {weights!r} and scale {scale!r} are beyond what numbers can hold")
        return found

    @property
    def parameters(self) -> dict[str, Any]:
        """What tells this similarity from others of the problem, as JSON has it."""
        told: dict[str, Any] = {"scale": self.scale}
        if self.norm != 2:
            told["norm"] = "inf" if self.norm == math.inf else int(self.norm)
        if (self.weights != 1).any():
            told["weights"] = self.weights.tolist()
        if self.matrix is not None:
            told["matrix"] = hashlib.sha256(self.matrix.tobytes()).hexdigest()
        if self.function is not None:
            name = getattr(self.function, "__qualname__", type(self.function).__qualname__)
            told["function"] = f"{self.function.__module__}:{name}"
        return told

    # What kernels must know.

    @property
    def kernel_norm(self) -> int:
        """The kernels' number for what gives the distance."""
        if self.matrix is not None:
            return kinds.MATRIX
        return kinds.FUNCTION if self.function is not None else KERNEL_NORMS[self.norm]

    @cached_property
    def factors(self) -> Floats:
        """(dim,) What each coordinate's gap, squared for norm 2, is multiplied with."""
        scale = self.scale * self.scale if self.norm == 2 else self.scale
        # Not `sum`, which newer versions of Python round differently.
        weights = self.weights.tolist()
        whole = max(weights) if self.norm == math.inf else reduce(add, weights)
        return np.array([scale * (weight / whole) for weight in weights])[self.owners] * self.shares

    @cached_property
    def _callable(self) -> Any:
        from paretozoom.kernels.core.callbacks import callable_from_kernels  # here, so that norms cost no compiler

        return callable_from_kernels(self.function) if self.function is not None else None

    @property
    def address(self) -> int:
        """Where in memory kernels find the function; 0 if there is none."""
        return int(self._callable.address) if self.function is not None else 0

    @property
    def compiled(self) -> bool:
        """Whether kernels call no interpreted function."""
        return self.function is None or bool(self._callable.compiled)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_callable"}

    # Distances of many points.

    def distances(self, a: Floats, b: Floats) -> Floats:
        """All distances between the points a (n, dim) and b (m, dim): (n, m)."""
        return self.between(a[:, None, :], b[None, :, :])

    def between(self, a: Floats, b: Floats) -> Floats:
        """The distances between the points of two arrays (..., dim) of matching shapes."""
        return np.asarray(np.minimum(1.0, self.uncut(a, b)))

    def uncut(self, a: Floats, b: Floats) -> Floats:
        """The same before it is cut off at 1."""
        if self.matrix is not None:
            return np.asarray(self.scale * self.matrix[self._pairs(a), self._pairs(b)])
        if self.function is not None:
            a, b = np.broadcast_arrays(a, b)
            # Machine code would not notice a coordinate that is not there.
            function = getattr(self.function, "py_func", self.function)
            found = [_called(function, p, q) for p, q in zip(_rows(a), _rows(b), strict=True)]
            return np.asarray(self.scale * np.array(found, float).reshape(a.shape[:-1]))
        return self.length_of(self.part_of(a, b, range(len(self.factors))))

    def part_of(self, a: Floats, b: Floats, coordinates: Iterable[int]) -> Floats:
        """What some coordinates, the last axis of both arrays, contribute to a p-norm."""
        total = np.zeros(np.broadcast_shapes(a.shape[:-1], b.shape[:-1]))
        for place, j in enumerate(coordinates):
            kind, factor = self.encoding.kinds[j], self.factors[j]
            gap = np.abs(a[..., place] - b[..., place])
            if kind == kinds.PERIODIC:
                gap = 2.0 * np.minimum(gap, 1.0 - gap)
            elif kind == kinds.CATEGORICAL:
                gap = (gap != 0).astype(float)
            total = self.sum_of(total, factor * (gap * gap if self.norm == 2 else gap))
        return np.asarray(total)

    def sum_of(self, part: Floats, other: Floats) -> Floats:
        """The part of two sets of coordinates together."""
        return np.maximum(part, other) if self.norm == math.inf else part + other

    def length_of(self, part: Floats) -> Floats:
        """The distance whose part in all coordinates is known, before it is cut off at 1."""
        return np.asarray(np.sqrt(part) if self.norm == 2 else part)

    def _pairs(self, points: Floats) -> Ints:
        """The numbers of points (..., dim) among all context-arm pairs."""
        context, arms = self.encoding.context, self.encoding.arms
        number = np.zeros(points.shape[:-1], np.int64)
        for j, values in enumerate(self.encoding.values[:context].tolist()):
            place = points[..., j] if values < 0 else points[..., j] * (values - 1)
            number = number * abs(values) + np.rint(place).astype(np.int64)
        same = (points[..., None, context:] == arms).all(axis=-1)
        return np.asarray(number * len(arms) + same.argmax(axis=-1))


def _called(function: Distance, a: Floats, b: Floats) -> float:
    try:
        value = function(a.copy(), b.copy())
    except Exception as error:
        raise Refused(
            f"similarity: function failed at the encoded points {a.tolist()}, {b.tolist()}: {error!r}"
        ) from error
    if np.ndim(value) > 0 or not isinstance(value, (int, float, np.number)):
        raise Refused(f"similarity: function gave {value!r}, expected a number")
    return float(value)


def _rows(points: Floats) -> Floats:
    return points.reshape(-1, points.shape[-1])


def _checked_norm(norm: Any) -> float:
    if isinstance(norm, bool) or norm not in (1, 2, math.inf, "inf"):
        raise Refused(f"similarity: norm {norm!r} is not 1, 2 or inf")
    return float(norm)


def shares_of(problem: Problem, norm: float) -> list[Floats]:
    """What the coordinates of each dimension contribute to its gap, which is at most 1; squared for norm 2.

    >>> from paretozoom import Objective, Real
    >>> task = Problem(context=[Vector("v", 4)], arm=[Real("y")], objectives=[Objective("r")])
    >>> [share.tolist() for share in shares_of(task, 2)]
    [[0.25, 0.25, 0.25, 0.25], [1.0]]
    """
    shares: list[Floats] = []
    for dimension in problem.context:
        if isinstance(dimension, Vector) and norm != 2:
            raise Refused(
                f"similarity: norm {norm:g} given, but the distance of the vector {dimension.name!r} is Euclidean; "
                "expected norm 2"
            )
        if isinstance(dimension, Real) and dimension.missing:
            shares.append(np.array(MISSING[norm][dimension.periodic]))
        else:
            own = dimension.diameter**-2.0 if isinstance(dimension, Vector) else 1.0
            shares.append(np.full(len(dimension.coordinates), own))
    return shares + [np.ones(1)] * (problem.dim - problem.encoding.context)


def names_of(problem: Problem) -> list[str]:
    """The names of what has a weight: dimensions, and the coordinates of finite arms."""
    names, arms = [d.name for d in problem.context], problem.dim - problem.encoding.context
    return names + (["arm"] * arms if isinstance(problem.arm, Finite) else [d.name for d in problem.arm])


def _checked_weights(problem: Problem, weights: Any) -> Floats:
    names = names_of(problem)
    if weights is None:
        return np.ones(len(names))
    if isinstance(weights, Mapping):
        unknown = [name for name in weights if name not in names]
        if unknown:
            raise Refused(f"similarity: weights: {unknown[0]!r} is not one of {names!r}")
        weights = [weights.get(name, 1) for name in names]
    if isinstance(weights, str) or not isinstance(weights, (Sequence, np.ndarray)) or len(weights) != len(names):
        raise Refused(f"similarity: weights {weights!r} are not {len(names)} numbers, one for each of {names!r}")
    numbers = np.array([number_of(w, f"similarity: weights[{n!r}]") for n, w in zip(names, weights, strict=True)])
    for name, weight in zip(names, numbers, strict=True):
        if weight <= 0:
            raise Refused(
                f"similarity: weights[{name!r}] {weight:g} is not positive; leave it out of the problem instead"
            )
    return numbers


def _checked_matrix(problem: Problem, matrix: Any) -> Floats:
    encoding = problem.encoding
    if not len(encoding.arms) or not all(isinstance(d, (Integer, Categorical)) for d in problem.context):
        raise Refused("similarity: a matrix needs finitely many contexts and arms")
    if len(np.unique(encoding.arms, axis=0)) < len(encoding.arms):
        raise Refused("similarity: a matrix cannot tell arms with the same features apart")
    contexts = math.prod(abs(v) for v in encoding.values[: encoding.context].tolist())
    pairs = contexts * len(encoding.arms)
    try:
        table = np.array(matrix, float, order="C")
    except (TypeError, ValueError) as error:
        raise Refused(f"similarity: matrix: {error}") from error
    if table.shape != (pairs, pairs):
        raise Refused(
            f"similarity: matrix of shape {table.shape}, expected {(pairs, pairs)}: a row and a column for each of "
            f"{contexts} contexts x {len(encoding.arms)} arms"
        )
    if not np.isfinite(table).all():
        raise Refused("similarity: matrix holds numbers that are not finite")
    return table


def _checked_function(function: Any) -> Distance:
    if isinstance(function, str):
        function = function_named(function)
    if not callable(function):
        raise Refused(f"similarity: function {function!r} cannot be called")
    return function  # type: ignore[no-any-return]


def function_named(name: str) -> Any:
    """What "module:name" names.

    >>> function_named("math:dist").__name__
    'dist'
    """
    module, _, attribute = name.partition(":")
    try:
        return getattr(importlib.import_module(module), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise Refused(f"similarity: function {name!r} cannot be imported as 'module:name': {error}") from error
