"""Policies are found by being there: code that serves all of them names none."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import paretozoom
from paretozoom.policies import Policy
from paretozoom.registry import find_members

PACKAGE = Path(paretozoom.__file__).parent
MEMBERS = find_members("paretozoom.policies", Policy)
CLASSES = {member.__name__ for member in MEMBERS.values()}
FAMILIES = tuple({member.__module__.rpartition(".")[0] for member in MEMBERS.values()})
# Families themselves, what lists all of them, the paper's study and the command line.
EXCEPT = ("policies/*/**/*", "policies/__init__.py", "kernels/**/*", "study/reproduce.py", "commands/*", "__init__.py")
MAY_NAME = {file for pattern in EXCEPT for file in PACKAGE.glob(pattern)}
FILES = [file for file in sorted(PACKAGE.rglob("*.py")) if file not in MAY_NAME]


def named(code: str) -> Iterator[str]:
    """What of policies some code names, its docstrings aside."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Constant):
            yield from [node.value] if node.value in MEMBERS else []
            continue
        fields = [getattr(node, field, None) for field in ("id", "attr", "module", "name")]
        words = [word for word in fields if isinstance(word, str)]
        yield from (word for word in words if word in CLASSES or word.startswith(FAMILIES))


@pytest.mark.parametrize(
    ("code", "found"),
    [
        ("from paretozoom.policies.arms.random import Random", ["paretozoom.policies.arms.random", "Random"]),
        ("import paretozoom.policies.zooming.pcz", ["paretozoom.policies.zooming.pcz"]),
        ("policy = policies.PCZ(problem)", ["PCZ"]),
        ('Spec("pareto-zoom")', ["pareto-zoom"]),
        ('def f():\n    """As PCZ does.\n\n    >>> PCZ\n    """', []),
        ("import random\nfrom paretozoom.policies import BASELINE", []),
    ],
)
def test_what_names_a_policy_is_seen(code: str, found: list[str]) -> None:
    assert list(named(code)) == found


def test_no_policy_is_named() -> None:
    assert len(FILES) > 80
    found = {str(file.relative_to(PACKAGE)): sorted(named(file.read_text())) for file in FILES}
    assert {file: names for file, names in found.items() if names} == {}
