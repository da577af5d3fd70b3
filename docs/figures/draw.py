"""The figures of the documents, drawn from the library's own objects: a function for each, named as its file.

Run: python docs/figures/draw.py [name ...]
"""

from __future__ import annotations

import io
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from paretozoom import PCZ, Objective, PaperTask, ParetoZoom, Problem, Real, simulate_in_chunks
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom import policy as pareto_zoom
from paretozoom.metrics import LocalEntropy, ParetoRegret
from paretozoom.plots import partition, style
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.rounds import Columns, Rounds
from paretozoom.theory import confidence_constant, uncertainty

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

HERE = Path(__file__).parent
Bools = npt.NDArray[np.bool_]
BLUE, ORANGE, GREY, PALE = "#0072b2", "#d55e00", "#8a8f94", "#dfe5ea"
CONTEXT = 0.5
NOISE, CONFIDENCE, SCALE, ROUNDS = 0.5, 0.3, 1.0, 2_000  # as much zooming as a small picture can show


def front() -> Figure:
    """The market of the README: what the policy holds for the front of one customer, and the truth."""
    objectives = [Objective("sold"), Objective("margin", low=-10, high=40)]
    problem = Problem([Real("income", 10_000, 200_000, scale="log")], [Real("price", 1, 50)], objectives)
    policy = ParetoZoom(problem, seed=1)

    def market(price: Floats, income: float) -> tuple[Floats, Floats]:
        sold = np.maximum(0.0, 1 - 2_000 * price / income)
        return sold, sold * (price - 10)

    for customer in range(5_000):
        decision = policy.ask({"income": 10_000 * 20 ** (customer % 100 / 99)})
        policy.tell(decision, market(decision.arm["price"], decision.context["income"]))
    pieces = policy.front({"income": 60_000})
    with style.theme():
        drawn = style.blank(5.6, 3.2)
        axes = drawn.subplots()
        prices = np.linspace(1, 30, 300)
        axes.plot(*market(prices, 60_000.0), color=GREY, linewidth=1.2, label="the truth, for prices from 1 to 30")
        means = np.array([[piece.mean["sold"], piece.mean["margin"]] for piece in pieces], float)
        axes.plot(*means.T, ".", color=BLUE, markersize=7, label="what is played for this customer")
        for k in (0, len(pieces) // 2, len(pieces) - 1):
            axes.annotate(f"price {pieces[k].low:.0f}", means[k], (6, 7), textcoords="offset points", fontsize=8)
        axes.set(xlabel="sold", ylabel="margin", title="The front of a customer who earns 60,000", ylim=(-9.5, 6))
        axes.legend(loc="lower left")
        return style.settle(drawn)


def pcz() -> Figure:
    """Left: the balls after some rounds, and the arms played above one context. Right: the indices of its balls."""
    task = PaperTask()
    policy = PCZ(task.problem, horizon=ROUNDS, noise=NOISE, confidence=CONFIDENCE, similarity={"scale": SCALE})
    for _ in simulate_in_chunks(policy, task, ROUNDS, seed=1):
        pass
    arms = (np.arange(2_000) + 0.5) / 2_000
    domains = _domains(policy, np.column_stack([np.full_like(arms, CONTEXT), arms]))
    relevant = np.flatnonzero(domains.any(axis=0))
    index = _indices(policy)[relevant]
    chosen = ~_dominated(index)
    played = domains[:, relevant[chosen]].any(axis=1)
    with style.theme():
        drawn = style.blank(7.6, 3.6)
        left, right = drawn.subplots(1, 2, width_ratios=(1, 1.1))
        _draw_balls(left, policy)
        left.plot([CONTEXT, CONTEXT], [0, 1], color=GREY, linewidth=1)
        edges = np.flatnonzero(np.diff(np.pad(played.astype(int), 1))).reshape(-1, 2) / len(arms)
        left.vlines(np.full(len(edges), CONTEXT), *edges.T, ORANGE, linewidth=5)
        left.set(xlim=(0, 1), ylim=(0, 1), xlabel="context x", ylabel="arm y", aspect="equal")
        left.set_title(f"{len(policy.balls.radius)} balls; orange: arms played at x = {CONTEXT:g}")
        left.grid(visible=False)
        for some, colour, label in ((~chosen, GREY, "dominated"), (chosen, ORANGE, "not dominated: played")):
            right.plot(*index[some].T, "o", color=colour, markersize=5, label=label, clip_on=False)
        right.set(xlabel="index of the first objective", ylabel="index of the second objective")
        right.set_title(f"The {len(relevant)} relevant balls at x = {CONTEXT:g}")
        right.legend(loc="lower left")
        return style.settle(drawn)


def _indices(policy: PCZ) -> Floats:
    """g_B of every ball: (balls, objectives)."""
    balls, constant = policy.balls, confidence_constant(2, ROUNDS, 1 / ROUNDS)
    u = np.array([[NOISE * CONFIDENCE * uncertainty(constant, n) for n in row] for row in balls.count.tolist()])
    pre = balls.mean + u + balls.radius[:, None]
    apart = policy.similarity.distances(balls.centre, balls.centre)
    return np.asarray(balls.radius[:, None] + (pre[None] + apart[:, :, None]).min(axis=1))


def _domains(policy: PCZ, points: Floats) -> Bools:
    """Which points lie in the domains of which balls: (points, balls)."""
    balls = policy.balls
    inside = policy.similarity.distances(points, balls.centre) <= balls.radius
    inside[:, 0] = True  # the root contains everything
    smallest = np.where(inside, balls.radius, np.inf).min(axis=1)
    return np.asarray(inside & (balls.radius == smallest[:, None]))


def _dominated(values: Floats) -> Bools:
    no_worse = np.all(values[None] >= values[:, None], axis=2)
    better = np.any(values[None] > values[:, None], axis=2)
    return np.asarray(np.any(no_worse & better, axis=1))


def _draw_balls(axes: Axes, policy: PCZ) -> None:
    from matplotlib.collections import EllipseCollection

    balls = policy.balls
    wide, high = (2 / np.sqrt(policy.similarity.factors)).tolist()
    for radius in np.unique(balls.radius)[::-1].tolist():
        discs = EllipseCollection(
            [wide * radius],
            [high * radius],
            [0],
            units="xy",
            offsets=balls.centre[balls.radius == radius],
            offset_transform=axes.transData,
        )
        discs.set(facecolor=partition.COLOURS[round(-np.log2(radius))], edgecolor="white", linewidth=0.6)
        axes.add_collection(discs, autolim=False)


def committee() -> Figure:
    """What each member says of an objective along the arms of a context; what all say together, and how far off."""
    task = PaperTask()
    policy = ParetoZoom(task.problem, seed=1)
    for _ in simulate_in_chunks(policy, task, 300, seed=2):
        pass
    shares = m.memory.view("share", policy._floats, policy._ints)[0].copy()
    members = {m.LEVELS_: "levels", m.TREND_: "trend", m.SMOOTH_: "smooth estimate"}
    every = np.linspace(0, 1, 21)
    shown = [(f"{name}, share {shares[k]:.2f}", np.eye(m.MEMBERS)[k]) for k, name in members.items()]
    with style.theme():
        drawn = style.blank(8.4, 3.0)
        panels = drawn.subplots(1, 4, sharey=True)
        for axes, (title, share) in zip(panels, [*shown, ("all together", shares)], strict=True):
            arms, mean, error = _predicted(policy, share)
            truth = task.means(np.column_stack([np.full_like(every, CONTEXT), every]))[:, 0]
            if share is shares:
                axes.fill_between(arms, mean - error, mean + error, color=PALE, linewidth=0)
            axes.plot(every, truth, color=GREY, linewidth=1, linestyle="dashed")
            axes.plot(arms, mean, color=BLUE, linewidth=1.4)
            axes.set(xlim=(0, 1), ylim=(-0.3, 1.1), xlabel="arm y")
            axes.set_title(title, fontsize=8.5)
        for piece in policy.front([CONTEXT]):
            panels[-1].plot([piece.low, piece.high], [-0.25, -0.25], color=ORANGE, linewidth=5, solid_capstyle="butt")
        panels[0].set_ylabel("reward of the first objective")
        return style.settle(drawn)


def _predicted(policy: ParetoZoom, share: Floats) -> tuple[Floats, Floats, Floats]:
    """Arms of the context, in order, with the mean of the first objective and the error shown, by given shares."""
    floats, ints = policy._floats.copy(), policy._ints.copy()
    m.memory.view("share", floats, ints)[:] = share
    rows = pareto_zoom.look(floats, ints, -1, np.array([CONTEXT, 0.0]), np.zeros((0, 0)), True)
    arms = m.memory.view("arm", floats, ints)[:rows, 0]
    mean, error = (m.memory.view(name, floats, ints).ravel()[:rows] for name in ("mean", "error"))
    order = np.argsort(arms)[::2]
    return arms[order], m.memory.view("offset", floats, ints)[0] + mean[order], error[order]


def fairness() -> Figure:
    """Three ways to play the paper's task, and what regret and local entropy say of each."""
    task, rounds = PaperTask(), 3_000
    rng = np.random.default_rng(1)
    contexts, spread = rng.random(rounds), rng.random(rounds)
    first, second = (0.8 - 0.8 * contexts), (1.0 - 0.8 * contexts)  # the ends of each context's Pareto set
    constant = task.constant_arm()[0]["y"]
    ways = {
        "The first objective's best arm": first,
        f"The same arm always, y = {constant:.2f}": np.full(rounds, constant),
        "Uniform on each context's front": first + spread * (second - first),
    }
    with style.theme():
        drawn = style.blank(8.4, 3.3)
        panels = drawn.subplots(1, 3, sharey=True)
        for axes, (title, arms) in zip(panels, ways.items(), strict=True):
            regret, entropy = _measured(task, np.column_stack([contexts, arms]))
            axes.fill_between([0, 1], [0.8, 0.0], [1.0, 0.2], color=PALE, linewidth=0)
            some = slice(None, 90)
            axes.plot(contexts[some], arms[some], ".", color=BLUE, markersize=3)
            axes.set(xlim=(0, 1), ylim=(0, 1), xlabel="context x", aspect="equal")
            axes.set_title(f"{title}\nregret {regret:.2f}, local entropy {entropy:.2f}", fontsize=8.5)
            axes.grid(visible=False)
        panels[0].set_ylabel("arm y (shaded: the Pareto sets)")
        return style.settle(drawn)


def _measured(task: PaperTask, points: Floats) -> tuple[float, float]:
    """Regret as a share of random play's, and local entropy."""
    n = len(points)
    numbers: Ints = np.arange(n)
    columns = Columns(numbers, points, np.full(n, -1), np.ones(n), np.zeros(n, np.int64), np.zeros((n, 2)))
    regret, entropy = ParetoRegret(task, n), LocalEntropy(task, n)
    for metric in (regret, entropy):
        metric.update(Rounds(task.problem, columns))
    return regret.result()["regret"] / (n * task.random_gap()), entropy.result()["local_entropy"]


FIGURES = {function.__name__: function for function in (front, pcz, committee, fairness)}


def main(*names: str, folder: Path = HERE) -> None:
    """Draw these figures, or all: small files, whose text is text."""
    from matplotlib import rc_context

    nothing = dict.fromkeys(("Creator", "Date", "Format", "Type"))
    for name in names or FIGURES:
        drawn, text = FIGURES[name](), io.StringIO()
        with style.theme(), rc_context({"svg.fonttype": "none"}):
            drawn.savefig(text, format="svg", metadata=nothing)
        lines = [line.rstrip() for line in text.getvalue().splitlines()]
        svg = "\n".join(lines).replace("'DejaVu Sans'", "'DejaVu Sans', sans-serif")
        (folder / f"{name}.svg").write_text(svg + "\n", encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
