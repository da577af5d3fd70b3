"""What the machine code of a kernel is made of: source files, and numbers that they take from elsewhere.

numba notices a change in the file of a kernel alone, never in what else is compiled into it. So machine code is kept
under a fingerprint of everything that can be: for a kernel of this package, the files of its family and of the families
that those import; for a kernel from anywhere else, the files of all compiled functions that it calls, and the numbers
that these use. Numbers of this package's own kernels are taken to be what the files say: they are not to be patched.
"""

from __future__ import annotations

import hashlib
import re
import sys
import types
from collections.abc import Callable, Iterator
from enum import Enum
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

import numba
import numpy as np

KERNELS = Path(__file__).parents[1]
CORE = "core"
_IMPORT = re.compile(r"^\s*(?:from|import)\s+paretozoom\.kernels\b(?:\.(\w+))?", re.MULTILINE)
_VERSIONED = {"numba", "numpy", *sys.stdlib_module_names}  # their versions are in every fingerprint
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.generic, np.dtype, numba.types.Type)
_DEFINED = (type, types.FunctionType, types.BuiltinFunctionType, np.ufunc, type(np.zeros_like))


def _state(file: Path) -> tuple[int, int] | None:
    """What tells whether a file was written since."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


# The files as they were before the first kernel was imported, and as they were when other functions were decorated.
_KERNEL_FILES = {file: _state(file) for file in sorted(KERNELS.rglob("*.py"))}
_OTHER_FILES: WeakKeyDictionary[Callable[..., Any], tuple[int, int] | None] = WeakKeyDictionary()


class Sources(NamedTuple):
    """Files, numbers used by functions in files outside of this package's kernels, and whether that is all."""

    files: list[Path]
    values: list[str]
    complete: bool


def fingerprint(*parts: Path | str) -> str:
    """Hash the text of files, and other texts, together with what compiles them.

    >>> len(fingerprint(Path(__file__), "more"))
    16
    """
    settings: Any = numba.config
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {python} {settings.BOUNDSCHECK}".encode())
    for part in parts:
        text = part.read_bytes() if isinstance(part, Path) else part.encode()
        digest.update(b"%d " % len(text) + text)
    return digest.hexdigest()[:16]


def family_of(file: Path) -> str | None:
    """The family of kernels that a file belongs to; none if it is not one of this package's kernels.

    >>> family_of(KERNELS / "zooming" / "pcz.py"), family_of(Path("/home/me/mine.py"))
    ('zooming', None)
    """
    return file.relative_to(KERNELS).parts[0] if file.is_relative_to(KERNELS) else None


@cache
def files_of(family: str) -> tuple[Path, ...]:
    """All files that can be compiled into a kernel of a family: its own, those of `core`, and of what they import.

    >>> sorted({family_of(file) for file in files_of("clusters")})
    ['arms', 'clusters', 'core']
    """
    found: set[str] = set()
    waiting = {family, CORE}
    while waiting:
        one = waiting.pop()
        found.add(one)
        for file in _KERNEL_FILES:
            if family_of(file) == one:
                # What is imported from all families together can come from any.
                waiting.update(name or "" for name in _IMPORT.findall(file.read_text("utf-8")))
        waiting -= found
    return tuple(file for file in _KERNEL_FILES if "" in found or family_of(file) in found)


def note_file(function: Callable[..., Any]) -> None:
    """Remember the state of the file that a function was just loaded from."""
    _OTHER_FILES[function] = _state(Path(function.__code__.co_filename))


def sources_of(*functions: Callable[..., Any]) -> Sources:
    """What some functions are made of, as far as they call compiled functions, directly or not.

    It is complete if nothing else can be compiled into them, and no file was written since it was loaded.

    >>> def area(width: float) -> float:
    ...     return np.pi * width * SCALE
    >>> area.__globals__["SCALE"] = 0.25
    >>> sources_of(area).values
    ['paretozoom.kernels.core.sources.area SCALE 0.25']
    """
    files: set[Path] = set()
    values: set[str] = set()
    complete, seen, waiting = True, set(), [getattr(function, "py_func", function) for function in functions]
    while waiting:
        function = waiting.pop()
        if function in seen:
            continue
        seen.add(function)
        if not isinstance(function, types.FunctionType):  # math.dist, say
            files.update(_file_of(function))
            complete = False
            continue
        file = Path(function.__code__.co_filename)
        family = family_of(file)
        if family is not None:
            behind = files_of(family)
            files.update(behind)
            complete = complete and file in behind and all(_state(one) == _KERNEL_FILES[one] for one in behind)
            continue
        files.add(file)
        state = _state(file)
        complete = complete and state is not None and _OTHER_FILES.get(function, state) == state
        # numba takes a function around a compiled one for another one in each process.
        complete = complete and not any(hasattr(cell.cell_contents, "py_func") for cell in function.__closure__ or ())
        for name, value in _used_by(function):
            called = getattr(value, "py_func", value)
            if isinstance(called, types.FunctionType):
                waiting.append(called)
                complete = complete and called is not value  # what is not compiled stands for something unseen
            elif isinstance(value, np.ndarray):
                values.add(f"{name} {value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}")
            elif isinstance(value, _PLAIN):
                values.add(f"{name} {value!r}")
            else:
                home = _file_of(value)
                files.update(home)
                of_kernels = home <= _KERNEL_FILES.keys()
                complete = complete and bool(home) and (of_kernels or _is_plain_class(value))
    return Sources(sorted(files), sorted(values), complete)


def _used_by(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
    """The values that a function takes from its module, its closure and other modules, one by one, by name."""
    names = set(_names_in(function.__code__))
    within = function.__code__.co_freevars
    waiting = [(name, function.__globals__[name]) for name in names & function.__globals__.keys()]
    waiting += [(name, cell.cell_contents) for name, cell in zip(within, function.__closure__ or (), strict=True)]
    modules = set()
    while waiting:
        name, value = waiting.pop()
        if isinstance(value, types.ModuleType):
            if value not in modules and not _is_versioned(value.__name__):
                modules.add(value)
                known = vars(value)
                waiting += [(f"{value.__name__}.{used}", known[used]) for used in names & known.keys()]
        elif isinstance(value, tuple):
            waiting += [(f"{name}[{place}]", part) for place, part in enumerate(value)]
        elif not (isinstance(value, _DEFINED) and _is_versioned(getattr(value, "__module__", None) or "")):
            yield f"{function.__module__}.{function.__qualname__} {name}", value


def _is_plain_class(value: Any) -> bool:
    """Whether something is a class whose file says all that can be compiled."""
    return isinstance(value, type) and issubclass(value, (tuple, Enum, BaseException))


def _names_in(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):  # of a comprehension, say
            yield from _names_in(constant)


def _is_versioned(module: str) -> bool:
    return module.partition(".")[0] in _VERSIONED


def _file_of(value: Any) -> set[Path]:
    """The file that something comes from, if it has one."""
    module = sys.modules.get(getattr(value, "__module__", None) or "")
    file = getattr(module, "__file__", None)
    return {Path(file)} if file else set()
