"""The study of the paper's Appendix D, and its claims beside what was measured."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from paretozoom.similarity.diagnosis import Diagnosis, diagnose
from paretozoom.simulation import simulate_in_chunks
from paretozoom.study import Progress, Spec, Study, run_study, seed_of, write_results
from paretozoom.study.report import write_report
from paretozoom.study.results import ratio_of

ROUNDS, RUNS = 100_000, 100
QUICK_ROUNDS, QUICK_RUNS = 20_000, 8
DESCRIPTION = "The study of the paper's Appendix D: Random, PCZ and Contextual Zooming on its task."
POLICIES = ("random", "pcz", "contextual-zooming")
DIAGNOSED = 4  # runs of PCZ


def appendix_d(*, rounds: int = ROUNDS, runs: int = RUNS, seed: int = 0) -> Study:
    """Random, PCZ and Contextual Zooming on the paper's task.

    >>> appendix_d().rounds
    100000
    """
    policies = tuple(Spec(name) for name in POLICIES)
    return Study("appendix-d", rounds, runs, (Spec("paper"),), policies, seed, description=DESCRIPTION)


def reproduce(
    out: Path,
    study: Study,
    *,
    jobs: int | None = None,
    progress: Progress | None = None,
    compiling: Progress | None = None,
) -> dict[str, Any]:
    """Run the study, hold its claims against the paper's, and write results.json, figures and report.html to `out`."""
    results = run_study(study, out, jobs=jobs, progress=progress, compiling=compiling)
    policies = results["environments"]["paper"]["policies"]
    regrets = {name: np.load(out / "curves.npz")[f"paper/{name}/regret"][:, -1] for name in POLICIES}
    judged = claims(policies, regrets, is_full(study))
    diagnosed = diagnosis([diagnosis_of(study, run) for run in range(min(DIAGNOSED, study.runs))])
    results = {"policies": policies, "claims": judged, "diagnosis": diagnosed, **results}
    write_results(results, out)
    write_report(out)
    return results


def diagnosis_of(study: Study, run: int) -> Diagnosis:
    """By what factor the rounds of PCZ, played again, contradict the similarity it was given."""
    task = study.environment(0)
    policy = study.policy(POLICIES.index("pcz"), task.problem)
    return diagnose(task.problem, None, simulate_in_chunks(policy, task, study.rounds, seed=seed_of(study, run)))


def diagnosis(found: list[Diagnosis]) -> dict[str, Any]:
    """The means over runs, and a sentence; None stands for what some run had too few rounds to say.

    >>> diagnosis([Diagnosis(8.0, 7.5, 10.0, "r", None, 99), Diagnosis(9.0, 8.5, 11.0, "r", None, 99)])["factor"]
    8.5
    """
    means = {name: float(np.mean([getattr(one, name) for one in found])) for name in ("factor", "low", "high")}
    numbers = f"{means['factor']:.2f} ({means['low']:.2f} to {means['high']:.2f})"
    if np.isfinite(means["factor"]):
        text = f"rewards change up to {numbers} times as fast as its similarity allows, says diagnose"
    else:
        text = "too few for diagnose to tell how fast rewards change"
    known = {name: value if np.isfinite(value) else None for name, value in means.items()}
    return {**known, "runs": len(found), "text": f"In PCZ's rounds ({len(found)} runs): {text}."}


def is_full(study: Study) -> bool:
    """Whether a study is as long and as often repeated as the paper's.

    >>> is_full(appendix_d()), is_full(appendix_d(runs=8))
    (True, False)
    """
    return study.rounds == ROUNDS and study.runs >= RUNS


def claims(policies: dict[str, Any], regrets: dict[str, Any], judge: bool) -> dict[str, dict[str, Any]]:
    """Each claim of Appendix D: the paper's figure, ours with its standard error, and whether it is within the bar.

    The bars are for the full study; a smaller one is not judged.
    """
    below, below_se = ratio_of(regrets["pcz"], regrets["random"])
    above, above_se = ratio_of(regrets["pcz"], regrets["contextual-zooming"])
    bins, bins_se = policies["pcz"]["bins"], policies["pcz"]["se"]["bins"]
    first, last = policies["contextual-zooming"]["bins"][0], policies["contextual-zooming"]["bins"][-1]
    found = {
        "pcz_below_random": {
            "claim": "PCZ's regret below Random's",
            "paper": "17.1 %",
            "measured": _percent(1 - below, below_se),
            "value": 100 * (1 - below),
            "se": None if below_se is None else 100 * below_se,
            "bar": "16 to 20 %",
            "holds": 16 <= 100 * (1 - below) <= 20,
        },
        "pcz_above_contextual_zooming": {
            "claim": "PCZ's regret above Contextual Zooming's",
            "paper": "3.61 %",
            "measured": _percent(above - 1, above_se),
            "value": 100 * (above - 1),
            "se": None if above_se is None else 100 * above_se,
            "bar": "0 to 7 %",
            "holds": 0 <= 100 * (above - 1) <= 7,
        },
        "pcz_fair": {
            "claim": "PCZ plays all six bins almost equally",
            "paper": "almost the same",
            "measured": f"{min(bins):.3f} to {max(bins):.3f}",
            "value": bins,
            "se": bins_se,
            "bar": "0.155 to 0.180",
            "holds": min(bins) >= 0.155 and max(bins) <= 0.180,
        },
        "contextual_zooming_unfair": {
            "claim": "Contextual Zooming's first bin over its last",
            "paper": "much more",
            "measured": f"{first / last:.2f}" if last else "last never played",
            "value": first / last if last else None,
            "se": None,
            "bar": "above 2",
            "holds": first > 2 * last,
        },
    }
    return {name: {**claim, "holds": claim["holds"] if judge else None} for name, claim in found.items()}


def _percent(value: float, se: float | None) -> str:
    return f"{100 * value:.1f} %" if se is None else f"{100 * value:.1f} ± {100 * se:.1f} %"
