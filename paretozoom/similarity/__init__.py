"""The distance between context-arm pairs: what it is, whether it is a metric, and whether rewards contradict it."""

from paretozoom.similarity.similarity import Similarity, function_named

__all__ = ["Similarity", "function_named"]
