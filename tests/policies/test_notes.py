"""What any policy notes about rounds past the horizon that it was given, or that it assumes."""

from __future__ import annotations

import inspect
from typing import Any

import pytest

from paretozoom import PaperTask
from paretozoom.policies import Policy
from paretozoom.policies.parameters import USUAL_HORIZON
from paretozoom.policies.zooming.zooming import Zooming
from paretozoom.registry import find_members

WITH_HORIZON = {
    name: member
    for name, member in find_members("paretozoom.policies", Policy).items()
    if "horizon" in inspect.signature(member).parameters
}


@pytest.mark.parametrize("name", WITH_HORIZON)
def test_rounds_past_the_horizon_are_noted(name: str) -> None:
    policy: Any = WITH_HORIZON[name]
    given, assumed = policy(PaperTask().problem, horizon=50), policy(PaperTask().problem)
    given.number, assumed.number = 50, USUAL_HORIZON
    assert "beyond horizon" not in given.notes + assumed.notes
    given.number, assumed.number = 51, USUAL_HORIZON + 1
    assert "beyond horizon" in given.notes
    # The zooming policies assume no horizon: they start anew in epochs of doubled length.
    assert ("beyond horizon" in assumed.notes) == (not issubclass(policy, Zooming))
