"""Policies that estimate rewards by linear or kernel regression."""
