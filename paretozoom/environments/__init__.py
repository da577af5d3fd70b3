"""The environments: one file each, or one for a small family."""

from paretozoom.environments.base import Task
from paretozoom.environments.bent_fronts import ConcaveFront, ConvexFront
from paretozoom.environments.boxes import Boxes
from paretozoom.environments.bridge import Bridge
from paretozoom.environments.catalogue import Catalogue
from paretozoom.environments.clustered_users import ClusteredUsers
from paretozoom.environments.crowds import Crowds
from paretozoom.environments.currencies import Currencies
from paretozoom.environments.devices import Devices
from paretozoom.environments.drifting_ridges import DriftingRidges
from paretozoom.environments.finite_bandit import FiniteBandit
from paretozoom.environments.islands import Islands
from paretozoom.environments.linear_rewards import LinearRewards
from paretozoom.environments.noisy import HeavyTails, LoudAndQuiet
from paretozoom.environments.paper import PaddedPaperTask, PaperTask
from paretozoom.environments.pentagon import Pentagon
from paretozoom.environments.policy_class import PolicyClass
from paretozoom.environments.ridges import SmoothRidges
from paretozoom.environments.tents import Tents
from paretozoom.environments.three_peaks import ThreePeaks
from paretozoom.environments.two_of_four import TwoOfFour

# The hard zoo, by name, as in docs/zoo.md: what comparisons of policies are played on.
ZOO: tuple[str, ...] = (
    "paper",
    "paper-padded",
    "smooth-ridges",
    "islands",
    "concave-front",
    "convex-front",
    "three-peaks",
    "pentagon",
    "two-of-four",
    "boxes",
    "bridge",
    "catalogue",
    "devices",
    "crowds",
    "loud-and-quiet",
    "heavy-tails",
    "currencies",
    "drifting-ridges",
)

__all__ = [
    "ZOO",
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
]
