"""Compiled functions on arrays: what the policies and environments do every round.

Everything here imports numpy and numba only, and every function has a slow, obvious twin in
``tests/reference/``.
"""
