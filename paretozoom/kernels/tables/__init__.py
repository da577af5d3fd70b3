"""Kernels of the policies that keep a table of arms and context cells."""
