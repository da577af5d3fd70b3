"""The paper's formulas as functions: confidence radii, regret bounds, packings, zooming dimension."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple, Protocol

import numpy as np

from paretozoom.kernels.core.kinds import FUNCTION, MATRIX, PERIODIC
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Refused
from paretozoom.similarity import Similarity

NEAR = 12  # a pair is near-optimal at r if its gap is at most 12 r, Definition 3
LEVELS = tuple(range(2, 8))  # r = 2^-2 ... 2^-7
MOST_POINTS = 10_000_000

ZoomingNumbers = Mapping[float, float] | Callable[[float], float]


def confidence_constant(objectives: int, horizon: int, delta: float) -> float:
    """A_B = 1 + 2 log(2 sqrt(2) d_r T^(3/2) / delta), Section 3 of the paper.

    >>> round(confidence_constant(2, 100_000, 1e-5), 7)
    62.0303632
    """
    return 1.0 + 2.0 * math.log(2.0 * math.sqrt(2.0) * objectives * horizon**1.5 / delta)


def uncertainty(constant: float, count: int) -> float:
    """u_B = sqrt(2 A_B / N_B), infinite for an empty ball.

    >>> round(uncertainty(62.0303632, 125), 7)
    0.9962358
    """
    return math.sqrt(2.0 * constant / count) if count > 0 else math.inf


def _log_factor(objectives: int, horizon: int, delta: float) -> float:
    """log(2 sqrt(2) d_r T^(3/2) e / delta), which is (1 + A_B) / 2."""
    if objectives < 1 or horizon < 1 or not 0 < delta <= 1:
        raise Refused(
            f"objectives {objectives!r}, horizon {horizon!r}, delta {delta!r}: "
            "expected objectives and horizon of at least 1, and delta in (0, 1]"
        )
    return (1.0 + confidence_constant(objectives, horizon, delta)) / 2.0


def _known(zooming_numbers: ZoomingNumbers, r: float) -> float | None:
    number = zooming_numbers.get(r) if isinstance(zooming_numbers, Mapping) else zooming_numbers(r)
    if number is not None and not number > 0:
        raise Refused(f"zooming_numbers: {number!r} at r = {r:g}, expected a positive number")
    return number


def lemma5_bound(zooming_numbers: ZoomingNumbers, r0: float, objectives: int, horizon: int, delta: float) -> float:
    """28 T r_0 + sum over r = 2^-i in [r_0, 1] of 56 / r N_r log(2 sqrt(2) d_r T^(3/2) e / delta), Lemma 5.

    The regret of PCZ is at most this with probability 1 - delta, whatever r_0 in (0, 1]. With the numbers of
    `zooming_number`, which are estimates from below, the bound is an estimate from below too.

    >>> round(lemma5_bound({1.0: 2, 0.5: 5}, 0.5, 2, 100_000, 1e-5))
    1421178
    """
    if not 0 < r0 <= 1:
        raise Refused(f"r0: {r0!r} is outside (0, 1]")
    log_factor = _log_factor(objectives, horizon, delta)
    total, r = 28.0 * horizon * r0, 1.0
    while r >= r0:
        number = _known(zooming_numbers, r)
        if number is None:
            raise Refused(f"zooming_numbers: r = {r:g} is missing, expected every 2^-i from 1 down to {r0:g}")
        total += 56.0 / r * number * log_factor  # Lemma 5
        r /= 2.0
    return total


def tightest_bound(zooming_numbers: ZoomingNumbers, objectives: int, horizon: int, delta: float) -> float:
    """The infimum of Lemma 5 over r_0 in (0, 1], or over those r_0 whose N_r are all in a mapping.

    The levels 1, 1/2, ..., 2^-k are the ones summed for every r_0 in (2^-(k+1), 2^-k], and there the bound grows
    with r_0. So its infimum is the limit at the lower end, 14 T 2^-k + sum, which no r_0 attains (at 2^-(k+1)
    itself one more level is summed) but which the regret, being below every value of the bound, respects too. The
    smallest of these over k is returned; as sums only grow, the search ends when the sum alone is no better.

    >>> round(tightest_bound({1.0: 2, 0.5: 5}, 2, 100_000, 1e-5))
    721178
    """
    log_factor = _log_factor(objectives, horizon, delta)
    best, total, r = math.inf, 0.0, 1.0
    while total < best:
        number = _known(zooming_numbers, r)
        if number is None:
            break
        total += 56.0 / r * number * log_factor  # Lemma 5
        best = min(best, 14.0 * horizon * r + total)  # r_0 just above r / 2
        r /= 2.0
    if r == 1.0:
        raise Refused("zooming_numbers: r = 1 is missing, expected 1, 1/2, 1/4, ...")
    return best


def theorem1_bound(objectives: int, horizon: int, delta: float, p: float, dimension: float) -> float:
    """(28 + 112 p log(2 sqrt(2) d_r T^(3/2) e / delta)) T^((1+d_p)/(2+d_p)), Theorem 1.

    PCZ's regret is at most this with probability 1 - delta if N_r <= p r^-d_p for all r in (0, 1).

    >>> round(theorem1_bound(2, 100_000, 1e-5, 1, 1) / 100_000 ** (2 / 3), 1)
    3557.7
    """
    if not p > 0:
        raise Refused(f"p: {p!r} is not positive")
    constant = 28.0 + 112.0 * p * _log_factor(objectives, horizon, delta)
    return float(constant * horizon ** lower_bound_exponent(dimension))  # Theorem 1


def corollary_bound(objectives: int, horizon: int, p: float, dimension: float, largest_gap: float) -> float:
    """(28 + 112 p log(2 sqrt(2) d_r T^(5/2) e)) T^((1+d_p)/(2+d_p)) + C_max: expected regret, Corollary of Theorem 1.

    >>> round(corollary_bound(2, 100_000, 1, 1, 0.5) - theorem1_bound(2, 100_000, 1e-5, 1, 1), 6)
    0.5
    """
    return theorem1_bound(objectives, horizon, 1.0 / horizon, p, dimension) + largest_gap  # delta = 1 / T


def lower_bound_exponent(dimension: float) -> float:
    """(1+d)/(2+d): no policy's regret grows more slowly than T to this power on every task, Section 6.

    >>> lower_bound_exponent(2)
    0.75
    """
    if not dimension >= 0:
        raise Refused(f"dimension: {dimension!r} is negative")
    return (1.0 + dimension) / (2.0 + dimension)


def is_vacuous(bound: float, horizon: int, largest_gap: float) -> bool:
    """Whether a bound promises no more than the largest gap in every round, which any policy keeps.

    >>> is_vacuous(theorem1_bound(2, 100_000, 1e-5, 1, 1), 100_000, 0.5)
    True
    """
    return bound >= horizon * largest_gap


def greedy_packing(points: Floats, r: float, similarity: Similarity, limit: int | None = None) -> Ints:
    """The numbers of those points (n, dim) that, in their order, are at least r from all chosen before.

    No further point can be added, so every point is closer than r to a chosen one. Hence the number of chosen points
    is at most the r-packing number of the points, and at least their 2r-packing number. With a limit the
    search ends when so many are chosen.

    >>> from paretozoom.problem.dimensions import Objective, Real
    >>> line = Problem(context=[], arm=[Real("y")], objectives=[Objective("r")])
    >>> greedy_packing(np.array([[0.0], [0.4], [0.5], [1.0]]), 0.5, Similarity.of(line)).tolist()
    [0, 2, 3]
    """
    from paretozoom.kernels.theory.packing import buckets, pack  # here, so that reading a formula costs no compiler

    if not r > 0:
        raise Refused(f"r: {r!r} is not positive")
    points = np.ascontiguousarray(points, float)
    chosen = np.empty(len(points) if limit is None else max(0, min(limit, len(points))), np.int64)
    if similarity.kernel_norm in (MATRIX, FUNCTION):
        return _pack_slowly(points, r, similarity, chosen)
    space = similarity.encoding.kinds, similarity.kernel_norm, similarity.factors
    return chosen[: pack(points, *space, buckets(points, *space, r), r, chosen)]


def _pack_slowly(points: Floats, r: float, similarity: Similarity, chosen: Ints) -> Ints:
    """The greedy packing under distances that know no coordinates."""
    size = 0
    for k, point in enumerate(points):
        if size < len(chosen) and (similarity.distances(point[None], points[chosen[:size]]) >= r).all():
            chosen[size], size = k, size + 1
    return chosen[:size]


class Truth(Protocol):
    """An environment that knows its problem, and the gaps of encoded points.

    >>> from paretozoom.environments import PaperTask
    >>> task: Truth = PaperTask()
    >>> task.gaps(np.array([[0.5, 0.1], [0.5, 0.5]])).tolist()
    [0.5, 0.0]
    """

    @property
    def problem(self) -> Problem: ...

    def gaps(self, points: Floats) -> Floats: ...


def _grid(problem: Problem, steps: int) -> Floats:
    """Points all over the space: `steps` steps along continuous coordinates, at most so many along spaced values."""
    encoding = problem.encoding
    axes: list[Floats] = []
    for kind, values in zip(encoding.kinds, encoding.values, strict=True):
        if values == 0:
            axes.append(np.linspace(0.0, 1.0, steps + 1)[: steps if kind == PERIODIC else None])
        elif values < 0:
            axes.append(np.arange(-values, dtype=float))
        else:
            axes.append(np.unique(np.round(np.linspace(0, values - 1, min(values, steps + 1)))) / (values - 1))
    arms = len(encoding.arms)
    if arms:
        axes[encoding.context :] = [np.arange(arms, dtype=float)]
    count = math.prod(map(len, axes))
    if count > MOST_POINTS:
        raise Refused(f"r: a grid of {count} points is needed, at most {MOST_POINTS} are searched; take a larger r")
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(count, len(axes))
    if arms:
        points = np.hstack([points[:, :-1], encoding.arms[points[:, -1].astype(np.int64)]])
    return points


def largest_gap_of(environment: Truth, steps: int = 200) -> float:
    """C_max, the largest gap there is, as found on a grid of `steps` steps per coordinate.

    >>> from paretozoom.environments import PaperTask
    >>> largest_gap_of(PaperTask())
    0.5
    """
    return float(environment.gaps(_grid(environment.problem, steps)).max())


def zooming_number(environment: Truth, r: float, steps: int = 8) -> int:
    """N_r, the r-packing number of the pairs whose gap is at most 12 r (Definition 3), estimated from below.

    The estimate is the size of the greedy packing of a grid of `steps` steps per r in each continuous coordinate, in
    the problem's own similarity; finite arms are the arms themselves.

    >>> from paretozoom.environments import PaperTask
    >>> zooming_number(PaperTask(), 1.0)
    2
    """
    if not r > 0:
        raise Refused(f"r: {r!r} is not positive")
    points = _grid(environment.problem, math.ceil(steps / r))
    near = points[environment.gaps(points) <= NEAR * r]
    if not len(near):
        raise Refused(
            f"steps: no point of the grid has a gap of at most {NEAR} r = {NEAR * r:g}; take more than {steps}"
        )
    return len(greedy_packing(near, r, Similarity.of(environment.problem)))


class ZoomingDimension(NamedTuple):
    """How zooming numbers grow as r falls, over the levels that were measured.

    >>> ZoomingDimension(2.0, 4.0, {0.5: 16}).p
    4.0
    """

    slope: float  # of log N_r against log(1 / r) over the levels, by least squares; 0 if they fall
    p: float  # the smallest with N_r <= p r^-slope at every measured r, from 1 down
    numbers: dict[float, int]  # N_r by r, from 1 down


def zooming_dimension(environment: Truth, levels: Iterable[int] = LEVELS) -> ZoomingDimension:
    """The Pareto zooming dimension and its constant as measured at r = 2^-i for the levels i, Definition 3.

    The paper's d_p(p) asks for N_r <= p r^-d at every r in (0, 1); this is a fit to a few of them.

    >>> from paretozoom.environments import PaperTask
    >>> round(zooming_dimension(PaperTask()).slope, 1)
    1.7
    """
    fitted = sorted(set(levels))
    if len(fitted) < 2:
        raise Refused(f"levels: {fitted!r} given, expected two or more")
    numbers = {2.0**-i: zooming_number(environment, 2.0**-i) for i in range(fitted[-1] + 1)}
    fit = np.polyfit(np.array(fitted) * math.log(2.0), np.log([numbers[2.0**-i] for i in fitted]), 1)
    slope = max(0.0, float(fit[0]))
    return ZoomingDimension(slope, max(number * r**slope for r, number in numbers.items()), numbers)
