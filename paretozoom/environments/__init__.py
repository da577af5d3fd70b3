"""The environments: one file each."""

from paretozoom.environments.base import Task
from paretozoom.environments.boxes import Boxes
from paretozoom.environments.bridge import Bridge
from paretozoom.environments.catalogue import Catalogue
from paretozoom.environments.devices import Devices
from paretozoom.environments.paper import PaperTask
from paretozoom.environments.ridges import SmoothRidges
from paretozoom.environments.tents import Tents

__all__ = ["Boxes", "Bridge", "Catalogue", "Devices", "PaperTask", "SmoothRidges", "Task", "Tents"]
