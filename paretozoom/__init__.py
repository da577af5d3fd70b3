"""Contextual bandits with several objectives: learn per context which arms are Pareto optimal, play them fairly."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from paretozoom.environments import (
        Boxes,
        Bridge,
        Catalogue,
        ClusteredUsers,
        ConcaveFront,
        ConvexFront,
        Crowds,
        Currencies,
        Devices,
        DriftingRidges,
        FiniteBandit,
        HeavyTails,
        Islands,
        LinearRewards,
        LoudAndQuiet,
        PaddedPaperTask,
        PaperTask,
        Pentagon,
        PolicyClass,
        SmoothRidges,
        Task,
        Tents,
        ThreePeaks,
        TwoOfFour,
    )
    from paretozoom.metrics import Metric
    from paretozoom.policies import (
        CLUB,
        COFIBA,
        HOO,
        MOCMAB,
        MOHOO,
        PCZ,
        AnnealingPareto,
        ContextualZooming,
        EpochGreedy,
        ILoveToConBandits,
        KernelUCB,
        LinUCB,
        ParetoKG,
        ParetoThompson,
        ParetoUCB1,
        ParetoZoom,
        Piece,
        Policy,
        PolicyElimination,
        QueryAdClustering,
        Random,
        RandomizedUCB,
        ScalarizedUCB1,
        SupKernelUCB,
        SupLinUCB,
    )
    from paretozoom.problem import Problem
    from paretozoom.problem.dimensions import Categorical, Finite, Integer, Objective, Real
    from paretozoom.records import Asked, Decision, Dropped, Event, Refused, Round, Snapshot, Told
    from paretozoom.remote.async_client import AsyncClient
    from paretozoom.remote.client import Client, ServiceError
    from paretozoom.rounds import Rounds
    from paretozoom.similarity import Similarity
    from paretozoom.similarity.diagnosis import Diagnoser, Diagnosis, Place, diagnose
    from paretozoom.similarity.metric import check_similarity
    from paretozoom.simulation import simulate, simulate_in_chunks

# Imported when first used: importing the package costs no compiler.
_HOMES = {
    "remote": ["AsyncClient", "Client", "ServiceError"],
    "similarity.diagnosis": ["Diagnoser", "Diagnosis", "Place", "diagnose"],
    "problem.dimensions": ["Categorical", "Finite", "Integer", "Objective", "Real"],
    "environments": [
        "Boxes",
        "Bridge",
        "Catalogue",
        "ClusteredUsers",
        "ConcaveFront",
        "ConvexFront",
        "Crowds",
        "Currencies",
        "Devices",
        "DriftingRidges",
        "FiniteBandit",
        "HeavyTails",
        "Islands",
        "LinearRewards",
        "LoudAndQuiet",
        "PaddedPaperTask",
        "PaperTask",
        "Pentagon",
        "PolicyClass",
        "SmoothRidges",
        "Task",
        "Tents",
        "ThreePeaks",
        "TwoOfFour",
    ],
    "similarity.metric": ["check_similarity"],
    "metrics": ["Metric"],
    "policies": [
        "CLUB",
        "COFIBA",
        "HOO",
        "MOCMAB",
        "MOHOO",
        "PCZ",
        "AnnealingPareto",
        "ContextualZooming",
        "EpochGreedy",
        "ILoveToConBandits",
        "KernelUCB",
        "LinUCB",
        "ParetoKG",
        "ParetoThompson",
        "ParetoUCB1",
        "ParetoZoom",
        "Piece",
        "Policy",
        "PolicyElimination",
        "QueryAdClustering",
        "Random",
        "RandomizedUCB",
        "ScalarizedUCB1",
        "SupKernelUCB",
        "SupLinUCB",
    ],
    "problem": ["Problem"],
    "records": ["Asked", "Decision", "Dropped", "Event", "Refused", "Round", "Snapshot", "Told"],
    "rounds": ["Rounds"],
    "similarity": ["Similarity"],
    "simulation": ["simulate", "simulate_in_chunks"],
}

__all__ = [
    "CLUB",
    "COFIBA",
    "HOO",
    "MOCMAB",
    "MOHOO",
    "PCZ",
    "AnnealingPareto",
    "Asked",
    "AsyncClient",
    "Boxes",
    "Bridge",
    "Catalogue",
    "Categorical",
    "Client",
    "ClusteredUsers",
    "ConcaveFront",
    "ContextualZooming",
    "ConvexFront",
    "Crowds",
    "Currencies",
    "Decision",
    "Devices",
    "Diagnoser",
    "Diagnosis",
    "DriftingRidges",
    "Dropped",
    "EpochGreedy",
    "Event",
    "Finite",
    "FiniteBandit",
    "HeavyTails",
    "ILoveToConBandits",
    "Integer",
    "Islands",
    "KernelUCB",
    "LinUCB",
    "LinearRewards",
    "LoudAndQuiet",
    "Metric",
    "Objective",
    "PaddedPaperTask",
    "PaperTask",
    "ParetoKG",
    "ParetoThompson",
    "ParetoUCB1",
    "ParetoZoom",
    "Pentagon",
    "Piece",
    "Place",
    "Policy",
    "PolicyClass",
    "PolicyElimination",
    "Problem",
    "QueryAdClustering",
    "Random",
    "RandomizedUCB",
    "Real",
    "Refused",
    "Round",
    "Rounds",
    "ScalarizedUCB1",
    "ServiceError",
    "Similarity",
    "SmoothRidges",
    "Snapshot",
    "SupKernelUCB",
    "SupLinUCB",
    "Task",
    "Tents",
    "ThreePeaks",
    "Told",
    "TwoOfFour",
    "check_similarity",
    "diagnose",
    "simulate",
    "simulate_in_chunks",
]
__version__ = "0.1.0"


_PARTS = ("checks", "environments", "metrics", "plots", "policies", "simulation", "study", "theory")


def __getattr__(name: str) -> Any:
    for home, names in _HOMES.items():
        if name in names:
            value = getattr(import_module(f"paretozoom.{home}"), name)
            globals()[name] = value
            return value
    if name in _PARTS:
        return import_module(f"paretozoom.{name}")
    raise AttributeError(f"module 'paretozoom' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*__all__, *_PARTS])
