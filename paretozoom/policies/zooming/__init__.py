"""Policies that cover contexts and arms with balls, smaller ones where more was played."""
