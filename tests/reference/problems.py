"""Problems of every shape that the zooming policies take."""

from __future__ import annotations

from paretozoom import Categorical, Finite, Integer, Objective, Problem, Real

TWO = [Objective("a"), Objective("b")]

PROBLEMS = {
    "plane": Problem(context=[Real("x")], arm=[Real("y")], objectives=TWO),
    "one objective": Problem(context=[Real("x")], arm=[Real("y")], objectives=TWO[:1]),
    "five objectives": Problem(context=[Real("x")], arm=[Real("y")], objectives=[Objective(f"r{i}") for i in range(5)]),
    "no context": Problem(context=[], arm=[Real("y")], objectives=TWO),
    "periodic arm": Problem(context=[Real("x")], arm=[Real("y", periodic=True)], objectives=TWO),
    "periodic everywhere": Problem(
        context=[Real("hour", 0, 24, periodic=True)], arm=[Real("y", 0, 360, periodic=True)], objectives=TWO
    ),
    "two contexts": Problem(context=[Real("x1"), Real("x2", -3, 5)], arm=[Real("y")], objectives=TWO),
    "mixed contexts": Problem(
        context=[
            Categorical("country", ["cz", "tr", "de"]),
            Integer("threads", 1, 5),
            Real("x"),
            Real("hour", 0, 24, periodic=True),
            Real("size", 1, 1000, scale="log"),
        ],
        arm=[Real("y")],
        objectives=TWO,
    ),
    "user's units": Problem(
        context=[Integer("threads", 1, 8)],
        arm=[Real("price", 1, 100, scale="log")],
        objectives=[Objective("cost", goal="min", low=-2, high=7), Objective("gain", low=0, high=50, bounded=False)],
    ),
    "labels": Problem(context=[Real("x")], arm=Finite(["a", "b", "c", "d", "e"]), objectives=TWO),
    "features": Problem(
        context=[Real("x")],
        arm=Finite(list(range(9)), features=[[k % 3, 10.0 * (k // 3) ** 2] for k in range(9)]),
        objectives=TWO,
    ),
    "product of arms": Problem(
        context=[Categorical("country", ["cz", "tr"])],
        arm=[Integer("threads", 1, 4), Categorical("codec", ["x", "y", "z"])],
        objectives=TWO,
    ),
}
