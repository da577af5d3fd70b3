"""Every number that ParetoZoom was tuned by: its unit, what kind it is, why it has this value.

Kinds: *prior* (what is expected before rewards tell), *threshold* (from where on something is decided otherwise),
*schedule* (when something is done), *capacity* (how much there may be). "Heuristic" means: picked by experiments on the
zoo, not derived. Kernels read them from memory, so another value compiles nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np

from paretozoom.kernels.core.jit import Floats, kernel


def _prior(default: float, unit: str, reason: str) -> Any:
    return field(default=default, metadata={"kind": "prior", "unit": unit, "reason": reason})


def _threshold(default: float, unit: str, reason: str) -> Any:
    return field(default=default, metadata={"kind": "threshold", "unit": unit, "reason": reason})


def _schedule(default: float, unit: str, reason: str) -> Any:
    return field(default=default, metadata={"kind": "schedule", "unit": unit, "reason": reason})


def _capacity(default: int, unit: str, reason: str) -> Any:
    return field(default=default, metadata={"kind": "capacity", "unit": unit, "reason": reason})


@dataclass(frozen=True)
class Settings:
    """The settings of ParetoZoom; `ParetoZoom(problem, settings={"boldness": 16})` replaces some.

    >>> Settings().first_rewards, len(fields(Settings)) <= 60
    (8, True)
    """

    # When estimates are made.
    first_rewards: float = _schedule(8, "rewards", "played uniformly until then; half as many at least between refits")
    early_growth: float = _schedule(0.2, "share", "of more rewards until the next early refit. Heuristic")
    late_growth: float = _schedule(
        0.5, "share", "of more rewards until the next late refit: bounds what a reward costs"
    )
    refresh_growth: float = _schedule(1 / 16, "share", "of more rewards until estimates of a cell are corrected anew")

    # Levels: how much finer cells correct coarser ones.
    prior_fall: float = _prior(
        0.25, "factor", "of roughness from level to level, from the variance on: half the side, a quarter of it"
    )
    least_roughness: float = _prior(0.01, "factor", "of what was expected: estimates of 0 never recover")
    sure_pairs: float = _threshold(16, "rewards", "from which on a cell counts fully for roughness. Heuristic")
    boldness: float = _prior(8, "factor", "of roughness: noise is found out by playing, what is smoothed away is not")
    prior_rewards: float = _prior(2, "rewards", "that what is expected of noise and roughness is worth. Heuristic")
    least_weight: float = _threshold(0.5, "share", "of the cells around a context that a level must know to be used")

    # Splits: which coordinates are halved.
    least_cells: float = _capacity(1024, "cells", "that a level may always have; later as many as rewards")
    prior_gain: float = _prior(0.2, "variance of rewards", "that a halved coordinate explains. Heuristic")
    prior_gain_rewards: float = _prior(10, "rewards", "that this is worth. Heuristic")
    well_known: float = _threshold(8, "rewards", "per cell of the other coordinates when a split is judged. Heuristic")
    most_judged: float = _capacity(16384, "sites", "by which splits are judged: bounds the time of a refit")
    bits_judged: float = _capacity(4, "bits", "of a coordinate that are judged; each further one tells a quarter")

    # Trend: a quadratic.
    last_trend_fit: float = _schedule(8192, "rewards", "a quadratic has few terms: later fits change nothing")
    sizes: float = _prior(6, "power of 4", "of terms beside the noise: expected from less this to plus this. Heuristic")
    most_trend_terms: float = _capacity(320, "terms", "of a trend: the square is kept")

    # Smooth estimate: a Gaussian process in few terms.
    last_smooth_fit: float = _schedule(4096, "rewards", "until which scales are sought: later changes unsettle play")
    last_learned_at_once: float = _schedule(
        1024, "rewards", "until which each updates the posterior: the square of terms"
    )
    centre_scale: float = _prior(7, "steps of root 2 from 1/32", "the expected length scale: about a third")
    scale_spread: float = _prior(4, "steps", "standard deviation of length scales. Heuristic")
    sweeps: float = _capacity(2, "sweeps", "over all scales in one search: time; the next search goes on")
    signal_spread: float = _prior(6, "powers of 2", "standard deviation of the signal beside the noise. Heuristic")
    signal_boldness: float = _prior(4, "factor", "of the variance of terms when rewards are learned: see boldness")
    terms_per_coordinate: float = _capacity(44, "terms", "of a smooth estimate: time against detail. Heuristic")
    most_terms: float = _capacity(
        128, "terms", "of a smooth estimate, or of a trend that each refit fits: time. Heuristic"
    )
    cosines: float = _capacity(12, "functions", "of a number, in smooth estimates: what a scale of 1/12 needs")
    margin: float = _prior(0.15, "share of a range", "beyond both ends of a number: nothing special is expected there")
    all_functions: float = _capacity(96, "functions", "of all numbers together: they are evaluated for each candidate")
    most_labels: float = _capacity(16, "labels", "of a coordinate that trend and smooth estimate tell apart")

    # Forms: a linear form of the context for each finite arm.
    form_size: float = _prior(
        -3, "power of 4", "variance of forms and of what they share, before rewards tell. Heuristic"
    )
    form_level: float = _prior(
        -1, "power of 4", "least variance of an arm's level: unlucky arms are tried again. Heuristic"
    )
    form_room: float = _capacity(
        131072, "numbers", "of all arms' matrices: a decision reads them; beyond, forms are of directions"
    )

    # Directions: sums of a context's functions along which rewards change most.
    directions: float = _capacity(
        8, "sums", "that forms have as terms then; contexts of no more functions need no axes"
    )
    axes: float = _capacity(2, "sums", "that smooth estimates have as coordinates. Heuristic")

    # Outliers.
    outlier: float = _threshold(9, "usual distances", "from what was predicted, at least, of an outlier. Heuristic")

    # Committee: shares of the estimators.
    equal_rewards: float = _prior(2, "rewards", "that equal shares are worth beforehand. Heuristic")
    far: float = _threshold(9, "noise variance", "squared errors beyond count less: three standard deviations")
    memory: float = _schedule(0.7, "factor", "of what was compared before a refit: estimates were worse then")
    bias: float = _prior(0.1, "explained variance", "that a fixed form is off by, once levels miss no more. Heuristic")
    least_share: float = _threshold(0.15, "share", "below which an estimator is retired after its last fit: saves time")

    # Chooser.
    optimism: float = _prior(0.01, "standard errors", "added to means: of equal arms the less known is played")
    label_optimism: float = _prior(1, "standard errors of forms", "where arms tell nothing of each other")
    lone_optimism: float = _prior(0.5, "standard errors", "where one arm is played instead of a front. Heuristic")
    worse: float = _threshold(1, "standard errors", "a candidate may be worse by and still take another's place")
    ahead: float = _threshold(2, "standard errors", "it must be ahead by in all objectives together. Heuristic")
    end: float = _threshold(0.5, "standard errors", "times (d-1)^2: so near to the best, noise makes ends of fronts")

    # Drift.
    least_pairs: float = _threshold(250, "pairs", "of rewards at one place before something is concluded")
    drift_errors: float = _threshold(4.5, "standard errors", "that products of residuals are above 0 for a change")
    drift_times: float = _threshold(4, "factor", "above what standard errors explain, for a change. Heuristic")
    drift_known: float = _threshold(
        0.25, "noise variance", "squared standard error below which a place is known, also to outliers"
    )

    # Places and candidates.
    most_bits: float = _capacity(10, "bits", "of a coordinate, or of all that make a place of the drift test: memory")
    feature_bits: float = _capacity(5, "bits", "of a feature of a finite arm")
    line_candidates: float = _capacity(64, "candidates", "on a line of arms")
    most_candidates: float = _capacity(512, "candidates", "on more dimensions of arms: fourfold for each, up to this")
    cells_per_candidate: float = _capacity(2, "cells", "of arms: a little finer than what is told apart. Heuristic")
    most_mixed: float = _capacity(3, "coordinates", "of contexts, and of arms, to interpolate along: 2^3 corners each")
    most_groups: float = _capacity(4096, "groups", "of finite arms, or labels, that are told apart")


COUNT = len(fields(Settings))
_record: Any = np.dtype([(setting.name, np.float64) for setting in fields(Settings)])


@kernel
def settings(f: Floats) -> Settings:
    """The settings in a memory, which begins with them."""
    given: Settings = f[:COUNT].view(_record)[0]
    return given
