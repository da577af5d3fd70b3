"""Slow twins: clusters."""
