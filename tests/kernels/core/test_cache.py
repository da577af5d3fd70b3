"""Folders of machine code: which edit leaves which of them, and which are removed."""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numba.core import caching

import paretozoom
from paretozoom.kernels.core import cache
from paretozoom.kernels.core.jit import kernel
from tests.kernels.processes import run

PACKAGE = Path(paretozoom.__file__).parent
DAY = 24 * 3600.0

FOLDERS = """
import importlib, json, pkgutil, paretozoom
from paretozoom.kernels.core.cache import _folder_name
folders = {}
for found in pkgutil.walk_packages(paretozoom.__path__, "paretozoom."):
    if found.name.startswith(("paretozoom.kernels.", "paretozoom.environments.")):
        for name, value in vars(importlib.import_module(found.name)).items():
            value = getattr(value, "compiled", value)
            if hasattr(value, "py_func") and value.py_func.__module__ == found.name:
                folders[f"{found.name}.{name}"] = _folder_name(value.py_func)
print(json.dumps(folders))
"""
# A small kernel in each of some families; two of them call one of `arms`, which they may.
PROBE = "from paretozoom.kernels.core.jit import kernel\n{}\n@kernel\ndef probe(x):\n    return {}\n"
CALLS = "from paretozoom.kernels.arms import probe as arms\n"
PROBES = {
    "arms": PROBE.format("", "x + 1.0"),
    "clusters": PROBE.format(CALLS, "arms.probe(x)"),
    "tables": PROBE.format(CALLS, "arms.probe(x)"),
    "zooming": PROBE.format("", "x"),
    "pareto_zoom": PROBE.format("", "x"),
}
COMPILE = """
import importlib, json
found = {}
for family in ("clusters", "tables", "zooming", "pareto_zoom"):
    probe = importlib.import_module(f"paretozoom.kernels.{family}.probe").probe
    found[family] = [probe(1.0), sum(probe.stats.cache_hits.values()), sum(probe.stats.cache_misses.values())]
print(json.dumps(found))
"""


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the package, to be edited."""
    shutil.copytree(PACKAGE, tmp_path / "paretozoom")  # with its bytecode
    return tmp_path / "paretozoom"


def run_copy(script: str, copy: Path) -> Any:
    return run(script, copy.parent, PARETOZOOM_CACHE=str(copy.parent / "cache"))


def comment(file: Path) -> None:
    file.write_text(file.read_text() + "# One comment more.\n")


def test_an_edit_makes_new_folders_for_a_family_and_what_uses_it(copy: Path) -> None:
    before = run_copy(FOLDERS, copy)
    assert len(before) > 500
    assert None not in before.values()
    comment(copy / "kernels" / "clusters" / "club.py")
    after = run_copy(FOLDERS, copy)
    changed = {name for name in before if before[name] != after[name]}
    assert changed == {name for name in before if name.startswith("paretozoom.kernels.clusters.")}
    comment(copy / "kernels" / "core" / "kinds.py")
    last = run_copy(FOLDERS, copy)
    assert [name for name in after if after[name] == last[name]] == []


def test_an_edit_compiles_anew_what_it_concerns_and_nothing_else(copy: Path) -> None:
    for family, text in PROBES.items():
        (copy / "kernels" / family / "probe.py").write_text(text)
    compiled = {"clusters": [2.0, 0, 1], "tables": [2.0, 0, 1], "zooming": [1.0, 0, 1], "pareto_zoom": [1.0, 0, 1]}
    found = {"clusters": [2.0, 1, 0], "tables": [2.0, 1, 0], "zooming": [1.0, 1, 0], "pareto_zoom": [1.0, 1, 0]}
    assert run_copy(COMPILE, copy) == compiled
    assert run_copy(COMPILE, copy) == found
    comment(copy / "kernels" / "clusters" / "club.py")
    assert run_copy(COMPILE, copy) == {**found, "clusters": [2.0, 0, 1]}
    (copy / "kernels" / "arms" / "probe.py").write_text(PROBES["arms"].replace("1.0", "3.0"))
    assert run_copy(COMPILE, copy) == {**found, "clusters": [4.0, 0, 1], "tables": [4.0, 0, 1]}


EDITED = """
import json
from pathlib import Path
from paretozoom.kernels.core import ordering
file = Path(ordering.__file__).parents[1] / "zooming" / "probe.py"
file.write_text(file.read_text().replace("return x", "return -x"))
from paretozoom.kernels.zooming.probe import probe
print(json.dumps([probe(1.0), probe.stats.cache_path]))
"""


def test_nothing_is_kept_once_a_family_was_edited_under_a_running_process(copy: Path) -> None:
    """Some of its files may have been loaded before, some after."""
    for family, text in PROBES.items():
        (copy / "kernels" / family / "probe.py").write_text(text)
    assert run_copy(EDITED, copy) == [-1.0, None]
    assert run_copy(COMPILE, copy)["zooming"] == [-1.0, 0, 1]


OWN = """
from paretozoom.kernels.core.jit import kernel

@kernel
def height(x):
    return between(x)

from own_helper import SCALE, half

@kernel
def between(x):
    return SCALE * half(x)
"""
HELPER = "from paretozoom.kernels.core.jit import kernel\n\nSCALE = {}\n\n@kernel\ndef half(x):\n    return x / {}\n"


def test_what_a_kernel_of_my_own_takes_from_another_file_is_never_stale(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    script = "from own import height\nprint([height(6.0), sum(height.stats.cache_hits.values())])"
    found = []
    for numbers in ((1, 2), (1, 2), (5, 2), (5, 3)):
        (tmp_path / "own_helper.py").write_text(HELPER.format(*numbers))
        found.append(run(script, tmp_path, PARETOZOOM_CACHE=str(tmp_path / "cache"), PYTHONDONTWRITEBYTECODE="1"))
    assert found == [[3.0, 0], [3.0, 1], [15.0, 0], [10.0, 0]]


def make_folder(root: Path, name: str, days: float) -> Path:
    """A folder with machine code in it, used some days ago."""
    (root / name / "kernels").mkdir(parents=True)
    (root / name / "kernels" / "one.nbc").write_text("code")
    when = time.time() - days * DAY
    os.utime(root / name, (when, when))
    return root / name


def test_folders_long_unused_are_removed(tmp_path: Path) -> None:
    make_folder(tmp_path, "zooming-0123456789abcdef", 31)
    make_folder(tmp_path, "zooming-fedcba9876543210", 29)
    make_folder(tmp_path, "0f.removed", 0)  # by a process that was killed meanwhile
    make_folder(tmp_path, "my-own-files", 400)
    cache.remove_unused(tmp_path)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["my-own-files", "zooming-fedcba9876543210"]


def test_many_remove_folders_at_once(tmp_path: Path) -> None:
    for k in range(100):
        make_folder(tmp_path, f"zooming-{k:016x}", 31 if k % 2 else 1)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(cache.remove_unused, [tmp_path] * 8))
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"zooming-{k:016x}" for k in range(0, 100, 2)]


@pytest.fixture
def fresh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Makes a kernel in a file of its own, to be kept in `tmp_path / "cache"`."""
    monkeypatch.setenv("PARETOZOOM_CACHE", str(tmp_path / "cache"))
    file = tmp_path / "third.py"
    file.write_text("def third(x):\n    return x / 3\n")

    def make() -> Any:
        names: dict[str, Any] = {"__name__": "third"}
        exec(compile(file.read_text(), str(file), "exec"), names)
        return kernel(names["third"])

    return make


def test_a_folder_in_use_stays(fresh: Callable[[], Any], tmp_path: Path) -> None:
    assert fresh()(6.0) == 2.0
    [folder] = (tmp_path / "cache").iterdir()
    assert re.fullmatch("third-[0-9a-f]{16}", folder.name)
    for days in (31, 1.5):
        when = time.time() - days * DAY
        os.utime(folder, (when, when))
        again = fresh()
        assert again(6.0) == 2.0
        assert sum(again.stats.cache_hits.values()) == 1
        assert time.time() - folder.stat().st_mtime < DAY / 2
    cache.remove_unused(tmp_path / "cache")
    assert folder.exists()


def test_a_new_folder_makes_old_ones_go(fresh: Callable[[], Any], tmp_path: Path) -> None:
    old = make_folder(tmp_path / "cache", "zooming-0123456789abcdef", 31)
    assert fresh()(6.0) == 2.0
    assert not old.exists()


def test_a_kernel_survives_the_removal_of_its_folder(fresh: Callable[[], Any], tmp_path: Path) -> None:
    mine = fresh()
    assert mine(6.0) == 2.0
    shutil.rmtree(tmp_path / "cache")
    assert mine(np.float32(6.0)) == 2.0
    assert sum(fresh()(6.0) for _ in range(2)) == 4.0


def test_a_folder_that_cannot_be_written_is_not_replaced(fresh: Callable[[], Any], tmp_path: Path) -> None:
    """numba would keep machine code beside the source, where nothing tells when it is stale."""
    assert fresh()(6.0) == 2.0
    [folder] = (tmp_path / "cache").iterdir()
    shutil.rmtree(folder)
    folder.write_text("in the way")
    mine = fresh()
    assert mine(6.0) == 2.0
    assert mine.stats.cache_path is None
    assert list(tmp_path.rglob("*.nb?")) == []


def test_a_full_disk_does_no_harm(fresh: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*given: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(caching.FunctionCache, "save_overload", fail)
    assert fresh()(6.0) == 2.0
