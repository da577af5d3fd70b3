"""Loops over kernels that are known only at run time, as generated modules.

A compiled function passed as an argument is never found in numba's cache again; a module that imports it is.
So a loop is kept as text, written once to the cache folder under a name made from everything it depends on,
and imported from there.
"""

from __future__ import annotations

import hashlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

from paretozoom.kernels import jit

_loaded: dict[tuple[str, tuple[tuple[str, int], ...]], ModuleType] = {}


def fuse(body: str, **functions: Callable[..., Any]) -> ModuleType:
    """A module with the text `body` in which each keyword names a compiled function.

    >>> from paretozoom.kernels.balls import epoch_of
    >>> text = '''
    ... @kernel
    ... def total(n):
    ...     result = 0
    ...     for k in range(n):
    ...         result += step(k)
    ...     return result
    ... '''
    >>> fuse(text, step=epoch_of).total(7)
    6
    """
    known = body, tuple(sorted((name, id(function)) for name, function in functions.items()))
    if known not in _loaded:
        _loaded[known] = _import(body, functions) or _execute(body, functions)
    return _loaded[known]


def _import(body: str, functions: dict[str, Callable[..., Any]]) -> ModuleType | None:
    """The module by way of a file, if there is a folder for it and every function can be imported by name."""
    if jit.CACHE_FOLDER is None:
        return None
    lines = ["import math", "import numpy as np", "from paretozoom.kernels.jit import kernel"]
    for name, function in sorted(functions.items()):
        home = sys.modules.get(function.__module__)
        file = getattr(home, "__file__", None)
        if function.__module__ == "__main__" or not file or getattr(home, function.__name__, None) is not function:
            return None
        lines.append(f"from {function.__module__} import {function.__name__} as {name}")
    text = "\n".join(lines) + "\n\n" + body
    digest = hashlib.sha256((text + jit.fingerprint(*jit.files_behind(*functions.values()))).encode()).hexdigest()[:16]
    path = jit.CACHE_FOLDER / f"fused_{digest}.py"
    if not path.exists():
        _write_whole(path, text)
    return _load(f"paretozoom_fused_{digest}", path)


def _write_whole(path: Path, text: str) -> None:
    """Write a file so that no other process ever sees half of it."""
    handle, temporary = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
    with os.fdopen(handle, "w") as file:
        file.write(text)
    os.replace(temporary, path)


def _load(name: str, path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


def _execute(body: str, functions: dict[str, Callable[..., Any]]) -> ModuleType:
    """The module without a file: compiled anew in every process."""
    import math

    import numpy as np

    module = ModuleType("paretozoom_fused")
    module.__dict__.update(functions, math=math, np=np, kernel=jit.kernel)
    exec(compile(body, "<fused>", "exec"), module.__dict__)
    return module
