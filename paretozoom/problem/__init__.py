"""Contexts, arms and objectives, and how they become numbers: the only border."""

from paretozoom.problem.dimensions import Categorical, Finite, Integer, Objective, Real
from paretozoom.problem.problem import Encoding, Problem, random_points, same_encoding

__all__ = [
    "Categorical",
    "Encoding",
    "Finite",
    "Integer",
    "Objective",
    "Problem",
    "Real",
    "random_points",
    "same_encoding",
]
