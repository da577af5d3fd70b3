"""Declared memory as the named arrays of a snapshot, and back; numbers that cannot be are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.core.memory import FIRST_SIZE, STARTS, Memory, Part
from paretozoom.policies.snapshots import checked_array
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.records import Refused

Arrays = Mapping[str, npt.NDArray[Any]]
LARGEST_SIZE = 1 << 40


def arrays_of(memory: Memory, f: Floats, i: Ints) -> dict[str, npt.NDArray[Any]]:
    """What was learned: the sizes, and what is used of each part."""
    arrays = {"sizes": np.array([i[memory.place(name)] for name in memory.learned], np.int64)}
    for part in memory.parts:
        if part.holds == "learned":
            used = tuple(slice(n) for n in memory.shape(part.name, i, used=True))
            arrays[part.name] = memory.view(part.name, f, i)[used].copy()
    return arrays


def sizes_in(memory: Memory, arrays: Arrays) -> dict[str, int]:
    """The sizes that a snapshot gives, each that of an array it holds or a plain number."""
    given = checked_array(arrays, "sizes", (len(memory.learned),), np.int64)
    sizes = dict(zip(memory.learned, given.tolist(), strict=True))
    for name, size in sizes.items():
        if not 0 <= size < LARGEST_SIZE:
            raise Refused(f"snapshot: sizes give {name} as {size}, expected a number from 0 on")
    return sizes


def fill(memory: Memory, f: Floats, i: Ints, arrays: Arrays) -> None:
    """Write the parts that a snapshot holds to memory of its sizes."""
    for part in memory.parts:
        if part.holds == "learned":
            shape = memory.shape(part.name, i, used=True)
            dtype = np.dtype(np.float64 if part.is_float else np.int64)
            numbers = checked_array(arrays, part.name, shape, dtype)
            _check_range(memory, part, numbers, i)
            memory.view(part.name, f, i)[tuple(slice(n) for n in shape)] = numbers


def check_shapes(memory: Memory, sizes: Mapping[str, int], arrays: Arrays) -> None:
    """Refuse arrays that are not as long as sizes say, before memory of these sizes is made."""
    head = np.zeros(STARTS, np.int64)
    for name, size in sizes.items():
        head[FIRST_SIZE + memory.sizes.index(name)] = size
    for part in memory.parts:
        if part.holds == "learned":
            dtype = np.dtype(np.float64 if part.is_float else np.int64)
            checked_array(arrays, part.name, memory.shape(part.name, head, used=True), dtype)


def _check_range(memory: Memory, part: Part, numbers: npt.NDArray[Any], i: Ints) -> None:
    most = part.most if not isinstance(part.most, str) else int(i[memory.place(part.most)]) - 1
    known = numbers[~np.isnan(numbers)] if part.may_lack else numbers
    if known.size and not (known.min() >= part.least and known.max() <= most):
        raise Refused(
            f"snapshot: {part.name} holds numbers from {known.min():g} to {known.max():g}, "
            f"expected {part.least:g} to {most:g}"
        )
