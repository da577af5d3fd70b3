"""The command line, and the paper's study in small."""

from __future__ import annotations

import ast
import builtins
import doctest
import inspect
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from typer.testing import CliRunner

import paretozoom
from paretozoom import __version__
from paretozoom.commands.cli import _find_study, _print_policies, _progress, _said_if_compiling, app, main
from paretozoom.environments import Task
from paretozoom.kernels.core.jit import kernel, uncached
from paretozoom.policies import Policy
from paretozoom.registry import find_members, line_of
from paretozoom.study import Spec, Study, run_study
from paretozoom.study.reproduce import POLICIES

POLICY_KEYS = {
    "regret",
    "regret_over_random",
    "front_share",
    "bins",
    "bin_ratio",
    "local_entropy",
    "front_entropy",
    "seconds_per_round",
}


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "paretozoom", *arguments], capture_output=True, text=True, check=False)


def test_version_and_policies() -> None:
    assert CliRunner().invoke(app, ["--version"]).output.strip() == __version__
    output = CliRunner().invoke(app, ["policies"]).output
    for name in POLICIES:
        assert name in output


def test_the_rows_of_the_document_are_those_of_the_table_of_policies() -> None:
    """A new policy need not be in the document."""
    output = CliRunner().invoke(app, ["policies", "--markdown"]).output
    lines = output.strip().split("\n")
    members = find_members("paretozoom.policies", Policy)
    assert [line.split(" | ")[0] for line in lines[2:]] == [f"| {name}" for name in members]
    assert all(line.count(" | ") == lines[0].count(" | ") for line in lines)
    _, _, table = Path("docs/reference/policies.md").read_text().partition(lines[0])
    shown = [line for line in table.splitlines() if line.startswith("| ")]
    assert len(shown) > 20
    assert set(shown) <= set(lines), "rows that are no longer so: paste what `paretozoom policies --markdown` prints"


def test_the_table_of_policies_fits_a_terminal() -> None:
    plain = CliRunner().invoke(app, ["policies"], env={"COLUMNS": "80"}).output
    assert max(map(len, plain.split("\n"))) <= 80
    for name, member in find_members("paretozoom.policies", Policy).items():
        assert name in plain
        assert member.__name__ in plain
        assert member.summary.line, name
    assert "AISTATS 2018" in plain


def test_environments_are_listed() -> None:
    output = CliRunner().invoke(app, ["environments"], env={"COLUMNS": "80"}).output
    assert max(map(len, output.split("\n"))) <= 80
    for name, member in find_members("paretozoom.environments", Task).items():
        assert f" {name} " in output
        assert f" {member.__name__} " in output
        assert line_of(member), name


def test_results_fit_a_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    row = {"front_share": 0.5, "bin_ratio": 0.25, "local_entropy": None, "seconds_per_round": 1.5e-6, "notes": []}
    policies: dict[str, Any] = {
        "policy-elimination, 8 rules": {**row, "regret": {"mean": 1234.5, "se": 67.8}, "notes": ["learns 'r' only"]},
        "random": {**row, "regret": {"mean": 12.34, "se": 1e-15}, "regret_over_random": 1.0},
    }
    _print_policies("paper", policies)
    lines = capsys.readouterr().out.split("\n")
    assert max(map(len, lines)) <= 80
    shown = [line.split() for line in lines]
    assert ["policy", "regret", "/random", "front", "m/M", "us"] in shown
    assert ["random", "12.3", "1.000", "0.500", "0.250", "1.50"] in shown
    assert ["policy-elimination,", "8", "rules", "1,234", "±", "68", "-", "0.500", "0.250", "1.50"] in shown
    assert "learns 'r' only: policy-elimination, 8 rules" in lines


@pytest.mark.parametrize("name", find_members("paretozoom.policies", Policy))
def test_the_example_of_a_policy_imports_what_it_uses(name: str) -> None:
    """But for the policy and `Problem`, which the line above it imports."""
    member = find_members("paretozoom.policies", Policy)[name]
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(member) or "")
    nodes = [node for example in examples for node in ast.walk(ast.parse(example.source))]
    known = {alias.name for node in nodes if isinstance(node, ast.ImportFrom) for alias in node.names}
    named = {node.id for node in nodes if isinstance(node, ast.Name)}
    made = {node.id for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    assert examples
    assert named - known - made - set(dir(builtins)) <= {member.__name__, "Problem"}


@pytest.mark.parametrize("name", ["linucb", "LinUCB"])
def test_one_policy_is_explained(name: str) -> None:
    output = CliRunner().invoke(app, ["policies", name]).output
    assert output.startswith("linucb: from paretozoom import LinUCB, Problem\n\nRidge regression on features;")
    for word in (
        "alpha: float | None = None",
        "model: Literal['disjoint', 'hybrid', 'shared']",
        "Guarantee: none proved",
        "WWW 2010",
    ):
        assert word in output


def test_a_policy_in_a_file_is_explained_and_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_shop.py").write_text(
        "from paretozoom import PlainPolicy\n\n\nclass Mine(PlainPolicy):\n"
        "    'Plays the middle.'\n\n    name = 'mine'\n\n"
        "    def __init__(self, problem, *, at=0.5, seed=0):\n        super().__init__(problem, seed=seed)\n\n"
        "    def choose(self, context, candidates, luck):\n        return [0.5], 1.0\n\n"
        "    def learn(self, context, arm, reward):\n        pass\n"
    )
    output = command("policies", f"{tmp_path}/own_shop.py:Mine").stdout
    assert output.startswith("mine: from own_shop import Mine\n\nPlays the middle.\n\nParameters:\n  at = 0.5\n")
    monkeypatch.chdir(tmp_path)
    for place in ("own_shop.py:Mine", "own_shop:Mine"):
        played = command("play", "paper", "--policy", place, "--rounds", "50", "--runs", "1", "--jobs", "1")
        assert {line.split()[0] for line in played.stdout.splitlines()[3:6] if line.split()} >= {"Mine"}, played.stderr


def test_a_study_is_found_by_its_bare_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("table1", "appendix-d"):
        assert _find_study(Path(name)) == Path("studies") / f"{name}.toml"
    monkeypatch.chdir(tmp_path)
    (tmp_path / "table1").mkdir()
    assert _find_study(Path("table1")) == Path(paretozoom.__file__).parents[1] / "studies" / "table1.toml"
    (tmp_path / "studies").mkdir()
    (tmp_path / "studies" / "table1.toml").touch()
    assert _find_study(Path("table1")) == Path("studies") / "table1.toml"


def test_compiling_is_announced_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def twice(x: float) -> float:
        return 2 * x

    def say(*given: Any) -> str:
        """What is said while a new kernel is called with each of some numbers."""
        compiled = kernel(twice)
        with _said_if_compiling():
            for x in given:
                assert compiled(x) == 2 * x
        return capsys.readouterr().err

    monkeypatch.setenv("PARETOZOOM_CACHE", str(tmp_path))
    said = say(1.0, np.float32(1.0))
    assert said.startswith("compiling kernels: half a minute for PCZ")
    assert said.count("\n") == 1
    assert say(1.0, np.float32(1.0)) == ""  # they were found
    with _said_if_compiling():
        assert uncached(twice)(1.0) == 2.0
    assert capsys.readouterr().err == ""  # a distance of one's own is compiled each time


def test_progress_in_lines(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("paretozoom.commands.cli.SECONDS_BETWEEN_LINES", 0)
    with _progress("mine: 50 rounds") as shown:
        shown["compiling"](3, 14)
        shown["progress"](1, 2)
    assert capsys.readouterr().err.split("\n")[-3:] == [
        "kernels, compiled on first use: 3 of 14",
        "mine: 50 rounds: 1 of 2",
        "",
    ]


def test_reproduce_in_small(tmp_path: Path) -> None:
    """2 runs of 20,000 rounds: the files are there, Random's regret and PCZ's order are as the paper says."""
    arguments = ["reproduce", "--runs", "2", "--rounds", "20000", "--seed", "1", "--jobs", "1", "--out", str(tmp_path)]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    results = msgspec.json.decode((tmp_path / "results.json").read_bytes())
    assert set(results["policies"]) == set(POLICIES)
    for name, found in results["policies"].items():
        assert set(found) >= POLICY_KEYS
        assert set(found["regret"]) == {"mean", "se"}
        assert len(found["bins"]) == 6
        assert (found["balls"] is None) == (name == "random")
    # Random's gap has mean 0.1675 and standard deviation below 0.2: five standard errors of 40,000 rounds.
    assert abs(results["policies"]["random"]["regret"]["mean"] / 20_000 - 0.1675) < 5 * 0.2 / 40_000**0.5
    # One run of PCZ has a standard deviation of about 10 %; at 20,000 rounds it is far below Random.
    assert results["policies"]["pcz"]["regret_over_random"] < 0.97
    assert {"pcz_below_random", "pcz_above_contextual_zooming", "pcz_fair", "contextual_zooming_unfair"} == set(
        results["claims"]
    )
    # At 20,000 rounds the factor is seen from below; the truth is 9.06.
    assert 6 < results["diagnosis"]["factor"] < 11
    assert results["diagnosis"]["text"] in " ".join(result.output.split())
    for claim in results["claims"].values():
        assert {"claim", "paper", "measured", "holds"} <= set(claim)
    figures = {path.name for path in (tmp_path / "figures").iterdir()}
    assert {path.rsplit(".", 1)[1] for path in figures} == {"png", "svg"}
    assert len(figures) >= 8
    assert "<svg" in (tmp_path / "report.html").read_text()


@pytest.mark.proof
def test_the_first_use_says_that_it_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PARETOZOOM_CACHE", str(tmp_path / "cache"))
    (tmp_path / "one.toml").write_text(
        'name = "one"\nrounds = 5\nruns = 1\n[[environments]]\nname = "finite-bandit"\n[[policies]]\nname = "random"\n'
    )
    said = []
    for _ in range(2):
        result = command("study", str(tmp_path / "one.toml"), "--jobs", "1", "--out", str(tmp_path / "out"))
        assert result.returncode == 0, result.stderr
        said.append("compiling kernels: half a minute for PCZ" in result.stderr)
    assert said == [True, False]


def test_study_command(tmp_path: Path) -> None:
    (tmp_path / "two.toml").write_text(
        'name = "two"\ndescription = "Two [short] runs."\nrounds = 50\nruns = 2\n'
        '[[environments]]\nname = "paper"\n[[policies]]\nname = "random"\n'
    )
    arguments = ["study", str(tmp_path / "two.toml"), "--jobs", "1", "--out", str(tmp_path / "out")]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    assert "Two [short] runs." in result.output
    assert "Two [short] runs." in (tmp_path / "out" / "report.html").read_text()


def test_play_lets_pareto_zoom_play_beside_random() -> None:
    shown = CliRunner().invoke(app, ["play", "tents", "--rounds", "400", "--runs", "2", "--jobs", "1"])
    assert shown.exit_code == 0, shown.output
    assert "tents" in shown.output
    rows = [line.split()[0] for line in shown.output.splitlines() if line.split()]
    assert {"pareto-zoom", "random"} <= set(rows)


def test_play_lets_another_policy_play() -> None:
    shown = CliRunner().invoke(app, ["play", "--policy", "random", "--rounds", "50", "--runs", "1", "--jobs", "1"])
    assert shown.exit_code == 0, shown.output
    assert "paper" in shown.output
    assert "pareto-zoom" not in shown.output


def test_pareto_zoom_plays_in_a_study_without_policies() -> None:
    study = Study("small", 10, 1, (Spec("paper"),))
    assert [policy.name for policy in study.policies] == ["pareto-zoom", "random"]


def test_a_study_of_my_own_notices_every_change(tmp_path: Path) -> None:
    """A task in a file beside the study, whose kernel calls a helper in yet another file; then the helper changes."""
    (tmp_path / "my_task.py").write_text(
        "import my_helper\n"
        "from paretozoom import Objective, Problem, Real, Task\n"
        "from paretozoom.kernels.core.jit import kernel\n\n"
        "@kernel\ndef _mean(world, point, out):\n    out[0] = my_helper.height(point[0])\n\n"
        "class Mine(Task):\n    name = 'mine'\n    mean_kernel = _mean\n\n"
        "    def __init__(self):\n"
        "        super().__init__(Problem(context=[], arm=[Real('y')], objectives=[Objective('r')]))\n"
    )
    (tmp_path / "mine.toml").write_text(
        'name = "mine"\nrounds = 100\nruns = 1\n'
        '[[environments]]\nname = "my_task:Mine"\n[[policies]]\nname = "random"\n'
    )
    means = []
    for height in ("0.25", "0.75"):
        (tmp_path / "my_helper.py").write_text(
            "from paretozoom.kernels.core.jit import kernel\n\n"
            f"@kernel\ndef height(y):\n    return {height} + y / 100\n"
        )
        result = command("study", str(tmp_path / "mine.toml"), "--jobs", "1", "--out", str(tmp_path / "out"))
        assert result.returncode == 0, result.stderr
        results = msgspec.json.decode((tmp_path / "out" / "results.json").read_bytes())
        means.append(results["environments"]["my_task:Mine"]["policies"]["random"]["mean_reward"]["r"])
    # 100 Bernoulli draws: five standard errors are 0.22.
    assert means == [pytest.approx(0.255, abs=0.22), pytest.approx(0.755, abs=0.22)]


def test_a_damaged_part_is_played_again(tmp_path: Path) -> None:
    study = Study("small", 20, 2, (Spec("paper"),), (Spec("random"),))
    first = run_study(study, tmp_path, jobs=1)
    for part in (tmp_path / "parts").iterdir():
        part.write_bytes(part.read_bytes()[:50])
    again = run_study(study, tmp_path, jobs=1)
    assert (
        first["environments"]["paper"]["policies"]["random"]["regret"]
        == (again["environments"]["paper"]["policies"]["random"]["regret"])
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["study", "no-such-study.toml"], ["no-such-study.toml", "cannot be read"]),
        (["study", "no-such-study"], ["'no-such-study'", "'appendix-d', 'assumption1', 'leaderboard', 'table1'"]),
        (["policies", "lin"], ["'lin' is not one of", "'linucb'"]),
        (["reproduce", "--runs", "0"], ["runs: 0"]),
        (["reproduce", "--rounds", "1"], ["horizon: 1"]),
        (["reproduce", "--seed", "-1"], ["seed: -1"]),
        (["reproduce", "--jobs", "0"], ["jobs: 0"]),
        (["reproduce", "--rounds", "x"], ["--rounds"]),
        (["reproduce", "--out", __file__], ["out", "test_cli.py"]),
    ],
)
def test_bad_calls_end_in_a_sentence(
    arguments: list[str], words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["paretozoom", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2
    said = capsys.readouterr().err
    for word in words:
        assert word in said


def test_a_process_ends_in_a_sentence() -> None:
    result = command("policies", "lin")
    assert result.returncode == 2
    assert "'lin' is not one of" in result.stderr
    assert "Traceback" not in result.stderr
