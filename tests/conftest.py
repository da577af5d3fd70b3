"""Settings that every test shares."""

from __future__ import annotations

import gc

import matplotlib
from hypothesis import HealthCheck, settings

matplotlib.use("Agg")
gc.disable()  # until all tests are collected: they stay
# Compiling a kernel can make any first example slow; the draws are fixed so that a red test stays red.
settings.register_profile(
    "fixed", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow], max_examples=40
)
settings.load_profile("fixed")


def pytest_collection_finish() -> None:
    """Not to look through all tests for garbage again and again saves a twelfth of the time."""
    gc.enable()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
