"""The environments: one file each, or one for a small family."""

from paretozoom.environments.base import Task
from paretozoom.environments.tasks.bent_fronts import ConcaveFront, ConvexFront
from paretozoom.environments.tasks.boxes import Boxes
from paretozoom.environments.tasks.bridge import Bridge
from paretozoom.environments.tasks.catalogue import Catalogue
from paretozoom.environments.tasks.clustered_users import ClusteredUsers
from paretozoom.environments.tasks.crowds import Crowds
from paretozoom.environments.tasks.currencies import Currencies
from paretozoom.environments.tasks.devices import Devices
from paretozoom.environments.tasks.drawn import Drawn
from paretozoom.environments.tasks.drifting_ridges import DriftingRidges
from paretozoom.environments.tasks.finite_bandit import FiniteBandit
from paretozoom.environments.tasks.islands import Islands
from paretozoom.environments.tasks.linear_rewards import LinearRewards
from paretozoom.environments.tasks.noisy import HeavyTails, LoudAndQuiet
from paretozoom.environments.tasks.paper import PaddedPaperTask, PaperTask
from paretozoom.environments.tasks.pentagon import Pentagon
from paretozoom.environments.tasks.policy_class import PolicyClass
from paretozoom.environments.tasks.ridges import SmoothRidges
from paretozoom.environments.tasks.tents import Tents
from paretozoom.environments.tasks.three_peaks import ThreePeaks
from paretozoom.environments.tasks.two_of_four import TwoOfFour

# The hard zoo, by name, as in docs/reference/zoo.md: what comparisons of policies are played on.
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
    "Drawn",
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
