"""Policies that keep a table: a mean, or a posterior, for each arm in each cell of contexts."""
