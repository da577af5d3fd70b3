"""Kernels that policies with finitely many arms share."""
