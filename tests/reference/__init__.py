"""Slow, obvious twins of the kernels."""
