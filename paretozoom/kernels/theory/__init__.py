"""Kernels behind the formulas of the paper."""
