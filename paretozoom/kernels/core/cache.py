"""Where machine code is kept: a folder for each state of the sources that it is made of.

    <root>/zooming-0123456789abcdef/    kernels of a family of this package
    <root>/my_task-fedcba9876543210/    kernels in a file from anywhere else

A change makes a new folder, and leaves the others as they are. Whoever makes a folder removes those long unused.
"""

from __future__ import annotations

import os
import re
import shutil
import tempfile
import time
import uuid
import warnings
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numba
from numba.core import caching

from paretozoom.kernels.core.sources import CORE, family_of, files_of, fingerprint, sources_of

_files_of: Any = caching.FunctionCache
DAY = 24 * 3600.0
UNUSED_DAYS = 30  # after which a folder is removed
_FOLDER = re.compile(r".+-[0-9a-f]{16}")
_LEAVING = ".removed"


class MachineCode(caching._Cache):
    """The machine code of one kernel, for numba.

    Its folder is found when the code is asked for, not when the kernel is decorated: only then are all functions known
    that it calls. What cannot be kept is compiled anew in each process.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._files: Any = None

    @property
    def cache_path(self) -> str | None:
        """The folder of its files, once it is known."""
        return self._files and str(self._files.cache_path)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The machine code for some types of arguments, if it is kept."""
        self._files = _files_for(self._function)
        return self._files and self._files.load_overload(sig, target_context)

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep the machine code for some types of arguments, if there is room."""
        if self._files is not None:
            with suppress(OSError):
                self._files.save_overload(sig, data)

    def enable(self) -> None:
        """Nothing: it is never disabled."""

    def disable(self) -> None:
        """Nothing: numba never does."""

    def flush(self) -> None:
        """Forget all that is kept."""
        if self._files is not None:
            self._files.flush()


def _files_for(function: Callable[..., Any]) -> Any:
    """numba's own cache of a function, in the folder of its sources; None if its machine code cannot be kept."""
    name = _folder_name(function)
    folder = None if name is None else _folder(name)
    if folder is None:
        return None
    settings: Any = numba.config
    before = settings.CACHE_DIR
    settings.CACHE_DIR = str(folder)
    try:
        files = _files_of(function)
    except RuntimeError:
        return None  # no place at all
    finally:
        settings.CACHE_DIR = before
    # Where it cannot write, numba turns to folders beside the source file, which know nothing of other files.
    return files if Path(files.cache_path).is_relative_to(folder) else None


def _folder_name(function: Callable[..., Any]) -> str | None:
    """The family or file of a function and a fingerprint of its sources; None if these are not all known."""
    file = Path(function.__code__.co_filename)
    family = family_of(file)
    key = None if family is None else _family_fingerprint(family)  # the files are read before they are looked at
    files, values, complete = sources_of(function)
    if not complete:
        return None
    return f"{family or file.stem}-{key or fingerprint(*sorted({*files, *files_of(CORE)}), *values)}"


@cache
def _family_fingerprint(family: str) -> str:
    return fingerprint(*files_of(family))


def _folder(name: str) -> Path | None:
    """The folder of some name, made or noted as used; None if there can be none."""
    root = _root()
    if not _is_writable(root):
        return None
    folder = root / name
    try:
        if time.time() - folder.stat().st_mtime > DAY:
            os.utime(folder)
    except FileNotFoundError:
        with suppress(OSError):
            folder.mkdir(parents=True, exist_ok=True)
            remove_unused(root)
    except OSError:
        pass
    return folder


def remove_unused(root: Path, days: float = UNUSED_DAYS) -> None:
    """Remove the folders of machine code that nobody used for some days; others may do so at the same time.

    Each leaves under another name at once, so that nobody finds half of it.
    """
    now = time.time()
    for folder in root.iterdir():
        with suppress(OSError):
            leaving = folder
            if _FOLDER.fullmatch(folder.name) and now - folder.stat().st_mtime > days * DAY:
                leaving = folder.rename(root / f"{uuid.uuid4().hex}{_LEAVING}")
            if leaving.name.endswith(_LEAVING):
                shutil.rmtree(leaving, ignore_errors=True)


def _root() -> Path:
    named = os.environ.get("PARETOZOOM_CACHE")
    if named:
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    return (Path(home) if home else Path.home() / ".cache") / "paretozoom"


@cache
def _is_writable(root: Path) -> bool:
    try:
        root.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root):
            return True
    except OSError:
        warnings.warn(
            f"paretozoom: {root} cannot be written, so kernels are compiled anew in every process; "
            "name a writable folder in the environment variable PARETOZOOM_CACHE",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
