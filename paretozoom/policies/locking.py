"""One lock for each policy: threads may share it, and no two of them are in it at once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any


def locked(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method that holds the `_lock` of its object while it runs."""

    @functools.wraps(method)
    def holding(self: Any, *args: Any, **kwargs: Any) -> Any:
        with self._lock:
            return method(self, *args, **kwargs)

    return holding


def lock_public(cls: type[Any]) -> None:
    """Lock the public methods and properties that a class itself adds, so that none can be forgotten.

    >>> from threading import RLock
    >>> class Counter:
    ...     _lock = RLock()
    ...     def add(self, n): return n + 1
    >>> lock_public(Counter)
    >>> Counter().add(1), hasattr(Counter.add, "__wrapped__")
    (2, True)
    """
    for name, member in list(vars(cls).items()):
        if name.startswith("_"):
            continue
        if inspect.isfunction(member):
            setattr(cls, name, locked(member))
        elif isinstance(member, property) and member.fget is not None:
            setattr(cls, name, property(locked(member.fget), member.fset, member.fdel, member.__doc__))
