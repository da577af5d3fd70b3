"""Who plays on tasks drawn at random: ParetoZoom, and rivals with settings of which development tasks choose one."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from peers.adapter import Rival, Settings
from peers.linear import MABWiserLinUCB, RiverLinUCB
from peers.play import Seat
from peers.vowpal import VowpalArms

from paretozoom import KernelUCB, LinUCB, ParetoZoom
from paretozoom.kernels.core.sources import fingerprint
from paretozoom.problem import Problem

PACKAGE = Path(__file__).parents[2] / "paretozoom"
ZOOM = ("kernels/core", "kernels/pareto_zoom", "policies/pareto_zoom", "environments/drawing")
LINEAR = ("kernels/linear", "policies/arms", "policies/linear", "environments/drawing")
FAIR, EQUAL = "pareto-zoom", "pareto-zoom, equal weights"
FAIR_LINEAR = "linucb, pareto"
OURS = (FAIR, EQUAL)
DEFAULTS = "defaults"
MOST_CELLS = 64  # of contexts that Vowpal Wabbit is told of beside their numbers


class Player(NamedTuple):
    """A player: its settings, how it sits down, what its runs depend on, and how much it has time for."""

    settings: Settings
    sit: Callable[[Problem, int, dict[str, Any]], Any]
    code: Callable[[], str]
    development: range = range(100)  # tasks on which its setting is chosen
    longest: int = 10_000
    lasts: bool = False  # runs hold, whatever `code` says now


def _peer(rival: type[Rival], settings: Settings, **others: Any) -> Player:
    """A package of others: it is told the mean of the scaled rewards."""
    return Player(
        settings,
        lambda problem, rounds, setting: Seat(rival, problem, rounds, setting, raw=True),
        lambda: str(rival.version()),
        lasts=True,
        **others,
    )


def _linear(policy: Callable[..., Any], settings: Settings) -> Player:
    """A policy of ours that learns the mean of the scaled rewards."""
    return Player(
        settings,
        lambda problem, rounds, setting: policy(problem, weights=_shares(problem), **setting),
        lambda: code_of(LINEAR),
    )


def _shares(problem: Problem) -> list[float]:
    return [1.0 / len(problem.objectives)] * len(problem.objectives)


def _equal(problem: Problem) -> dict[str, float]:
    """Weights under which all objectives count alike once they are scaled."""
    return {objective.name: 1.0 / objective.span for objective in problem.objectives}


@cache
def code_of(folders: tuple[str, ...]) -> str:
    """A hash of all that is in some folders of the package."""
    return fingerprint(*sorted(file for name in folders for file in (PACKAGE / name).rglob("*.py")))[:12]


def _vowpal(options: str, arm_numbers: bool) -> dict[str, Any]:
    return {"options": options, "numbers": True, "most_cells": MOST_CELLS, "arm_numbers": arm_numbers}


RIVALS: dict[str, Player] = {
    "river-linucb": _peer(
        RiverLinUCB,
        {
            "beta 1": {"alpha": 1.0, "beta": 1.0, "squares": False},
            "beta 0.1": {"alpha": 1.0, "beta": 0.1, "squares": False},
            "beta 100": {"alpha": 1.0, "beta": 100.0, "squares": False},
        },
    ),
    "vw-epsilon": _peer(
        VowpalArms,
        {
            "0.05, numbers of arms": _vowpal("--epsilon 0.05 -l 2", True),
            "0.02": _vowpal("--epsilon 0.02 -l 2", False),
            "0.05, fast": _vowpal("--epsilon 0.05 -l 8", False),
        },
    ),
    "vw-squarecb": _peer(
        VowpalArms,
        {
            "100, numbers of arms": _vowpal("--squarecb --gamma_scale 100 -l 2", True),
            "100": _vowpal("--squarecb --gamma_scale 100 -l 2", False),
            "1000": _vowpal("--squarecb --gamma_scale 1000 -l 2", False),
        },
    ),
    "mabwiser-linucb": _peer(
        MABWiserLinUCB,
        {
            "alpha 0.1": {"alpha": 0.1, "squares": False},
            "alpha 0.3": {"alpha": 0.3, "squares": False},
            "alpha 0.1, squares": {"alpha": 0.1, "squares": True},
        },
        development=range(50),
        longest=1_000,
    ),
    "linucb": _linear(
        LinUCB,
        {
            "alpha 1": {"alpha": 1.0},
            "alpha 0.3": {"alpha": 0.3},
            "hybrid, alpha 0.3": {"alpha": 0.3, "model": "hybrid"},
        },
    ),
    "kernel-ucb": _linear(
        KernelUCB,
        {
            "length 1, ridge 0.1": {"length": 1.0, "gamma": 0.1, "eta": 0.1},
            "length 0.5, ridge 1": {"length": 0.5, "gamma": 1.0, "eta": 0.3},
            "length 0.5, ridge 0.1": {"length": 0.5, "gamma": 0.1, "eta": 0.06},
        },
    ),
}
PLAYERS: dict[str, Player] = {
    FAIR: Player({DEFAULTS: {}}, lambda problem, _, __: ParetoZoom(problem), lambda: code_of(ZOOM)),
    EQUAL: Player(
        {DEFAULTS: {}},
        lambda problem, _, __: ParetoZoom(problem, prefer={"weights": _equal(problem)}),
        lambda: code_of(ZOOM),
    ),
    FAIR_LINEAR: Player({DEFAULTS: {}}, lambda problem, _, __: LinUCB(problem, pareto=True), lambda: code_of(LINEAR)),
    **RIVALS,
}
