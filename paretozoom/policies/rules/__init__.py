"""Policies over a finite class of rules."""
