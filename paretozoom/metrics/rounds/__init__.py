"""Metrics that need rounds only."""
