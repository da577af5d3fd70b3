"""What a snapshot of a policy must say before a policy takes it over."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from paretozoom.policies.parameters import differing
from paretozoom.records import Refused, Snapshot

FORMAT = 1
MOST_DECISIONS = 1 << 60
MOST_DIGITS = 4300  # that Python reads as a number


def seed_and_number(snapshot: Any, identity: Mapping[str, Any]) -> tuple[int, int]:
    """The seed and the next number that a snapshot holds, if it is one of a policy with this identity."""
    if not (isinstance(snapshot, Snapshot) and isinstance(snapshot.header, dict)):
        raise Refused(
            f"snapshot: a {type(snapshot).__name__} is not a Snapshot; of bytes, Snapshot.from_bytes makes one"
        )
    for field, mine in identity.items():
        theirs = snapshot.header.get(field)
        if theirs != mine:
            raise Refused(f"snapshot: {differing(field, theirs, mine)}")
    digits, number = snapshot.header.get("seed"), snapshot.header.get("number")
    if not isinstance(digits, str) or not digits.isdecimal() or len(digits) > MOST_DIGITS:
        raise Refused(f"snapshot: seed is {repr(digits)[:80]}, expected the digits of a non-negative integer")
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < MOST_DECISIONS:
        raise Refused(f"snapshot: number is {number!r}, expected an integer from 0 to below {MOST_DECISIONS}")
    return int(digits), number


def checked_array(arrays: Any, name: str, shape: tuple[int, ...], dtype: Any) -> npt.NDArray[Any]:
    """An array of a snapshot, if it has the shape and type it must have."""
    array = arrays.get(name) if isinstance(arrays, Mapping) else None
    if not isinstance(array, np.ndarray) or array.shape != shape or array.dtype != dtype:
        what = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else repr(array)
        raise Refused(f"snapshot: {name} is {what}, expected {np.dtype(dtype)} {shape}")
    return array
