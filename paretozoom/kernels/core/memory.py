"""Declared memory: what the two arrays of a policy hold, by name, shape and kind.

A policy's state is an array of floats and one of ints. A `Memory` says once which *sizes* its header begins with, and
which *parts* follow: their kind, their shape in sizes, and whether a snapshot needs them. To open a part costs a few
instructions: `noise = memory.noise(f, i)` is an array of the declared shape, on the same memory.

    _m = Memory()
    OBJECTIVES = _m.size("objectives")
    TERMS = _m.size("terms")
    noise = _m.floats("noise", "objectives")  # noise(f, i)[o]
    trend = _m.floats("trend", "objectives", "terms")  # trend(f, i)[o, t]
    table = _m.table()

An opened part is borrowed: it may be used as long as the arrays are, and must not be returned to Python.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any, Literal, NamedTuple

import numba
import numpy as np
from numba import extending

from paretozoom.kernels.core.jit import Floats, Ints, kernel

types: Any = numba.types
# What follows from the problem; what a snapshot needs; what follows from both; what nothing outlives the call of.
Holds = Literal["given", "learned", "derived", "scratch"]
Open = Callable[[Floats, Ints], Any]

REFIT = 0  # i[REFIT] is 1 when `tell` wants a refit
FLOATS, INTS = 1, 2  # how long the two arrays are
FIRST_SIZE = 3
STARTS = 96  # where the places of the parts begin: behind all sizes


class Part(NamedTuple):
    """A declared part."""

    name: str
    is_float: bool
    dims: tuple[str, ...]
    holds: Holds
    least: float  # of its numbers, in a snapshot
    most: float | str  # of its numbers, or the size that all are below
    may_lack: bool = False  # some may be NaN


class Memory:
    """The declaration of a policy's memory: first its sizes, then its parts.

    >>> memory = Memory()
    >>> rows, columns = memory.size("rows"), memory.size("columns")
    >>> cells = memory.floats("cells", "rows", "columns")
    >>> f, i = memory.allocate({"rows": 2, "columns": 3})
    >>> memory.view("cells", f, i).shape, int(i[rows]), len(f)
    ((2, 3), 2, 6)
    """

    def __init__(self) -> None:
        self.sizes: list[str] = []
        self.learned: list[str] = []  # the sizes that a snapshot needs
        self.used: dict[str, str] = {}  # of each room, the size that says how much of it is used
        self.parts: list[Part] = []

    def size(self, name: str, *, learned: bool = False) -> int:
        """Declare a size; returns where it is in the header."""
        self.sizes.append(name)
        if FIRST_SIZE + len(self.sizes) > STARTS:
            raise OverflowError(f"a memory has room for {STARTS - FIRST_SIZE} sizes")
        if learned:
            self.learned.append(name)
        return FIRST_SIZE + len(self.sizes) - 1

    def room(self, name: str, used: str) -> int:
        """Declare a size of which only so much is used; returns where it is in the header."""
        self.used[name] = used
        return self.size(name)

    def floats(
        self,
        name: str,
        *dims: str,
        holds: Holds = "learned",
        least: float = -1e250,
        most: float = 1e250,
        may_lack: bool = False,
    ) -> Open:
        """Declare a part of floats; returns what opens it."""
        return self._declare(Part(name, True, dims, holds, least, most, may_lack))

    def ints(
        self, name: str, *dims: str, holds: Holds = "learned", least: float = -(2**62), most: float | str = 2**62
    ) -> Open:
        """Declare a part of ints; returns what opens it."""
        return self._declare(Part(name, False, dims, holds, least, most))

    def _declare(self, part: Part) -> Open:
        place, at = STARTS + len(self.parts), [self.place(dim) for dim in part.dims]
        self.parts.append(part)
        return _opener(place, part.is_float, at)

    def place(self, size: str) -> int:
        """Where a size is in the header."""
        return FIRST_SIZE + self.sizes.index(size)

    @property
    def header(self) -> int:
        """How many ints come before all parts."""
        return STARTS + len(self.parts)

    def table(self, without: Collection[str] = ()) -> Ints:
        """What kernels need to lay out memory: a row for each part: is it ints, is it left behind, where its sizes are.

        Scratch is left behind when memory is resized, and so are parts that it is to be `without`.
        """
        rows = []
        for part in self.parts:
            at, left = [self.place(dim) for dim in part.dims], part.holds == "scratch" or part.name in without
            rows.append([int(not part.is_float), int(left), *at, *[-1] * (3 - len(at))])
        return np.array(rows, np.int64)

    def allocate(self, sizes: Mapping[str, int]) -> tuple[Floats, Ints]:
        """Memory of such sizes, all zeros."""
        head = np.zeros(self.header, np.int64)
        for name, size in sizes.items():
            head[self.place(name)] = size
        f, i = allocate(head, self.table())
        return f, i

    def view(self, name: str, f: Floats, i: Ints) -> Any:
        """A part as an array of its shape, for Python."""
        k = next(k for k, part in enumerate(self.parts) if part.name == name)
        start, shape = int(i[STARTS + k]), self.shape(name, i)
        memory = f if self.parts[k].is_float else i
        return memory[start : start + int(np.prod(shape))].reshape(shape)

    def shape(self, name: str, i: Ints, *, used: bool = False) -> tuple[int, ...]:
        """The shape of a part, or of what is used of it."""
        part = next(part for part in self.parts if part.name == name)
        dims = [self.used.get(dim, dim) if used else dim for dim in part.dims]
        return tuple(int(i[self.place(dim)]) for dim in dims)


def _lent(context: Any, builder: Any, memory: Any, given: Any, start: Any, sizes: list[Any]) -> tuple[Any, Any]:
    """An array type and value for a piece of memory of so many sizes; references to it are not counted."""
    lent = types.Array(memory.dtype, len(sizes), "C")
    whole, array = context.make_array(memory)(context, builder, given), context.make_array(lent)(context, builder)
    item = context.get_constant(types.intp, 8)
    strides: list[Any] = []
    step = item
    for size in reversed(sizes):
        strides.insert(0, step)
        step = builder.mul(step, size)
    context.populate_array(
        array,
        data=builder.gep(whole.data, [start]),
        shape=sizes,
        strides=strides,
        itemsize=item,
        meminfo=whole.meminfo.type(None),
    )
    return lent, array._getvalue()


def _opener(place: int, is_float: bool, at: list[int]) -> Open:
    """What opens a part: it writes the few instructions that read its place and sizes from the header."""

    def open_part(typing: Any, f: Any, i: Any) -> Any:
        memory = f if is_float else i

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            header = context.make_array(i)(context, builder, arguments[1]).data

            def read(entry: int) -> Any:
                return builder.load(builder.gep(header, [context.get_constant(types.intp, entry)]))

            given = arguments[0 if is_float else 1]
            return _lent(context, builder, memory, given, read(place), [read(entry) for entry in at])[1]

        return types.Array(memory.dtype, len(at), "C")(f, i), generate

    opener: Open = _intrinsic(open_part)
    return opener


def _intrinsic(generator: Callable[..., Any]) -> Any:
    """A function for kernels, without the first argument of what generates its code."""
    return extending.intrinsic(generator)


def _lend(memory: Any, *shape: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return _lent(context, builder, memory, arguments[0], arguments[1], list(arguments[2:]))[1]

    return types.Array(memory.dtype, len(shape), "C")(memory, types.int64, *[types.int64] * len(shape)), generate


@_intrinsic
def lend_row(typing: Any, memory: Any, start: Any, n: Any) -> Any:
    """memory[start : start + n], borrowed."""
    return _lend(memory, n)


@_intrinsic
def lend_rows(typing: Any, memory: Any, start: Any, n: Any, m: Any) -> Any:
    """The (n, m) numbers of a memory from a start on, borrowed."""
    return _lend(memory, n, m)


@_intrinsic
def lend_tables(typing: Any, memory: Any, start: Any, n: Any, m: Any, k: Any) -> Any:
    """The (n, m, k) numbers of a memory from a start on, borrowed."""
    return _lend(memory, n, m, k)


@kernel
def lay_out(head: Ints, table: Ints) -> None:
    """Write where each part of a memory begins, and how long the two arrays are."""
    floats, ints = 0, STARTS + len(table)
    for k in range(len(table)):
        entries = 1
        for j in range(2, 5):
            if table[k, j] >= 0:
                entries *= head[table[k, j]]
        if table[k, 0] == 1:
            head[STARTS + k] = ints
            ints += entries
        else:
            head[STARTS + k] = floats
            floats += entries
    head[FLOATS], head[INTS] = floats, ints


@kernel
def allocate(head: Ints, table: Ints) -> tuple[Floats, Ints]:
    """A memory with the sizes of a header, and zeros."""
    lay_out(head, table)
    f, i = np.zeros(head[FLOATS]), np.zeros(head[INTS], np.int64)
    i[: STARTS + len(table)] = head[: STARTS + len(table)]
    return f, i


@kernel
def resized(f: Floats, i: Ints, head: Ints, table: Ints) -> tuple[Floats, Ints]:
    """A memory with the sizes of a header, and all that both it and the old one have room for, but for scratch."""
    more_f, more_i = allocate(head, table)
    for k in range(len(table)):
        if table[k, 1] == 0:
            old, new = np.ones(3, np.int64), np.ones(3, np.int64)
            for j in range(3):
                if table[k, 2 + j] >= 0:
                    old[j], new[j] = i[table[k, 2 + j]], head[table[k, 2 + j]]
            row = min(old[2], new[2]) if table[k, 4] >= 0 else 1
            for a in range(min(old[0], new[0])):
                for b in range(min(old[1], new[1])):
                    here = i[STARTS + k] + (a * old[1] + b) * old[2]
                    there = head[STARTS + k] + (a * new[1] + b) * new[2]
                    if table[k, 0] == 1:
                        more_i[there : there + row] = i[here : here + row]
                    else:
                        more_f[there : there + row] = f[here : here + row]
    return more_f, more_i
