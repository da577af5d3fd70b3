"""Single values at the border: in plain types, missing or not, and checks of what definitions are given."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from paretozoom.records import Refused


def plain_of(value: Any) -> Any:
    """A value in Python's own types."""
    single = isinstance(value, np.generic) or (isinstance(value, np.ndarray) and value.size == 1)
    return value.item() if single else value


def is_missing(value: Any) -> bool:
    """Whether a value is None or NaN.

    >>> [is_missing(value) for value in (None, math.nan, np.float32("nan"), 0.0, "nan")]
    [True, True, True, False, False]
    """
    if isinstance(value, np.ndarray):
        value = value.item() if value.ndim == 0 else 0.0
    return value is None or (isinstance(value, (float, np.floating)) and bool(np.isnan(value)))


def is_plain(value: Any) -> bool:
    """Whether JSON can say a value in one word.

    >>> [is_plain(value) for value in ("x", 2.5, True, math.inf, ["x"], None)]
    [True, True, True, False, False, False]
    """
    if type(value) is str:
        return value.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in value)
    return type(value) in (int, bool) or (type(value) is float and math.isfinite(value))


def checked_choices(choices: Any, field: str) -> tuple[Any, ...]:
    """Strings, numbers or booleans in plain types."""
    if isinstance(choices, (str, Mapping)) or not isinstance(choices, Iterable):
        raise Refused(f"{field} are {choices!r}, expected a list")
    values = tuple(plain_of(choice) for choice in choices)
    for value in values:
        if not is_plain(value):
            raise Refused(f"{field} are {values!r}, expected strings, numbers or booleans")
    return values


def check_flag(field: str, value: Any) -> None:
    """Refuse what is neither True nor False."""
    if type(value) is not bool:
        raise Refused(f"{field} is {value!r}, expected True or False")


def check_outside(name: str, value: Any) -> None:
    """Refuse what does not say what becomes of values beyond the bounds."""
    if value not in ("refuse", "clip"):
        raise Refused(f"{name}: outside is {value!r}, expected 'refuse' or 'clip'")


def check_name(what: str, name: Any) -> None:
    """Refuse what is no name of a dimension or an objective."""
    if not isinstance(name, str) or not name:
        raise Refused(f"{what}: its name is {name!r}, but a name is a non-empty string")
