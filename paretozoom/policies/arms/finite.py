"""What policies with finitely many arms share: a grid on continuous arms, cells of contexts, one number per reward."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.arms import table
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.policies.fronts import Piece, described, learned_numbers
from paretozoom.policies.parameters import checked_count, checked_problem, in_words, scalarisation
from paretozoom.policies.snapshots import checked_array
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Ints
from paretozoom.records import Decision, Refused, Values

GRID_ARMS = 18  # on a line; ceil(T^(1/4)) for a hundred thousand rounds
MOST_ARMS = 10_000
MOST_CELLS = 100_000

Within = Literal["centre", "cell"]


class Grid(NamedTuple):
    """Finitely many arms: those of the problem, or the centres of equal cells of its continuous dimensions."""

    arms: Floats  # (K, arm coordinates)
    half: Floats  # (arm coordinates,) half the width of a cell; 0 for discrete coordinates

    @classmethod
    def of(cls, problem: Problem, arms: int | None = None) -> Grid:
        """`arms` cells along each continuous dimension; None for about 18 in all.

        >>> from paretozoom import Objective, Real
        >>> line = Problem(context=[], arm=[Real("y")], objectives=[Objective("r")])
        >>> Grid.of(line, 4).arms.ravel().tolist()
        [0.125, 0.375, 0.625, 0.875]
        """
        encoding = problem.encoding
        if len(encoding.arms):
            return cls(encoding.arms, np.zeros(encoding.arms.shape[1]))
        assert not isinstance(problem.arm, Finite)
        values = encoding.values[encoding.context :].tolist()
        count = checked_count(arms, "arms", math.ceil(GRID_ARMS ** (1 / values.count(0))) if 0 in values else 1)
        columns = [_places(v) if v else (np.arange(count) + 0.5) / count for v in values]
        if math.prod(map(len, columns)) > MOST_ARMS:
            raise Refused(f"arms: a grid of {math.prod(map(len, columns))} arms, expected at most {MOST_ARMS}")
        grid = np.array(list(itertools.product(*columns)))
        return cls(grid, np.array([0.0 if v else 0.5 / count for v in values]))


def _places(values: int) -> Floats:
    return np.arange(-values, dtype=float) if values < 0 else np.arange(values, dtype=float) / (values - 1)


class FiniteArms(CompiledPolicy):
    """A policy over finitely many arms; see `kernels/arms/table.py` for its memory.

    Subclasses pass on what they were given: `arms` and `within` (a grid on continuous arms, of which the centre or a
    random place of a cell is played) or a `grid` of their own, `cells` (into how many parts each context coordinate is
    divided, a copy of the policy in each; categories stay whole), `weights` (of the objectives it sums; empty if it
    learns each), and their own `constants`. They say how many numbers a copy learns.

    If no arm of a grid is feasible, one of the feasible boxes is drawn by its size, and its middle is played, or
    `within` the "cell" any place of it; this teaches about the nearest arm, if at all.
    """

    in_parts = False

    def __init__(
        self,
        problem: Problem,
        *,
        arms: int | None = None,
        grid: Grid | None = None,
        within: Within = "centre",
        cells: int = 1,
        weights: Sequence[float] = (),
        constants: Sequence[float] = (),
        seed: int,
        parameters: Mapping[str, Any],
    ) -> None:
        checked_problem(problem)
        if within not in ("centre", "cell"):
            raise Refused(f"within: {within!r} is not 'centre' or 'cell'")
        self.grid = Grid.of(problem, arms) if grid is None else grid
        self.within = within
        self.weights = [float(w) for w in weights]
        self.constants = [float(c) for c in constants]
        self.divisions = _divisions(problem, checked_count(cells, "cells"))
        self.copies = math.prod(self.divisions)
        if self.copies > MOST_CELLS:
            raise Refused(
                f"cells: {in_words(self.copies)} context cells, as contexts have {len(self.divisions)} numbers that "
                f"are divided; {self.name} can handle {MOST_CELLS}"
            )
        told = {**parameters, "arms": arms, "within": within} if grid is None else parameters
        super().__init__(problem, seed=seed, parameters=told)
        if self.weights:
            self._needs = sum(1 << o for o, w in enumerate(self.weights) if w > 0)

    @property
    def learned(self) -> int:
        """How many numbers a reward is for the policy."""
        return 1 if self.weights else len(self.problem.objectives)

    @property
    def density_kind(self) -> str:
        """What `Decision.density` is: a density, or a probability where single arms are played."""
        single = len(self.problem.encoding.arms) > 0 or self.within == "centre"
        return "probability" if single else "density"

    # What a subclass provides.

    def _sizes(self) -> tuple[int, int]:
        """How many floats and ints the policy learns."""
        raise NotImplementedError

    def _first(self, floats: Floats, ints: Ints) -> None:
        """Fill what a fresh policy has learned, all zeros as it comes."""

    # What it believes.

    def _encoded(self, context: Values) -> Floats:
        """A point at a context."""
        point = np.zeros(self._dim)
        self.problem.encode_context(context, point)
        return point

    def _feasible_arms(self, feasible: Any) -> Ints:
        at = table.table(self._ints)
        listed = table.list_arms(self._floats, self._ints, at, self._encode_feasible(feasible))
        return self._ints[at.listed : at.listed + listed].copy()

    def _piece(self, arm: int, **known: Any) -> Piece:
        """An arm and what is known of it, as `described` takes it."""
        point = np.concatenate([np.zeros(self.problem.encoding.context), self.grid.arms[arm]])
        played = self.problem.decode_arm(arm if len(self.problem.encoding.arms) else -1, point)
        return Piece(None, None, played, *described(learned_numbers(self.problem, self.weights), **known))

    # Memory.

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        floats, ints = self._allocate(key)
        at = table.table(ints)
        self._first(floats[at.floats : at.indices], ints[at.ints : at.listed])
        return floats, ints

    def _allocate(self, key: Ints) -> tuple[Floats, Ints]:
        encoding = self.problem.encoding
        head = np.zeros(table.HEADER, np.int64)
        head[table.CONTEXT], head[table.DIM] = encoding.context, self._dim
        head[table.ARMS], head[table.LISTED] = len(self.grid.arms), len(encoding.arms) > 0
        head[table.WITHIN] = self.within == "cell"
        head[table.LEARNED], head[table.WEIGHTS] = self.learned, len(self.weights)
        head[table.KEY0], head[table.KEY1] = key
        head[table.CONSTANTS] = len(self.constants)
        head[table.FLOATS], head[table.INTS] = self._sizes()
        at = table.table(head)
        floats, ints = np.zeros(at.all_floats), np.zeros(at.all_ints, np.int64)
        ints[: table.HEADER] = head
        ints[at.kinds : at.values] = encoding.kinds
        ints[at.values : at.divisions] = encoding.values
        ints[at.divisions : at.ints] = self.divisions
        floats[at.weights : at.arm] = self.weights
        floats[at.arm : at.half] = self.grid.arms.ravel()
        floats[at.half : at.constants] = self.grid.half
        floats[at.constants : at.floats] = self.constants
        return floats, ints

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        at = table.table(self._ints)
        return {"floats": self._floats[at.floats : at.indices].copy(), "ints": self._ints[at.ints : at.listed].copy()}

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        floats, ints = self._allocate(key)
        at = table.table(ints)
        floats[at.floats : at.indices] = checked_array(arrays, "floats", (at.indices - at.floats,), np.float64)
        ints[at.ints : at.listed] = checked_array(arrays, "ints", (at.listed - at.ints,), np.int64)
        if not np.isfinite(floats[at.floats : at.indices]).all():
            raise Refused("snapshot: floats holds numbers that are not finite")
        return floats, ints

    def _begins_epoch(self, number: int) -> bool:
        return hasattr(self.kernel, "enter")

    def _begin(self, decision: Decision) -> None:
        enter: Callable[..., None] | None = getattr(self.kernel, "enter", None)
        if enter is not None:
            enter(self._floats, self._ints, decision.number)


class Scalarised(FiniteArms):
    """A policy over finitely many arms that was made for one number per reward.

    This is an `objective` (by default the first) or the sum by some `weights`; with `pareto` it learns each objective.
    """

    def __init__(
        self,
        problem: Problem,
        *,
        objective: str | None,
        weights: Sequence[float] | None,
        pareto: bool,
        parameters: Mapping[str, Any],
        **others: Any,
    ) -> None:
        numbers = scalarisation(checked_problem(problem), objective, weights, pareto)
        told = {"objective": objective, "weights": None if weights is None else numbers, "pareto": pareto}
        super().__init__(problem, weights=numbers, parameters={**parameters, **told}, **others)


def _divisions(problem: Problem, cells: int) -> list[int]:
    """Into how many cells each context coordinate is divided: categories stay whole."""
    values = problem.encoding.values[: problem.encoding.context].tolist()
    return [1 if cells == 1 else -v if v < 0 else cells for v in values]
