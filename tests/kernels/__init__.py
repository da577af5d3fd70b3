"""Tests of the kernels against their slow twins."""
