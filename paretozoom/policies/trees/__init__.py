"""Policies that grow a tree of arms."""
