"""The policies: one file each."""

from paretozoom.policies.arms.random import Random
from paretozoom.policies.base import Policy
from paretozoom.policies.clusters.club import CLUB
from paretozoom.policies.clusters.cofiba import COFIBA
from paretozoom.policies.clusters.query_ad_clustering import QueryAdClustering
from paretozoom.policies.compiled import CompiledPolicy
from paretozoom.policies.fronts import Piece
from paretozoom.policies.linear.kernel_ucb import KernelUCB
from paretozoom.policies.linear.linucb import LinUCB
from paretozoom.policies.linear.sup_kernel_ucb import SupKernelUCB
from paretozoom.policies.linear.sup_linucb import SupLinUCB
from paretozoom.policies.pareto_zoom.pareto_zoom import ParetoZoom
from paretozoom.policies.plain import PlainPolicy
from paretozoom.policies.rules.epoch_greedy import EpochGreedy
from paretozoom.policies.rules.ilovetoconbandits import ILoveToConBandits
from paretozoom.policies.rules.policy_elimination import PolicyElimination
from paretozoom.policies.rules.randomized_ucb import RandomizedUCB
from paretozoom.policies.tables.annealing_pareto import AnnealingPareto
from paretozoom.policies.tables.moc_mab import MOCMAB
from paretozoom.policies.tables.pareto_kg import ParetoKG
from paretozoom.policies.tables.pareto_thompson import ParetoThompson
from paretozoom.policies.tables.pareto_ucb1 import ParetoUCB1
from paretozoom.policies.tables.scalarized_ucb1 import ScalarizedUCB1
from paretozoom.policies.trees.hoo import HOO
from paretozoom.policies.trees.mo_hoo import MOHOO
from paretozoom.policies.zooming.contextual_zooming import ContextualZooming
from paretozoom.policies.zooming.pcz import PCZ

DEFAULT_POLICY = ParetoZoom  # decides where nothing else is said
BASELINE = Random  # takes any problem; the floor in every comparison

__all__ = [
    "BASELINE",
    "CLUB",
    "COFIBA",
    "DEFAULT_POLICY",
    "HOO",
    "MOCMAB",
    "MOHOO",
    "PCZ",
    "AnnealingPareto",
    "CompiledPolicy",
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
    "PlainPolicy",
    "Policy",
    "PolicyElimination",
    "QueryAdClustering",
    "Random",
    "RandomizedUCB",
    "ScalarizedUCB1",
    "SupKernelUCB",
    "SupLinUCB",
]
