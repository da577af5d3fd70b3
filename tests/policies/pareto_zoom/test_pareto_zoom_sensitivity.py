"""ParetoZoom: a twin that is a little different decides otherwise."""

from __future__ import annotations

import math
from typing import Any

import pytest

from paretozoom import Objective, Problem
from tests.policies.pareto_zoom.test_pareto_zoom import TOO_MANY_LABELS, agree, check_fronts, pair
from tests.reference import estimates, forget, levels, smooth, trend
from tests.reference import pareto_zoom as slow
from tests.reference.levels import Cell
from tests.reference.lockstep import lockstep
from tests.reference.play import World
from tests.reference.problems import PROBLEMS


@pytest.mark.parametrize(
    ("home", "name", "value"),
    [
        (slow, "OPTIMISM", 0.00301),
        (slow, "MOST_MIXED", 1),
        (slow, "LEAST_WEIGHT", 0.7),
        (slow, "WORSE", 0.3),
        (slow, "AHEAD", 1.9),
        (slow, "END", 0.4),
        (slow, "LIFT", 0.31),
        (estimates, "GROWTH", 17),
        (forget, "BOLDNESS", math.nextafter(32, 33)),
        (estimates, "OWN_NOISE", math.nextafter(4, 5)),
        (estimates, "SURE", 17.0),
        (trend, "UNKNOWN", 2e6),
        (trend, "PRIOR_NOISE", math.nextafter(16, 17)),
        (trend, "SURE", math.nextafter(8, 9)),
        (trend, "PLACE_BITS", 12),
        (smooth, "BOLDNESS", math.nextafter(4, 5)),
        (smooth, "LESS_BOLDNESS", math.nextafter(4, 5)),
        (smooth, "MEMORY", math.nextafter(0.7, 1)),
        (smooth, "NEAR", 30.0),
        (smooth, "FAR", 3.0),
        (smooth, "EVEN", 8.0),
        (smooth, "SPREAD", 1.0),
        (smooth, "SIGNAL_SPREAD", 1.0),
        (smooth, "STARTS", ()),
        (smooth, "SWEEPS", 1),
        (levels, "ALIKE", 3.0),
        (levels, "LEAST_CELLS", 512),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_constants_count(home: Any, name: str, value: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin whose constants differ by a hair is found out."""
    monkeypatch.setattr(home, name, value)
    with pytest.raises(AssertionError):
        _play_and_compare(PROBLEMS["two contexts"], PROBLEMS["five objectives"], PROBLEMS["labels"])


def _play_and_compare(*problems: Problem) -> None:
    for problem in problems:
        policy, twin = pair(problem)
        world = World(problem, seed=1)
        lockstep(policy, twin, world, 60, scrambled=False)
        agree(policy, twin)
        check_fronts(policy, twin, world)


def _do_nothing(twin: slow.ParetoZoom, *_: Any) -> None:
    twin.due = estimates.due_after(twin.told)


def _refresh_new_blocks_alone(twin: slow.ParetoZoom, k: int, context: Cell) -> None:
    if not twin.levels[k].blocks[context].known:
        twin.refresh(k, context)


@pytest.mark.parametrize(
    ("name", "instead"), [("refresh_all", _do_nothing), ("refresh_path", _refresh_new_blocks_alone)]
)
def test_both_ways_to_make_estimates_anew_matter(name: str, instead: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A twin that makes no estimates anew everywhere, or none along a path but those of new blocks, decides else."""
    monkeypatch.setattr(slow.ParetoZoom, name, instead)
    problem = PROBLEMS["plane"]
    with pytest.raises(AssertionError):
        lockstep(*pair(problem), World(problem, seed=1), 60, scrambled=False)


def test_sums_of_levels_that_stay_are_not_made_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """They are as they were accumulated, which rounds otherwise than sums of bases."""
    problem = Problem(context=[], arm=TOO_MANY_LABELS, objectives=[Objective("r")])
    _compare_often(problem)
    monkeypatch.setattr(levels.Level, "halves_like", lambda *_: False)
    with pytest.raises(AssertionError):
        _compare_often(problem)


def _compare_often(problem: Problem) -> None:
    (policy, twin), world = pair(problem), World(problem, seed=1)
    for _ in range(8):
        lockstep(policy, twin, world, 8, scrambled=False)
        agree(policy, twin)
