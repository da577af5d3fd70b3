"""What policies say of themselves: past a horizon, of their guarantees, and of how long they take."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

from paretozoom import PaperTask
from paretozoom.policies import Policy
from paretozoom.policies.parameters import USUAL_HORIZON
from paretozoom.policies.zooming.zooming import Zooming
from paretozoom.registry import find_members

DOCS = Path(__file__).parents[2] / "docs"
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


@pytest.mark.parametrize("name", ["club", "cofiba", "contextual-zooming", "hoo", "moc-mab", "pcz", "sup-linucb"])
def test_a_bound_without_its_logarithms_says_so(name: str) -> None:
    """O~ where the papers have it; the page of policies has the same rows."""
    guarantee = find_members("paretozoom.policies", Policy)[name].summary.guarantee
    assert "regret O~(" in guarantee
    assert "regret O(" not in guarantee


def test_who_plays_like_random_for_long_says_so_where_it_is_chosen() -> None:
    long = "much like Random for the first 50,000 rounds or so"
    members = find_members("paretozoom.policies", Policy)
    slow = {member.__name__ for member in members.values() if long in member.summary.line}
    assert slow == {"SupLinUCB", "SupKernelUCB", "COFIBA"}
    for member in members.values():
        words = " ".join((inspect.getdoc(member) or "").split())
        assert ("for the first 50,000 rounds or so" in words) == (member.__name__ in slow)
    for page in ("explanation/which-policy.md", "reference/policies.md"):
        text = " ".join((DOCS / page).read_text().replace("`", "").split())
        assert "SupLinUCB, SupKernelUCB and COFIBA" in text
        assert f"play {long}" in text
