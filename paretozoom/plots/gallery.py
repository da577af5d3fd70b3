"""Which plots a study gets, drawn from what it left in a folder."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from paretozoom.environments.base import Task
from paretozoom.environments.shapes.grid import is_line
from paretozoom.plots import bins, partition, plane, regret, reward_maps
from paretozoom.records import Refused, Snapshot
from paretozoom.registry import find_member

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Drawing(NamedTuple):
    """A figure with a name, what it shows in words, and what a reader should know."""

    name: str
    figure: Figure
    alternative: str
    caption: str


def draw_study(
    folder: Path, study: Mapping[str, Any], label: str, policies: Mapping[str, Mapping[str, Any]]
) -> Iterator[Drawing]:
    """The figures that apply to one environment of a study, by its label and the measurements of its policies.

    >>> measured = {"PCZ": {"bins": [0.5, 0.5]}}
    >>> [drawing.name for drawing in draw_study(Path("nowhere"), {}, "my own", measured)]
    ['bins']
    """
    curves = _curves(folder / "curves.npz", label, policies)
    if len(curves) > 1:
        yield _regret(label, curves.pop("rounds"), curves)
    task = _task(study, label)
    shares = bins.info(policies, *_about_bins(task)[:2])
    if shares.policies:
        yield _bins(label, shares, _about_bins(task)[2])
    if task is None or not plane.can_draw(task.problem):
        return
    maps = reward_maps.info(task)
    yield _reward_maps(label, maps)
    for name in policies:
        path = folder / "snapshots" / label / f"{name}.safetensors"
        if path.is_file() and partition.has_balls(snapshot := Snapshot.from_bytes(path.read_bytes())):
            yield _partition(label, name, partition.info_of_snapshot(snapshot, task.problem, maps.front))


def _regret(label: str, rounds: Any, curves: dict[str, Any]) -> Drawing:
    ends = "; ".join(f"{name} {curve[:, -1].mean():,.1f}" for name, curve in curves.items())
    return Drawing(
        "regret",
        regret.figure(regret.info(rounds, curves)),
        f"Pareto regret over rounds on {label}. Mean at the end: {ends}.",
        "Pareto regret, mean over runs. Band: 1.96 standard errors of the mean"
        + ("." if len(curves) > regret.MANY else "; lighter: the middle 80 % of the runs."),
    )


def _about_bins(task: Task | None) -> tuple[list[str], str, str]:
    """The names of the bins, what they are on an axis, and in a sentence."""
    if task is None:
        return [], bins.AXIS, "Bins are equal parts of the Pareto set of each context, or arms if these can be listed."
    problem, context = task.problem, np.zeros(task.problem.encoding.context)
    arms = [problem.decode_arm(k, np.concatenate([context, arm])) for k, arm in enumerate(problem.encoding.arms)]
    if arms:
        names = [", ".join(f"{n} {v}" for n, v in arm.items()) if isinstance(arm, dict) else str(arm) for arm in arms]
        sentence = (
            "Each arm is a bin. Perfectly even play, an equal share for all, is possible only if every arm is equally "
            "often optimal; one that never is has no share."
        )
        return names, "arm", sentence
    order = "lowest arms first" if is_line(problem) else "least of the first objective first"
    sentence = (
        f"Bins are {task.bins} equal parts of the Pareto set of each context, {order}; even play has equal shares."
    )
    return [], f"{bins.AXIS}, {order}", sentence


def _bins(label: str, shares: bins.Bins, about: str) -> Drawing:
    ratios = "; ".join(f"{bars.label} {', '.join(f'{r:.3f}' for r in bars.ratios)}" for bars in shares.policies)
    return Drawing(
        "bins",
        bins.figure(shares),
        f"Selection ratio of each bin of the Pareto set on {label}: {ratios}.",
        "Of all Pareto optimal choices, the share that fell into each bin"
        + (". " if len(shares.policies) > regret.MANY else ", with 1.96 standard errors. ")
        + about,
    )


def _reward_maps(label: str, maps: reward_maps.RewardMaps) -> Drawing:
    return Drawing(
        "rewards",
        reward_maps.figure(maps),
        f"Expected reward over context and arm on {label}, objectives {', '.join(maps.objectives)}.",
        "Expected rewards: yellow is 1, dark blue is 0. The lines are the ends of the Pareto set.",
    )


def _partition(label: str, name: str, balls: partition.Partition) -> Drawing:
    sizes = ", ".join(f"{n} of radius {r:g}" for n, r in zip(balls.balls, balls.radii, strict=True))
    return Drawing(
        f"partition-{name}",
        partition.figure(balls),
        f"The balls of {name} over context and arm on {label}: {sizes}.",
        f"What {name} ended with in its first run: at each place, the radius of the smallest ball over it.",
    )


def _curves(path: Path, label: str, policies: Mapping[str, Any]) -> dict[str, Any]:
    """The rounds and the regret of each policy; fewer if the file lacks some."""
    if not path.is_file():
        return {}
    names = {"rounds": f"{label}/rounds", **{name: f"{label}/{name}/regret" for name in policies}}
    with np.load(path, allow_pickle=False) as archive:
        found = {name: archive[key] for name, key in names.items() if key in archive.files}
    return found if "rounds" in found else {}


def _task(study: Mapping[str, Any], label: str) -> Task | None:
    """The environment with a label, or None if it cannot be built here."""
    for spec in study.get("environments") or []:
        if (spec.get("label") or spec["name"]) == label:
            try:
                return find_member("paretozoom.environments", Task, spec["name"])(**spec.get("parameters") or {})
            except (Refused, TypeError):
                return None
    return None
