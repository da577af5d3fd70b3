"""Contextual bandits with several objectives: learn per context which arms are Pareto optimal, play them fairly."""

from __future__ import annotations

from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # for type checkers and editors: what is found below, when it is first used
    from paretozoom.environments import *  # noqa: F403
    from paretozoom.findings import Finding as Finding
    from paretozoom.metrics import Metric as Metric
    from paretozoom.policies import *  # noqa: F403
    from paretozoom.problem import Problem as Problem
    from paretozoom.problem.dimensions import Categorical as Categorical
    from paretozoom.problem.dimensions import Finite as Finite
    from paretozoom.problem.dimensions import Integer as Integer
    from paretozoom.problem.dimensions import Objective as Objective
    from paretozoom.problem.dimensions import Real as Real
    from paretozoom.problem.vector import Vector as Vector
    from paretozoom.records import Asked as Asked
    from paretozoom.records import Decision as Decision
    from paretozoom.records import Dropped as Dropped
    from paretozoom.records import Event as Event
    from paretozoom.records import Refused as Refused
    from paretozoom.records import Round as Round
    from paretozoom.records import Snapshot as Snapshot
    from paretozoom.records import Told as Told
    from paretozoom.remote.async_client import AsyncClient as AsyncClient
    from paretozoom.remote.client import Client as Client
    from paretozoom.remote.errors import ServiceError as ServiceError
    from paretozoom.remote.wire import LocalDecision as LocalDecision
    from paretozoom.rounds import Rounds as Rounds
    from paretozoom.similarity import Similarity as Similarity
    from paretozoom.similarity.diagnosis import Diagnoser as Diagnoser
    from paretozoom.similarity.diagnosis import Diagnosis as Diagnosis
    from paretozoom.similarity.diagnosis import Place as Place
    from paretozoom.similarity.diagnosis import diagnose as diagnose
    from paretozoom.similarity.metric import check_similarity as check_similarity
    from paretozoom.simulation import simulate as simulate
    from paretozoom.simulation import simulate_in_chunks as simulate_in_chunks

# Imported when first used: importing the package costs no compiler.
_HOMES = {
    "findings": ["Finding"],
    "metrics": ["Metric"],
    "problem": ["Problem"],
    "problem.dimensions": ["Categorical", "Finite", "Integer", "Objective", "Real"],
    "problem.vector": ["Vector"],
    "records": ["Asked", "Decision", "Dropped", "Event", "Refused", "Round", "Snapshot", "Told"],
    "remote": ["AsyncClient", "Client", "LocalDecision", "ServiceError"],
    "rounds": ["Rounds"],
    "similarity": ["Similarity"],
    "similarity.diagnosis": ["Diagnoser", "Diagnosis", "Place", "diagnose"],
    "similarity.metric": ["check_similarity"],
    "simulation": ["simulate", "simulate_in_chunks"],
}
_MEMBERS = ("environments", "policies")  # packages whose public names are names here too
_PARTS = ("checks", "environments", "metrics", "plots", "policies", "simulation", "study", "theory")
__version__ = "0.1.0"

if not TYPE_CHECKING:  # else a name that is not there would be one to type checkers

    def __getattr__(name: str) -> Any:
        if name == "__all__":
            value: Any = sorted({name for home in (*_MEMBERS, *_HOMES) for name in _names_of(home)})
        elif name.startswith("_"):
            raise AttributeError(f"module 'paretozoom' has no attribute {name!r}")
        else:
            home = next((home for home, names in _HOMES.items() if name in names), None)
            if home is None and find_spec(f"paretozoom.{name}") is not None:
                return import_module(f"paretozoom.{name}")
            home = home or next((home for home in _MEMBERS if name in _names_of(home)), None)
            if home is None:
                raise AttributeError(f"module 'paretozoom' has no attribute {name!r}")
            value = getattr(import_module(f"paretozoom.{home}"), name)
        globals()[name] = value
        return value

    def _names_of(home: str) -> list[str]:
        return _HOMES[home] if home in _HOMES else import_module(f"paretozoom.{home}").__all__

    def __dir__() -> list[str]:
        return sorted([*__getattr__("__all__"), *_PARTS])
