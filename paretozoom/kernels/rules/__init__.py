"""Kernels of the policies over a finite class of rules."""
