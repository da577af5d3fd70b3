"""Kernels of the policies that cover contexts and arms with balls."""
