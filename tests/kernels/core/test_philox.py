"""The generator equals numpy's own, and its twin on Python's integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from paretozoom.kernels.core.philox import uniforms
from tests.reference import philox

EXTREMES = [0, 1, 2, (1 << 32) - 1, 1 << 32, (1 << 63) - 1, -(1 << 63), -2, -1]
words = st.one_of(st.sampled_from(EXTREMES), st.integers(-(1 << 63), (1 << 63) - 1))


def by_numpy(key0: int, key1: int, number: int, stream: int) -> list[float]:
    """What numpy draws for a key and a counter of signed words."""
    key = np.array([key0, key1], np.int64).view(np.uint64)
    counter = np.array([number, stream, 0, 0], np.int64).view(np.uint64)
    return np.random.Generator(np.random.Philox(key=key, counter=counter)).random(4).tolist()


@given(words, words, words, words)
def test_kernel_numpy_and_twin_draw_the_same(key0: int, key1: int, number: int, stream: int) -> None:
    assume((number, stream) != (-1, -1))  # a carry into the third word: the kernel has two
    drawn = list(uniforms(key0, key1, number, stream))
    assert drawn == by_numpy(key0, key1, number, stream)
    assert drawn == philox.uniforms([key0, key1], [number, stream, 0, 0])


@pytest.mark.parametrize("number", EXTREMES)
@pytest.mark.parametrize("key", EXTREMES)
def test_extreme_words(key: int, number: int) -> None:
    assert list(uniforms(key, -1, number, 5)) == by_numpy(key, -1, number, 5)
    assert philox.uniforms([key, -1], [number, 5, 0, 0]) == by_numpy(key, -1, number, 5)


def test_draws_are_uniform() -> None:
    # Dvoretzky-Kiefer-Wolfowitz: n draws stray by more than sqrt(log(2/p) / 2n) with probability at most p;
    # n = 40,000 and p = 1e-9 give 0.0164.
    n, p = 40_000, 1e-9
    drawn = np.sort([u for k in range(n // 4) for u in uniforms(12345, 678, k, 0)])
    steps = np.arange(n + 1) / n
    assert max(np.max(steps[1:] - drawn), np.max(drawn - steps[:-1])) <= np.sqrt(np.log(2 / p) / (2 * n))
