"""The policies: one file each."""

from paretozoom.policies.annealing_pareto import AnnealingPareto
from paretozoom.policies.base import Piece, Policy
from paretozoom.policies.club import CLUB
from paretozoom.policies.cofiba import COFIBA
from paretozoom.policies.contextual_zooming import ContextualZooming
from paretozoom.policies.epoch_greedy import EpochGreedy
from paretozoom.policies.hoo import HOO
from paretozoom.policies.ilovetoconbandits import ILoveToConBandits
from paretozoom.policies.kernel_ucb import KernelUCB
from paretozoom.policies.linucb import LinUCB
from paretozoom.policies.mo_hoo import MOHOO
from paretozoom.policies.moc_mab import MOCMAB
from paretozoom.policies.pareto_kg import ParetoKG
from paretozoom.policies.pareto_thompson import ParetoThompson
from paretozoom.policies.pareto_ucb1 import ParetoUCB1
from paretozoom.policies.pareto_zoom import ParetoZoom
from paretozoom.policies.pcz import PCZ
from paretozoom.policies.policy_elimination import PolicyElimination
from paretozoom.policies.query_ad_clustering import QueryAdClustering
from paretozoom.policies.random import Random
from paretozoom.policies.randomized_ucb import RandomizedUCB
from paretozoom.policies.scalarized_ucb1 import ScalarizedUCB1
from paretozoom.policies.sup_kernel_ucb import SupKernelUCB
from paretozoom.policies.sup_linucb import SupLinUCB

__all__ = [
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
]
