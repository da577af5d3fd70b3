"""Studies: the same files for any number of workers, resumed after an interruption, bad files refused."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from joblib.externals.loky import get_reusable_executor

from paretozoom import Refused, Snapshot
from paretozoom.environments import PolicyClass
from paretozoom.policies import Policy
from paretozoom.registry import find_members
from paretozoom.study import Part, Spec, Study, parts_of, play, run_study, seed_of
from paretozoom.study.report import write_report
from paretozoom.study.results import add_up
from paretozoom.study.study import _sources

SMALL = Study(
    "small",
    600,
    3,
    (Spec("paper"), Spec("tents", "arms", {"arms": 5})),
    (Spec("random"), Spec("pcz", parameters={"confidence": 0.2}), Spec("pcz", "open", {"horizon": "unknown"})),
    seed=4,
    delay=2,
)


def without_seconds(value: Any) -> Any:
    """Drop what may differ from run to run."""
    if isinstance(value, dict):
        return {k: without_seconds(v) for k, v in value.items() if not k.startswith("seconds_")}
    return value


def files(folder: Path) -> dict[str, Any]:
    """Everything a study wrote, but for its parts."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        name = str(path.relative_to(folder))
        if path.is_file() and not name.startswith("parts"):
            data = path.read_bytes()
            found[name] = without_seconds(msgspec.json.decode(data)) if path.suffix == ".json" else data
    return found


@pytest.fixture(scope="module")
def alone(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("alone")
    run_study(SMALL, folder, jobs=1)
    return folder


def test_files_do_not_depend_on_the_number_of_workers(alone: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int]] = []
    compiled: list[tuple[int, int]] = []
    run_study(
        SMALL,
        tmp_path,
        jobs=2,
        progress=lambda done, parts: seen.append((done, parts)),
        compiling=lambda done, pairs: compiled.append((done, pairs)),
    )
    assert files(tmp_path) == files(alone)
    assert {"results.json", "curves.npz"} <= set(files(alone))
    assert seen[-1] == (18, 18)
    assert (compiled[0], compiled[1], compiled[-1]) == ((0, 6), (1, 6), (6, 6))
    assert compiled == sorted(compiled)


def test_an_interrupted_study_goes_on(alone: Path, tmp_path: Path) -> None:
    class Interrupted(Exception):
        pass

    def stop(done: int, parts: int) -> None:
        if done == 7:
            raise Interrupted

    with pytest.raises(Interrupted):
        run_study(SMALL, tmp_path, jobs=1, progress=stop)
    kept = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "parts").iterdir()}
    assert 7 <= len(kept) < 18
    run_study(SMALL, tmp_path, jobs=1)
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "parts").iterdir()}
    assert after.items() >= kept.items()
    assert files(tmp_path) == files(alone)


def test_more_runs_extend_a_study(alone: Path, tmp_path: Path) -> None:
    run_study(msgspec.structs.replace(SMALL, runs=2), tmp_path, jobs=1)
    run_study(SMALL, tmp_path, jobs=1)
    assert files(tmp_path) == files(alone)


def test_results_hold_what_was_played(alone: Path) -> None:
    results = msgspec.json.decode((alone / "results.json").read_bytes())
    curves = np.load(alone / "curves.npz")
    for environment in ("paper", "arms"):
        for policy in ("random", "pcz", "open"):
            found = results["environments"][environment]["policies"][policy]
            last = curves[f"{environment}/{policy}/regret"][:, -1]
            assert found["regret"]["mean"] == pytest.approx(last.mean())
            assert found["regret"]["se"] == pytest.approx(last.std(ddof=1) / np.sqrt(3))
            assert found["regret_over_random"] == pytest.approx(
                last.mean() / curves[f"{environment}/random/regret"][:, -1].mean()
            )
            state = Snapshot.from_bytes((alone / "snapshots" / environment / f"{policy}.safetensors").read_bytes())
            assert state.header["number"] == 600
    assert results["environments"]["paper"]["policies"]["pcz"]["notes"] == ["confidence=0.2"]
    assert len(results["environments"]["paper"]["policies"]["pcz"]["bins"]) == 6


def test_policies_of_one_run_meet_the_same_luck() -> None:
    study = msgspec.structs.replace(SMALL, policies=(Spec("random"), Spec("random", "again")))
    first, again = (play(study, Part(0, p, 1)).header for p in (0, 1))
    assert without_seconds(first) == without_seconds(again)
    assert seed_of(SMALL, 0) != seed_of(SMALL, 1)
    assert len(parts_of(SMALL)) == 18


def test_adding_up_leaves_out_what_is_unknown() -> None:
    found = add_up([{"regret": 1.0, "bins": [0.0, None]}, {"regret": 2.0, "bins": [1.0, 4.0]}])
    assert found["bins"] == [0.5, 4.0]
    assert found["se"]["bins"] == [0.5, None]


# Who plays where

HOMES = Study(
    "homes",
    40,
    2,
    (Spec("paper"), Spec("tents", "arms", {"arms": 5})),
    (
        Spec("random", environments=("arms",)),
        Spec("pcz"),
        Spec("pareto-ucb1", parameters={"arms": 7}, environments=("paper",)),
        Spec("pareto-ucb1", environments=("arms",)),
    ),
)


def test_policies_play_where_they_are_told_to(tmp_path: Path) -> None:
    assert [HOMES.players(e) for e in (0, 1)] == [[1, 2], [0, 1, 3]]
    assert len(parts_of(HOMES)) == 10
    results = run_study(HOMES, tmp_path, jobs=1)["environments"]
    assert {label: list(found["policies"]) for label, found in results.items()} == {
        "paper": ["pcz", "pareto-ucb1"],
        "arms": ["random", "pcz", "pareto-ucb1"],
    }
    assert results["paper"]["policies"]["pcz"]["regret_over_random"] is None
    assert results["arms"]["policies"]["random"]["regret_over_random"] == 1
    assert len(list((tmp_path / "parts").iterdir())) == 10
    page = write_report(tmp_path).read_text(encoding="utf-8")
    assert "environments = [&quot;arms&quot;]" in page
    everywhere = msgspec.structs.replace(HOMES, policies=(Spec("pcz"),))
    run_study(everywhere, tmp_path, jobs=1)
    assert len(list((tmp_path / "parts").iterdir())) == 10  # where a policy also plays changes none of its parts


def table1() -> Study:
    return msgspec.toml.decode(Path("studies/table1.toml").read_bytes(), type=Study)


def test_table1_has_all_its_policies_at_every_home() -> None:
    study = table1()
    assert "above 1" in study.description
    policies = [{study.policies[p].name for p in study.players(e)} for e in range(len(study.environments))]
    assert policies[0] <= set(find_members("paretozoom.policies", Policy))
    assert all(names == policies[0] for names in policies)
    homes = ["paper", "finite-bandit", "linear-rewards", "clustered-users", "policy-class"]
    assert [environment.name for environment in study.environments] == homes


def test_table1_in_small(tmp_path: Path) -> None:
    names = {"random", "pcz", "contextual-zooming", "pareto-ucb1"}
    policies = tuple(spec for spec in table1().policies if spec.name in names)
    kinds = table1().environments[:2]  # a line of arms, and arms that are listed
    study = msgspec.structs.replace(table1(), policies=policies, environments=kinds, rounds=200, runs=1)
    results = run_study(study, tmp_path, jobs=1)
    assert all(set(found["policies"]) == names for found in results["environments"].values())
    page = write_report(tmp_path).read_text(encoding="utf-8")
    assert page.count("Bins are 6 equal parts of the Pareto set of each context, lowest arms first") == 1
    assert page.count("Each arm is a bin.") == 1
    for environment in study.environments:
        assert f'aria-label="Ranking on {environment.name}"' in page


def test_table1_labels_policies_whose_parameters_differ() -> None:
    titles = {}
    for spec in table1().policies:
        assert titles.setdefault(spec.title, spec.parameters) == spec.parameters


def test_table1_tells_the_policies_over_rules_those_of_the_task() -> None:
    given = [spec.parameters["rules"] for spec in table1().policies if "rules" in spec.parameters]
    assert given
    assert all(rules == PolicyClass().rules.tolist() for rules in given)


# Policies of one's own

OWN = """
from paretozoom import PlainPolicy


class Line(PlainPolicy):
    name = "line"

    def __init__(self, problem, *, at=0.5, seed=0):
        super().__init__(problem, seed=seed, parameters={"at": at})
        self.at = at

    def choose(self, context, candidates, luck):
        return [min(self.at + 0.1 * luck.random(), 1.0)], 10.0

    def learn(self, context, arm, reward):
        self.at = 0.9 * self.at + 0.1 * arm["y"] * reward["first"]


class Saved(Line):
    name = "saved"

    def state(self):
        return {"at": self.at}

    def restore(self, state):
        self.at = state["at"]
"""


def test_a_policy_in_a_file_plays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own_lines.py").write_text(OWN)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    get_reusable_executor().shutdown()  # workers that are there already are in another folder
    specs = (Spec("own_lines.py:Line"), Spec("own_lines.py:Saved", "saved", {"at": 0.5}), Spec("random"))
    study = Study("own", 300, 2, (Spec("paper"),), specs, delay=3)
    results = [run_study(study, tmp_path / str(jobs), jobs=jobs)["environments"]["paper"] for jobs in (1, 2)]
    assert files(tmp_path / "1") == files(tmp_path / "2")
    line, saved = (results[0]["policies"][title] for title in ("own_lines.py:Line", "saved"))
    assert line["regret"] == saved["regret"]
    assert {path.stem for path in (tmp_path / "1" / "snapshots" / "paper").iterdir()} == {"saved", "random"}
    page = write_report(tmp_path / "1").read_text(encoding="utf-8")
    assert "own_lines.py:Line" in page
    parts = len(list((tmp_path / "1" / "parts").iterdir()))
    (tmp_path / "own_lines.py").write_text(OWN.replace("10.0", "10.00"))  # another code
    _sources.cache_clear()
    run_study(study, tmp_path / "1", jobs=1)
    assert len(list((tmp_path / "1" / "parts").iterdir())) == parts + 4
    get_reusable_executor().shutdown()
    monkeypatch.delitem(sys.modules, "own_lines")


GOOD = """
name = "good"
rounds = 10
runs = 1
[[environments]]
name = "paper"
[[policies]]
name = "pcz"
"""


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("rounds = 10", "rounds = 0"), ["rounds", "0"]),
        (("rounds = 10", "rounds = 'ten'"), ["rounds", "str"]),
        (("rounds = 10", "rouns = 10"), ["rouns"]),
        (('name = "pcz"', 'name = "pzc"'), ["policies['pzc']", "'pzc'", "pcz"]),
        (('name = "paper"', 'name = "papre"'), ["environments['papre']", "'papre'", "paper"]),
        (('name = "pcz"', 'name = "pcz"\nparameters = {noize = 1}'), ["policies['pcz']", "noize", "noise"]),
        (('name = "pcz"', 'name = "pcz"\nparameters = {noise = -1}'), ["policies['pcz']", "noise", "-1"]),
        (('name = "pcz"', 'name = "pcz"\nparameters = {horizon = "x"}'), ["policies['pcz']", "horizon", "'x'"]),
        (('name = "pcz"', 'name = "pcz"\n[[policies]]\nname = "pcz"'), ["policies", "'pcz'", "twice"]),
        (('name = "pcz"', 'name = "pcz"\nlabel = "../up"'), ["policies", "'../up'"]),
        (('name = "pcz"', 'name = "pcz"\nparameters = {seed = 1}'), ["policies['pcz']", "seed"]),
        (('name = "good"', 'name = "../good"'), ["name", "'../good'"]),
        (('name = "pcz"', 'name = "no.such.module:Class"'), ["policies", "no.such.module:Class"]),
        (('name = "pcz"', 'name = "paretozoom.records:Round"'), ["policies", "paretozoom.records:Round"]),
        (('name = "good"', "name = "), ["line", "1"]),
        (('name = "pcz"', 'name = "pcz"\nenvironments = ["tents"]'), ["policies['pcz']", "'tents'", "paper"]),
        (('name = "paper"', 'name = "paper"\nenvironments = ["paper"]'), ["environments['paper']", "only policies"]),
        (
            ('name = "pcz"', 'name = "pcz"\nenvironments = ["paper"]\n[[environments]]\nname = "tents"'),
            ["environments['tents']", "policies: none given"],
        ),
    ],
)
def test_bad_files_are_refused(tmp_path: Path, change: tuple[str, str], words: list[str]) -> None:
    path = tmp_path / "bad.toml"
    assert change[0] in GOOD
    path.write_text(GOOD.replace(*change, 1))
    with pytest.raises(Refused) as refused:
        Study.read(path)
    for word in ["bad.toml", *words]:
        assert word in str(refused.value)


def test_missing_and_good_files(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"none\.toml"):
        Study.read(tmp_path / "none.toml")
    (tmp_path / "good.toml").write_text(GOOD)
    assert Study.read(tmp_path / "good.toml").rounds == 10


@pytest.mark.parametrize("path", sorted(Path("studies").glob("*.toml")), ids=str)
def test_shipped_studies_can_be_read(path: Path) -> None:
    Study.read(path)
