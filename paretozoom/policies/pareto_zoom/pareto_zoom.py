"""ParetoZoom: zooming by what the rewards themselves tell about noise and smoothness."""

from __future__ import annotations

from collections.abc import Mapping
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.pareto_zoom import pareto_zoom, pyramid
from paretozoom.kernels.pareto_zoom.believed import mark_believed
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.policies.fronts import Piece, learned_numbers, on_front
from paretozoom.policies.parameters import check_listable, checked_problem
from paretozoom.policies.pareto_zoom import pyramids
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Ints
from paretozoom.records import Decision, Refused, Values

SPREADS = ("arms", "front")


class ParetoZoom(CompiledPolicy):
    """Zooms where rewards and traffic are, and learns while it plays how noisy and how smooth the rewards are.

    Nothing is to be tuned: no horizon, no Lipschitz constant, no confidence. A trend, a quadratic of contexts and arms,
    is taken off the rewards where it misses little. What is left is summed in cells of contexts and arms on many levels
    at once. A level's estimate corrects that of the coarser one by its own means, as far as the noise and what levels
    of that size usually add make that worth it; which coordinates are halved, how far, the noise and the size of
    corrections are learned from the rewards. With few rewards these estimates are mixed with a smooth one, a Gaussian
    process in few terms, by how well each foretells what is told next. Of candidates on a randomly shifted grid those
    that no other dominates, by estimates with a little optimism, are played uniformly, or with `spread="front"` evenly
    along the front in the space of objectives. The density of the draw is exact. Rewards that contradict what was
    learned before let half of it be forgotten.

    Rewards may be on any scale, bounded or not, and come late, in parts and in any order. Their order matters only by
    rounding and by what is known when a reward is told, which is first foretold, and when estimates are made anew
    (whenever rewards have grown by a sixteenth) and levels (by a fifth, later by half). No regret bound is proved.

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
    version = 7
    kernel: ClassVar[ModuleType] = pareto_zoom
    summary = Summary(
        "corrects coarse estimates by finer ones as far as the rewards tell; uniform on the front of candidates",
        multi_objective=True,
        contextual=True,
        similarity=True,
        adaptive=True,
    )

    def __init__(self, problem: Problem, *, spread: Literal["arms", "front"] = "arms", seed: int = 0) -> None:
        check_listable(checked_problem(problem), self.name)
        if spread not in SPREADS:
            raise Refused(f"spread: {spread!r} is not 'arms' or 'front'")
        self.spread = spread
        super().__init__(problem, seed=seed, parameters={"spread": spread})

    # Memory.

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        return pyramids.allocate(self.problem, key, self._flags())

    def _flags(self) -> dict[int, int]:
        return {pyramid.ALONG_FRONT: SPREADS.index(self.spread)}

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return pyramids.arrays_of(self._floats, self._ints)

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        return pyramids.filled(self.problem, arrays, key, number, self._flags())

    def _check_credit(self, decision: Decision, ints: Ints, field: str) -> None:
        arms = len(self.problem.encoding.arms)
        known = 0 <= decision.credit < arms if arms else decision.credit == -1
        if not known:
            raise Refused(f"{field}: decision {decision.number} credits arm {decision.credit}, which does not exist")

    def _begin(self, decision: Decision) -> None:
        self._check_credit(decision, self._ints, "event")

    # What was learned.

    def facts(self) -> dict[str, Any]:
        """How many levels there are, of how many places rewards are kept, and how often half of them were forgotten."""
        named = {"levels": pyramid.LEVELS, "places": pyramid.BASES, "forgotten": pyramid.FORGOTTEN}
        return {name: int(self._ints[place]) for name, place in named.items()}

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The candidates, on one fixed grid, that would be played, or with `believed` all of undominated estimates.

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
        listed = pareto_zoom.look(f, i, at, -1, point, rows, pareto_zoom.OPTIMISM)
        mark_believed(f, i, at, point, listed)
        played = i[at.arm_chosen : at.arm_chosen + listed].copy()
        table = f[at.indices : at.indices + at.learned * listed].reshape(at.learned, listed).T
        indices = table.copy()
        pareto_zoom.look(f, i, at, -1, point, rows, 0.0)
        means = table.copy()
        pareto_zoom.look(f, i, at, -1, point, rows, 1.0)
        doubts = table - means
        # The first reward is added last: it may be so large that small differences are lost in it.
        first = np.nan_to_num(f[at.offset : at.noise])
        coordinates = self._dim - at.context
        arms = f[at.arm : at.arm + listed * coordinates].reshape(listed, -1).copy() if at.arms == 0 else None
        numbers = i[at.listed : at.listed + listed].copy()
        pieces = []
        for k in np.flatnonzero(on_front(means) if believed else played):
            number = int(numbers[k]) if arms is None else -1
            place = self.problem.encoding.arms[number] if arms is None else arms[k]
            point[at.context :] = place
            seen = pareto_zoom.seen(f, i, at, point, number)
            about = self._about(first + indices[k], first + means[k], doubts[k], seen)
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
