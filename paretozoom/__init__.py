"""Contextual bandits with several objectives: learn per context which arms are Pareto optimal, play them fairly."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paretozoom.dimensions import Categorical, Finite, Integer, Objective, Real
    from paretozoom.environments import PaperTask, SmoothRidges, Tents
    from paretozoom.policies import PCZ, ContextualZooming, Random
    from paretozoom.problem import Problem
    from paretozoom.records import Asked, Decision, Dropped, Refused, Round, Snapshot, Told
    from paretozoom.rounds import Rounds
    from paretozoom.simulation import simulate

# Imported when first used: importing the package costs no compiler.
_HOMES = {
    "dimensions": ["Categorical", "Finite", "Integer", "Objective", "Real"],
    "environments": ["PaperTask", "SmoothRidges", "Tents"],
    "policies": ["PCZ", "ContextualZooming", "Random"],
    "problem": ["Problem"],
    "records": ["Asked", "Decision", "Dropped", "Refused", "Round", "Snapshot", "Told"],
    "rounds": ["Rounds"],
    "simulation": ["simulate"],
}

__all__ = [
    "PCZ",
    "Asked",
    "Categorical",
    "ContextualZooming",
    "Decision",
    "Dropped",
    "Finite",
    "Integer",
    "Objective",
    "PaperTask",
    "Problem",
    "Random",
    "Real",
    "Refused",
    "Round",
    "Rounds",
    "SmoothRidges",
    "Snapshot",
    "Tents",
    "Told",
    "simulate",
]
__version__ = "0.1.0"


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"paretozoom.{home}"), name)
            globals()[name] = value
            return value
    raise AttributeError(f"module 'paretozoom' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
