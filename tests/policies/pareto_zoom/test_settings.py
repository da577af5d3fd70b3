"""Every setting of ParetoZoom is read: in a run that reaches it, another value plays, or shows, something else."""

from __future__ import annotations

from dataclasses import fields
from functools import cache
from typing import Any

import pytest

from paretozoom import Finite, Objective, ParetoZoom, Problem, Real
from paretozoom.kernels.pareto_zoom.settings import Settings
from tests.policies.pareto_zoom.test_model import Turning
from tests.reference.play import World
from tests.reference.problems import LATTICE_PROBLEMS, PROBLEMS

MANY = Problem(context=[], arm=Finite(list(range(300))), objectives=[Objective("r")])
ALL = {
    **PROBLEMS,
    **LATTICE_PROBLEMS,
    "many arms": MANY,
    "unbounded": Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("a", bounded=False)]),
    "plane of labels": Problem(
        context=[Real("x1"), Real("x2"), Real("x3")], arm=Finite(list("abc")), objectives=[Objective("a")]
    ),
    "five contexts": Problem(
        context=[Real(f"x{j}") for j in range(5)], arm=[Real("y")], objectives=[Objective("a"), Objective("b")]
    ),
    "deep": Problem(context=[Real("x1"), Real("x2")], arm=[Real("y")], objectives=[Objective("a"), Objective("b")]),
}
# Late schedules, early; and a test of drift that a few hundred rewards pass.
LATE = {"last_trend_fit": 60, "last_smooth_fit": 60, "least_share": 0.3}
DRIFT = {"least_pairs": 60, "drift_errors": 1.5, "drift_times": 0.5, "drift_known": 4.0, "most_bits": 4}
# Of each setting: another value, a problem, and what else is set.
CASES: dict[str, tuple[float, str, dict[str, float]]] = {
    "first_rewards": (12, "plane", {}),
    "early_growth": (0.4, "plane", {}),
    "late_growth": (0.9, "plane", {"last_learned_at_once": 50}),
    "refresh_growth": (0.5, "plane", {}),
    "prior_fall": (0.5, "plane", {}),
    "prior_rewards": (8, "plane", {}),
    "least_roughness": (0.9, "plane", {}),
    "sure_pairs": (4, "plane", {}),
    "boldness": (4, "many arms", {}),
    "least_weight": (0.9, "plane", {}),
    "least_cells": (64, "plane", {}),
    "prior_gain": (2.0, "deep", {}),
    "prior_gain_rewards": (200, "deep", {}),
    "well_known": (100, "deep", {}),
    "most_judged": (20, "deep", {}),
    "bits_judged": (1, "deep", {}),
    "last_trend_fit": (60, "plane", {}),
    "sizes": (0, "plane", {}),
    "most_trend_terms": (4, "plane", {}),
    "last_smooth_fit": (60, "plane", {}),
    "last_learned_at_once": (60, "plane", {}),
    "centre_scale": (4, "plane", {}),
    "scale_spread": (0.5, "plane", {}),
    "sweeps": (0, "plane", {}),
    "signal_spread": (0.5, "plane", {}),
    "signal_boldness": (16, "plane", {}),
    "terms_per_coordinate": (10, "plane", {}),
    "most_terms": (20, "plane", {}),
    "cosines": (3, "plane", {}),
    "margin": (0.4, "plane", {}),
    "all_functions": (8, "plane", {}),
    "most_labels": (3, "labels", {}),
    "form_size": (1, "labels", {}),
    "form_level": (2, "labels", {}),
    "form_room": (0, "labels", {}),
    "axes": (1, "five contexts", {"directions": 4}),
    "directions": (1, "plane of labels", {"form_room": 40}),
    "outlier": (1, "unbounded", {}),
    "equal_rewards": (50, "plane", {}),
    "far": (1, "plane", {}),
    "memory": (0.2, "plane", {}),
    "bias": (2.0, "plane", {}),
    "least_share": (0.0, "plane", LATE),
    "optimism": (0.5, "plane", {}),
    "label_optimism": (3.0, "labels", {}),
    "lone_optimism": (5.0, "plane", {}),
    "worse": (0.2, "plane", {}),
    "ahead": (0.1, "plane", {}),
    "end": (3.0, "plane", {}),
    "least_pairs": (1000, "plane", DRIFT),
    "drift_errors": (20, "plane", DRIFT),
    "drift_times": (1000, "plane", DRIFT),
    "drift_known": (0.01, "plane", DRIFT),
    "most_bits": (3, "plane", {}),
    "feature_bits": (1, "features", {}),
    "line_candidates": (16, "plane", {}),
    "most_candidates": (64, "plane of arms", {}),
    "cells_per_candidate": (0.125, "plane", {}),
    "most_mixed": (0, "plane", {}),
    "most_groups": (16, "many arms", {}),
}


@cache
def _run(name: str, settings: tuple[tuple[str, float], ...], weighs: bool = False) -> Any:
    """What was played in 300 rounds (a world turns round after half of them), and what is shown then."""
    problem = ALL[name]
    prefer = {"weights": {problem.objectives[0].name: 1.0}} if weighs else None
    policy, world = ParetoZoom(problem, seed=1, settings=dict(settings), prefer=prefer), Turning(problem, 2, after=150)
    played = []
    for _ in range(300):
        decision = policy.ask(world.context())
        played.append((decision.arm, decision.density))
        policy.tell(decision, world.reward(decision))
    return played, policy.front(World(problem, seed=3).context())


@pytest.mark.parametrize("name", [setting.name for setting in fields(Settings)])
def test_a_setting_counts(name: str) -> None:
    value, problem, more = CASES[name]
    assert value != more.get(name, getattr(Settings(), name))
    weighs = name == "lone_optimism"  # one arm is played
    plain = _run(problem, tuple(more.items()), weighs)
    assert _run(problem, tuple({**more, name: value}.items()), weighs) != plain


def test_the_same_settings_play_the_same() -> None:
    _run.cache_clear()
    once = _run("plane", ())
    _run.cache_clear()
    assert _run("plane", ()) == once
    assert _run("plane", (("boldness", Settings().boldness),)) == once
