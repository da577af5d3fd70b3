"""The public face: names, docstrings with examples, a light import, examples that run."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import runpy
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import paretozoom
from paretozoom import Metric, Task
from paretozoom.policies import Policy
from paretozoom.registry import find_members

ROOT = Path(__file__).parents[1]
MODULES = [
    module.name
    for module in pkgutil.walk_packages(paretozoom.__path__, "paretozoom.")
    if not module.name.startswith("paretozoom.kernels.") and module.name != "paretozoom.__main__"
]


@pytest.mark.parametrize("name", [name for name in paretozoom.__all__ if name != "Event"])  # a union of three names
def test_public_names_have_a_docstring_with_an_example(name: str) -> None:
    member = getattr(paretozoom, name)
    assert member.__doc__, name
    if inspect.isclass(member) and not issubclass(member, (Exception, Metric)):  # an abstract class has no example
        assert ">>>" in member.__doc__, f"{name} has no example"


def _own_members(module: ModuleType) -> dict[str, object]:
    return {
        name: member
        for name, member in inspect.getmembers(module)
        if (inspect.isclass(member) or inspect.isfunction(member))
        and member.__module__ == module.__name__
        and not name.startswith("_")
    }


@pytest.mark.parametrize("name", MODULES)
def test_everything_without_an_underscore_has_a_docstring(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    for member_name, member in _own_members(module).items():
        assert inspect.getdoc(member), f"{name}.{member_name}"


def test_importing_costs_no_compiler() -> None:
    """Nor do the names that need none, and looking for what is not there."""
    code = (
        "import sys, paretozoom; from paretozoom import Client, Decision, Problem, Real, Round, records, remote; "
        "hasattr(paretozoom, '__wrapped__'); paretozoom.__version__; "
        "print([m for m in ('numba', 'matplotlib', 'joblib', 'rich') if m in sys.modules])"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "[]"


def test_names_of_members_are_taken_from_their_packages() -> None:
    code = (
        "import paretozoom, rlcompleter; from paretozoom import *; import paretozoom.policies as p, "
        "paretozoom.environments as e; print(all(globals()[n] is getattr(h, n) for h in (p, e) for n in h.__all__), "
        "set(p.__all__ + e.__all__) < set(dir(paretozoom)), "
        "rlcompleter.Completer({'z': paretozoom}).attr_matches('z.PC'))"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert result.stdout.strip() == "True True ['z.PCZ(']"


@pytest.mark.parametrize("package", ["policies", "environments"])
def test_every_member_can_be_had_from_its_package(package: str) -> None:
    home = importlib.import_module(f"paretozoom.{package}")
    base = Policy if package == "policies" else Task
    missing = {member.__name__ for member in find_members(home.__name__, base).values()} - set(home.__all__)
    assert not missing, f"to be imported in paretozoom/{package}/__init__.py, and named in its __all__"
    assert all(hasattr(home, name) for name in home.__all__)


def test_every_name_can_be_had() -> None:
    assert len(paretozoom.__all__) == len(set(paretozoom.__all__))
    assert set(dir(paretozoom)) > set(paretozoom.__all__)
    for name in dir(paretozoom):
        getattr(paretozoom, name)
    with pytest.raises(AttributeError, match="nonsense"):
        _ = paretozoom.nonsense


@pytest.mark.parametrize("path", sorted((ROOT / "examples").glob("*.py")), ids=lambda p: p.name)
def test_examples_run(path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(path))["main"](300)
    assert capsys.readouterr().out


def test_the_tree_in_contributing_is_the_tree() -> None:
    text = (ROOT / "CONTRIBUTING.md").read_text()
    for path in (ROOT / "paretozoom").glob("*"):
        if path.suffix == ".py" and not path.name.startswith("__"):
            assert path.name in text, path.name
        elif path.is_dir() and path.name != "__pycache__":
            assert f"{path.name}/" in text, path.name
