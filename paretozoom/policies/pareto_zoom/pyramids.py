"""The memory of ParetoZoom as named arrays of a snapshot, and back; what no policy can have made is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.core import lattice
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.pareto_zoom import calibrate, forget, functions, pyramid, smooth_fit
from paretozoom.kernels.pareto_zoom.refine import GROWTH, due_after
from paretozoom.kernels.pareto_zoom.trend_fit import SIZES
from paretozoom.policies.pareto_zoom import smooths
from paretozoom.policies.pareto_zoom.terms import terms_of
from paretozoom.policies.snapshots import checked_array
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.problem.feasible import encode_feasible
from paretozoom.records import Refused

FIRST_REWARDS = 8  # played uniformly until then
MOST_BITS = 10  # of a coordinate
ARM_BITS = (7, 5, 4)  # that an arm coordinate has at least, by the number of continuous ones
FEATURE_BITS = 5
ALL_BITS = 60
CANDIDATES = (64, 256, 512)  # by the number of continuous arm coordinates
FINER = 2  # cells of arms for each candidate
MOST_GROUPS = 4096  # of finite arms that are told apart
MOST_LABELLED = 4096  # labels of arms, times those of contexts, whose rewards are counted apart
FIRST_ROOM = 64
FIRST_SIZE = 6  # of terms: as large as the noise
LARGEST, LARGEST_SQUARE = 1e125, 1e250  # that rewards and their squares may add up to
BY_BLOCK = ("block", "block_level", "block_base", "block_told", "block_due")
SETTINGS = (
    pyramid.TOLD,
    pyramid.NEXT,
    pyramid.LEVELS,
    pyramid.DUE,
    pyramid.USES_TREND,
    pyramid.FORGETS,
    pyramid.FORGOTTEN,
    pyramid.SEARCHED,
    pyramid.PARTS,
)

Arrays = Mapping[str, npt.NDArray[Any]]


def allocate(problem: Problem, key: Ints, sizes: Mapping[int, int]) -> tuple[Floats, Ints]:
    """Memory for a problem, with some entries of its header given."""
    encoding = problem.encoding
    arms, dim = len(encoding.arms), len(encoding.kinds)
    coordinates = dim - encoding.context
    boxes = np.zeros((0, 0)) if arms else encode_feasible(problem, [{}])
    head = np.zeros(pyramid.HEADER, np.int64)
    head[pyramid.CONTEXT], head[pyramid.DIM] = encoding.context, dim
    head[pyramid.LEARNED], head[pyramid.ARMS] = len(problem.objectives), arms
    head[pyramid.FINER] = coordinates + 1 if arms else coordinates
    head[pyramid.LABELLED] = _labelled(problem)
    head[pyramid.NEXT] = FIRST_REWARDS
    head[pyramid.KEY0], head[pyramid.KEY1] = key
    head[pyramid.BASE_ROOM] = head[pyramid.BLOCK_ROOM] = FIRST_ROOM
    head[pyramid.CELLS] = len(boxes)
    head[pyramid.PER_CELL] = CANDIDATES[_real_arms(problem) - 1]
    head[pyramid.MOST_FINE] = _most_cells(problem)
    terms = terms_of(problem)
    head[pyramid.FUNCTIONS], head[pyramid.CONTEXT_FUNCTIONS] = len(terms.functions), terms.of_contexts
    head[pyramid.TERMS] = len(terms.factors)
    head[pyramid.SMOOTH_ROOM] = smooths.room_of(dim, len(terms.functions) > terms.of_contexts)
    for place, size in sizes.items():
        head[place] = size
    floats, ints = pyramid.allocate(head)
    at = pyramid.pyramid(ints)
    ints[at.kinds : at.values] = encoding.kinds
    ints[at.values : at.bits] = encoding.values
    ints[at.bits : at.function] = bits_of(problem)
    ints[at.function : at.factor] = np.ravel(terms.functions)
    ints[at.factor : at.smooth_factor] = np.ravel(terms.factors)
    ints[at.scale : at.signal] = smooth_fit.CENTRE
    ints[at.expected : at.arm_told] = FIRST_SIZE
    floats[at.cells : at.feature] = boxes.ravel()
    floats[at.feature : at.offset] = encoding.arms.ravel()
    floats[at.offset : at.noise], floats[at.noise : at.arm_value] = np.nan, 1.0
    functions.write_arm_values(floats, ints, at)
    return floats, ints


def bits_of(problem: Problem) -> list[int]:
    """Into how many bits the coordinates of contexts and arms are read, and the number of a finite arm."""
    encoding = problem.encoding
    arms, dim = len(encoding.arms), len(encoding.kinds)
    kept = encoding.context if arms else dim  # those that a base's key is made of
    categories = np.where(encoding.kinds == CATEGORICAL, np.abs(encoding.values), 0).tolist()
    bits = [(count - 1).bit_length() if count else 0 for count in categories]
    numbered = [max(1, (arms - 1).bit_length())] if arms else []
    plain = [j for j in range(kept) if encoding.kinds[j] != CATEGORICAL]
    least = ARM_BITS[_real_arms(problem) - 1]
    wanted = sum(least if j >= encoding.context else 1 for j in plain)
    most = ALL_BITS - sum(numbered) - min(wanted, ALL_BITS // 2)
    while sum(bits[:kept]) > most:  # then some categories are not told apart
        bits[bits.index(max(bits[:kept]))] -= 1
    left = ALL_BITS - sum(bits[:kept]) - sum(numbered)
    for j in reversed(plain):  # arms first: what cannot be told apart cannot be played apart
        share = left // (plain.index(j) + 1)
        bits[j] = min(MOST_BITS, max(share, least) if j >= encoding.context else share, left)
        left -= bits[j]
    for j in range(kept, dim):
        bits[j] = bits[j] if encoding.kinds[j] == CATEGORICAL else FEATURE_BITS
    return [*bits, *numbered]


def arrays_of(f: Floats, i: Ints) -> dict[str, npt.NDArray[Any]]:
    """What was learned."""
    at = pyramid.pyramid(i)
    n, blocks, levels, room = i[pyramid.BASES], i[pyramid.BLOCKS], i[pyramid.LEVELS], i[pyramid.BASE_ROOM]
    coordinates = at.context + at.finer
    heads = np.stack([i[start : start + levels] for start in (at.inner, at.outer, at.arm_cells)], axis=1)
    depths = i[at.depth : at.depth + levels * coordinates].reshape(levels, coordinates)
    by_block = (at.block_key, at.block_level, at.block_base, at.block_told, at.block_due)
    return {
        "settings": i[list(SETTINGS)],
        "key": i[at.base_key : at.base_key + n].copy(),
        "count": _columns(i, at.base_count, at.learned, room, n).copy(),
        "total": _columns(f, at.base_sum, at.learned, room, n).copy(),
        "square": _columns(f, at.base_square, at.learned, room, n).copy(),
        "offset": f[at.offset : at.noise].copy(),
        "noise": f[at.noise : at.arm_value].copy(),
        "trend": f[at.trend : at.missed].reshape(at.learned, -1).copy(),
        "missed": f[at.missed : at.smooth].copy(),
        "watched": f[at.watched : at.last].copy(),
        "last": f[at.last : at.base_sum].reshape(-1, at.learned).copy(),
        "size": i[at.expected : at.arm_told].copy(),
        **smooths.arrays_of(f, i),
        "levels": np.concatenate([heads, depths], axis=1),
        **{name: i[start : start + blocks].copy() for name, start in zip(BY_BLOCK, by_block, strict=True)},
        "statistics": f[at.block : at.block + i[pyramid.USED]].copy(),
    }


def filled(problem: Problem, arrays: Arrays, key: Ints, number: int, sizes: Mapping[int, int]) -> tuple[Floats, Ints]:
    """Memory with what a snapshot says that was learned in so many decisions."""
    d = len(problem.objectives)
    settings = checked_array(arrays, "settings", (len(SETTINGS),), np.int64).tolist()
    told, following, levels, due, uses_trend, forgets, forgotten, searched, parts = settings
    if not 0 <= parts < d:
        raise Refused(f"snapshot: settings hold {parts} parts of a reward of {d} objectives")
    if not 0 <= told <= number or not told <= following <= 2 * number + FIRST_REWARDS:
        raise Refused(f"snapshot: settings hold {told} rewards and the next step at {following} of {number} decisions")
    if not 0 <= levels <= pyramid.MOST_LEVELS:
        raise Refused(f"snapshot: {levels} levels, expected at most {pyramid.MOST_LEVELS}")
    if due != 0 and not told < due <= due_after(told):
        raise Refused(f"snapshot: settings let all estimates be made anew at {due} rewards, {told} were told")
    if uses_trend not in (0, 1) or forgets not in (0, 1) or not 0 <= forgotten <= number:
        said = f"{uses_trend} of the trend, {forgets} and {forgotten} of forgetting"
        raise Refused(f"snapshot: settings say {said}, expected 0 or 1, and a number of times")
    if not 0 <= searched <= number:
        raise Refused(f"snapshot: settings let scales be sought last at {searched} rewards of {number} decisions")
    rows = checked_array(arrays, "levels", (levels, 3 + len(bits_of(problem))), np.int64).copy()
    _check_levels(problem, rows)
    keys, counts = _checked_bases(problem, arrays, number)
    n, blocks = len(keys), _length(arrays, "block")
    by_block = np.stack([checked_array(arrays, name, (blocks,), np.int64) for name in BY_BLOCK])
    _check_blocks(by_block, levels, n, number * d)
    cells = rows[by_block[1], 2]
    statistics = _finite(arrays, "statistics", (int(d * pyramid.STATISTICS * cells.sum()),))
    _check_statistics(statistics, cells, d)
    floats, ints = allocate(
        problem,
        key,
        {
            **sizes,
            **dict(zip(SETTINGS, settings, strict=True)),
            pyramid.BASES: n,
            pyramid.BASE_ROOM: _room(n),
            pyramid.BLOCK_ROOM: _room(blocks),
            pyramid.CELL_ROOM: len(statistics),
            pyramid.NUMBERED: int(rows[:, 2].sum()),
        },
    )
    at = pyramid.pyramid(ints)
    ints[at.base_key : at.base_key + n] = keys
    _columns(ints, at.base_count, d, _room(n), n)[:] = counts
    for name, start, most in (("total", at.base_sum, LARGEST), ("square", at.base_square, LARGEST_SQUARE)):
        _columns(floats, start, d, _room(n), n)[:] = _finite(arrays, name, (d, n), most)
    offset = checked_array(arrays, "offset", (d,), np.float64)
    if (np.isnan(offset) & (counts.sum(axis=1) > 0)).any() or (np.abs(offset) > LARGEST).any():
        raise Refused(f"snapshot: offset is {offset.tolist()}, expected a number for each objective with rewards")
    floats[at.offset : at.noise] = offset
    floats[at.noise : at.arm_value] = _finite(arrays, "noise", (at.arm_value - at.noise,))
    if not ((floats[at.noise : at.arm_value] >= 0).all() and (floats[at.noise : at.roughness] > 0).all()):
        raise Refused("snapshot: noise holds negative numbers")
    floats[at.trend : at.missed] = _finite(arrays, "trend", (d, int(ints[pyramid.TERMS])), LARGEST).ravel()
    floats[at.missed : at.smooth] = _finite(arrays, "missed", (d,))
    floats[at.watched : at.last] = watched = _finite(arrays, "watched", (4,))
    floats[at.last : at.base_sum] = _finite(arrays, "last", (pyramid.PLACES, d), LARGEST).ravel()
    if (watched[[forget.PAIRS, forget.SQUARED, forget.EXPECTED]] < 0).any():
        raise Refused(f"snapshot: watched is {watched.tolist()}, expected no negative sums of squares")
    ints[at.expected : at.arm_told] = checked_array(arrays, "size", (d,), np.int64)
    if not (
        (floats[at.missed : at.smooth] >= 0).all()
        and set(ints[at.expected : at.arm_told].tolist()) <= set(range(SIZES))
    ):
        raise Refused(f"snapshot: missed holds negative numbers, or size others than 0 to {SIZES - 1}")
    smooths.fill(floats, ints, arrays)
    if not calibrate.restore(floats, ints, rows, by_block, statistics):
        raise Refused("snapshot: block names other cells than the keys lie in")
    return floats, ints


def _checked_bases(problem: Problem, arrays: Arrays, decided: int) -> tuple[Ints, Ints]:
    """Keys and counts of the bases."""
    n = _length(arrays, "key")
    keys = checked_array(arrays, "key", (n,), np.int64)
    bits, arms, kept = bits_of(problem), len(problem.encoding.arms), problem.encoding.context
    all_bits = sum(bits[:kept]) + bits[-1] if arms else sum(bits)
    if n and (keys.min() < 0 or keys.max() >> all_bits or (arms and (keys & ((1 << bits[-1]) - 1)).max() >= arms)):
        raise Refused("snapshot: key names a place that does not exist")
    if len(set(keys.tolist())) < n:
        raise Refused("snapshot: key names a place twice")
    counts = checked_array(arrays, "count", (len(problem.objectives), n), np.int64)
    if n and (counts.min() < 0 or counts.max() > decided or counts.sum(axis=1).max() > decided):
        raise Refused(f"snapshot: count holds negative numbers, or more than the rewards of {decided} decisions")
    return keys, counts


def _check_blocks(by_block: Ints, levels: int, bases: int, most: int) -> None:
    """Refuse blocks of levels or bases that are not there, or whose estimates are not made anew in time."""
    keys, level, base, told, due = by_block
    if len(set(keys.tolist())) < len(keys):
        raise Refused("snapshot: block names a place twice")
    if not ((level >= 0) & (level < levels)).all():
        raise Refused(f"snapshot: block_level names a level that is not there, expected 0 to {levels - 1}")
    if not ((base >= 0) & (base < bases)).all():
        raise Refused(f"snapshot: block_base names a place that is not there, expected 0 to {bases - 1}")
    if not ((told >= 1) & (told <= most)).all():
        raise Refused(f"snapshot: block_told is not between 1 and {most}")
    if not ((due > told) & (due <= told + 1 + told // GROWTH)).all():
        raise Refused("snapshot: block_due lets estimates be made anew too late, or should have before")


def _check_statistics(statistics: Floats, cells: Ints, d: int) -> None:
    """Refuse statistics of blocks that no rewards can have: (objectives, statistics, cells of arms) each."""
    rows = np.repeat(cells, d * pyramid.STATISTICS)
    kinds = np.repeat(np.tile(np.arange(pyramid.STATISTICS), len(cells) * d), rows)
    count, total, square, estimate, doubt = (statistics[kinds == k] for k in range(pyramid.STATISTICS))
    if not ((count >= 0).all() and (square >= 0).all() and (doubt > 0).all() and (doubt <= LARGEST).all()):
        raise Refused("snapshot: statistics hold counts, squares or doubts that no rewards have")
    if not ((np.abs(total) <= LARGEST).all() and (np.abs(estimate) <= LARGEST).all()):
        raise Refused("snapshot: statistics hold sums or estimates that no rewards have")


def _check_levels(problem: Problem, rows: Ints) -> None:
    """Refuse levels that no policy can have made: (inner, outer, cells of arms, depths) each."""
    encoding, bits = problem.encoding, np.array(bits_of(problem))
    context, arms, depths = encoding.context, len(encoding.arms), rows[:, 3:]
    steps = np.diff(depths, axis=0, prepend=np.zeros((1, depths.shape[1]), np.int64))
    right = (steps >= 0).all() and (depths <= bits).all() and (not len(rows) or not depths[0].any())
    most = _most_cells(problem)
    for row, step in zip(rows, steps, strict=True):
        inner = np.flatnonzero(step[context:])
        split = int(inner[-1]) + context if len(inner) else -1
        right = right and len(inner) <= 1 and row[0] == split and (arms > 0 or step[context:].sum() <= 1)
        right = right and (row[1] == -1 or (0 <= row[1] < context and step[row[1]] > 0))
        right = right and (arms > 0 or row[2] == 1 << int(row[3 + context :].sum()))
        right = right and 1 <= row[2] <= most
    if arms and right and len(rows):
        floats, ints = allocate(problem, np.zeros(2, np.int64), {})
        at = pyramid.pyramid(ints)
        digits = [
            [int(pyramid.digit_of_arm(floats, ints, at, arm, j)) for j in range(context, len(bits))]
            for arm in range(arms)
        ]
        for row in rows:
            right = right and row[2] == len(np.unique(digits >> (bits[context:] - row[3 + context :]), axis=0))
    if not right:
        raise Refused("snapshot: levels are none that this policy can have made")


def _most_cells(problem: Problem) -> int:
    """The most cells of arms of a level: one for each finite arm, or two for each candidate.

    Values of a discrete coordinate are halved as if they were a power of two.
    """
    encoding = problem.encoding
    if len(encoding.arms):
        return min(len(encoding.arms), MOST_GROUPS)
    values: list[int] = [abs(count) for count in encoding.values[encoding.context :].tolist() if count]
    points = int(lattice.points_per_cell(math.prod(values), CANDIDATES[_real_arms(problem) - 1]))
    return FINER * points << sum((count - 1).bit_length() for count in values)


def _labelled(problem: Problem) -> int:
    """How many cells labels of contexts make, if arms are finite and all are few."""
    encoding = problem.encoding
    labels = math.prod(-count for count in encoding.values[: encoding.context].tolist() if count < 0)
    return labels if 0 < labels * len(encoding.arms) <= MOST_LABELLED else 1


def _real_arms(problem: Problem) -> int:
    """The number of continuous arm coordinates: 1, 2, or 3 for more."""
    encoding = problem.encoding
    return min(max(int((encoding.values[encoding.context :] == 0).sum()), 1), len(CANDIDATES))


def _room(size: int) -> int:
    return max(FIRST_ROOM, 1 << (size - 1).bit_length()) if size else FIRST_ROOM


def _columns(memory: npt.NDArray[Any], start: int, rows: int, room: int, n: int) -> npt.NDArray[Any]:
    return memory[start : start + rows * room].reshape(rows, room)[:, :n]


def _length(arrays: Arrays, name: str) -> int:
    given = arrays.get(name) if isinstance(arrays, Mapping) else None
    return len(given) if isinstance(given, np.ndarray) and given.ndim == 1 else 0


def _finite(arrays: Arrays, name: str, shape: tuple[int, ...], most: float = LARGEST_SQUARE) -> Floats:
    numbers = checked_array(arrays, name, shape, np.float64)
    if not (np.abs(numbers) <= most).all():
        raise Refused(f"snapshot: {name} holds numbers that are not finite or too large")
    return numbers
