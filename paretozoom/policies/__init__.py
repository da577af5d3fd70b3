"""The policies: one file each."""

from paretozoom.policies.base import Piece, Policy
from paretozoom.policies.contextual_zooming import ContextualZooming
from paretozoom.policies.pareto_ucb1 import ParetoUCB1
from paretozoom.policies.pcz import PCZ
from paretozoom.policies.random import Random

__all__ = ["PCZ", "ContextualZooming", "ParetoUCB1", "Piece", "Policy", "Random"]
