"""`check_similarity`: metrics pass, everything else is refused with the points that show it."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

from paretozoom import PCZ, Categorical, Finite, Integer, Objective, Problem, Real, Refused, Similarity
from paretozoom.similarity.metric import check_similarity

ONE = [Objective("r")]
PLANE = Problem(context=[Real("x")], arm=[Real("y", 0, 10)], objectives=ONE)
SMALL = Problem(context=[Categorical("c", ["u", "v"])], arm=Finite(["p", "q", "s"]), objectives=ONE)


def far(a: Any, b: Any) -> float:
    """A metric."""
    return max(abs(a[0] - b[0]), abs(a[1] - b[1]))


@pytest.mark.parametrize("norm", [1, 2, math.inf, "inf"])
@pytest.mark.parametrize("scale", [0.2, 1, 9])
def test_weighted_norms_are_metrics(norm: Any, scale: float) -> None:
    mixed = Problem(
        context=[Real("hour", 0, 24, periodic=True), Categorical("c", ["u", "v", "w"])],
        arm=[Real("y", 1, 100, scale="log"), Integer("n", 0, 4)],
        objectives=ONE,
    )
    for weights in (None, [1, 2, 3, 0.1], {"y": 5}):
        check_similarity(mixed, Similarity.of(mixed, norm=norm, weights=weights, scale=scale))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda a, b: far(a, b) ** 2, ["longer than the way by", "'x':", "'y':"]),
        (lambda a, b: far(a, b) + (a[0] > b[0]) * 0.1, ["the other way round"]),
        (lambda a, b: 2 * far(a, b), ["expected at most 1"]),
        (lambda a, b: far(a, b) - 0.5, ["is negative"]),
        (lambda a, b: 0.5 + far(a, b) / 2, ["expected 0"]),
        (lambda a, b: abs(a[0] - b[0]) * 0, ["though these differ"]),
        (lambda a, b: math.nan, ["not a finite number"]),
    ],
)
def test_what_is_no_metric_is_refused(function: Any, words: list[str]) -> None:
    for build in (lambda: check_similarity(PLANE, Similarity.of(PLANE, function=function)), lambda: policy(function)):
        with pytest.raises(Refused) as refusal:
            build()
        assert str(refusal.value).startswith("similarity: ")
        assert all(word in str(refusal.value) for word in words)


def policy(function: Any) -> PCZ:
    """A policy under a function."""
    return PCZ(PLANE, horizon=10, similarity={"function": function})


def test_a_single_fault_of_a_matrix_is_found() -> None:
    hours = Problem(context=[Integer("hour", 0, 11)], arm=Finite(["p", "q", "s", "t"]), objectives=ONE)
    points = np.random.default_rng(1).random((48, 3))
    matrix = np.abs(points[:, None] - points[None]).max(axis=2)
    check_similarity(hours, Similarity.of(hours, matrix=matrix))
    rng = np.random.default_rng(2)
    for fault in (-0.1, 0.0, 1.9):
        for both in (True, False):
            wrong, (a, b) = matrix.copy(), rng.choice(48, size=2, replace=False)
            wrong[a, b] = fault
            wrong[b, a] = fault if both else wrong[b, a]
            with pytest.raises(Refused, match="similarity: D"):
                check_similarity(hours, Similarity.of(hours, matrix=wrong))
    far_apart = np.unravel_index(matrix.argmax(), matrix.shape)
    wrong = matrix.copy()
    wrong[far_apart] = wrong[far_apart[::-1]] = min(1.0, matrix.max() + 0.2)
    with pytest.raises(Refused, match="longer than the way by"):
        check_similarity(hours, Similarity.of(hours, matrix=wrong))


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (lambda a, b: a[5], "failed"),
        (lambda a, b: abs(a[:1] - b[:1]), "expected a number"),
        (lambda a, b: None, "number"),
    ],
)
def test_functions_that_fail_are_refused(function: Any, words: str) -> None:
    with pytest.raises(Refused, match=words):
        policy(function)


@pytest.mark.filterwarnings("ignore:.*cannot be compiled")
def test_what_cannot_be_compiled_is_interpreted() -> None:
    odd = Similarity.of(PLANE, function=lambda a, b: float(f"{far(a, b):.17g}"))
    assert not odd.compiled
    assert Similarity.of(PLANE, function=far).compiled
    assert Similarity.of(PLANE).compiled
    with pytest.warns(RuntimeWarning, match="cannot be compiled and is interpreted"):
        assert policy(lambda a, b: float(f"{far(a, b):.17g}")).ask([0.5]).density == pytest.approx(1, abs=0.01)


def test_a_policy_with_a_function_can_be_pickled() -> None:
    first = policy(far)
    again = pickle.loads(pickle.dumps(first))
    for _ in range(5):
        assert again.ask([0.3]) == first.ask([0.3])


def test_the_points_are_named_in_the_user_s_units() -> None:
    with pytest.raises(Refused) as refusal:
        check_similarity(PLANE, Similarity.of(PLANE, function=lambda a, b: 2 * far(a, b)))
    # The arm goes up to 10, so the largest named number must be above 1.
    assert "{'x': 0.26979}, {'y': 0.40974}" in str(refusal.value) or "'y': " in str(refusal.value)
    numbers = [float(word.strip("{}(),")) for word in str(refusal.value).split() if word[:1].isdigit()]
    assert max(numbers) > 1


def test_matrices() -> None:
    rng = np.random.default_rng(0)
    points = rng.random((6, 2))
    matrix = np.abs(points[:, None] - points[None]).max(axis=2)
    check_similarity(SMALL, Similarity.of(SMALL, matrix=matrix))
    apart = Similarity.of(SMALL, matrix=matrix, scale=2).distances(np.array([[0.0, 1.0]]), np.array([[1.0, 2.0]]))
    assert apart.tolist() == [[min(1.0, 2 * matrix[1, 5])]]
    wrong = matrix.copy()
    wrong[0, 5] += 0.01
    for bad, word in (
        (wrong, "the other way round"),
        (matrix[:5, :5], "expected (6, 6)"),
        (np.full((6, 6), np.nan), "not finite"),
        ("matrix", "matrix"),
        (matrix**3 * 4, "similarity"),
    ):
        with pytest.raises(Refused, match="similarity") as refusal:
            PCZ(SMALL, horizon=10, similarity={"matrix": bad})
        assert word in str(refusal.value)
    with pytest.raises(Refused, match="finitely many contexts and arms"):
        Similarity.of(PLANE, matrix=matrix)
    twins = Problem(context=[], arm=Finite(["p", "q"], features=[[1.0], [1.0]]), objectives=ONE)
    with pytest.raises(Refused, match="same features"):
        Similarity.of(twins, matrix=np.zeros((2, 2)))


@pytest.mark.parametrize(
    "given",
    [
        {"norm": 3},
        {"norm": True},
        {"weights": [1]},
        {"weights": [1, 0]},
        {"weights": "ab"},
        {"weights": {"z": 1}},
        {"weights": {"x": -1}},
        {"scale": 0},
        {"function": "nowhere:nothing"},
        {"function": "math:nothing"},
        {"function": 3},
        {"function": far, "norm": 1},
        {"function": far, "matrix": [[0]]},
    ],
    ids=" ".join,
)
def test_bad_arguments_are_refused(given: dict[str, Any]) -> None:
    with pytest.raises(Refused, match="similarity: "):
        PCZ(PLANE, horizon=10, similarity=given)


def test_a_function_can_be_named() -> None:
    named = Similarity.of(PLANE, function="tests.similarity.test_metric:far")
    assert named.function is far
    assert named.parameters == {"scale": 1.0, "function": "tests.similarity.test_metric:far"}


def test_parameters_are_what_json_gives_back() -> None:
    similarity = Similarity.of(PLANE, norm=math.inf, weights={"y": 2}, scale=3)
    assert similarity.parameters == {"scale": 3.0, "norm": "inf", "weights": [1.0, 2.0]}
    again = Similarity.of(PLANE, **similarity.parameters)
    assert again.factors.tolist() == similarity.factors.tolist() == [1.5, 3.0]
