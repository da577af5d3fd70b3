"""The study of the paper's Appendix D, and its claims beside what was measured."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from paretozoom.report import write_report
from paretozoom.study import Spec, Study, run_study, write_results

ROUNDS, RUNS = 100_000, 100
QUICK_ROUNDS, QUICK_RUNS = 20_000, 8
POLICIES = ("random", "pcz", "contextual-zooming")


def appendix_d(*, rounds: int = ROUNDS, runs: int = RUNS, seed: int = 0) -> Study:
    """Random, PCZ and Contextual Zooming on the paper's task.

    >>> appendix_d().rounds
    100000
    """
    return Study("appendix-d", rounds, runs, (Spec("paper"),), tuple(Spec(name) for name in POLICIES), seed)


def reproduce(
    out: Path, study: Study, *, jobs: int | None = None, progress: Callable[[int, int], None] | None = None
) -> dict[str, Any]:
    """Run the study, hold its claims against the paper's, and write results.json, figures and report.html to `out`."""
    results = run_study(study, out, jobs=jobs, progress=progress)
    policies = results["environments"]["paper"]["policies"]
    regrets = {name: np.load(out / "curves.npz")[f"paper/{name}/regret"][:, -1] for name in POLICIES}
    results = {"policies": policies, "claims": claims(policies, regrets), **results}
    write_results(results, out)
    write_report(out)
    return results


def claims(policies: dict[str, Any], regrets: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Each claim of Appendix D: the paper's figure, ours with its standard error, and whether it is within the bar."""
    below, below_se = _ratio(regrets["pcz"], regrets["random"])
    above, above_se = _ratio(regrets["pcz"], regrets["contextual-zooming"])
    pcz_bins = policies["pcz"]["bins"]
    first, last = policies["contextual-zooming"]["bins"][0], policies["contextual-zooming"]["bins"][-1]
    return {
        "pcz_below_random": {
            "claim": "PCZ's regret is below Random's by",
            "paper": "17.1 %",
            "measured": _percent(1 - below, below_se),
            "value": 100 * (1 - below),
            "se": 100 * below_se,
            "bar": "16 % to 20 %",
            "holds": bool(16 <= 100 * (1 - below) <= 20),
        },
        "pcz_above_contextual_zooming": {
            "claim": "PCZ's regret is above Contextual Zooming's by",
            "paper": "3.61 %",
            "measured": _percent(above - 1, above_se),
            "value": 100 * (above - 1),
            "se": 100 * above_se,
            "bar": "0 % to 7 %",
            "holds": bool(0 <= 100 * (above - 1) <= 7),
        },
        "pcz_fair": {
            "claim": "PCZ selects all six bins almost equally: smallest and largest share",
            "paper": "almost the same",
            "measured": f"{min(pcz_bins):.3f} and {max(pcz_bins):.3f}",
            "value": [min(pcz_bins), max(pcz_bins)],
            "se": max(policies["pcz"]["se"]["bins"], default=None, key=lambda e: e or 0.0),
            "bar": "0.155 to 0.180 each",
            "holds": bool(min(pcz_bins) >= 0.155 and max(pcz_bins) <= 0.180),
        },
        "contextual_zooming_unfair": {
            "claim": "Contextual Zooming selects the first bin far more than the last: first over last",
            "paper": "much more",
            "measured": f"{first / last:.2f}" if last else "no pull of the last bin",
            "value": first / last if last else None,
            "se": None,
            "bar": "more than 2",
            "holds": bool(first > 2 * last),
        },
    }


def _ratio(above: Any, below: Any) -> tuple[float, float]:
    """The ratio of two means over the same runs, and its standard error."""
    ratio = float(np.mean(above) / np.mean(below))
    rest = (np.asarray(above) - ratio * np.asarray(below)) / np.mean(below)
    return ratio, float(np.std(rest, ddof=1) / math.sqrt(len(rest))) if len(rest) > 1 else math.nan


def _percent(value: float, se: float) -> str:
    return f"{100 * value:.1f} %" if math.isnan(se) else f"{100 * value:.1f} ± {100 * se:.1f} %"
