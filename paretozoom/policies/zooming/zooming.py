"""What the zooming policies share around their kernels: memory, snapshots, the balls, the front."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.core.kinds import (
    CATEGORICAL,
    FINITE,
    LATTICE,
    MATRIX,
    MOST_INTERVALS,
    MOST_PER_CELL,
    PERIODIC,
    SLICES,
)
from paretozoom.kernels.zooming import balls, growth, zooming
from paretozoom.kernels.zooming.balls import Layout
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.policies.fronts import Piece, learned_numbers, on_front
from paretozoom.policies.parameters import (
    check_zoomable,
    checked_delta,
    checked_horizon,
    checked_positive,
    checked_problem,
    encoded_centre,
    epoch_delta,
)
from paretozoom.policies.snapshots import checked_array
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Ints
from paretozoom.problem.feasible import encode_feasible
from paretozoom.records import Decision, Refused, Values
from paretozoom.similarity import Similarity
from paretozoom.similarity.metric import checked_similarity
from paretozoom.theory import confidence_constant

FIRST_CAPACITY = 64
LATTICES_SHOWN = 16
ROUNDING = 1e-12  # by which a child's centre may lie outside its parent's ball
MOST_BALLS = 1 << 60  # that an epoch which is over may have had
EPOCHS = 60  # of the doubling trick: more decisions than will ever be made


@dataclass(frozen=True)
class Balls:
    """The balls of a policy, in order of creation; the first is the root."""

    centre: Floats  # (n, dim) encoded
    radius: Floats  # (n,)
    parent: Ints  # (n,) -1 for the root
    count: Ints  # (n, learned objectives)
    total: Floats  # (n, learned objectives)

    def columns(self) -> dict[str, npt.NDArray[Any]]:
        """The columns by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @property
    def mean(self) -> Floats:
        """Sample means; 0 where nothing was seen."""
        return np.asarray(self.total / np.maximum(self.count, 1))


class Zooming(CompiledPolicy):
    """A policy that keeps balls; subclasses say how many numbers a ball learns and how sure it is of them."""

    def __init__(
        self,
        problem: Problem,
        *,
        horizon: int | None,
        delta: float | None,
        noise: float,
        confidence: float,
        similarity: Similarity | Mapping[str, Any] | None,
        centre: tuple[Values, Values] | None,
        seed: int,
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        check_zoomable(checked_problem(problem), self.name)
        self.horizon = checked_horizon(horizon)
        self.delta = checked_delta(delta)
        self.noise = checked_positive(noise, "noise")
        self.confidence = checked_positive(confidence, "confidence")
        self.similarity = checked_similarity(problem, similarity)
        self._root, plain = encoded_centre(problem, centre)
        told = {
            "horizon": self.horizon,
            **(parameters or {}),
            "delta": self.delta,
            "noise": self.noise,
            "confidence": self.confidence,
            "similarity": self.similarity.parameters,
            "centre": plain,
        }
        super().__init__(problem, seed=seed, parameters=told)

    # What a subclass provides.

    def _learned(self) -> int:
        """How many numbers a ball keeps the mean of."""
        return 1 if self._weights() else self._objectives

    def _radius(self, horizon: int, epoch: int) -> tuple[float, float, float]:
        """(multiplier, numerator, offset): u = multiplier * sqrt(numerator / (count + offset)); the paper's u_B."""
        delta = epoch_delta(self.delta, horizon, epoch, self.horizon is None)
        return self.noise * self.confidence, 2.0 * confidence_constant(self._learned(), horizon, delta), 0.0

    def _weights(self) -> list[float]:
        """How rewards are summed if one scalar is learned; empty if each objective is."""
        return []

    # Memory.

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        floats, ints = self._allocate(key, FIRST_CAPACITY)
        growth.restart(floats, ints, 0)
        return floats, ints

    def _allocate(self, key: Ints, capacity: int) -> tuple[Floats, Ints]:
        encoding = self.problem.encoding
        doubling = self.horizon is None
        radii = [self._radius(2 << e, e) for e in range(EPOCHS)] if doubling else [self._radius(self.horizon or 0, 0)]
        weights = self._weights()
        space, matrix = self._space(), self.similarity.matrix
        cells = encode_feasible(self.problem, [{}]) if space == LATTICE else np.zeros((0, 0))
        head = np.zeros(balls.HEADER, np.int64)
        head[balls.CAPACITY] = capacity
        head[balls.CONTEXT] = encoding.context
        head[balls.DIM] = self._dim
        head[balls.LEARNED] = self._learned()
        head[balls.ARMS] = len(encoding.arms)
        head[balls.WEIGHTS] = len(weights)
        head[balls.EPOCHS] = len(radii)
        head[balls.DOUBLING] = doubling
        head[balls.KEY0], head[balls.KEY1] = key
        head[balls.SPACE] = space
        head[balls.NORM] = self.similarity.kernel_norm
        head[balls.PAIRS] = 0 if matrix is None else len(matrix)
        head[balls.FUNCTION] = self.similarity.address
        head[balls.CELLS] = len(cells)
        head[balls.PER_CELL] = MOST_PER_CELL
        floats, ints = balls.allocate(head)
        at = balls.layout(ints)
        ints[at.kinds : at.kinds + self._dim] = encoding.kinds
        ints[at.values : at.values + self._dim] = encoding.values
        floats[balls.MULTIPLIER], floats[balls.OFFSET] = radii[0][0], radii[0][2]
        floats[balls.SCALE] = self.similarity.scale
        floats[at.numerators : at.weights] = [numerator for _, numerator, _ in radii]
        floats[at.weights : at.root] = weights
        floats[at.root : at.factors] = self._root
        floats[at.factors : at.cells] = self.similarity.factors
        floats[at.cells : at.matrix] = cells.ravel()
        if matrix is not None:
            floats[at.matrix : at.arm] = matrix.ravel()
        if space == FINITE:
            floats[at.arm : at.centre] = encoding.arms.ravel()
        return floats, ints

    def _space(self) -> int:
        """How domains are found."""
        if len(self.problem.encoding.arms):
            return FINITE
        one = self._dim - self.problem.encoding.context == 1
        return SLICES if one and self.similarity.kernel_norm < MATRIX else LATTICE

    def _check_feasible(self, rows: Floats) -> None:
        if self._space() == SLICES and len(rows) > MOST_INTERVALS:
            raise Refused(f"feasible: {len(rows)} separate intervals, expected at most {MOST_INTERVALS}")

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._ints[balls.FUNCTION] = self.similarity.address  # not what it was in another process

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return {**self.balls.columns(), "epoch": np.array([self._ints[balls.EPOCH]], np.int64)}

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        radius = arrays.get("radius") if isinstance(arrays, Mapping) else None
        size = len(radius) if isinstance(radius, np.ndarray) and radius.ndim == 1 else 1
        [epoch] = checked_array(arrays, "epoch", (1,), np.int64)
        expected = balls.epoch_of(number - 1) if self.horizon is None and number > 0 else 0
        if epoch != expected:
            raise Refused(f"snapshot: epoch is {epoch}, expected {expected}")
        if size < 1:
            raise Refused("snapshot: radius is empty, expected one or more balls")
        floats, ints = self._allocate(key, max(FIRST_CAPACITY, 1 << (size - 1).bit_length()))
        ints[balls.SIZE], ints[balls.EPOCH] = size, epoch
        for name, column in _columns(floats, ints).columns().items():
            column[:] = checked_array(arrays, name, column.shape, column.dtype)
        _check_balls(_columns(floats, ints), self.similarity)
        growth.refresh_all(floats, ints)
        return floats, ints

    def _credits(self, number: int, learned: Any = None) -> range:
        ints = self._ints if learned is None else learned[1]
        epoch = int(ints[balls.EPOCH]) if self.horizon is not None else balls.epoch_of(number)
        if epoch < ints[balls.EPOCH]:  # its balls were forgotten
            return range(MOST_BALLS)
        return range(int(ints[balls.SIZE]) if epoch == ints[balls.EPOCH] else 1)  # an epoch begins with its root

    def _begins_epoch(self, number: int) -> bool:
        return self.horizon is None and balls.epoch_of(number) > self._ints[balls.EPOCH]

    def _begin(self, decision: Decision) -> None:
        growth.enter(self._floats, self._ints, decision.number)

    # What was learned.

    @property
    def balls(self) -> Balls:
        """The balls as they are now (copies)."""
        views = _columns(self._floats, self._ints).columns()
        return Balls(**{name: column.copy(order="C") for name, column in views.items()})

    def facts(self) -> dict[str, Any]:
        """How many balls there are, and the smallest radius."""
        now = self.balls
        return {"balls": len(now.radius), "smallest_radius": float(now.radius.min())}

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The domains of the balls on the index front, or with `believed` of those whose mean is not dominated.

        Of arms with several dimensions a piece shows the box around what 16 fixed lattices find of a domain, one for
        each combination of the discrete values; its corners `low` and `high` are arms, and a periodic dimension with
        low above high goes through its end. The balls are those that stand; with an unknown horizon the next
        decision may begin a stretch without them.
        """
        point = np.empty(self._dim)
        self.problem.encode_context(context, point)
        rows = self._encode_feasible(feasible)
        f, i = self._floats, self._ints
        at = balls.layout(i)
        now = _columns(f, i)
        domains: dict[int, list[Any]] = {}
        about: dict[int, list[dict[str, Any]]] = {}
        for look in range(LATTICES_SHOWN if self._space() == LATTICE else 1):
            extent, relevant = zooming.look(f, i, at, -1 - look, point, rows)
            numbers = i[at.relevant : at.relevant + relevant].copy()
            chosen = self._believed(now, numbers) if believed else self._marked(at, relevant)
            for place in np.flatnonzero(chosen):
                i[at.chosen : at.chosen + relevant] = np.arange(relevant) == place
                ball = int(numbers[place])
                about.setdefault(ball, self._about(at, now, relevant, int(place)))
                domains.setdefault(ball, []).append(self._domain(at, point, extent, relevant))
        pieces = [
            ((*start, ball), Piece(*arm, *about[ball]))
            for ball, parts in domains.items()
            for start, *arm in (self._boxes(point, parts) if self._space() == LATTICE else parts[0])
        ]
        return [piece for _, piece in sorted(pieces, key=lambda p: p[0])]

    def _mark(self, at: Layout, relevant: int) -> None:
        """Mark the relevant balls the policy would draw from."""
        raise NotImplementedError

    def _marked(self, at: Layout, relevant: int) -> Ints:
        self._mark(at, relevant)
        return self._ints[at.chosen : at.chosen + relevant].copy()

    @staticmethod
    def _believed(now: Balls, relevant: Ints) -> Ints:
        """1 where a relevant ball has seen every objective and no other such ball's mean dominates its own."""
        seen = np.flatnonzero(now.count[relevant].min(axis=1) > 0)
        chosen = np.zeros(len(relevant), np.int64)
        chosen[seen] = on_front(now.mean[relevant[seen]])
        return chosen

    def _domain(self, at: Layout, point: Floats, extent: int, relevant: int) -> Any:
        """The domain of the marked ball at the surveyed context: (where, low, high, finite arm) of each part.

        Of a lattice: the candidates in it.
        """
        f, i = self._floats, self._ints
        if at.arms == 0:
            assert not isinstance(self.problem.arm, Finite)
            decode = self.problem.arm[0].decode
            count, _ = zooming.slice_union(f, i, at, extent)
            ends = zip(f[at.cover_low : at.cover_low + count], f[at.cover_high : at.cover_high + count], strict=True)
            return [((low,), decode(low), decode(high), None) for low, high in ends]
        zooming.list_union(f, i, at, point, extent, relevant)
        listed = np.flatnonzero(i[at.arm_chosen : at.arm_chosen + extent])
        if i[balls.SPACE] == FINITE:
            return [((float(k),), None, None, self._finite_arm(int(k))) for k in listed]
        return f[at.arm : at.arm + extent * (at.dim - at.context)].reshape(extent, -1)[listed]

    def _boxes(self, point: Floats, parts: Sequence[Floats]) -> list[tuple[Any, Any, Any, Any]]:
        """The boxes around arms, for each combination of their discrete values: (where, low, high, None)."""
        encoding, arms = self.problem.encoding, np.concatenate(parts)
        discrete = encoding.values[encoding.context :] != 0
        periodic = encoding.kinds[encoding.context :] == PERIODIC
        boxes = []
        for values in np.unique(arms[:, discrete], axis=0):
            inside = arms[(arms[:, discrete] == values).all(axis=1)]
            columns = zip(inside.T, periodic, strict=True)
            ends = [_around(column) if round_ else (column.min(), column.max()) for column, round_ in columns]
            low, high = (np.concatenate([point[: encoding.context], side]) for side in zip(*ends, strict=True))
            where = (*values.tolist(), *low[encoding.context :].tolist())
            boxes.append((where, self.problem.decode_arm(-1, low), self.problem.decode_arm(-1, high), None))
        return boxes

    def _finite_arm(self, number: int) -> Any:
        encoding = self.problem.encoding
        return self.problem.decode_arm(number, np.concatenate([np.zeros(encoding.context), encoding.arms[number]]))

    def _about(self, at: Layout, now: Balls, relevant: int, place: int) -> list[dict[str, Any]]:
        """(index, mean, uncertainty, count) of a relevant ball, by objective and in the user's units."""
        ball = self._ints[at.relevant + place]
        about: list[dict[str, Any]] = [{}, {}, {}, {}]
        for o, (name, decode, span) in enumerate(learned_numbers(self.problem, self._weights())):
            count = int(now.count[ball, o])
            unsure = balls.uncertainty(self._floats, self._ints, at, count) * span
            about[0][name] = _finite_or_none(decode(self._floats[at.indices + o * relevant + place]))
            about[1][name] = decode(now.mean[ball, o]) if count else None
            about[2][name] = _finite_or_none(unsure)
            about[3][name] = count
        return about


def _columns(f: Floats, i: Ints) -> Balls:
    """Named views into a policy's two arrays."""
    at, n = balls.layout(i), i[balls.SIZE]
    c, d = at.capacity, at.learned
    return Balls(
        f[at.centre : at.centre + at.dim * c].reshape(at.dim, c)[:, :n].T,
        f[at.radius : at.radius + n],
        i[at.parent : at.parent + n],
        i[at.counts : at.counts + d * c].reshape(d, c)[:, :n].T,
        f[at.total : at.total + d * c].reshape(d, c)[:, :n].T,
    )


def _check_balls(now: Balls, similarity: Similarity) -> None:
    """Refuse balls that no policy can have made."""
    later = np.arange(len(now.radius))
    encoding = similarity.encoding
    highest = np.where(encoding.kinds == CATEGORICAL, np.maximum(0, -encoding.values - 1), 1.0)
    if len(encoding.arms):
        highest[encoding.context :] = encoding.arms.max(axis=0)
    mantissa, exponent = np.frexp(now.radius)
    for name, kept in (
        ("radius", (mantissa == 0.5) & (exponent <= 1) & (now.radius >= zooming.SMALLEST_RADIUS / 2)),
        ("centre", (now.centre >= 0) & (now.centre <= highest)),
        ("count", now.count >= 0),
        ("total", np.isfinite(now.total)),
        ("parent", (now.parent >= np.minimum(later - 1, 0)) & (now.parent < later)),
    ):
        if not kept.all():
            raise Refused(f"snapshot: {name} holds {getattr(now, name)[~kept][0]!r}")
    child, parent = later[1:], now.parent[1:]
    apart = similarity.between(now.centre[child], now.centre[parent])
    # The index looks for a ball where its ancestors are.
    lost = (now.radius[child] > now.radius[parent] / 2) | (apart > now.radius[parent] * (1 + balls.SLACK) + ROUNDING)
    if now.radius[0] != 1 or lost.any():
        ball = int(child[lost][0]) if lost.any() else 0
        raise Refused(f"snapshot: radius {now.radius[ball]!r} and centre of ball {ball} do not suit its parent")


def _around(coordinates: Floats) -> tuple[float, float]:
    """The ends of the shortest arc of a circle that holds all coordinates; it may go through 1."""
    places = np.unique(coordinates)
    gaps = np.diff(places, append=places[0] + 1.0)
    widest = int(np.argmax(gaps))
    return float(places[(widest + 1) % len(places)]), float(places[widest])


def _finite_or_none(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None
