"""The metrics: one file each."""

from paretozoom.metrics.base import Metric
from paretozoom.metrics.bins import BinRatios
from paretozoom.metrics.front_entropy import FrontEntropy
from paretozoom.metrics.front_share import FrontShare
from paretozoom.metrics.hypervolume import Hypervolume
from paretozoom.metrics.local_entropy import LocalEntropy
from paretozoom.metrics.mean_reward import MeanReward
from paretozoom.metrics.regret import ParetoRegret

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
