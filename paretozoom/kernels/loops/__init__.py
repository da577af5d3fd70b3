"""Loops over rounds and decisions, compiled once for all policies and tasks."""
