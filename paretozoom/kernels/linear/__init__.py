"""Kernels of linear and kernel regression."""
