"""Machine code that is kept, or not, and functions typed at a prompt."""

from __future__ import annotations

import ast
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import paretozoom
from paretozoom import PCZ, PaperTask, Random
from tests.kernels.processes import run
from tests.lines import in_chunks


def test_a_second_process_compiles_nothing() -> None:
    task = PaperTask()
    policy = PCZ(task.problem, horizon=100)
    here = in_chunks(policy, task, 20, seed=1)
    policy.ask([0.5])
    found = run("""
import json
from paretozoom import PCZ, PaperTask
from paretozoom.kernels.loops import loop
from paretozoom.simulation import simulate_in_chunks
task = PaperTask()
policy = PCZ(task.problem, horizon=100)
arms = [played.decision.arm["y"] for some in simulate_in_chunks(policy, task, 20, seed=1) for played in some]
policy.ask([0.5])
compiled = [loop.play.compiled, policy.kernel.ask]
print(json.dumps({
    "arms": arms,
    "hits": [sum(function.stats.cache_hits.values()) for function in compiled],
    "misses": [sum(function.stats.cache_misses.values()) for function in compiled],
}))
""")
    assert found["arms"] == [played.decision.arm["y"] for played in here]
    assert found["hits"] == [1, 1]
    assert found["misses"] == [0, 0]


@pytest.fixture(params=["no folder", "a file"])
def unwritable(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Names of places where no cache can be kept."""
    if request.param == "no folder":
        yield "/proc/nonexistent"
    else:
        (tmp_path / "file").write_text("")
        yield str(tmp_path / "file")


def test_without_a_cache_folder_there_is_one_warning_and_no_harm(unwritable: str) -> None:
    found = run(
        """
import json, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    from paretozoom import PaperTask, Random
    policy = Random(PaperTask().problem, seed=1)
    decisions = [policy.ask([0.5]) for _ in range(20)]
    policy.tell(decisions[3], [1, 0])
    arms = [decision.arm["y"] for decision in decisions]
print(json.dumps({"arms": arms, "warnings": [[w.category.__name__, str(w.message)] for w in caught]}))
""",
        PARETOZOOM_CACHE=unwritable,
    )
    policy = Random(PaperTask().problem, seed=1)
    assert found["arms"] == [policy.ask([0.5]).arm["y"] for _ in range(20)]
    [(category, message)] = found["warnings"]
    assert category == "RuntimeWarning"
    assert unwritable in message
    assert "PARETOZOOM_CACHE" in message


def test_functions_typed_at_a_prompt_are_called_too() -> None:
    found = run("""
import json
from paretozoom import Objective, Problem, Random, Real, simulate
from paretozoom.environments import Task
from paretozoom.kernels.core.jit import kernel
from paretozoom.simulation import can_compile, simulate_in_chunks

@kernel
def slope(world, point, out):
    out[0] = world[0] * point[1]

class Slope(Task):
    name = "slope"
    mean_kernel = slope

problem = Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective("r")])
task = Slope(problem, world=[0.5])
line = list(simulate(Random(problem), task, 50, seed=1))
chunks = [played for some in simulate_in_chunks(Random(problem), task, 50, seed=1, chunk=20) for played in some]
print(json.dumps({"same": line == chunks, "compiled": can_compile(Random(problem), task),
                  "total": sum(r.reward["r"] for r in line), "gap": task.gap([0.5], [0.5])}))
""")
    assert found["same"]
    assert found["compiled"]
    assert 0 < found["total"] < 30
    assert found["gap"] == pytest.approx(0.25)


OWN = """
import numpy as np
from types import SimpleNamespace
from paretozoom import Random
from paretozoom.kernels.core.jit import kernel

@kernel
def ask(f, i, number, point, allowed):
    point[1] = f[-1]
    return -1, 1.0, len(f)

@kernel
def tell(f, i, number, point, credit, reward, told):
    f[-1] = (point[0] + f[-2]) / 2

@kernel
def room(f, i):
    return np.append(f, 0.0), i

class Own(Random):
    name = "own"
    kernel = SimpleNamespace(ask=ask, tell=tell, room=room)

    def _memory(self, key):
        return np.full(2, 0.5), super()._memory(key)[1]
"""
PLAY_OWN = """
import json
from paretozoom import PaperTask, simulate
from paretozoom.simulation import simulate_in_chunks
task = PaperTask()
chunks = [played for some in simulate_in_chunks(Own(task.problem), task, 50, seed=1, chunk=20) for played in some]
line = list(simulate(Own(task.problem), task, 50, seed=1))
batch, single = Own(task.problem), Own(task.problem)
batch.tell_many(batch.ask_many([[0.1], [0.7]]), [[0, 0], [1, 0]])
for decision, reward in [(single.ask([0.1]), [0, 0]), (single.ask([0.7]), [1, 0])]:
    single.tell(decision, reward)
print(json.dumps({
    "same": line == chunks and batch._floats.tolist() == single._floats.tolist(),
    "arms": [played.decision.arm["y"] for played in chunks],
    "hits": [sum(function.stats.cache_hits.values()) for function in (ask, tell, room)],
    "misses": [sum(function.stats.cache_misses.values()) for function in (ask, tell, room)],
}))
"""


def test_a_policy_typed_at_a_prompt_plays_in_the_loops() -> None:
    found = run(OWN + PLAY_OWN)
    assert found["same"]
    assert len(set(found["arms"])) > 40


def test_a_policy_in_a_file_of_its_own_is_compiled_once(tmp_path: Path) -> None:
    (tmp_path / "own.py").write_text(OWN)
    path = os.pathsep.join([str(tmp_path), *sys.path])
    first, second = (run("from own import *\n" + PLAY_OWN, PYTHONPATH=path) for _ in range(2))
    assert first["same"]
    assert first["misses"] == [1, 1, 1]
    assert {**second, "hits": first["hits"], "misses": first["misses"]} == first
    assert second["hits"] == [1, 1, 1]
    assert second["misses"] == [0, 0, 0]


BEYOND = """
import json
import numpy as np
from own import last
five = np.arange(5.0)
try:
    found = last(five[:3], 4)
except IndexError as error:
    found = str(error)
print(json.dumps(found))
"""


def test_machine_code_that_checks_indices_is_kept_apart(tmp_path: Path) -> None:
    """As `make bounds` has it."""
    (tmp_path / "own.py").write_text(
        "from paretozoom.kernels.core.jit import kernel\n\n@kernel\ndef last(values, k):\n    return values[k]\n"
    )
    cache = str(tmp_path / "cache")
    found = [run(BEYOND, tmp_path, PARETOZOOM_CACHE=cache, NUMBA_BOUNDSCHECK=checked) for checked in "0101"]
    assert found == [4.0, "index is out of bounds", 4.0, "index is out of bounds"]


def kernels_used_in(file: Path) -> set[tuple[str, str]]:
    """The names (module, function) that a file takes from modules of kernels."""
    tree = ast.parse(file.read_text())
    modules: dict[str, str] = {}
    found: set[tuple[str, str]] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("paretozoom.kernels"):
            for alias in node.names:
                modules[alias.asname or alias.name] = f"{node.module}.{alias.name}"
                found.add((str(node.module), alias.name))
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in modules:
            found.add((modules[node.value.id], node.attr))
    return found


def test_parts_of_kernels_are_called_by_kernels_alone() -> None:
    """Python cannot call them: what would take its arguments is not compiled."""
    package = Path(paretozoom.__file__).parent
    outside = [file for file in package.rglob("*.py") if package / "kernels" not in file.parents]
    used = set().union(*map(kernels_used_in, [*outside, *Path(__file__).parents[1].rglob("*.py")]))
    parts = {
        (".".join(["paretozoom", *file.relative_to(package).with_suffix("").parts]), name)
        for file in (package / "kernels").rglob("*.py")
        for name in re.findall(r"^@part\ndef (\w+)", file.read_text(), re.MULTILINE)
    }
    assert len(parts) > 30
    assert ("paretozoom.kernels.arms.uniform", "ask") in used
    assert parts.isdisjoint(used)
