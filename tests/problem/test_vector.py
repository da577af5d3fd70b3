"""Vectors in contexts: taken as they are, there and back, refused in words, and one dimension to a distance."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from paretozoom import (
    Categorical,
    Decision,
    Finite,
    Objective,
    Problem,
    Random,
    Real,
    Refused,
    Round,
    Similarity,
    Vector,
)
from paretozoom.similarity.diagnosis import diagnose
from tests.borders import refuses

ONE = [Objective("r")]
PROMPT = Problem(context=[Real("load"), Vector("prompt", 3), Real("hour")], arm=Finite(["a", "b"]), objectives=ONE)
ALONE = Problem(context=[Vector("prompt", 3)], arm=Finite(["a", "b"]), objectives=ONE)
UNIT = Problem(context=[Vector("prompt", 3, length=1)], arm=Finite(["a", "b"]), objectives=ONE)


def encoded(problem: Problem, context: Any) -> tuple[list[float], dict[str, Any]]:
    point = np.full(problem.dim, math.nan)
    plain = problem.encode_context(context, point)
    return point[: problem.encoding.context].tolist(), plain


@pytest.mark.parametrize(
    "vector",
    [
        [-1.0, 0.0, 0.5],
        (-1, 0, 0.5),
        np.array([-1, 0, 0.5]),
        np.array([-1, 0, 0.5], np.float16),
        np.array([[-1, 9], [0, 9], [0.5, 9]], np.float32)[:, 0],
        [np.float32(-1), 0, np.float64(0.5)],
    ],
    ids=repr,
)
def test_arrays_and_lists_are_taken_as_they_are(vector: Any) -> None:
    for context in ({"hour": 1, "prompt": vector, "load": 0.25}, [0.25, vector, 1]):
        point, plain = encoded(PROMPT, context)
        assert point == [0.25, 0.0, 0.5, 0.75, 1.0]
        assert plain == {"load": 0.25, "prompt": [-1.0, 0.0, 0.5], "hour": 1.0}
        assert {type(number) for number in plain["prompt"]} == {float}


def test_what_numpy_reads_of_other_libraries_is_taken() -> None:
    class Tensor:
        def __array__(self, *_: Any, **__: Any) -> Any:
            return np.array([-1, 0, 0.5], np.float32)

    assert encoded(ALONE, {"prompt": Tensor()}) == ([0.0, 0.5, 0.75], {"prompt": [-1.0, 0.0, 0.5]})


@pytest.mark.parametrize("context", [[-1, 0, 0.5], np.array([-1, 0, 0.5]), [[-1, 0, 0.5]], {"prompt": (-1, 0, 0.5)}])
def test_a_context_that_is_one_vector_may_be_bare(context: Any) -> None:
    assert encoded(ALONE, context) == ([0.0, 0.5, 0.75], {"prompt": [-1.0, 0.0, 0.5]})


def test_many_bare_vectors_are_rows() -> None:
    rows = np.random.default_rng(0).uniform(-1, 1, (5, 3))
    many, one = Random(ALONE, seed=1), Random(ALONE, seed=1)
    assert list(many.ask_many(rows)) == [one.ask(row) for row in rows]
    with refuses("contexts[1]['prompt']", "nan"):
        many.ask_many(np.array([[0, 0, 0], [0, math.nan, 0]]))
    assert many.dump().to_bytes() == one.dump().to_bytes()


@given(arrays(float, 3, elements=st.floats(-1, 1)))
def test_vectors_make_the_round_trip(vector: Any) -> None:
    point = np.empty(PROMPT.dim)
    plain = PROMPT.encode_context([0.5, vector, 0.5], point)
    assert ((point >= 0) & (point[:-1].max() <= 1)).all()
    back = PROMPT.decode_context(point)
    assert back["prompt"] == pytest.approx(plain["prompt"], abs=1e-15)
    assert msgspec.json.decode(msgspec.json.encode(plain)) == plain


@pytest.mark.parametrize(
    ("vector", "fragments"),
    [
        ([0, 0], ["context['prompt']", "(2,)", "3 numbers"]),
        (np.zeros((1, 3)), ["context['prompt']", "(1, 3)", "3 numbers"]),
        (None, ["context['prompt']", "None", "3 numbers"]),
        (0.5, ["context['prompt']", "0.5", "3 numbers"]),
        ("abc", ["context['prompt']", "'abc'", "3 numbers"]),
        ({"0": 1}, ["context['prompt']", "{'0': 1}", "3 numbers"]),
        ([0, None, 0], ["context['prompt'][1]", "None"]),
        ([0, True, 0], ["context['prompt'][1]", "True"]),
        ([0, 0, [0]], ["context['prompt'][2]", "[0]"]),
        (np.array(["0", "0", "0"]), ["context['prompt']", "<U1", "3 numbers"]),
        (np.array([True, False, True]), ["context['prompt']", "bool", "3 numbers"]),
        ([0, 0, math.nan], ["context['prompt'][2]", "nan"]),
        (np.array([0, -math.inf, 0]), ["context['prompt'][1]", "-inf", "finite"]),
        ([0, 1.5, 0], ["context['prompt'][1]", "1.5", "[-1, 1]"]),
        (np.array([-3, 1.5, 0], np.float32), ["context['prompt'][0]", "-3.0", "[-1, 1]"]),
    ],
    ids=repr,
)
def test_what_is_no_such_vector_is_refused(vector: Any, fragments: list[str]) -> None:
    policy = Random(PROMPT, seed=1)
    before = policy.dump().to_bytes()
    with refuses(*fragments):
        policy.ask({"load": 0.5, "prompt": vector, "hour": 0.5})
    assert policy.dump().to_bytes() == before


def test_a_length_limits_the_whole() -> None:
    assert encoded(UNIT, [0.6, 0.8, 0])[0] == [0.8, 0.9, 0.5]
    assert encoded(UNIT, np.array([0.7075, 0.7075, 0], np.float16))[1]["prompt"][0] == 0.70751953125, "as it was given"
    assert max(encoded(UNIT, [1.0005, 0, 0])[0]) == 1
    with refuses("context['prompt']: its length is 1.41421, expected at most 1"):
        encoded(UNIT, [1, 1, 0])


def test_clipped_vectors_are_kept_as_they_were_given() -> None:
    box, ball = Vector("v", 2, 0, 4, outside="clip"), Vector("v", 2, length=2, outside="clip")
    for vector, numbers, inside in ((box, [-1, 5], [0, 1]), (ball, [3, 4], [0.8, 0.9]), (ball, [0, -2], [0.5, 0])):
        out = np.empty(2)
        assert vector.fill(numbers, "v", out) == numbers
        assert out.tolist() == pytest.approx(inside)
        with pytest.raises(Refused, match="inf"):
            vector.fill([0, math.inf], "v", out)
    assert ball.read(np.array([1.0, 1.0])) == pytest.approx([math.sqrt(2)] * 2)


@pytest.mark.parametrize(
    ("make", "fragments"),
    [
        (lambda: Vector("", 3), ["Vector", "''"]),
        (lambda: Vector("v", 0), ["v: size", "0"]),
        (lambda: Vector("v", 20_000), ["v: size", "20000"]),
        (lambda: Vector("v", 2.0), ["v: size", "2.0"]),
        (lambda: Vector("v", True), ["v: size", "True"]),
        (lambda: Vector("v", 2, 1, 1), ["v: low 1.0", "1.0"]),
        (lambda: Vector("v", 2, -1e308, 1e308), ["v", "e+308"]),
        (lambda: Vector("v", 2, length=0), ["v: length", "0"]),
        (lambda: Vector("v", 2, length="1"), ["v: length", "'1'"]),
        (lambda: Vector("v", 2, 0, 5, length=2), ["v: length 2.0", "low and high"]),
        (lambda: Vector("v", 2, outside="wrap"), ["v: outside", "'wrap'"]),
        (lambda: Problem(context=[], arm=[Vector("v", 2)], objectives=ONE), ["arm", "'v'", "Vector", "contexts"]),
        (lambda: Problem([Vector("x", 2), Real("x")], Finite(["a"]), ONE), ["context", "'x'", "twice"]),
    ],
)
def test_impossible_vectors_are_refused(make: Any, fragments: list[str]) -> None:
    with refuses(*fragments):
        make()


def test_a_problem_with_vectors_survives_json() -> None:
    for problem in (PROMPT, UNIT):
        assert msgspec.json.decode(msgspec.json.encode(problem), type=Problem) == problem
    plain = {"type": "vector", "name": "prompt", "size": 3, "length": 1}
    assert msgspec.convert(plain, Vector) == UNIT.context[0]


def test_what_was_handed_out_may_be_changed() -> None:
    policy = Random(ALONE, seed=1)
    decision = policy.ask([0, 0, 0.5])
    decision.context["prompt"][0] = 9.0
    assert policy.open[0].context == {"prompt": [0.0, 0.0, 0.5]}
    policy.open[0].context["prompt"].clear()
    assert policy.open[0].context == {"prompt": [0.0, 0.0, 0.5]}


# To a distance it is one dimension.


@given(arrays(float, (3, 4), elements=st.floats(-1, 1)), st.floats(0.01, 100))
def test_a_distance_takes_it_as_one_dimension(points: Any, weight: float) -> None:
    task = Problem([Vector("v", 3), Categorical("c", ["a", "b"])], [Real("y")], ONE)
    similarity = Similarity.of(task, weights={"v": weight})
    point = np.empty((3, task.dim))
    for row, numbers in zip(point, points, strict=True):
        task.encode_context([numbers[:3], "ab"[int(numbers[3] > 0)]], row)
        task.encode_arm([abs(numbers[3])], row)
    apart = similarity.distances(point, point)
    for a, p in zip(apart, points, strict=True):
        for d, q in zip(a, points, strict=True):
            gap = math.dist(p[:3], q[:3]) / (2 * math.sqrt(3))
            others = float((p[3] > 0) != (q[3] > 0)) + (abs(p[3]) - abs(q[3])) ** 2
            assert d == pytest.approx(math.sqrt((weight * gap**2 + others) / (weight + 2)), abs=1e-12)
    assert apart.max() <= 1 + 1e-12


def test_with_a_length_opposite_vectors_are_furthest_apart() -> None:
    task = Problem([Vector("v", 384, length=5)], Finite(["a"]), ONE)
    rng, points = np.random.default_rng(0), np.zeros((2, task.dim))
    way = rng.normal(size=384)
    way *= 5 / np.linalg.norm(way)
    task.encode_context([way], points[0])
    task.encode_context([-way], points[1])
    assert Similarity.of(task, weights={"v": 1e9}).between(points[0], points[1]) == pytest.approx(1)


@pytest.mark.parametrize("norm", [1, math.inf])
def test_other_norms_are_refused(norm: float) -> None:
    with refuses("similarity: norm", "'prompt'", "Euclidean", "norm 2"):
        Similarity.of(PROMPT, norm=norm)


def test_weights_are_one_for_each_dimension() -> None:
    assert Similarity.of(PROMPT, weights=[1, 2, 3, 4]).parameters["weights"] == [1, 2, 3, 4]
    with refuses("weights", "4 numbers", "'prompt'"):
        Similarity.of(PROMPT, weights=[1] * 6)


def test_diagnosis_divides_no_vector_but_measures_by_it() -> None:
    """Rewards that change once as fast as D along the arm, and with nothing else."""
    task = Problem([Vector("v", 100, length=1)], [Real("y")], ONE)
    rng, rounds = np.random.default_rng(1), []
    for k in range(4000):
        way, y = rng.normal(size=100), float(rng.random())
        decision = Decision(k, {"v": (way / np.linalg.norm(way)).tolist()}, {"y": y}, 1.0, 0)
        rounds.append(Round(decision, {"r": y / math.sqrt(2)}))
    found = diagnose(task, None, rounds)
    assert 0.8 < found.factor < 1.2
    assert "v = (100 numbers)" in str(found)
