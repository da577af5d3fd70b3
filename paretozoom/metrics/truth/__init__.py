"""Metrics that need a task whose truth is known."""
