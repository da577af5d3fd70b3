"""Orders."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from paretozoom.kernels.core.ordering import order_of


@given(st.lists(st.floats(allow_nan=False) | st.integers(0, 3).map(float), max_size=200))
def test_the_smallest_first_and_equals_as_they_come(numbers: list[float]) -> None:
    assert order_of(np.array(numbers, float)).tolist() == sorted(range(len(numbers)), key=numbers.__getitem__)
