"""What a study's runs add up to: means and errors, the comparison with random play, the paper's bounds."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from typing import Any

import numpy as np

from paretozoom.environments.base import Task
from paretozoom.policies.base import Policy
from paretozoom.problem.dimensions import Floats
from paretozoom.theory import (
    is_vacuous,
    largest_gap_of,
    lower_bound_exponent,
    theorem1_bound,
    tightest_bound,
    zooming_dimension,
)


def add_up(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Means over runs, with standard errors under "se"; regret carries its own.

    >>> add_up([{"regret": 1.0, "notes": []}, {"regret": 3.0, "notes": []}])
    {'regret': {'mean': 2.0, 'se': 1.0}, 'notes': [], 'se': {}}
    """
    summary: dict[str, Any] = {}
    errors: dict[str, Any] = {}
    for key, first in runs[0].items():
        values = [run[key] for run in runs]
        if key == "notes":
            summary[key] = first
        elif isinstance(first, dict):
            summary[key] = {name: _mean([v[name] for v in values]) for name in first}
            errors[key] = {name: _error([v[name] for v in values]) for name in first}
        elif isinstance(first, list):
            summary[key] = [_mean(list(column)) for column in zip(*values, strict=True)]
            errors[key] = [_error(list(column)) for column in zip(*values, strict=True)]
        elif key == "regret":
            summary[key] = {"mean": _mean(values), "se": _error(values)}
        elif key.startswith("seconds_"):
            summary[key] = _mean(values)
        else:
            summary[key], errors[key] = _mean(values), _error(values)
    return {**summary, "se": errors}


def _mean(values: list[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return float(np.mean(known)) if known else None


def _error(values: list[float | None]) -> float | None:
    known = [v for v in values if v is not None]
    return float(np.std(known, ddof=1) / np.sqrt(len(known))) if len(known) > 1 else None


def is_dust(error: float, value: float) -> bool:
    """Whether a standard error is nothing but rounding.

    >>> is_dust(1e-14, 0.5), is_dust(1e-5, 0.5)
    (True, False)
    """
    return error <= 1e-9 * max(1.0, abs(value))


def ratio_of(above: Floats, below: Floats) -> tuple[float, float | None]:
    """The ratio of two means over the same runs, and its standard error.

    >>> ratio_of(np.array([1.0, 3.0]), np.array([4.0, 4.0]))
    (0.5, 0.25)
    """
    ratio = float(np.mean(above) / np.mean(below))
    return ratio, _error(list((above - ratio * below) / np.mean(below)))


def compare(policies: dict[str, Any], regrets: Mapping[str, Floats], random: str | None) -> None:
    """Add each policy's regret over that of random play, if there was any; `regrets` are per run."""
    for title, policy in policies.items():
        known = random is not None and np.mean(regrets[random]) > 0
        ratio, error = ratio_of(regrets[title], regrets[random or title]) if known else (None, None)
        policy["regret_over_random"], policy["se"]["regret_over_random"] = ratio, error


def theory_of(environment: Task, policies: Mapping[str, Policy], rounds: int) -> dict[str, Any] | None:
    """What the paper promises of policies in an environment, for the report to show beside what was measured."""
    if environment.problem.dim > 2 or environment.gap_error > 0:
        return None  # packings of larger spaces, or with gaps sought step by step, take longer than the study
    dimension = zooming_dimension(environment)
    numbers = dimension.numbers
    largest_gap = largest_gap_of(environment)
    bounds: dict[str, Any] = {}
    for title, policy in policies.items():
        delta = policy.delta_of_bounds(rounds, environment.noise_scale)
        if delta is not None:
            arguments = len(environment.problem.objectives), rounds, delta
            tightest = tightest_bound(numbers, *arguments)
            bounds[title] = {
                "tightest": tightest,
                "theorem1": theorem1_bound(*arguments, dimension.p, dimension.slope),
                "vacuous": is_vacuous(tightest, rounds, largest_gap),
            }
    return {
        "dimension": dimension.slope,
        "p": dimension.p,
        "numbers": {f"{r:g}": number for r, number in numbers.items()},
        "exponent": lower_bound_exponent(dimension.slope),
        "largest_gap": largest_gap,
        "lipschitz": environment.lipschitz(),
        "bounds": bounds,
    }


def packed(arrays: Mapping[str, Floats]) -> bytes:
    """A compressed .npz with the same bytes for the same arrays (numpy's own writes the time of day)."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, array in arrays.items():
            entry = io.BytesIO()
            np.lib.format.write_array(entry, np.ascontiguousarray(array), allow_pickle=False)
            info = zipfile.ZipInfo(f"{name}.npy", date_time=(1980, 1, 1, 0, 0, 0))
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, entry.getvalue())
    return buffer.getvalue()
