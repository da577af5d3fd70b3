"""ParetoZoom: zooming by what the rewards themselves tell about noise and smoothness."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from paretozoom.dimensions import Finite, Floats, Ints
from paretozoom.feasible import encode_feasible
from paretozoom.kernels import calibrate, pareto_zoom, pyramid
from paretozoom.kernels.kinds import CATEGORICAL, MOST_CANDIDATES
from paretozoom.policies.about import About
from paretozoom.policies.base import Piece, Policy
from paretozoom.policies.fronts import learned_numbers, on_front
from paretozoom.policies.opened import checked_array
from paretozoom.policies.parameters import check_zoomable, checked_problem
from paretozoom.problem import Problem
from paretozoom.records import Decision, Refused, Values

FIRST_REWARDS = 8  # played uniformly until then
MOST_BITS = 10  # of a coordinate
FEATURE_BITS = 5
ALL_BITS = 60
CANDIDATES = (64, 256, 512)  # by the number of continuous arm coordinates
FIRST_ROOM = 64
LARGEST, LARGEST_SQUARE = 1e125, 1e250  # that rewards and their squares may add up to
SETTINGS = (pyramid.TOLD, pyramid.NEXT, pyramid.LEVELS)


class ParetoZoom(Policy):
    """Zooms where rewards and traffic are, and learns while it plays how noisy and how smooth the rewards are.

    Nothing is to be tuned: no horizon, no Lipschitz constant, no confidence. Rewards are summed in cells of contexts
    and arms on many levels at once. A level's estimate corrects that of the coarser one by its own means, as far as
    the noise and what levels of that size usually add make that worth it; which coordinates are halved, how far, the
    noise and the size of corrections are learned from the rewards. Of candidates on a randomly shifted grid those that
    no other dominates, by estimates with a little optimism, are played uniformly, so the density of the draw is exact.

    Rewards may come late, in parts and in any order. Their order matters only by rounding and by what is known when
    the levels are made anew, whenever rewards have grown by a fifth (later by half). No regret bound is proved.

    >>> from paretozoom import Objective, Problem, Real
    >>> task = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a"), Objective("b")])
    >>> policy = ParetoZoom(task, seed=1)
    >>> for _ in range(200):
    ...     decision = policy.ask([0.5])
    ...     policy.tell(decision, [1 - abs(decision.arm["y"] - 0.3), 1 - abs(decision.arm["y"] - 0.5)])
    >>> arms = [(piece.low + piece.high) / 2 for piece in policy.front([0.5])]
    >>> 0.2 < min(arms) < 0.4 < max(arms) < 0.6
    True
    """

    name = "pareto-zoom"
    kernel: ClassVar[ModuleType] = pareto_zoom
    about = About(
        "corrects coarse estimates by finer ones as far as the rewards tell; uniform on the front of candidates",
        multi_objective=True,
        contextual=True,
        similarity=True,
        adaptive=True,
    )

    def __init__(self, problem: Problem, *, seed: int = 0) -> None:
        check_zoomable(checked_problem(problem), self.name)
        super().__init__(problem, seed=seed, parameters={})

    # Memory.

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        floats, ints = self._allocate(key, {})
        floats[slice(*self._noise(ints))] = 1.0
        return floats, ints

    def _allocate(self, key: Ints, sizes: Mapping[int, int]) -> tuple[Floats, Ints]:
        encoding = self.problem.encoding
        arms, coordinates = len(encoding.arms), self._dim - encoding.context
        boxes = np.zeros((0, 0)) if arms else encode_feasible(self.problem, [{}])
        real = int((encoding.values[encoding.context :] == 0).sum())
        head = np.zeros(pyramid.HEADER, np.int64)
        head[pyramid.CONTEXT], head[pyramid.DIM] = encoding.context, self._dim
        head[pyramid.LEARNED], head[pyramid.ARMS] = self._objectives, arms
        head[pyramid.FINER] = coordinates + 1 if arms else coordinates
        head[pyramid.NEXT] = FIRST_REWARDS
        head[pyramid.KEY0], head[pyramid.KEY1] = key
        head[pyramid.BASE_ROOM] = head[pyramid.BLOCK_ROOM] = FIRST_ROOM
        head[pyramid.CELLS] = len(boxes)
        head[pyramid.PER_CELL] = CANDIDATES[min(max(real, 1), len(CANDIDATES)) - 1]
        head[pyramid.LAID] = MOST_CANDIDATES
        head[pyramid.MOST_FINE] = pyramid.MOST_ARM_CELLS if arms else head[pyramid.PER_CELL]
        for place, size in sizes.items():
            head[place] = size
        at = pyramid.pyramid(head)
        floats, ints = np.zeros(at.floats), np.zeros(at.ints, np.int64)
        ints[: pyramid.HEADER] = head
        ints[at.kinds : at.values] = encoding.kinds
        ints[at.values : at.bits] = encoding.values
        ints[at.bits : at.split] = _bits(self.problem)
        floats[at.cells : at.feature] = boxes.ravel()
        floats[at.feature : at.noise] = encoding.arms.ravel()
        return floats, ints

    @staticmethod
    def _noise(ints: Ints) -> tuple[int, int]:
        """Where noise and roughness lie."""
        at = pyramid.pyramid(ints)
        return at.noise, at.base_sum

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        f, i = self._floats, self._ints
        at = pyramid.pyramid(i)
        n, blocks, levels = i[pyramid.BASES], i[pyramid.BLOCKS], i[pyramid.LEVELS]
        coordinates = at.context + at.finer
        heads = np.stack([i[at.split : at.split + levels], i[at.arm_cells : at.arm_cells + levels]], axis=1)
        depths = i[at.depth : at.depth + levels * coordinates].reshape(levels, coordinates)
        return {
            "settings": i[list(SETTINGS)],
            "key": i[at.base_key : at.base_key + n].copy(),
            "count": _columns(i, at.base_count, at.learned, i[pyramid.BASE_ROOM], n).copy(),
            "total": _columns(f, at.base_sum, at.learned, i[pyramid.BASE_ROOM], n).copy(),
            "square": _columns(f, at.base_square, at.learned, i[pyramid.BASE_ROOM], n).copy(),
            "levels": np.concatenate([heads, depths], axis=1),
            "noise": f[slice(*self._noise(i))].copy(),
            "block": i[at.block_key : at.block_key + blocks].copy(),
            "block_level": i[at.block_level : at.block_level + blocks].copy(),
            "statistics": f[at.block : at.block + i[pyramid.USED]].copy(),
        }

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        d, coordinates = self._objectives, len(_bits(self.problem))
        told, following, levels = checked_array(arrays, "settings", (3,), np.int64).tolist()
        if not 0 <= told <= number or not told <= following <= 2 * number + FIRST_REWARDS:
            raise Refused(
                f"snapshot: settings hold {told} rewards and the next step at {following} of {number} decisions"
            )
        if not 0 <= levels <= pyramid.MOST_LEVELS:
            raise Refused(f"snapshot: {levels} levels, expected at most {pyramid.MOST_LEVELS}")
        n, blocks = _length(arrays, "key"), _length(arrays, "block")
        keys = checked_array(arrays, "key", (n,), np.int64)
        rows = checked_array(arrays, "levels", (levels, 2 + coordinates), np.int64).copy()
        block_keys = checked_array(arrays, "block", (blocks,), np.int64)
        block_levels = checked_array(arrays, "block_level", (blocks,), np.int64)
        self._check_levels(rows)
        if blocks and not (block_levels.min() >= 0 and block_levels.max() < levels):
            raise Refused(f"snapshot: block_level names a level that is not there, expected 0 to {levels - 1}")
        bits, arms, kept = _bits(self.problem), len(self.problem.encoding.arms), self.problem.encoding.context
        all_bits = sum(bits[:kept]) + bits[-1] if arms else sum(bits)
        if n and (keys.min() < 0 or keys.max() >> all_bits or (arms and (keys & ((1 << bits[-1]) - 1)).max() >= arms)):
            raise Refused("snapshot: key names a place that does not exist")
        if len(set(keys.tolist())) < n or len(set(block_keys.tolist())) < blocks:
            raise Refused("snapshot: key or block names a place twice")
        counts = checked_array(arrays, "count", (d, n), np.int64)
        if n and (counts.min() < 0 or counts.max() > told or counts.sum(axis=1).max() > told):
            raise Refused(f"snapshot: count holds negative numbers, or more than the {told} rewards that were told")
        sizes = rows[block_levels, 1]
        statistics = _finite(arrays, "statistics", (int(d * pyramid.STATISTICS * sizes.sum()),))
        self._check_statistics(statistics, sizes)
        floats, ints = self._allocate(
            key,
            {
                pyramid.TOLD: told,
                pyramid.NEXT: following,
                pyramid.LEVELS: levels,
                pyramid.BASES: n,
                pyramid.BASE_ROOM: _room(n),
                pyramid.BLOCK_ROOM: _room(blocks),
                pyramid.CELL_ROOM: len(statistics),
                pyramid.NUMBERED: int(rows[:, 1].sum()),
            },
        )
        at = pyramid.pyramid(ints)
        ints[at.base_key : at.base_key + n] = keys
        _columns(ints, at.base_count, d, _room(n), n)[:] = counts
        for name, start in (("total", at.base_sum), ("square", at.base_square)):
            most = LARGEST if name == "total" else LARGEST_SQUARE
            _columns(floats, start, d, _room(n), n)[:] = _finite(arrays, name, (d, n), most)
        first, end = self._noise(ints)
        floats[first:end] = _finite(arrays, "noise", (end - first,))
        if not ((floats[first:end] >= 0).all() and (floats[first : first + d] > 0).all()):
            raise Refused("snapshot: noise holds negative numbers")
        if not calibrate.restore(floats, ints, rows, block_keys, block_levels, statistics):
            raise Refused("snapshot: block names other cells than the keys lie in")
        return floats, ints

    def _check_statistics(self, statistics: Floats, sizes: Ints) -> None:
        """Refuse statistics of blocks that no rewards can have: (objectives, statistics, cells of arms) each."""
        rows = np.repeat(sizes, self._objectives * pyramid.STATISTICS)
        kinds = np.repeat(np.tile(np.arange(pyramid.STATISTICS), len(sizes) * self._objectives), rows)
        count, total, square, mean, doubt = (statistics[kinds == k] for k in range(pyramid.STATISTICS))
        right = (count >= 0).all() and (square >= 0).all() and (doubt >= 0).all() and (doubt[count > 0] > 0).all()
        if not (right and (np.abs(total) <= LARGEST).all() and (np.abs(mean) <= LARGEST).all()):
            raise Refused("snapshot: statistics hold counts, sums or variances that no rewards have")

    def _check_levels(self, rows: Ints) -> None:
        """Refuse levels that no policy can have made."""
        encoding, bits = self.problem.encoding, np.array(_bits(self.problem))
        context, arms = encoding.context, len(encoding.arms)
        depths = rows[:, 2:]
        steps = np.diff(depths, axis=0, prepend=np.zeros((1, depths.shape[1]), np.int64))
        right = (steps >= 0).all() and (depths <= bits).all() and (not len(rows) or not depths[0].any())
        for row, step in zip(rows, steps, strict=True):
            inner = np.flatnonzero(step[context:])
            split = int(inner[-1]) + context if len(inner) else -1
            right = right and len(inner) <= 1 and row[0] == split and (arms > 0 or step[context:].sum() <= 1)
            right = right and (arms > 0 or row[1] == 1 << int(row[2 + context :].sum()))
            right = right and 1 <= row[1] <= pyramid.MOST_ARM_CELLS
        if arms and right and len(rows):
            digits = np.array([[self._digit(arm, j) for j in range(context, len(bits))] for arm in range(arms)])
            for row in rows:
                cells = len(np.unique(digits >> (bits[context:] - row[2 + context :]), axis=0))
                right = right and row[1] == cells
        if not right:
            raise Refused("snapshot: levels are none that this policy can have made")

    def _digit(self, arm: int, j: int) -> int:
        return int(pyramid.digit_of_arm(self._floats, self._ints, pyramid.pyramid(self._ints), arm, j))

    def _check_credit(self, decision: Decision, ints: Ints, field: str) -> None:
        arms = len(self.problem.encoding.arms)
        known = 0 <= decision.credit < arms if arms else decision.credit == -1
        if not known:
            raise Refused(f"{field}: decision {decision.number} credits arm {decision.credit}, which does not exist")

    def _begin(self, decision: Decision) -> None:
        self._check_credit(decision, self._ints, "event")

    # What was learned.

    def facts(self) -> dict[str, Any]:
        """How many levels there are, and of how many places rewards are kept."""
        return {"levels": int(self._ints[pyramid.LEVELS]), "places": int(self._ints[pyramid.BASES])}

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The candidates, on one fixed grid, that would be played, or with `believed` those of undominated estimates.

        A candidate on a line of arms stands for an interval. The count is that of the finest cell that the estimate is
        made of.
        """
        point = np.zeros(self._dim)
        self.problem.encode_context(context, point)
        rows = self._encode_feasible(feasible)
        f, i = self._floats, self._ints
        at = pyramid.pyramid(i)
        if i[pyramid.LEVELS] == 0:
            return []
        tables = []
        for optimism in (0.0, pareto_zoom.OPTIMISM):
            listed = pareto_zoom.look(f, i, at, -1, point, rows, optimism)
            tables.append(f[at.indices : at.indices + at.learned * listed].reshape(at.learned, listed).T.copy())
        means, indices = tables
        coordinates = self._dim - at.context
        arms = f[at.arm : at.arm + listed * coordinates].reshape(listed, -1).copy() if at.arms == 0 else None
        numbers = i[at.listed : at.listed + listed].copy()
        pieces = []
        for k in np.flatnonzero(on_front(means if believed else indices)):
            number = int(numbers[k]) if arms is None else -1
            place = self.problem.encoding.arms[number] if arms is None else arms[k]
            point[at.context :] = place
            doubts = (indices[k] - means[k]) / pareto_zoom.OPTIMISM
            about = self._about(indices[k], means[k], doubts, pareto_zoom.seen(f, i, at, point, number))
            where = (float(number),) if arms is None else tuple(place)
            pieces.append((where, Piece(*self._extent(number, point, len(rows) == 0), *about)))
        return [piece for _, piece in sorted(pieces, key=lambda pair: pair[0])]

    def _extent(self, number: int, point: Floats, whole: bool) -> tuple[Any, Any, Any]:
        """(low, high, arm) of a piece: what a candidate on a whole line of arms stands for, else an arm."""
        encoding, arm = self.problem.encoding, self.problem.arm
        if number >= 0 or isinstance(arm, Finite) or len(arm) > 1 or not whole:
            return None, None, self.problem.decode_arm(number, point)
        half = 0.5 / self._ints[pyramid.PER_CELL]
        ends = max(0.0, point[encoding.context] - half), min(1.0, point[encoding.context] + half)
        return arm[0].decode(ends[0]), arm[0].decode(ends[1]), None

    def _about(self, index: Floats, mean: Floats, doubt: Floats, count: Ints) -> list[dict[str, Any]]:
        """(index, mean, uncertainty, count) by objective and in the user's units."""
        numbers = learned_numbers(self.problem, [])
        return [
            {n.name: n.decode(v) for n, v in zip(numbers, index.tolist(), strict=True)},
            {n.name: n.decode(v) for n, v in zip(numbers, mean.tolist(), strict=True)},
            {n.name: n.span * v for n, v in zip(numbers, doubt.tolist(), strict=True)},
            {n.name: c for n, c in zip(numbers, count.tolist(), strict=True)},
        ]


def _bits(problem: Problem) -> list[int]:
    """Into how many bits the coordinates of contexts and arms are read, and the number of a finite arm."""
    encoding = problem.encoding
    arms, dim = len(encoding.arms), len(encoding.kinds)
    kept = encoding.context if arms else dim  # those that a base's key is made of
    categories = np.where(encoding.kinds == CATEGORICAL, np.abs(encoding.values), 0).tolist()
    bits = [(count - 1).bit_length() if count else 0 for count in categories]
    numbered = [max(1, (arms - 1).bit_length())] if arms else []
    plain = [j for j in range(kept) if encoding.kinds[j] != CATEGORICAL]
    most = ALL_BITS - sum(numbered) - min(len(plain), ALL_BITS // 2)
    while sum(bits[:kept]) > most:  # then some categories are not told apart
        bits[bits.index(max(bits[:kept]))] -= 1
    left = ALL_BITS - sum(bits[:kept]) - sum(numbered)
    for j in range(dim):
        if encoding.kinds[j] != CATEGORICAL:
            bits[j] = min(MOST_BITS, left // len(plain)) if j < kept else FEATURE_BITS
    return [*bits, *numbered]


def _room(size: int) -> int:
    return max(FIRST_ROOM, 1 << (size - 1).bit_length()) if size else FIRST_ROOM


def _columns(memory: npt.NDArray[Any], start: int, rows: int, room: int, n: int) -> npt.NDArray[Any]:
    return memory[start : start + rows * room].reshape(rows, room)[:, :n]


def _length(arrays: Mapping[str, npt.NDArray[Any]], name: str) -> int:
    given = arrays.get(name) if isinstance(arrays, Mapping) else None
    return len(given) if isinstance(given, np.ndarray) and given.ndim == 1 else 0


def _finite(
    arrays: Mapping[str, npt.NDArray[Any]], name: str, shape: tuple[int, ...], most: float = LARGEST_SQUARE
) -> Floats:
    numbers = checked_array(arrays, name, shape, np.float64)
    if not (np.abs(numbers) <= most).all():
        raise Refused(f"snapshot: {name} holds numbers that are not finite or too large")
    return numbers
