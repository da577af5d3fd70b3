"""What the means of a drawn task are like: for each shape its arms, and the numbers that its kernel reads."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from paretozoom.environments.drawing import world
from paretozoom.problem.dimensions import Categorical, Finite, Floats, Real


class Size(NamedTuple):
    """How large the parts of a task may be: numbers of contexts, and its indices."""

    numbers: tuple[int, int]
    indices: tuple[int, int]


class Means(NamedTuple):
    """The arms of a task, and the numbers that say its means."""

    kind: int
    arm: Any
    labels: int
    own: Floats


Rng = np.random.Generator


def draw_labels(rng: Rng, d: int, k: int, n: int) -> Means:
    """Some labels, each with a linear form of its own; they have more or less in common."""
    labels = int(np.exp(rng.uniform(math.log(3), math.log(31))))
    own = np.empty((d, labels, 1 + k))
    for o in range(d):
        alike = rng.uniform(0, 0.8)
        common, apart = rng.normal(size=1 + k), rng.normal(size=(labels, 1 + k))
        own[o] = rng.uniform(0.8, 2.0) * (alike * common + math.sqrt(1 - alike**2) * apart)
        own[o, :, 0] *= rng.uniform(0.2, 1.0)
    return Means(world.FORMS, Finite([f"a{a + 1}" for a in range(labels)]), labels, own.ravel())


def draw_items(rng: Rng, d: int, k: int, n: int) -> Means:
    """Many items with features; all are scored by one form of context and features."""
    items, features = int(np.exp(rng.uniform(math.log(20), math.log(501)))), int(rng.integers(2, 9))
    table = rng.random((items, features)) ** rng.choice([1.0, 2.0], features)
    own = rng.normal(size=(d, 1 + features, 1 + k)) * rng.uniform(0.5, 1.5) / math.sqrt(features)
    own[:, 0] *= 0.5  # what contexts say of all items alike
    arm = Finite([f"a{a + 1}" for a in range(items)], features=table.tolist())
    return Means(world.ITEMS, arm, 0, own.ravel())


def draw_ridges(rng: Rng, d: int, k: int, n: int) -> Means:
    """A peak per objective that follows the context over a line or a plane."""
    arms = int(rng.integers(1, 3))
    own = np.empty((d, 2 + arms))
    own[:, 0] = rng.uniform(0.1, 0.35)
    own[:, 1] = rng.integers(0, 2)
    own[:, 2:] = rng.uniform(-0.15, 0.15, (d, arms))
    return Means(world.RIDGES, _reals(arms), 0, own.ravel())


def draw_smooth(rng: Rng, d: int, k: int, n: int) -> Means:
    """Sums of waves, of random length, over a line or a plane; contexts move them."""
    own = np.empty((d, world.TERMS, 4))
    longest = rng.uniform(2.0, 9.0)
    own[..., 0] = rng.normal(size=(d, world.TERMS)) * 0.8
    own[..., 1] = rng.uniform(0, longest, (d, world.TERMS))
    own[..., 2] = rng.normal(size=(d, world.TERMS)) * rng.uniform(0.3, 1.2)
    own[..., 3] = rng.uniform(0, 2 * math.pi, (d, world.TERMS))
    return Means(world.SMOOTH, _reals(int(rng.integers(1, 3))), 0, own.ravel())


def draw_boxes(rng: Rng, d: int, k: int, n: int) -> Means:
    """A tree per objective, over a line or a plane and a few columns."""
    arms = int(rng.integers(1, 3))
    own = np.zeros((d, world.NODES, 2))
    some = rng.choice(n, min(n, 3), replace=False)
    for o in range(d):
        for node in range(world.NODES // 2):
            is_arm = node in (1, 2) or (node > 2 and rng.random() < 0.5)  # contexts part first, then arms
            own[o, node, 0] = n + rng.integers(arms) if is_arm else rng.choice(some)
            own[o, node, 1] = rng.uniform(0.2, 0.8)
        own[o, world.NODES // 2 :, 0] = rng.random(world.NODES - world.NODES // 2)
    return Means(world.BOXES, _reals(arms), 0, own.ravel())


def draw_prices(rng: Rng, d: int, k: int, n: int) -> Means:
    """A price: demand falls with it, what is earned has a peak that depends on the context."""
    own = np.array([rng.uniform(0.05, 0.2), rng.uniform(8, 25), rng.uniform(0, 0.6), rng.uniform(0.2, 0.8)])
    return Means(world.PRICES, [Real("price", float(own[0]), 1.0)], 0, own)


def draw_mixed(rng: Rng, d: int, k: int, n: int) -> Means:
    """A label and a number: each label has its own peak."""
    labels = int(rng.integers(3, 9))
    own = np.empty((d, labels, 4))
    own[..., 0] = rng.integers(0, k, (d, labels))
    own[..., 1] = rng.normal(0, 0.8, (1, labels)) + rng.normal(0, 0.3, (d, labels))
    own[..., 2] = rng.uniform(0.15, 0.4)
    own[..., 3] = rng.normal(0, 1, (d, labels))
    arm = [Categorical("kind", [f"a{a + 1}" for a in range(labels)]), Real("dose")]
    return Means(world.MIXED, arm, labels, own.ravel())


def _reals(arms: int) -> list[Any]:
    return [Real(f"y{a + 1}") for a in range(arms)]


# What a task may be: how many numbers and indices its contexts have, and how its means are drawn.
SHAPES: dict[str, tuple[Size, Callable[[Rng, int, int, int], Means]]] = {
    "labels": (Size((2, 64), (1, 5)), draw_labels),
    "items": (Size((2, 64), (1, 5)), draw_items),
    "ridges": (Size((1, 24), (2, 3)), draw_ridges),
    "smooth": (Size((1, 16), (1, 3)), draw_smooth),
    "boxes": (Size((1, 12), (1, 1)), draw_boxes),
    "prices": (Size((1, 24), (2, 2)), draw_prices),
    "mixed": (Size((1, 16), (1, 3)), draw_mixed),
}
