"""Policies that group users, items, queries or ads."""
