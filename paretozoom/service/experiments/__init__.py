"""Experiments as folds over their logs; nothing here knows of stores or HTTP."""
