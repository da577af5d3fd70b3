"""Kernels of the policies that group users, items, queries or ads."""
