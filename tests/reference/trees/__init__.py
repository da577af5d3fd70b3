"""Slow twins: trees."""
