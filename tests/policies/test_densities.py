"""Densities are what `density_kind` says they are, also where no arm of a grid is feasible."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import Any

import pytest

from paretozoom import Categorical, Objective, Problem, Real
from paretozoom.policies import Policy
from paretozoom.policies.arms.finite import FiniteArms
from paretozoom.policies.trees.trees import ArmTrees
from paretozoom.registry import find_members

GRIDS: dict[str, Any] = {
    name: member
    for name, member in find_members("paretozoom.policies", Policy).items()
    if issubclass(member, FiniteArms) and not issubclass(member, ArmTrees)
}
LINE = Problem(context=[Real("x")], arm=[Real("y", 0, 10)], objectives=[Objective("r"), Objective("s")])
MIXED = Problem(
    context=[Real("x")], arm=[Real("y"), Categorical("c", ["u", "v"]), Real("z")], objectives=[Objective("r")]
)


@pytest.mark.parametrize("name", GRIDS)
def test_middles_of_boxes_have_probabilities(name: str) -> None:
    policy = GRIDS[name](LINE, seed=1)
    decision = policy.ask([0.5], feasible={"y": (0.1, 0.2)})
    assert (decision.arm["y"], decision.density) == (pytest.approx(0.15), 1.0)
    boxes, asks = [{"y": (0.05, 0.1)}, {"y": (0.11, 0.26)}], 400
    seen: Counter[float] = Counter()
    for _ in range(asks):
        decision = policy.ask([0.5], feasible=boxes)
        seen[round(decision.arm["y"], 9)] += 1
        assert decision.density == pytest.approx(0.25 if decision.arm["y"] < 0.1 else 0.75)
    assert set(seen) == {0.075, 0.185}
    assert seen[0.075] / asks == pytest.approx(0.25, abs=0.1)
    assert policy.density_kind in ("probability", "estimate")


@pytest.mark.parametrize("name", GRIDS)
def test_middles_of_mixed_boxes(name: str) -> None:
    policy = GRIDS[name](MIXED, seed=1)
    # Boxes of three tenths and one tenth of a thousandth, for one choice each.
    boxes = [{"y": (0.01, 0.04), "z": (0.01, 0.02), "c": "u"}, {"y": (0.01, 0.02), "z": (0.01, 0.02), "c": "v"}]
    for _ in range(40):
        decision = policy.ask([0.5], feasible=boxes)
        of_u = decision.arm["c"] == "u"
        assert decision.arm == {"y": pytest.approx(0.025 if of_u else 0.015), "c": decision.arm["c"], "z": 0.015}
        assert decision.density == pytest.approx(0.75 if of_u else 0.25)


@pytest.mark.parametrize("name", [name for name in GRIDS if "within" in inspect.signature(GRIDS[name]).parameters])
def test_places_within_boxes_have_densities(name: str) -> None:
    policy = GRIDS[name](LINE, within="cell", seed=1)
    decisions = [policy.ask([0.5], feasible={"y": (0.1, 0.2)}) for _ in range(20)]
    assert len({decision.arm["y"] for decision in decisions}) == 20
    assert all(decision.density == pytest.approx(100.0) for decision in decisions)
    assert policy.density_kind in ("density", "estimate")
