"""ParetoZoom with a part switched off, or with less or more of a number. Settings do both: nothing is compiled."""

from __future__ import annotations

from dataclasses import Field, fields
from typing import Any, cast

from paretozoom.kernels.pareto_zoom.settings import Settings

DEFAULTS = "defaults"
NEVER = 1e9
MOST_CANDIDATES = 512  # on a continuum: more are not laid

NO_TREND = {"last_trend_fit": -1.0}
NO_SMOOTH = {"terms_per_coordinate": 0.0}
SWITCHES: dict[str, dict[str, float]] = {
    "no trend": NO_TREND,
    "no smooth estimate": NO_SMOOTH,
    "levels alone": NO_TREND | NO_SMOOTH,
    "no levels: one mean of all rewards": {"boldness": 0.0},
    "forms are the same in all contexts": {"form_room": 0.0},
    "trend and smooth estimate learn at refits only": {"last_learned_at_once": 0.0},
    "length scales stay as expected": {"scale_spread": 1e-3},
    "equal shares always": {"equal_rewards": NEVER},
    "fixed forms have no bias": {"bias": 0.0},
    "comparisons do not fade": {"memory": 1.0},
    "far rewards count fully": {"far": NEVER},
    "no boldness": {"boldness": 1.0, "signal_boldness": 1.0},
    "no optimism": {"optimism": 0.0, "lone_optimism": 0.0},
    "nothing is left out": {"ahead": NEVER},
    "left out everywhere, not at ends only": {"end": NEVER},
    "nothing is forgotten": {"drift_errors": NEVER},
}

Setting = Field[Any]
FADING = ("memory",)  # a factor below 1: twice of it is no such factor, so what fades is halved


def changed(setting: Setting) -> tuple[float | None, float | None]:
    """Half and twice the default of a number, or what comes nearest; None where there is no such value.

    Counts stay whole. Bits and powers of 2 or 4 go up and down by 1, steps of root 2 by 2.

    >>> known = {setting.name: setting for setting in fields(Settings)}
    >>> [changed(known[name]) for name in ("cosines", "bits_judged", "least_weight", "most_candidates")]
    [(6, 24), (3, 5), (0.25, None), (256, None)]
    """
    default, kind, unit = cast(float, setting.default), setting.metadata["kind"], setting.metadata["unit"]
    if setting.name in FADING:
        return default / 2, (1 + default) / 2
    if unit in ("bits", "power of 2", "power of 4"):
        return default - 1, default + 1
    if unit.startswith("steps of root 2"):
        return default - 2, default + 2
    less, more = default / 2, default * 2
    if kind in ("capacity", "schedule") and float(default).is_integer():
        less, more = max(1, int(less)), int(more)
    is_limited = (kind, unit) == ("threshold", "share") and more >= 1
    return less, None if is_limited or (unit == "candidates" and more > MOST_CANDIDATES) else more


def title_of(settings: dict[str, float]) -> str:
    """What a variant is called."""
    return ", ".join(f"{name}={value:g}" for name, value in settings.items())


def variants() -> dict[str, dict[str, float]]:
    """All variants by their titles: the defaults, switches, then each number less and more."""
    numbers = [{s.name: value} for s in fields(Settings) for value in changed(s) if value is not None]
    return {DEFAULTS: {}} | {title_of(settings): settings for settings in [*SWITCHES.values(), *numbers]}
