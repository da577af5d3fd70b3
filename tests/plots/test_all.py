"""What holds for every plot: its info is JSON, its figure renders, and its files have the same bytes every time."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import matplotlib
import msgspec
import numpy as np
import pytest

from paretozoom import PCZ, PaperTask, Tents, simulate
from paretozoom.plots import bins, partition, regret, reward_maps, style

MANY = [f"policy {k}" for k in range(22)]
NASTY = ("$x^", "_hidden", "<b>&", "Ünïcode", "a" * 60)  # labels are text, whatever is in them


def played(task: Any, rounds: int = 300) -> PCZ:
    policy = PCZ(task.problem, horizon=rounds, confidence=0.05)
    for _ in simulate(policy, task, rounds, seed=1):
        pass
    return policy


def bars(*ratios: float) -> dict[str, Any]:
    return {"bins": list(ratios), "se": {"bins": [0.01] * len(ratios)}}


INFOS = {
    "reward maps": lambda: (reward_maps, reward_maps.info(PaperTask(), cells=20)),
    "reward maps of finite arms": lambda: (reward_maps, reward_maps.info(Tents(objectives=5, arms=7), cells=20)),
    "regret": lambda: (regret, regret.info([10, 20, 40], {label: np.ones((3, 3)) for label in NASTY})),
    "regret of one run": lambda: (regret, regret.info(np.array([0, 5]), {"PCZ": [[0.0, 1.5]]})),
    "regret of many": lambda: (regret, regret.info([10, 20], {label: np.ones((3, 2)) for label in MANY})),
    "bins": lambda: (bins, bins.info({label: bars(0.2, 0.3, 0.5) for label in NASTY})),
    "bins of arms": lambda: (bins, bins.info({"PCZ": bars(*[0.2] * 5)}, NASTY, "arm")),
    "many bins": lambda: (bins, bins.info({"PCZ": bars(*[1 / 60] * 60)})),
    "bins of many": lambda: (bins, bins.info({label: bars(0.2, 0.3, 0.5) for label in (*MANY, *NASTY)})),
    "partition": lambda: (partition, partition.info(played(PaperTask()), PaperTask())),
    "partition of finite arms": lambda: (partition, partition.info(played(Tents(arms=5)), Tents(arms=5))),
    "partition at the start": lambda: (partition, partition.info(PCZ(PaperTask().problem, horizon=10))),
}


@pytest.fixture(params=INFOS, scope="module")
def plot(request: pytest.FixtureRequest) -> Any:
    return INFOS[request.param]()


def test_infos_are_json_and_survive_it(plot: Any) -> None:
    _, info = plot
    text = msgspec.json.encode(info)
    again = msgspec.json.decode(text, type=type(info))
    assert again == info


def test_files_have_the_same_bytes_whatever_matplotlib_was_told(plot: Any, tmp_path: Path) -> None:
    """Also of an info that was JSON."""
    module, info = plot
    again = msgspec.json.decode(msgspec.json.encode(info), type=type(info))
    first = [path.read_bytes() for path in style.save(module.figure(info), tmp_path / "a.b")]
    with matplotlib.rc_context({"font.size": 20, "svg.hashsalt": None, "axes.facecolor": "red"}):
        second = [path.read_bytes() for path in style.save(module.figure(again), tmp_path / "c")]
    assert first == second
    assert first[0].startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.b.png", "a.b.svg", "c.png", "c.svg"]


def test_a_figure_that_was_saved_is_saved_alike(tmp_path: Path) -> None:
    module, info = INFOS["partition"]()
    figure = module.figure(info)
    first, second = ([path.read_bytes() for path in style.save(figure, tmp_path / "a")] for _ in range(2))
    assert first == second


def test_axes_are_labelled(plot: Any) -> None:
    module, info = plot
    axes = module.figure(info).axes[0]
    assert axes.get_xlabel()
    assert axes.get_ylabel()
    assert axes.get_title(loc="left")


@pytest.mark.parametrize("name", ["regret of many", "bins of many"])
def test_nothing_of_many_policies_is_cut_off(name: str) -> None:
    module, info = INFOS[name]()
    figure = module.figure(info)
    inside = figure.bbox
    drawn = [text for legend in figure.legends for text in legend.get_texts()] or figure.axes[0].get_yticklabels()
    assert {text.get_text() for text in drawn} >= set(MANY)
    for text in drawn:
        box = text.get_window_extent()
        assert inside.y0 <= box.y0
        assert box.y1 <= inside.y1
        assert box.x1 <= inside.x1


def test_matplotlib_is_imported_when_something_is_drawn_and_pyplot_never() -> None:
    code = """
import sys
from paretozoom.plots import regret, style
info = regret.info([1], {"PCZ": [[0.5]]})
assert "matplotlib" not in sys.modules
style.svg_text(regret.figure(info))
assert "matplotlib.pyplot" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True)
