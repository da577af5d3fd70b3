"""HOO and MO-HOO, slowly: trees of objects, bounds by recursion, cells as lists of sides."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from paretozoom import Decision, Problem
from tests.reference.pareto import front
from tests.reference.twin import PLAY_STREAM, Answer, Boxes, Twin

Side = tuple[float, float]  # low and high; of a discrete side the first value's number and that after the last
Vector = tuple[float, ...]


@dataclass
class Node:
    """A cell that was played."""

    number: int
    depth: int
    parent: Node | None
    plays: int = 0
    totals: Vector = ()
    children: list[Node | None] = field(default_factory=lambda: [None, None])
    bound: Any = None  # of the node and all below it; found anew once any of them was played


class Trees(Twin):
    """What both share: cells, feasible parts, credits; a subclass says how likely the left child is next."""

    def __init__(
        self, problem: Problem, *, horizon: int, nu1: float = 1.0, rho: float | None = None, scale: float = 1.0,
        cells: int = 1, weights: Sequence[float] = (), seed: int
    ) -> None:  # fmt: skip
        super().__init__(problem, weights=weights, seed=seed)
        self.divide(cells)
        self.arm_values = self.values[self.first :]
        self.counts = [len(problem.encoding.arms)] if self.finite else [abs(v) for v in self.arm_values]
        self.nu, self.rho = nu1, 2 ** (-1 / len(self.counts)) if rho is None else rho
        self.log = 2 * math.log(horizon) * scale**2
        self.depth = max(1, math.ceil((0.5 * math.log(horizon) - math.log(1 / nu1)) / math.log(1 / self.rho)))
        self.copies = math.prod(self.divisions)
        self.nodes = [Node(k, 0, None) for k in range(self.copies)]

    def lean(self, node: Node) -> float:
        """The probability of going left where both ways are feasible."""
        raise NotImplementedError

    def halves(self, box: list[Side]) -> list[list[Side]]:
        """Both halves of a cell along its first longest side; none if it cannot be halved."""
        lengths = []
        for (low, high), count in zip(box, self.counts, strict=True):
            if count:
                lengths.append((high - low) / count if high - low > 1 else 0.0)
            else:
                lengths.append(high - low if high - low >= 2**-30 else 0.0)
        if max(lengths) == 0:
            return []
        j = lengths.index(max(lengths))
        low, high = box[j]
        cut = (low + high) // 2 if self.counts[j] else (low + high) / 2
        return [[*box[:j], side, *box[j + 1 :]] for side in ((low, cut), (cut, high))]

    def pieces(self, box: list[Side], allowed: Boxes) -> list[tuple[float, list[Side]]]:
        """What a cell shares with each row of feasible arms: its size and its sides."""
        if not allowed:
            rows = [box]
        elif self.finite:
            rows = [[(row[0], row[0] + 1)] for row in allowed]
        else:
            rows = [[self.side(j, row) for j in range(len(self.counts))] for row in allowed]
        found = []
        for row in rows:
            shared = [(max(a, c), min(b, d)) for (a, b), (c, d) in zip(box, row, strict=True)]
            size = 1.0
            for low, high in shared:
                size *= max(0.0, high - low)
            found.append((size, shared))
        return found

    def side(self, j: int, row: Sequence[float]) -> Side:
        """Side j of a feasible box, as cells have it."""
        if self.arm_values[j] == 0:
            return row[j], row[len(self.counts) + j]
        place = row[j] if self.arm_values[j] < 0 else round(row[j] * (self.arm_values[j] - 1))
        return place, place + 1

    def answer(self, context: list[float], allowed: Boxes) -> Answer:
        """Go down from the root of the context's cell, then draw in the cell that was reached."""
        node: Node | None = self.nodes[self.cell(context)]
        assert node is not None
        box: list[Side] = [(0.0, float(count) if count else 1.0) for count in self.counts]
        credit, probability = node.number, 1.0
        while node is not None and node.plays and node.depth < self.depth:
            halves = self.halves(box)
            ways = [k for k, half in enumerate(halves) if sum(size for size, _ in self.pieces(half, allowed)) > 0]
            if not ways:
                break
            way = ways[0]
            if len(ways) == 2:
                lean = self.lean(node)
                way = int(self.draws(node.depth // 4)[node.depth % 4] >= lean)
                probability *= [lean, 1 - lean][way]
            credit, box = self.copies + 2 * node.number + way, halves[way]
            node = node.children[way]
        return self.drawn(box, allowed, probability, credit)

    def drawn(self, box: list[Side], allowed: Boxes, probability: float, credit: int) -> Answer:
        """A uniform draw from the feasible part of a cell."""
        pieces = self.pieces(box, allowed)
        total = sum(size for size, _ in pieces)
        left = self.draws(PLAY_STREAM - 1)[0] * total
        chosen = pieces[0][1]
        for size, shared in pieces:
            if size > 0:
                chosen = shared
                if left < size:
                    break
                left -= size
        draws = [self.draws(PLAY_STREAM + j // 4)[j % 4] for j in range(len(self.counts))]
        if self.finite:
            arm = int(chosen[0][0]) + int(draws[0] * (chosen[0][1] - chosen[0][0]))
            return arm, self.problem.encoding.arms[arm].tolist(), probability / total, credit
        place = []
        for (low, high), values, draw in zip(chosen, self.arm_values, draws, strict=True):
            if values == 0:
                place.append(low + (high - low) * draw)
            else:
                value = low + int(draw * (high - low))
                place.append(value / (values - 1) if values > 0 else value)
        return -1, place, probability / total, credit

    def learn(self, decision: Decision, reward: list[float]) -> None:
        """Give a reward to a node, which may be new, and to all above it."""
        node: Node | None
        credit = decision.credit
        if credit < self.copies:
            node = self.nodes[credit]
        else:
            parent, way = self.nodes[(credit - self.copies) // 2], (credit - self.copies) % 2
            node = parent.children[way]
            if node is None:
                node = parent.children[way] = Node(len(self.nodes), parent.depth + 1, parent)
                self.nodes.append(node)
        while node is not None:
            before = node.totals or (0.0,) * len(reward)
            node.totals = tuple(t + r for t, r in zip(before, reward, strict=True))
            node.plays, node.bound = node.plays + 1, None
            node = node.parent

    def u(self, node: Node) -> Vector:
        """The bound from a node's own rewards."""
        more = math.sqrt(self.log / node.plays)
        return tuple(t / node.plays + more + self.nu * self.rho**node.depth for t in node.totals)


class HOO(Trees):
    """With numbers."""

    def b(self, node: Node | None) -> float:
        """The bound of a node and all below it."""
        if node is None:
            return math.inf
        if node.bound is None:
            node.bound = min(self.u(node)[0], max(self.b(child) for child in node.children))
        return float(node.bound)

    def lean(self, node: Node) -> float:
        """The larger bound, or a coin."""
        left, right = (self.b(child) for child in node.children)
        return 0.5 if left == right else float(left > right)


class MOHOO(Trees):
    """With sets of vectors."""

    def __init__(self, problem: Problem, *, most: int = 32, **given: Any) -> None:
        super().__init__(problem, **given)
        self.most = most
        self.endless = (math.inf,) * len(problem.objectives)

    def b(self, node: Node | None) -> list[Vector]:
        """The bounds of a node and all below it."""
        if node is None:
            return [self.endless]
        if node.bound is None:
            left, right = (self.b(child) for child in node.children)
            node.bound = capped(clipped(self.u(node), undominated(left + right)), self.most)
        return list(node.bound)

    def lean(self, node: Node) -> float:
        """The share of vectors that the left child owns; half of those that both own."""
        left, right = (self.b(child) for child in node.children)
        vectors = undominated(left + right)
        return sum(0.5 if v in left and v in right else float(v in left) for v in vectors) / len(vectors)


def undominated(vectors: list[Vector]) -> list[Vector]:
    """Without repeated and dominated ones."""
    once = list(dict.fromkeys(vectors))
    return [once[k] for k in front(once)]


def clipped(u: Vector, vectors: list[Vector]) -> list[Vector]:
    """Elementwise minima with u."""
    return undominated([tuple(map(min, u, v)) for v in vectors])


def capped(vectors: list[Vector], most: int) -> list[Vector]:
    """Those of largest contribution; of equals the first ones."""
    if len(vectors) <= most:
        return vectors
    shares = [contribution(v, [w for w in vectors if w != v]) for v in vectors]
    order = sorted(range(len(vectors)), key=lambda k: (-shares[k], k))
    return [vectors[k] for k in sorted(order[:most])]


def contribution(v: Vector, others: list[Vector]) -> float:
    """The volume above the origin that only v dominates; of more than two numbers, that the nearest one leaves."""
    v = tuple(max(0.0, x) for x in v)
    if len(v) == 2:
        beside = max([w[0] for w in others if w[0] < v[0]] + [0.0])
        below = max([w[1] for w in others if w[1] < v[1]] + [0.0])
        return (v[0] - beside) * (v[1] - below)
    return min(math.prod(v) - math.prod(max(0.0, min(x, y)) for x, y in zip(v, w, strict=True)) for w in others)
