"""The full versions of proofs that the other tests hold in small: `make prove`."""

from __future__ import annotations

from pathlib import Path

import pytest

from paretozoom import PCZ
from paretozoom.reproduce import appendix_d, reproduce
from tests.reference import pcz
from tests.reference.play import World, play
from tests.reference.problems import PROBLEMS

pytestmark = pytest.mark.proof


def test_the_claims_of_appendix_d_hold(tmp_path: Path) -> None:
    """100 runs of 100,000 rounds."""
    results = reproduce(tmp_path, appendix_d())
    for name, claim in results["claims"].items():
        assert claim["holds"] is True, (name, claim["measured"])


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("scrambled", [False, True], ids=["at once", "scrambled"])
def test_the_reference_agrees_for_long(name: str, scrambled: bool) -> None:
    """Thousands of rounds on every kind of problem, through restarts and hundreds of balls."""
    for horizon, confidence in ((2000, 0.1), (None, 0.03)):
        arguments = {"horizon": horizon, "confidence": confidence, "seed": 11}
        players = [PCZ(PROBLEMS[name], **arguments), pcz.PCZ(PROBLEMS[name], **arguments)]
        play(players, World(PROBLEMS[name], seed=12), 2000, scrambled=scrambled, check_every=200)
