"""The environments: one file each."""

from paretozoom.environments.base import Task
from paretozoom.environments.paper import PaperTask
from paretozoom.environments.ridges import SmoothRidges
from paretozoom.environments.tents import Tents

__all__ = ["PaperTask", "SmoothRidges", "Task", "Tents"]
