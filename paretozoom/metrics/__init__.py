"""The metrics: one file each."""

from paretozoom.metrics.base import Metric
from paretozoom.metrics.rounds.mean_reward import MeanReward
from paretozoom.metrics.truth.bins import BinRatios
from paretozoom.metrics.truth.front_entropy import FrontEntropy
from paretozoom.metrics.truth.front_share import FrontShare
from paretozoom.metrics.truth.hypervolume import Hypervolume
from paretozoom.metrics.truth.local_entropy import LocalEntropy
from paretozoom.metrics.truth.regret import ParetoRegret

# What a study measures in every run.
STANDARD: tuple[type[Metric], ...] = (
    ParetoRegret,
    FrontShare,
    BinRatios,
    LocalEntropy,
    FrontEntropy,
    MeanReward,
    Hypervolume,
)

__all__ = [
    "STANDARD",
    "BinRatios",
    "FrontEntropy",
    "FrontShare",
    "Hypervolume",
    "LocalEntropy",
    "MeanReward",
    "Metric",
    "ParetoRegret",
]
