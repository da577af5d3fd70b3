"""Slow twins: tables."""
