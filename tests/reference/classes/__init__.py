"""Slow twins: classes."""
