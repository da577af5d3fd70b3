"""The documents are true: their code runs, their commands exist, their links lead somewhere, and they can be read.

Pages are found by being there. A page is a Markdown file of the root or of docs/.
"""

from __future__ import annotations

import contextlib
import doctest
import inspect
import itertools
import pkgutil
import re
import runpy
import shlex
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import msgspec
import pytest
import typer

import paretozoom
from paretozoom.commands.cli import app
from paretozoom.environments import Task
from paretozoom.policies import Policy
from paretozoom.registry import find_members
from paretozoom.study import Study
from tests.service.crashing import serving

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
FOR_READERS = [page for page in PAGES if page.parent.name in ("getting-started", "how-to", "explanation")]
HOW_TO = [page for page in PAGES if page.parent.name == "how-to"]
SERVICE = "http://127.0.0.1:8080"
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.S | re.M)
MOST_WORDS, MOST_LINES, MOST_BYTES = 30, 45, 60_000


def name_of(page: Path) -> str:
    return str(page.relative_to(ROOT))


def blocks_of(page: Path, language: str) -> list[str]:
    return [code for known, code in FENCE.findall(page.read_text()) if known == language]


def only_code_of(text: str) -> str:
    """The page with everything but Python blocks made empty, so that lines keep their numbers."""
    kept, end = [], 0
    for found in FENCE.finditer(text):
        before = text[end : found.start()].count("\n")
        body = found[2] if found[1] == "python" else "\n" * found[2].count("\n")
        kept.append("\n" * (before + 1) + body)
        end = found.end()
    return "".join(kept)


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_are_of_languages_that_are_tested(page: Path) -> None:
    for language, code in FENCE.findall(page.read_text()):
        assert language in ("", "python", "sh", "toml", "text"), language
        if language == "python":
            assert code.startswith(">>> "), f"not an example that runs:\n{code}"
    for language in ("", "text"):
        assert not any(">>>" in code for code in blocks_of(page, language))


@pytest.mark.parametrize("page", [p for p in PAGES if blocks_of(p, "python") and p.name != "README.md"], ids=name_of)
def test_examples_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of the README are run by pytest itself."""
    code = only_code_of(page.read_text())
    monkeypatch.chdir(tmp_path)
    with contextlib.ExitStack() as stack:
        if SERVICE in code:
            code = code.replace(SERVICE, stack.enter_context(serving(tmp_path / "store")).url)
        examples = doctest.DocTestParser().get_doctest(code, {}, name_of(page), str(page), 0)
        said: list[str] = []
        found = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS).run(examples, out=said.append)
    assert found.failed == 0, "".join(said)
    assert found.attempted > 0


@pytest.mark.parametrize("page", [p for p in PAGES if blocks_of(p, "sh")], ids=name_of)
def test_commands_exist(page: Path) -> None:
    commands = [re.findall(r"^paretozoom .*", block, re.M) for block in blocks_of(page, "sh")]
    for line in itertools.chain.from_iterable(commands):
        command: Any = typer.main.get_command(app)
        context, rest = None, shlex.split(line, comments=True)[1:]
        while hasattr(command, "commands"):
            context = command.make_context("paretozoom", rest, parent=context)
            _, command, rest = command.resolve_command(context, [*context._protected_args, *context.args])
        command.make_context(command.name, rest, parent=context)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks_of(p, "toml")], ids=name_of)
def test_studies_can_be_read(page: Path, tmp_path: Path) -> None:
    for text in blocks_of(page, "toml"):
        (tmp_path / "study.toml").write_text(text)
        assert Study.read(tmp_path / "study.toml").runs > 0


def anchors_of(page: Path) -> set[str]:
    heads = re.findall(r"^#+ (.+)$", FENCE.sub("", page.read_text()), re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)]+)\)", page.read_text()):
        path, _, anchor = target.partition("#")
        where = page.parent.joinpath(path).resolve() if path else page
        assert where.exists(), target
        assert where.is_relative_to(ROOT), target
        if anchor:
            assert anchor in anchors_of(where), target


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_files_that_are_named_exist(page: Path) -> None:
    tops = "paretozoom|benchmarks|deploy|docs|examples|studies|tests"
    for path in re.findall(rf"`((?:{tops})/[\w./-]+)`", page.read_text()):
        assert (ROOT / path).exists(), path


def test_every_page_is_in_the_table_of_contents() -> None:
    contents = DOCS / "README.md"
    linked = {(DOCS / target).resolve() for target in re.findall(r"\]\(([^)#]+)", contents.read_text())}
    for page in DOCS.rglob("*.md"):
        assert page == contents or page in linked, page


def sentences_of(page: Path) -> Iterator[list[str]]:
    """The words of each sentence; what stands in backquotes is one word, a cell of a table is on its own."""
    text = re.sub(r"`[^`]+`", "code", FENCE.sub("", page.read_text()))
    text = re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", text)
    for paragraph in re.split(r"\n\s*\n|\n(?=#+ |[-*] |\d+\. |\|)|\|", text):
        for sentence in re.split(r"(?<=[.!?])\s+", paragraph):
            yield re.findall(r"[\w'’.,%-]*\w[\w'’.,%-]*", sentence)  # noqa: RUF001


@pytest.mark.parametrize("page", FOR_READERS, ids=name_of)
def test_sentences_are_short(page: Path) -> None:
    for words in sentences_of(page):
        assert len(words) <= MOST_WORDS, " ".join(words)


def constants() -> set[str]:
    """The names of all constants of the library."""
    sources = [path.read_text() for path in Path(paretozoom.__file__).parent.rglob("*.py")]
    return {name for text in sources for name in re.findall(r"^([A-Z][A-Z0-9_]+)\b(?:,| =|:)", text, re.M)}


@pytest.mark.parametrize("page", HOW_TO, ids=name_of)
def test_how_to_pages_fit_a_screen_and_name_no_constants(page: Path) -> None:
    text = page.read_text()
    assert len(text.splitlines()) <= MOST_LINES
    known = constants()
    assert len(known) > 100
    for word in set(re.findall(r"\b[A-Z][A-Z0-9_]+\b", text)):
        assert word not in known, word
        assert "_" not in word, word


def test_figures_are_small_and_drawn_by_a_script_of_ours() -> None:
    figures = sorted(path for path in DOCS.rglob("*") if path.suffix in (".svg", ".png", ".jpg", ".gif", ".webp"))
    script = (DOCS / "figures" / "draw.py").read_text()
    for figure in figures:
        assert figure.suffix == ".svg", figure
        assert figure.stat().st_size < MOST_BYTES, figure
        assert f"def {figure.stem.replace('-', '_')}(" in script, figure
    assert figures


def test_figures_can_be_drawn(tmp_path: Path) -> None:
    runpy.run_path(str(DOCS / "figures" / "draw.py"))["main"](folder=tmp_path)
    drawn = sorted(path.name for path in tmp_path.iterdir())
    assert drawn == sorted(path.name for path in (DOCS / "figures").glob("*.svg"))
    for path in tmp_path.iterdir():
        assert ElementTree.fromstring(path.read_text()).tag.endswith("svg")
        assert path.stat().st_size < MOST_BYTES


# What pages say of the library is so.


@pytest.mark.parametrize("page", sorted((DOCS / "math").glob("*.md")), ids=name_of)
def test_names_and_defaults_of_symbols_are_those_of_the_code(page: Path) -> None:
    for line in page.read_text().splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if not line.startswith("| ") or len(cells) != 4:
            continue
        for name in re.findall(r"`([\w.]+\.\w+)`", cells[2]):
            owner, _, last = f"paretozoom.{name}".rpartition(".")
            place = pkgutil.resolve_name(owner)
            parameters = inspect.signature(place).parameters if inspect.isclass(place) else {}
            assert last in parameters or hasattr(place, last), name
            if cells[3] and last in parameters:
                assert cells[3] == f"`{parameters[last].default!r}`", name


def test_every_common_parameter_is_explained() -> None:
    """Those that five policies or more take, and what takes them as the table says."""
    members = find_members("paretozoom.policies", Policy).values()
    taken = Counter(name for member in members for name in inspect.signature(member).parameters)
    text = (DOCS / "reference" / "policies.md").read_text()
    for name in (set(taken) - {"problem", "delta"}) & {name for name, n in taken.items() if n >= 5}:
        assert f"| `{name}` |" in text, name


def test_environments_that_are_listed_exist() -> None:
    """A new one need not be listed: `paretozoom environments` does."""
    text = (DOCS / "reference" / "environments.md").read_text()
    members = find_members("paretozoom.environments", Task)
    listed = re.findall(r"^\| `([\w-]+)` \| `(\w+)` \|", text, re.M)
    assert listed
    for name, here in listed:
        assert members[name].__name__ == here


def test_every_field_of_a_study_is_explained() -> None:
    from paretozoom.study import Spec

    text = (DOCS / "reference" / "studies.md").read_text()
    for record in (Study, Spec):
        for field in msgspec.structs.fields(record):
            assert f"| `{field.name}` |" in text, field.name
