"""ParetoZoom: a committee of estimators, and fair play on the front of what they say together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from paretozoom.findings.tails import largest_share_of_sums
from paretozoom.kernels.pareto_zoom import blocks, chooser, policy
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.settings import Settings
from paretozoom.kernels.pareto_zoom.sites import digits_of_point
from paretozoom.policies import stored
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.policies.fronts import Piece, learned_numbers, on_front
from paretozoom.policies.parameters import check_listable, checked_problem
from paretozoom.policies.pareto_zoom import memory
from paretozoom.policies.summary import Summary
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Finite, Floats, Ints, number_of
from paretozoom.records import Refused, Values

SPREADS = ("arms", "front")


class ParetoZoom(CompiledPolicy):
    """Plays fairly on the front of what a committee of estimators predicts; nothing is to be tuned.

    Four estimators of the mean reward learn side by side: a trend (a quadratic), a smooth estimate (a Gaussian process
    in few terms), forms (for each of finitely many arms a linear form of the context), and levels (means of ever
    smaller cells of contexts and arms). Their shares are those with which rewards would have been predicted best.

    Of candidates on a randomly shifted grid those on the front of the means are played uniformly, or with
    `spread="front"` evenly along the front in the space of objectives; what others all but dominate, as far as standard
    errors tell, is left out. The density of the draw is exact. Rewards that contradict what was learned before let half
    of it be forgotten.

    With `prefer={"weights": {"gain": 1, "cost": 4}}` not the front is played, but the arm of the largest weighted sum
    of rewards in the user's units. What is to be small is subtracted: here a unit of cost weighs as much as four of
    gain. What is not named weighs nothing.

    Rewards may be on any scale, bounded or not, and come late, in parts and in any order. No regret bound is proved.
    `settings` replaces numbers of `Settings`, for experiments.

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
    kernel: ClassVar[ModuleType] = policy
    summary = Summary(
        "shares of a trend, a smooth estimate, forms of arms and means of cells; uniform on the front of candidates",
        multi_objective=True,
        contextual=True,
        similarity=True,
        adaptive=True,
    )

    def __init__(
        self,
        problem: Problem,
        *,
        spread: Literal["arms", "front"] = "arms",
        prefer: Mapping[str, Mapping[str, float]] | None = None,
        settings: Mapping[str, float] | None = None,
        seed: int = 0,
    ) -> None:
        check_listable(checked_problem(problem), self.name)
        if spread not in SPREADS:
            raise Refused(f"spread: {spread!r} is not 'arms' or 'front'")
        self.spread = spread
        self._weights = None if prefer is None else checked_weights(problem, prefer)
        wanted = {} if prefer is None else {"prefer": {"weights": {k: float(w) for k, w in prefer["weights"].items()}}}
        self.settings = checked_settings(settings or {})
        given = {} if not settings else {"settings": dict(settings)}
        super().__init__(problem, seed=seed, parameters={"spread": spread, **wanted, **given})

    # Memory.

    def _memory(self, key: Ints) -> tuple[Floats, Ints]:
        f, i = memory.allocate(self.problem, self.settings, key, self.spread == "front", {}, self._weights)
        return f, i

    def _arrays(self) -> dict[str, npt.NDArray[Any]]:
        return stored.arrays_of(m.memory, self._floats, self._ints)

    def _filled(self, arrays: Mapping[str, npt.NDArray[Any]], key: Ints, number: int) -> tuple[Floats, Ints]:
        f, i = memory.filled(self.problem, self.settings, key, self.spread == "front", arrays, number, self._weights)
        return f, i

    def _credits(self, number: int, learned: Any = None) -> range:
        arms = len(self.problem.encoding.arms)
        return range(arms) if arms else range(-1, 0)

    # What was learned.

    def facts(self) -> dict[str, Any]:
        """How many levels and sites there are, how often half was forgotten, and the shares of the estimators.

        By objective, too: which share of the variance of rewards arms and contexts explain together, and which the
        largest 1 % of deviations make, at least: of rewards as they are learned, outliers brought nearer.
        """
        named = {"levels": m.LEVELS, "sites": m.SITES, "forgotten": m.FORGOTTEN}
        shares = m.memory.view("share", self._floats, self._ints).mean(axis=0).tolist()
        facts: dict[str, Any] = {name: int(self._ints[place]) for name, place in named.items()}
        f, i, names = self._floats, self._ints, self.problem.objective_names
        beyond, sites = m.memory.view("explained", f, i), slice(facts["sites"])
        sums = (m.memory.view(part, f, i)[:, sites] for part in ("site_count", "site_total", "site_square"))
        return {
            **facts,
            "shares": dict(zip(("levels", "trend", "smooth", "forms"), shares, strict=True)),
            "explained": dict(zip(names, (beyond / (1 + beyond)).tolist(), strict=True)),
            "largest_share": dict(zip(names, map(largest_share_of_sums, *sums), strict=True)),
        }

    def front(self, context: Values = (), *, believed: bool = False, feasible: Any = None) -> list[Piece]:
        """The candidates, on one fixed grid, that would be played, or with `believed` all of undominated means.

        A candidate on a line of arms stands for an interval. The count is that of the finest cell around it.
        """
        point = np.zeros(self._dim)
        self.problem.encode_context(context, point)
        allowed = self._encode_feasible(feasible)
        f, i = self._floats, self._ints
        if i[m.LEVELS] == 0:
            return []
        rows = policy.look(f, i, -1, point, allowed, False)
        means = self._rows("mean", rows)
        chooser.choose(f, i, rows)
        indices = self._rows("mean", rows)
        chosen = on_front(means) if believed else m.memory.view("front", f, i)[0, :rows] == 1
        policy.look(f, i, -1, point, allowed, True)
        errors = self._rows("error", rows)
        first = np.nan_to_num(m.memory.view("offset", f, i))
        arms, numbers = m.memory.view("arm", f, i)[:rows].copy(), m.memory.view("listed", f, i)[:rows].tolist()
        finite, pieces = len(self.problem.encoding.arms) > 0, []
        for row in np.flatnonzero(chosen).tolist():
            number = numbers[row] if finite else -1
            point[i[m.CONTEXT] :] = arms[row]
            counts = blocks.seen(f, i, digits_of_point(f, i, point, number), number)
            about = self._about(first + indices[row], first + means[row], errors[row], counts)
            where = (float(number),) if finite else tuple(arms[row])
            pieces.append((where, Piece(*self._extent(number, point, len(allowed) == 0), *about)))
        return [piece for _, piece in sorted(pieces, key=lambda pair: pair[0])]

    def _rows(self, name: str, rows: int) -> Floats:
        """What the last look found: (rows, objectives)."""
        d = self._objectives
        table: Floats = m.memory.view(name, self._floats, self._ints).ravel()[: d * rows].reshape(d, rows).T.copy()
        return table

    def _extent(self, number: int, point: Floats, whole: bool) -> tuple[Any, Any, Any]:
        """(low, high, arm) of a piece: what a candidate on a whole line of arms stands for, else an arm."""
        encoding, arm = self.problem.encoding, self.problem.arm
        if number >= 0 or isinstance(arm, Finite) or len(arm) > 1 or not whole:
            return None, None, self.problem.decode_arm(number, point)
        half = 0.5 / self._ints[m.PER_CELL]
        ends = max(0.0, point[encoding.context] - half), min(1.0, point[encoding.context] + half)
        return arm[0].decode(ends[0]), arm[0].decode(ends[1]), None

    def _about(self, index: Floats, mean: Floats, error: Floats, count: Ints) -> list[dict[str, Any]]:
        """(index, mean, uncertainty, count) by objective and in the user's units."""
        numbers = learned_numbers(self.problem, [])
        return [
            {n.name: n.decode(v) for n, v in zip(numbers, index.tolist(), strict=True)},
            {n.name: n.decode(v) for n, v in zip(numbers, mean.tolist(), strict=True)},
            {n.name: n.span * v for n, v in zip(numbers, error.tolist(), strict=True)},
            {n.name: c for n, c in zip(numbers, count.tolist(), strict=True)},
        ]


def checked_weights(problem: Problem, prefer: Mapping[str, Mapping[str, float]]) -> Floats:
    """What scaled rewards are multiplied by, from weights of rewards in the user's units; the largest is 1.

    >>> from paretozoom import Objective, Real
    >>> objectives = [Objective("gain", high=10), Objective("cost", goal="min")]
    >>> task = Problem(context=[], arm=[Real("y")], objectives=objectives)
    >>> checked_weights(task, {"weights": {"gain": 1, "cost": 4}}).tolist()
    [1.0, 0.4]
    """
    if not isinstance(prefer, Mapping) or list(prefer) != ["weights"] or not isinstance(prefer["weights"], Mapping):
        raise Refused(f"prefer: {prefer!r}, expected {{'weights': {{objective: number}}}}")
    weights, names = prefer["weights"], [objective.name for objective in problem.objectives]
    unknown = [name for name in weights if name not in names]
    if unknown:
        raise Refused(f"prefer: weights of {unknown!r}, expected objectives of {names!r}")
    numbers = {name: number_of(value, f"prefer: weight of {name!r}") for name, value in weights.items()}
    for name, number in numbers.items():
        if number < 0:
            raise Refused(f"prefer: weight of {name!r} is {number!r}, expected a number of at least 0")
    largest = max(numbers.values(), default=0.0)
    if largest == 0.0:
        raise Refused(f"prefer: weights are {dict(weights)!r}, expected one above 0")
    scaled = np.array([one.span * (numbers.get(one.name, 0.0) / largest) for one in problem.objectives])
    shares: Floats = scaled / scaled.max()
    return shares


def checked_settings(given: Mapping[str, float]) -> Settings:
    """The settings with some replaced.

    >>> checked_settings({"boldness": 16.0}).boldness
    16.0
    """
    known = {setting.name for setting in fields(Settings)}
    for name, value in given.items():
        if name not in known:
            raise Refused(f"settings: {name!r} is not one of {sorted(known)!r}")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not np.isfinite(value):
            raise Refused(f"settings[{name!r}]: {value!r} is not a finite number")
    return replace(Settings(), **dict(given))
