"""The environments: one file each."""

from paretozoom.environments.base import Task
from paretozoom.environments.boxes import Boxes
from paretozoom.environments.bridge import Bridge
from paretozoom.environments.catalogue import Catalogue
from paretozoom.environments.clustered_users import ClusteredUsers
from paretozoom.environments.devices import Devices
from paretozoom.environments.finite_bandit import FiniteBandit
from paretozoom.environments.linear_rewards import LinearRewards
from paretozoom.environments.paper import PaperTask
from paretozoom.environments.policy_class import PolicyClass
from paretozoom.environments.ridges import SmoothRidges
from paretozoom.environments.tents import Tents

__all__ = [
    "Boxes",
    "Bridge",
    "Catalogue",
    "ClusteredUsers",
    "Devices",
    "FiniteBandit",
    "LinearRewards",
    "PaperTask",
    "PolicyClass",
    "SmoothRidges",
    "Task",
    "Tents",
]
