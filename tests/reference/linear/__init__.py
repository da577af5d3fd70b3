"""Slow twins: linear."""
