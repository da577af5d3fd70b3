"""The report of a made-up study: everything is there, nothing is fetched, nothing changes between two writings."""

from __future__ import annotations

import itertools
import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from paretozoom import PCZ, PaperTask, Random, Refused, simulate
from paretozoom.metrics import STANDARD
from paretozoom.study.report import write_report

NASTY = 'P<script>alert("&")</script>Z'
VOID = {"meta"}


def measured(regret: float, **more: Any) -> dict[str, Any]:
    """Plausible numbers of one policy; they come from no run."""
    numbers: dict[str, Any] = {
        "regret": {"mean": regret, "se": 12.5},
        "regret_over_random": regret / 3350,
        "mean_gap": regret / 20_000,
        "tail_gap": regret / 21_000,
        "front_share": 0.231,
        "front_share_tail": 0.242,
        "bins": [0.16, 0.16, 0.17, 0.17, 0.17, 0.17],
        "bin_ratio": 0.941,
        "local_entropy": 0.987,
        "front_entropy": 0.912,
        "mean_reward": {"first": 0.311, "second": 0.402},
        "hypervolume": 0.52,
        "balls": None,
        "notes": [],
        "se": {"regret_over_random": 0.004, "bins": [0.001] * 6, "mean_reward": {"first": 0.002, "second": 0.002}},
        "seconds_per_round": 1.25e-6,
    }
    return numbers | more


def made_up() -> dict[str, Any]:
    policies = {
        "Random": measured(3350.0),
        NASTY: measured(2771.0, balls=42.5, notes=["confidence=0.1", "beyond horizon"]),
        "Never optimal": measured(9000.0, bins=None, bin_ratio=None, local_entropy=None),
    }
    theory = {
        "dimension": 1.9,
        "p": 4.0,
        "numbers": {"0.5": 4, "0.25": 12},
        "bounds": {
            NASTY: {"tightest": 5e5, "theorem1": 7.66e6, "vacuous": True},
            "Random": {"tightest": 100.0, "theorem1": 9e6, "vacuous": False},
        },
        "largest_gap": 0.5,
        "exponent": 0.744,
        "lipschitz": 9.06,
    }
    return {
        "study": {
            "name": "made up & small",
            "description": "Nothing <was> played.",
            "rounds": 20_000,
            "runs": 3,
            "seed": 7,
            "delay": 0,
            "seconds_total": 3.5,
            "environments": [
                {"name": "paper", "label": "", "parameters": {}},
                {"name": "nobody:Knows", "label": "far away", "parameters": {"depth": [1, 2], "seconds_slept": 1}},
            ],
            "policies": [
                {"name": "random", "label": "Random", "parameters": {}},
                {"name": "pcz", "label": NASTY, "parameters": {"confidence": 0.1, "delta": None}},
            ],
        },
        "environments": {
            "paper": {"policies": policies, "theory": theory},
            "far away": {"policies": {"Random": measured(10.0)}, "theory": None},
        },
        "claims": [
            {"claim": "PCZ is below Random by", "paper": "17.1 %", "measured": "17.3 %", "holds": True},
            {"claim": "PCZ is > 100 & fair", "paper": "fair", "measured": "0.94", "holds": False},
        ],
    }


def leave(folder: Path, results: dict[str, Any]) -> Path:
    """What a study leaves in a folder."""
    folder.mkdir(exist_ok=True)
    (folder / "results.json").write_bytes(msgspec.json.encode(results))
    rounds = np.array([5_000, 10_000, 20_000])
    curve = np.outer([0.9, 1.0, 1.1], rounds)
    arrays = {"paper/rounds": rounds, "paper/Random/regret": 0.16 * curve, f"paper/{NASTY}/regret": 0.13 * curve}
    np.savez(folder / "curves.npz", **arrays)
    snapshots = folder / "snapshots" / "paper"
    snapshots.mkdir(parents=True, exist_ok=True)
    task = PaperTask()
    for policy, name in ((PCZ(task.problem, horizon=300, confidence=0.05), "fair"), (Random(task.problem), "Random")):
        for _ in simulate(policy, task, 300, seed=1):
            pass
        (snapshots / f"{name}.safetensors").write_bytes(policy.dump().to_bytes())
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    results = made_up()
    results["environments"]["paper"]["policies"]["fair"] = measured(2500.0)
    folder = leave(tmp_path_factory.mktemp("study"), results)
    assert write_report(folder) == folder / "report.html"
    return folder


@pytest.fixture(scope="module")
def page(folder: Path) -> str:
    return (folder / "report.html").read_text(encoding="utf-8")


class Reader(HTMLParser):
    """Checks that every element is closed, and keeps the words and the tags."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.words: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attributes)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.words.append(data)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    assert reader.open == []
    return reader


def test_every_label_claim_and_note_is_there_as_text(page: str) -> None:
    words = "".join(read(page).words)
    for text in ["made up & small", "Random", NASTY, "Never optimal", "far away", "PCZ is > 100 & fair"]:
        assert text in words
    assert "(confidence=0.1, beyond horizon)" in words
    assert re.search(r"yes ✓.*no ✗", words, re.DOTALL)
    for word in ["Pareto regret", "Front share", "Bin ratio", "Local entropy", "Front entropy", "Hypervolume", "Balls"]:
        assert word in words


def test_policies_environments_and_the_study_say_what_they_are(page: str) -> None:
    words = "".join(read(page).words)
    assert words.count("Nothing <was> played.") == 1
    assert "every arm uniformly, whatever the context" in words
    assert "The paper's Appendix D: one number as context" in words
    table = page[page.index('aria-label="Policies"') :]
    rows = re.findall(r"<tr>(<th scope=\"row\".*?)</tr>", table[: table.index("</table>")])
    shown = [re.sub(r" ?(<[^>]+>)+", "|", row).split("|")[1:-1] for row in rows]
    assert shown[0] == ["Random", "(random)", "every arm uniformly, whatever the context", "no", "no"]
    assert shown[1][1] == "(pcz)"
    assert shown[1][-2:] == ["yes", "yes"]


def test_labels_are_escaped(page: str) -> None:
    assert "<script" not in page
    assert page.count("P&lt;script&gt;alert(&quot;&amp;&quot;)&lt;/script&gt;Z") >= 3


def test_nothing_is_fetched(page: str) -> None:
    assert "http" not in page
    assert "://" not in page
    for tag, attributes in read(page).tags:
        assert tag not in ("script", "link", "iframe", "object")
        for name in ("src", "href", "xlink:href"):
            assert (attributes.get(name) or "#").startswith(("#", "data:image/png;base64,"))


def test_how_long_it_took_is_left_out(page: str) -> None:
    assert "seconds_" not in page
    assert "1.25e-06" not in page


def test_policies_are_sorted_by_regret(page: str) -> None:
    table = page[page.index('aria-label="Results on paper"') :]
    rows = re.findall(r'<th scope="row" class="text">(.*?)</th>', table[: table.index("</table>")])
    assert [row[:4] for row in rows] == ["fair", "P&lt", "Rand", "Neve"]


def test_policies_are_ranked_in_every_column(tmp_path: Path) -> None:
    results = made_up()
    del results["claims"]
    results["environments"] = {
        "paper": {
            "policies": {
                "a": measured(300.0, front_share=0.5, bin_ratio=0.2),
                "b": measured(100.0, front_share=0.5, bin_ratio=0.9, local_entropy=None),
                "c": measured(200.0, front_share=0.9, bin_ratio=0.3, local_entropy=0.5),
            }
        },
        "alone": {"policies": {"a": measured(1.0)}},
    }
    (tmp_path / "results.json").write_bytes(msgspec.json.encode(results))
    page = write_report(tmp_path).read_text(encoding="utf-8")
    assert "Ranking on alone" not in page
    table = page[page.index('aria-label="Ranking on paper"') :]
    rows = re.findall(r"<tr>(<th scope=\"row\".*?)</tr>", table[: table.index("</table>")])
    shown = [re.sub(r"<[^>]+>", " ", row).split() for row in rows]
    assert shown == [
        ["b", "1", "100", "2", "0.5", "1", "0.9", "-"],
        ["c", "2", "200", "1", "0.9", "2", "0.3", "2", "0.5"],
        ["a", "3", "300", "2", "0.5", "3", "0.2", "1", "0.987"],
    ]
    assert "1 is best" in page


def test_what_cannot_be_ranked_has_no_column_and_rounding_decides_nothing(tmp_path: Path) -> None:
    results = made_up()
    alone: dict[str, Any] = {"mean_reward": {"reward": 0.5}, "bin_ratio": None, "local_entropy": None}
    exact = {"regret_over_random": 1e-14, "mean_reward": {"reward": 1e-12}}
    policies = {
        "a": measured(0.3, **alone, front_share=0.1 + 0.2, se=exact),
        "b": measured(0.1 + 0.2, **alone, front_share=0.3, mean_gap=-1e-17),
    }
    results["environments"] = {"far away": {"policies": policies}}
    (tmp_path / "results.json").write_bytes(msgspec.json.encode(results))
    page = write_report(tmp_path).read_text(encoding="utf-8")
    table = page[page.index('aria-label="Ranking on far away"') :]
    table = table[: table.index("</table>")]
    assert re.findall(r"<th scope=\"col\"[^>]*>(.*?)</th>", table) == ["Policy", "Regret", "Front share"]
    rows = re.findall(r"<tr>(<th scope=\"row\".*?)</tr>", table)
    assert [re.sub(r"<[^>]+>", " ", row).split()[1::2] for row in rows] == [["1", "1"], ["1", "1"]]
    assert "This environment has one objective" in page
    assert "1e-1" not in page
    assert "-0.000" not in page


def test_how_to_read_it_is_said_once(page: str) -> None:
    words = " ".join(read(page).words)
    for text in (
        "How to read the rankings",
        "three times the ±",
        "random play is fair too",
        "does not punish bad arms",
    ):
        assert words.count(text) == 1
    assert "Notes" in words
    assert "This environment has one objective" not in words


def test_bounds_are_judged_in_plain_words(page: str) -> None:
    words = "".join(read(page).words)
    assert "The measured regret exceeds the paper's bound." in words
    assert page.count("<details>") == page.count("</details>") == 1
    assert "Pareto zooming dimension is 1.90 (with p = 4)" in words
    assert "The worst possible regret is 10,000: the largest gap, 0.5, in every round." in words
    assert "the bound is vacuous at this horizon" in words
    assert "The measured regret exceeds the bound." in words
    assert "9.06 times as fast" in words
    assert words.count("Regret beside its bound") == 1


def test_each_figure_is_on_the_page_with_words_and_in_the_folder(folder: Path, page: str) -> None:
    names = ["far-away-bins", "paper-bins", "paper-partition-fair", "paper-regret", "paper-rewards"]
    files = sorted(path.name for path in (folder / "figures").iterdir())
    assert files == [f"{name}.{suffix}" for name in names for suffix in ("png", "svg")]
    pictures = [attributes for tag, attributes in read(page).tags if tag == "svg"]
    assert len(pictures) == len(names)
    assert all(attributes["role"] == "img" and attributes["aria-label"] for attributes in pictures)
    ids = re.findall(r' id="([^"]*)"', page)
    assert len(ids) == len(set(ids))


def test_headings_descend_one_step_at_a_time(page: str) -> None:
    levels = [int(tag[1]) for tag, _ in read(page).tags if re.fullmatch(r"h\d", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_the_parameters_are_at_the_end(page: str) -> None:
    block = read(page[page.index("<pre>") : page.index("</pre>") + 6]).words
    text = "".join(block)
    assert text.startswith(
        'name = "made up & small"\nrounds = 20000\nruns = 3\nseed = 7\ndelay = 0\n\n[[environments]]'
    )
    assert 'label = "far away"\nparameters.depth = [1, 2]\n' in text
    assert "parameters.confidence = 0.1" in text
    assert "delta" not in text


def test_writing_twice_gives_the_same_bytes(folder: Path) -> None:
    files = [folder / "report.html", *sorted((folder / "figures").iterdir())]
    before = [path.read_bytes() for path in files]
    results = msgspec.json.decode((folder / "results.json").read_bytes())
    results["environments"]["paper"]["policies"]["Random"]["seconds_per_round"] = 99.0
    (folder / "results.json").write_bytes(msgspec.json.encode(results))
    write_report(folder)
    assert [path.read_bytes() for path in files] == before


def test_a_study_with_nothing_but_results_has_a_report(tmp_path: Path) -> None:
    results = made_up()
    del results["claims"]
    results["environments"] = {"far away": {"policies": {"A": {"regret": {"mean": None, "se": None}}}}}
    (tmp_path / "results.json").write_bytes(msgspec.json.encode(results))
    words = "".join(read(write_report(tmp_path).read_text(encoding="utf-8")).words)
    assert "Claims" not in words
    assert "Figures" not in words


def test_metrics_say_what_the_report_calls_them(tmp_path: Path) -> None:
    results = made_up()
    columns = {column.key: 0.5 for metric in STANDARD for column in metric.columns}
    results["environments"]["far away"]["policies"]["Random"].update(columns)
    (tmp_path / "results.json").write_bytes(msgspec.json.encode(results))
    page = write_report(tmp_path).read_text(encoding="utf-8")
    for metric in STANDARD:
        for column in metric.columns:
            assert f'<th scope="col" class="number">{column.heading}</th>' in page
        for word, meaning in metric.words.items():
            assert f"<div><dt>{word}</dt><dd>{meaning}</dd></div>" in page


def test_claims_may_be_named_and_have_an_accepted_range(tmp_path: Path) -> None:
    results = made_up()
    results["environments"] = {}
    results["claims"] = {"fair": {**results["claims"][0], "bar": "16 % to 20 %"}}
    (tmp_path / "results.json").write_bytes(msgspec.json.encode(results))
    assert "16 % to 20 %" in write_report(tmp_path).read_text(encoding="utf-8")


def test_folders_without_a_study_are_refused(tmp_path: Path) -> None:
    with pytest.raises(Refused, match=r"has no results\.json"):
        write_report(tmp_path)
    for text in (b"not JSON", b"[]", b'{"study": {}}', b'{"study": 3, "environments": {}}'):
        (tmp_path / "results.json").write_bytes(text)
        with pytest.raises(Refused, match=r"results\.json in .* is not that of a study"):
            write_report(tmp_path)
