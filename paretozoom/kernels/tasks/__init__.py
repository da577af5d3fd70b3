"""Kernels of the environments: luck, and the truth on many points."""
