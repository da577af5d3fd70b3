"""Kernels of the policies that grow a tree of arms."""
