"""How policies, environments and metrics are found: by being there."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import pkgutil
import sys
from collections.abc import Collection
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

from paretozoom.records import Refused

Member = TypeVar("Member")


def find_members(package: str, base: type[Member]) -> dict[str, type[Member]]:
    """The subclasses of `base` in the files of a package, by the `name` each gives itself.

    >>> from paretozoom.policies import Policy
    >>> {"pcz", "random"} < set(find_members("paretozoom.policies", Policy))
    True
    """
    found: dict[str, type[Member]] = {}
    for module in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        for _, member in inspect.getmembers(importlib.import_module(module.name), inspect.isclass):
            if issubclass(member, base) and "name" in vars(member):
                found[vars(member)["name"]] = member
    return dict(sorted(found.items()))


def find_member(package: str, base: type[Member], name: str) -> type[Member]:
    """One member by name, or a class of the user's own, named "module:Class" or "folder/file.py:Class".

    >>> from paretozoom.policies import Policy
    >>> find_member("paretozoom.policies", Policy, "paretozoom.policies.zooming.pcz:PCZ").__name__
    'PCZ'
    """
    if ":" in name:
        return _import_member(base, name)
    members = find_members(package, base)
    if name not in members:
        raise Refused(f"name: {name!r} is not one of {sorted(members)!r}")
    return members[name]


def _import_member(base: type[Member], name: str) -> type[Member]:
    place, _, attribute = name.rpartition(":")
    try:
        module = _import_file(place) if place.endswith(".py") else importlib.import_module(place)
        member = getattr(module, attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise Refused(f"name: {name!r} cannot be imported ({error})") from error
    if not (inspect.isclass(member) and issubclass(member, base)):
        raise Refused(f"name: {name!r} is not a subclass of {base.__name__}")
    return member


def _import_file(place: str) -> ModuleType:
    """The module of a file, here or where modules are sought; it may import what lies beside it."""
    path = next((path for path in (Path(folder, place) for folder in ("", *sys.path)) if path.is_file()), None)
    if path is None:
        raise ImportError(f"there is no file {place!r}")
    known = sys.modules.get(path.stem)
    if known is not None and Path(getattr(known, "__file__", None) or "").resolve() != path.resolve():
        raise ImportError(f"another module is called {path.stem!r}; give the file another name")
    if (folder := str(path.parent.resolve())) not in sys.path:
        sys.path.append(folder)
    if known is None:
        spec = importlib.util.spec_from_file_location(path.stem, path.resolve())
        assert spec is not None
        assert spec.loader is not None
        known = sys.modules[path.stem] = importlib.util.module_from_spec(spec)
        try:
            spec.loader.exec_module(known)
        except BaseException:
            del sys.modules[path.stem]
            raise
    return known


def line_of(member: type[Any]) -> str:
    """The first line of a class's own docstring: what it is.

    >>> from paretozoom.policies import Random
    >>> line_of(Random)
    'Draw every arm uniformly; the floor in every comparison.'
    """
    return (vars(member).get("__doc__") or "").strip().split("\n")[0]


def check_parameters(member: type[Any], parameters: dict[str, Any], beside: Collection[str] = ()) -> None:
    """Refuse parameters that a class does not take, or that are given beside the others.

    >>> from paretozoom.policies import Random
    >>> check_parameters(Random, {"horizon": 3})
    Traceback (most recent call last):
    paretozoom.records.Refused: parameters: 'horizon' is not a parameter of random, which takes ['seed']
    """
    elsewhere = {"self", "problem", *beside}
    taken = [name for name in inspect.signature(member.__init__).parameters if name not in elsewhere]
    for name in parameters:
        if name not in taken:
            raise Refused(f"parameters: {name!r} is not a parameter of {member.name}, which takes {taken!r}")
