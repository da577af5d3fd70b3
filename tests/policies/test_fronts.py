"""What all fronts have in common: names and units of the numbers that a policy learns, and weights in snapshots."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from paretozoom import Finite, Objective, Problem, Refused, Snapshot
from paretozoom.policies import (
    CLUB,
    COFIBA,
    HOO,
    MOCMAB,
    PCZ,
    ContextualZooming,
    EpochGreedy,
    KernelUCB,
    LinUCB,
    ParetoUCB1,
    QueryAdClustering,
    Random,
    SupKernelUCB,
    SupLinUCB,
)
from paretozoom.policies.fronts import on_front

TWO = Problem(
    context=[],
    arm=Finite(["a", "b"]),
    objectives=[Objective("cost", goal="min", low=0, high=10), Objective("gain", low=-1, high=3)],
)
SCALAR = [
    CLUB, COFIBA, HOO, ContextualZooming, EpochGreedy, KernelUCB, LinUCB, QueryAdClustering, SupKernelUCB, SupLinUCB
]  # fmt: skip


def played(policy: Any, rounds: int = 12) -> Any:
    for _ in range(rounds):
        policy.tell(policy.ask(), {"cost": 2.5, "gain": 1.0})
    return policy


@pytest.mark.parametrize("make", SCALAR)
@pytest.mark.parametrize(
    ("given", "names"),
    [({}, ["cost"]), ({"objective": "gain"}, ["gain"]), ({"weights": [0.5, 0.5]}, ["weighted"])],
)
def test_pieces_name_what_was_learned(make: Any, given: dict[str, Any], names: list[str]) -> None:
    pieces = played(make(TWO, **given)).front()
    assert pieces
    for piece in pieces:
        assert list(piece.index) == list(piece.mean) == list(piece.uncertainty) == list(piece.count) == names


@pytest.mark.parametrize(
    ("make", "kept"),
    [
        *((make, "index mean uncertainty") for make in (PCZ, ContextualZooming, HOO, LinUCB, KernelUCB, CLUB, COFIBA)),
        *((make, "mean uncertainty") for make in (ParetoUCB1, MOCMAB, QueryAdClustering)),
        (EpochGreedy, ""),
        (Random, None),
    ],
)
def test_pieces_hold_what_the_guide_says(make: Any, kept: str | None) -> None:
    pieces = played(make(TWO)).front()
    assert bool(pieces) == (kept is not None)
    for piece in pieces:
        for field in ("index", "mean", "uncertainty"):
            known = field in (kept or "").split()
            assert all((value is not None) == known for value in getattr(piece, field).values()), field
        assert all(count > 0 for count in piece.count.values())


@pytest.mark.parametrize("make", SCALAR)
def test_notes_name_the_objectives_that_are_learned_alone(make: Any) -> None:
    assert make(TWO).notes == ["learns 'cost' only"]
    assert make(TWO, objective="gain").notes == ["learns 'gain' only"]
    assert make(TWO, weights=[0.5, 0.5]).notes == []
    one = Problem(context=[], arm=TWO.arm, objectives=TWO.objectives[:1])
    assert make(one).notes == []
    three = Problem(context=[], arm=TWO.arm, objectives=[*TWO.objectives, Objective("ease")])
    assert make(three, weights=[0.5, 0, 0.5]).notes == ["learns 'cost', 'ease' only"]


@pytest.mark.parametrize("make", [HOO, QueryAdClustering, ContextualZooming])
def test_means_are_in_the_users_units(make: Any) -> None:
    cost = played(make(TWO)).front()[0]
    assert cost.mean["cost"] == pytest.approx(2.5)
    both = played(make(TWO, weights=[0.5, 0.5])).front()[0]
    assert both.mean["weighted"] == pytest.approx(0.5 * 0.75 + 0.5 * 0.5)


def test_uncertainties_are_in_the_users_units() -> None:
    (piece, *_) = played(ParetoUCB1(TWO)).front()
    plays = piece.count["cost"]
    assert piece.uncertainty == pytest.approx({"cost": 10 / math.sqrt(plays), "gain": 4 / math.sqrt(plays)})


@pytest.mark.parametrize("make", SCALAR)
def test_weights_may_be_a_tuple(make: Any) -> None:
    policy = played(make(TWO, weights=(0.25, 0.75)))
    snapshot = Snapshot.from_bytes(policy.dump().to_bytes())
    again = make(TWO, weights=(0.25, 0.75))
    again.load(snapshot)
    assert again.ask() == policy.ask()
    with pytest.raises(Refused, match="snapshot"):
        make(TWO, weights=(0.5, 0.5)).load(snapshot)


def test_no_vectors_have_no_front() -> None:
    assert on_front(np.empty((0, 2))).tolist() == []
