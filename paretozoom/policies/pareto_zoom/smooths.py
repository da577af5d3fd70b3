"""The smooth estimate of ParetoZoom as named arrays of a snapshot, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.pareto_zoom import pyramid, smooth, smooth_fit
from paretozoom.policies.snapshots import checked_array
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Refused

PER_COORDINATE = 44  # terms
MOST_TERMS = 128
LARGEST_VARIANCE = 1e9  # of a term, relative to the noise: nothing is expected to be larger
LARGEST_SUM = 1e100

Arrays = Mapping[str, npt.NDArray[Any]]


def room_of(coordinates: int, tells_arms_apart: bool) -> int:
    """How many terms a smooth estimate may have: none if it could not tell arms apart.

    >>> room_of(2, True), room_of(9, True), room_of(2, False)
    (88, 128, 0)
    """
    return min(MOST_TERMS, PER_COORDINATE * coordinates) if tells_arms_apart else 0


def arrays_of(f: Floats, i: Ints) -> dict[str, npt.NDArray[Any]]:
    """What was learned."""
    at = pyramid.pyramid(i)
    n, room, d = int(i[pyramid.SMOOTH_TERMS]), int(i[pyramid.SMOOTH_ROOM]), at.learned
    side = _side(n, int(i[pyramid.TOLD]))
    return {
        "smooth_factor": i[at.smooth_factor : at.smooth_factor + 3 * n].reshape(n, 3).copy(),
        "smooth": f[at.smooth : at.inverse].reshape(d, room)[:, :n].copy(),
        "inverse": f[at.inverse : at.compared].reshape(d, room * room)[:, : side * side].reshape(d, side, side).copy(),
        "compared": f[at.compared : at.watched].reshape(d, -1).copy(),
        "scale": i[at.scale : at.signal].reshape(d, -1).copy(),
        "signal": i[at.signal : at.expected].copy(),
    }


def fill(f: Floats, i: Ints, arrays: Arrays) -> None:
    """Write what a snapshot says; the rest of its memory must be there."""
    at = pyramid.pyramid(i)
    room, d = int(i[pyramid.SMOOTH_ROOM]), at.learned
    given = arrays.get("smooth_factor")
    n = len(given) if isinstance(given, np.ndarray) and given.ndim == 2 else 0
    factors = checked_array(arrays, "smooth_factor", (n, 3), np.int64)
    _check_factors(i, at, factors, room)
    i[pyramid.SMOOTH_TERMS] = n
    i[at.smooth_factor : at.smooth_factor + 3 * n] = factors.ravel()
    f[at.smooth : at.inverse].reshape(d, room)[:, :n] = _finite(arrays, "smooth", (d, n), smooth.LARGEST_SIZE)
    side = _side(n, int(i[pyramid.TOLD]))
    squares = _finite(arrays, "inverse", (d, side, side), LARGEST_VARIANCE).reshape(d, side * side)
    f[at.inverse : at.compared].reshape(d, room * room)[:, : side * side] = squares
    compared = _finite(arrays, "compared", (d, pyramid.COMPARISONS), LARGEST_SUM)
    if (compared[:, [smooth.WEIGHED, smooth.APART, smooth.COMPARED]] < 0).any():
        raise Refused(f"snapshot: compared is {compared.tolist()}, expected no negative squares and numbers")
    f[at.compared : at.watched] = compared.ravel()
    scale = checked_array(arrays, "scale", (d, at.dim), np.int64)
    signal = checked_array(arrays, "signal", (d,), np.int64)
    if not ((scale >= 0) & (scale < smooth_fit.SCALES)).all() or (abs(signal) > smooth_fit.MOST_SIGNAL).any():
        most = f"0 to {smooth_fit.SCALES - 1}, and at most {smooth_fit.MOST_SIGNAL}"
        raise Refused(f"snapshot: scale and signal are {scale.tolist()} and {signal.tolist()}, expected {most}")
    i[at.scale : at.signal], i[at.signal : at.expected] = scale.ravel(), signal


def _side(terms: int, told: int) -> int:
    """Of the inverses, which are there while each reward is learned at once."""
    return terms if told < smooth.LAST_TAUGHT else 0


def _check_factors(i: Ints, at: pyramid.Pyramid, factors: Ints, room: int) -> None:
    """Refuse terms that are no products of functions of different coordinates, or do not begin with the constant."""
    functions = int(i[pyramid.FUNCTIONS])
    coordinate = np.concatenate([[-1], i[at.function + 2 : at.function + 2 * functions : 2]])
    right = len(factors) <= room and bool(((factors >= 0) & (factors < functions)).all())
    if right and len(factors):
        of = coordinate[factors]
        apart = (np.diff(factors, axis=1) >= 0) & ((np.diff(of, axis=1) > 0) | (of[:, :2] < 0))
        right = bool(apart.all()) and not factors[0].any() and len(np.unique(factors, axis=0)) == len(factors)
    if not right:
        raise Refused(f"snapshot: smooth_factor holds terms that there are not, expected at most {room}")


def _finite(arrays: Arrays, name: str, shape: tuple[int, ...], most: float) -> Floats:
    numbers = checked_array(arrays, name, shape, np.float64)
    if not (np.abs(numbers) <= most).all():
        raise Refused(f"snapshot: {name} holds numbers that are not finite or too large")
    return numbers
