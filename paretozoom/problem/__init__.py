"""Contexts, arms and objectives, and how they become numbers: the only border."""

from paretozoom.problem.dimensions import Categorical, Finite, Integer, Objective, Real
from paretozoom.problem.problem import Encoding, Problem, random_points, same_encoding
from paretozoom.problem.vector import Vector

__all__ = [
    "Categorical",
    "Encoding",
    "Finite",
    "Integer",
    "Objective",
    "Problem",
    "Real",
    "Vector",
    "random_points",
    "same_encoding",
]
