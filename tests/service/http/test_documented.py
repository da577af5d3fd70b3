"""What the documents show of the service is true."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import msgspec
import pytest

from paretozoom import Categorical, Client, Finite, Integer, Objective, Problem, Real, Vector
from paretozoom.service.app import create_app
from paretozoom.store import open_store
from tests.service.crashing import serving

ROOT = Path(__file__).parents[3]
REFERENCE = ROOT / "docs" / "reference"


def commands_of(page: Path) -> list[str]:
    """The curl commands of a page's shell blocks."""
    text = "\n".join(re.findall(r"```sh\n(.*?)```", page.read_text(), re.S))
    return [part.strip() for part in re.split(r"\n(?=curl|#)", "\n" + text) if part.strip().startswith("curl")]


PAGES = [page for page in sorted([ROOT / "README.md", *ROOT.glob("docs/**/*.md")]) if commands_of(page)]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_run(page: Path, tmp_path: Path) -> None:
    commands = commands_of(page)
    assert len(commands) >= 3
    with serving(tmp_path) as service:
        answers = []
        for command in commands:
            line = command.replace("localhost:8080", f"127.0.0.1:{service.port}")
            done = subprocess.run(["bash", "-c", line], capture_output=True, check=True)
            answers.append(msgspec.json.decode(done.stdout))
            if len(answers) == 1:
                with Client(service.url) as client:
                    client.wait_until_ready()
    assert answers[0]["name"] == "prices"
    assert answers[1]["id"].endswith("-0")
    assert 1 <= answers[1]["arm"]["price"] <= 50
    assert answers[2] == {"accepted": 1, "repeated": 0}
    assert not [answer for answer in answers if "detail" in answer]


def test_every_request_is_in_the_table(tmp_path: Path) -> None:
    text = (REFERENCE / "service.md").read_text()
    app = create_app(open_store(tmp_path))
    for route in app.routes:
        if route.path.startswith(("/v1", "/live", "/ready", "/metrics")):
            last = re.sub(r"\{id:str\}", "ID", route.path).replace("/v1/experiments/{name:str}", "...")
            for name in ("/{act:str}",):
                last = last.replace(name, "/")
            assert last.rstrip("/").replace("...", "", 1) in text, route.path


def examples_of(place: str) -> list[Any]:
    """The examples of the problem's table that may stand in some place."""
    text = (REFERENCE / "problem.md").read_text()
    rows = [[cell.strip() for cell in row.split("|")] for row in text.splitlines() if row.startswith("|")]
    found = [row[3].strip("`") for row in rows if len(row) > 3 and row[3].startswith("`{") and row[2] == place]
    return [msgspec.json.decode(example) for example in found]


def test_the_examples_of_a_problem_make_problems() -> None:
    either, finite, objectives = map(examples_of, ("context, arm", "arm, instead of a list", "objectives"))
    seen: set[type] = set()
    for arm in (either, *finite):
        contexts = [*either, *examples_of("context")]
        problem = msgspec.convert({"context": contexts, "arm": arm, "objectives": objectives}, Problem)
        seen |= {type(one) for one in (*problem.context, problem.arm, *problem.objectives)}
    assert seen == {Real, Integer, Categorical, Vector, Finite, Objective, tuple}


def test_the_limits_are_those_of_the_code() -> None:
    from paretozoom.service import Limits
    from paretozoom.service.connections import SLOWEST
    from paretozoom.store.postgres import CONNECTIONS, PATIENCE_FOR_LOCKS, PATIENCE_FOR_STATEMENTS

    text = (REFERENCE / "service.md").read_text()
    limits = Limits()
    assert f"{limits.body // 1_000_000} MB a request" in text
    assert f"{limits.batch:,} decisions or rewards a batch" in text
    assert f"{limits.open:,} open decisions" in text
    assert f"{limits.experiments:,} experiments" in text
    assert f"{limits.waiting:,} decisions and rewards" in text
    assert f"{limits.connections:,} connections" in text
    assert f"{limits.head // 1_000} kB before the body" in text
    assert f"{limits.seconds_of_silence:g} seconds of silence" in text
    assert f"{SLOWEST // 1_000} kB a second" in text
    assert f"within {limits.seconds_to_answer:g} seconds" in text
    assert f"After {limits.seconds_to_end:g} seconds the process ends" in text
    assert f"needs {CONNECTIONS} connections" in text
    assert f"over {PATIENCE_FOR_STATEMENTS} seconds, a lock over {PATIENCE_FOR_LOCKS}" in text
