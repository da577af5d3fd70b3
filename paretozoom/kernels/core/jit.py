"""The one decorator that compiles a kernel, and the folder its machine code is kept in."""

from __future__ import annotations

import hashlib
import inspect
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal, TypeVar, cast

import numba
import numpy as np
import numpy.typing as npt

KERNELS = Path(__file__).parents[1]
Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Bools = npt.NDArray[np.bool_]
# Instead of literals: a kernel is compiled anew for each that it is called with.
ZERO: Any = np.int64(0)
MINUS_ONE: Any = np.int64(-1)
Function = TypeVar("Function", bound=Callable[..., object])


def fingerprint(*files: Path) -> str:
    """Hash the text of some source files.

    >>> len(fingerprint(Path(__file__)))
    16
    """
    digest = hashlib.sha256(f"{numba.__version__} {np.__version__} {sys.version}".encode())
    for file in sorted(files):
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]


def files_behind(*functions: Callable[..., Any]) -> list[Path]:
    """The files of some functions and of every compiled function that they call, directly or not.

    >>> [file.name for file in files_behind(fingerprint)]
    ['jit.py']
    """
    found: set[Path] = set()
    seen: set[int] = set()
    waiting = list(functions)
    while waiting:
        function = waiting.pop()
        function = getattr(function, "py_func", function)
        if id(function) in seen:
            continue
        seen.add(id(function))
        found.add(Path(function.__code__.co_filename))
        names: dict[str, Any] = {name: function.__globals__.get(name) for name in function.__code__.co_names}
        for value in list(names.values()):
            if inspect.ismodule(value):  # called as module.function
                names.update({f"{value.__name__}.{n}": getattr(value, n, None) for n in function.__code__.co_names})
        waiting += [value for value in names.values() if hasattr(value, "py_func")]
    return sorted(found)


def _cache_root() -> Path:
    named = os.environ.get("PARETOZOOM_CACHE")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(home) if home else Path.home() / ".cache") / "paretozoom"


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def _cache_folder() -> Path | None:
    # numba looks at the file of the cached function alone, never at the files of what it calls:
    # a folder per state of all kernel sources makes sure that no stale machine code is found.
    folder = _cache_root() / fingerprint(*KERNELS.rglob("*.py"))
    if _writable(folder):
        return folder
    warnings.warn(
        f"paretozoom: {folder} cannot be written, so kernels are compiled anew in every process; "
        "name a writable folder in the environment variable PARETOZOOM_CACHE",
        RuntimeWarning,
        stacklevel=2,
    )
    return None


CACHE_FOLDER = _cache_folder()


def kernel(function: Function) -> Function:
    """Compile ``function`` with numba, keeping its machine code for the next process.

    >>> @kernel
    ... def twice(value: float) -> float:
    ...     return 2 * value
    >>> twice(1.5)
    3.0
    """
    return _compiled(function, "never")


def part(function: Function) -> Function:
    """Compile a function that only other kernels call: Python cannot, and what would let it is not compiled.

    A layout has dozens of entries; taking it from Python takes the compiler longer than most kernels.

    >>> @part
    ... def thrice(value: float) -> float:
    ...     return 3 * value
    >>> @kernel
    ... def sixfold(value: float) -> float:
    ...     return 2 * thrice(value)
    >>> sixfold(1.5)
    9.0
    """
    return _compiled(function, "never", no_cpython_wrapper=True)


def inlined(function: Function) -> Function:
    """Compile a small function into each of its callers: for what is called in the innermost loops with many arguments.

    >>> @inlined
    ... def half(value: float) -> float:
    ...     return value / 2
    >>> half(3.0)
    1.5
    """
    return _compiled(function, "always")


def uncached(function: Function) -> Function:
    """Compile a function whose machine code is not kept: one made at run time, around others.

    >>> @uncached
    ... def square(value: float) -> float:
    ...     return value * value
    >>> square(1.5)
    2.25
    """
    compiler: Any = numba.njit
    return cast(Function, compiler(error_model="numpy", no_cfunc_wrapper=True)(function))


def _compiled(function: Function, inline: Literal["never", "always"], **more: bool) -> Function:
    compiler: Any = numba.njit
    options = {"error_model": "numpy", "inline": inline, "no_cfunc_wrapper": True, **more}  # no C code calls them
    # Functions typed in at a prompt have no file whose change could be noticed: not cached.
    files = files_behind(function)
    if CACHE_FOLDER is None or not all(file.is_file() for file in files):
        return cast(Function, compiler(**options)(function))
    settings: Any = numba.config
    before = settings.CACHE_DIR
    outside = [file for file in files if KERNELS not in file.parents]
    folder = CACHE_FOLDER / fingerprint(*outside) if outside else CACHE_FOLDER
    settings.CACHE_DIR = str(folder)  # numba looks where to cache when a function is decorated
    try:
        return cast(Function, compiler(cache=True, **options)(function))
    finally:
        settings.CACHE_DIR = before
