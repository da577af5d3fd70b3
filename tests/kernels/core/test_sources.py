"""What the machine code of kernels is made of, found in other ways than the package finds it."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import paretozoom
from paretozoom.kernels.core.sources import KERNELS, family_of, files_of, fingerprint, sources_of

FAMILIES = sorted(folder.name for folder in KERNELS.iterdir() if folder.is_dir() and folder.name != "__pycache__")


def all_kernels() -> Iterator[Any]:
    """Every compiled function of the package."""
    for found in pkgutil.walk_packages(paretozoom.__path__, "paretozoom."):
        if found.name.startswith(("paretozoom.kernels.", "paretozoom.environments.")):
            module = importlib.import_module(found.name)
            for member in vars(module).values():
                value = getattr(member, "compiled", member)
                if hasattr(value, "py_func") and value.py_func.__module__ == found.name:
                    yield value


def imported_by(family: str) -> set[str]:
    """The families that the files of one import, as the grammar of Python says."""
    found: set[str] = set()
    for file in (KERNELS / family).rglob("*.py"):
        for node in ast.walk(ast.parse(file.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{file}: a relative import"
                names = [f"{node.module}.{alias.name}" for alias in node.names]
            for name in names:
                if name.startswith("paretozoom"):
                    assert name.startswith("paretozoom.kernels."), f"{file}: {name}"
                    found.add(name.split(".")[2])
    return found


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_the_files_of_all_it_imports(family: str) -> None:
    known, waiting = set(), {family, "core"}
    while waiting:
        known.add(one := waiting.pop())
        waiting |= imported_by(one) - known
    assert set(files_of(family)) == {file for one in known for file in (KERNELS / one).rglob("*.py")}


def test_families_are_few_for_each() -> None:
    assert {family_of(file) for file in files_of("zooming")} == {"core", "zooming"}
    assert {family_of(file) for file in files_of("loops")} == {"core", "tasks", "loops"}
    assert all("pareto_zoom" not in map(family_of, files_of(family)) for family in set(FAMILIES) - {"pareto_zoom"})


def test_whatever_a_kernel_calls_is_among_its_sources() -> None:
    checked = 0
    for kernel in all_kernels():
        files, called, waiting = set(sources_of(kernel).files), set(), [kernel.py_func]
        while waiting:
            function = waiting.pop()
            if function not in called:
                called.add(function)
                used = inspect.getclosurevars(function).globals.values()
                waiting += [value.py_func for value in used if hasattr(value, "py_func")]
        assert {Path(inspect.getfile(function)) for function in called} <= files, kernel
        checked += len(called)
    assert checked > 1000


def test_all_kernels_can_be_kept() -> None:
    assert [kernel for kernel in all_kernels() if not sources_of(kernel).complete] == []


@pytest.fixture
def write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, str], ModuleType]]:
    """Writes a file and imports it as a module, anew if need be."""
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.setattr(sys, "dont_write_bytecode", True)  # Python would not notice a change within a second
    written: set[str] = set()

    def writing(name: str, text: str) -> ModuleType:
        written.add(name)
        (tmp_path / f"{name}.py").write_text("from paretozoom.kernels.core.jit import kernel\n" + text)
        importlib.invalidate_caches()
        sys.modules.pop(name, None)
        return importlib.import_module(name)

    yield writing
    for name in written:
        sys.modules.pop(name, None)


def key(module: ModuleType) -> tuple[str, bool]:
    """A fingerprint of the sources of a module's `mine`, and whether these are all."""
    files, values, complete = sources_of(module.mine)
    return fingerprint(*files, *values), complete


HELPER = "@kernel\ndef half(x):\n    return x / {}\n"
USES = {
    "by name": "from sources_helper import half\n\n@kernel\ndef mine(x):\n    return half(x)\n",
    "by module": "import sources_helper\n\n@kernel\ndef mine(x):\n    return sources_helper.half(x)\n",
    "later": "@kernel\ndef mine(x):\n    return between(x)\n\nfrom sources_helper import half\n\n"
    "@kernel\ndef between(x):\n    return half(x)\n",
    "in a comprehension": "from sources_helper import half\n\n@kernel\ndef mine(x):\n"
    "    return sum([half(y) for y in range(3)])\n",
    "in a tuple": "from sources_helper import half\n\nBOTH = half, half\n\n"
    "@kernel\ndef mine(x):\n    return BOTH[0](x)\n",
}


@pytest.mark.parametrize("text", USES.values(), ids=USES)
def test_a_change_in_another_file_is_noticed(write: Callable[[str, str], ModuleType], text: str) -> None:
    keys = []
    for divisor in (2, 3, 2):
        write("sources_helper", HELPER.format(divisor))
        keys.append(key(write("sources_mine", text)))
    assert keys[0] == keys[2]
    assert keys[0] != keys[1]
    assert keys[0][1]


CONSTANTS = {
    "a number": ("SCALE = {}\n", "x * SCALE"),
    "a tuple": ("SCALE = (1.0, ({}, 'a'))\n", "x * SCALE[1][0]"),
    "an array": ("import numpy\nSCALE = numpy.full(3, {})\n", "x * SCALE[0]"),
    "an enumeration": ("import enum\nclass SCALE(enum.IntEnum):\n    ONE = {}\n", "x * SCALE.ONE"),
    "a field": ("from typing import NamedTuple\nclass SCALE(NamedTuple):\n    one: int = {}\n", "SCALE(x).one"),
}


@pytest.mark.parametrize(("constant", "use"), CONSTANTS.values(), ids=CONSTANTS)
def test_a_change_of_a_constant_is_noticed(write: Callable[[str, str], ModuleType], constant: str, use: str) -> None:
    """It was imported from a file that has no function of its own."""
    keys = []
    for value in (2, 3, 2):
        write("sources_helper", constant.format(value))
        text = f"from sources_helper import SCALE\n\n@kernel\ndef mine(x):\n    return {use}\n"
        keys.append(key(write("sources_mine", text)))
    assert keys[0] == keys[2]
    assert keys[0] != keys[1]
    assert keys[0][1]


UNKNOWN = {
    "a list": "SCALE = [1.0]\n",
    "a plain function": "def SCALE():\n    return 1.0\n",
    "an object of a class of Python's": "from types import SimpleNamespace\nSCALE = SimpleNamespace()\n",
    "an object": "class Kind:\n    pass\n\nSCALE = Kind()\n",
    "a compiled class": "import numba.experimental\n\n@numba.experimental.jitclass([])\nclass SCALE:\n"
    "    def __init__(self):\n        pass\n",
    "a function of machine code": "import ctypes\nSCALE = ctypes.CFUNCTYPE(ctypes.c_double)(lambda: 1.0)\n",
    "an intrinsic function": "from numba.extending import intrinsic\n\n@intrinsic\ndef SCALE(typing):\n    pass\n",
}


@pytest.mark.parametrize("text", UNKNOWN.values(), ids=UNKNOWN)
def test_what_cannot_be_followed_is_said(write: Callable[[str, str], ModuleType], text: str) -> None:
    assert not key(write("sources_mine", f"{text}\n@kernel\ndef mine():\n    return SCALE\n"))[1]


def test_a_function_around_another_is_not_kept(write: Callable[[str, str], ModuleType]) -> None:
    """numba takes it for another one in each process, and would keep them all."""
    made = "def make(by):\n    @kernel\n    def mine(x):\n        return x * by{}\n    return mine\n\n"
    number = key(write("sources_mine", made.format("") + "mine = make(2)\n"))
    assert number[1]
    assert key(write("sources_mine", made.format("") + "mine = make(3)\n")) != number
    assert not key(write("sources_mine", made.format("(x)") + "mine = make(kernel(lambda x: x))\n"))[1]


def test_a_file_written_since_it_was_loaded_is_noticed(write: Callable[[str, str], ModuleType], tmp_path: Path) -> None:
    """A helper is edited after it was imported: what is compiled now is not what the file says."""
    helper = write("sources_helper", HELPER.format(2))
    mine = write("sources_mine", USES["by name"])
    assert key(mine)[1]
    Path(str(helper.__file__)).write_text("# another comment\n" + HELPER.format(3))
    assert not key(mine)[1]
    assert not key(write("sources_mine", USES["by name"]))[1]
    write("sources_helper", HELPER.format(3))
    assert key(write("sources_mine", USES["by name"]))[1]
