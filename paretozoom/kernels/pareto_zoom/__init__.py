"""Kernels of ParetoZoom."""
