"""What CLUB and COFIBA share: users with linear models, graphs on users, what the users of a cluster know together.

A user is a context cell, an item an arm; a reward of an item with features x is w'x in the mean, w being the user's.
Of each cluster of items there is a graph on the users, whose connected components are the clusters of users: CLUB has
one cluster of items, COFIBA begins with one and divides it. A component is known by its smallest user; the inverse and
the weights of what its users saw together stand at that user and follow each reward by a rank-one update. They are
computed from the users' own sums when a component is divided, which happens less often than there are users.

constants: ALPHA, ALPHA_2, RANDOM (1 if graphs begin with random edges, 0 if with all), GRAPHS, ITEMS (0 if items have
no graph), then (arms, size) features of the items. The credit of a decision is user * arms + arm.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from paretozoom.kernels.arms.table import (
    CONSTANTS,
    KEY0,
    KEY1,
    Table,
    cell_of,
    choose,
    learned_number,
    list_arms,
    play,
    play_anywhere,
    table,
)
from paretozoom.kernels.core.inverses import add_outer, dot, form, invert, times
from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.philox import uniforms

ALPHA, ALPHA_2, RANDOM, GRAPHS, ITEMS = range(5)
FEATURES = 5

GRAPH_STREAM = 1 << 21  # of the edges at the start: of the items' graph, then of each graph on users


class Clusters(NamedTuple):
    """Sizes, and where each part of the two arrays begins."""

    users: int
    size: int  # features of an item
    graphs: int  # on users, at most
    items: int  # arms if items have a graph, else 0
    # parts of f
    gram: int  # (users, size, size) sums of xx'
    inverse: int  # (users, size, size) of M = I + gram
    moment: int  # (users, learned, size) b, sums of rx
    theta: int  # (users, learned, size) w = M^-1 b
    pooled_inverse: int  # (graphs, users, size, size), at the smallest user of a component
    pooled_moment: int  # (graphs, users, learned, size)
    pooled_theta: int  # (graphs, users, learned, size)
    estimate: int  # (users, items, learned) w'x
    width: int  # (users, items) sqrt(x'M^-1x)
    floats: int  # the end
    # parts of i
    told: int  # (users,) rewards
    begun: int  # (1,) clusters of items so far
    cluster: int  # (arms,) the cluster of an item
    label: int  # (graphs, users) the smallest user of the component
    edge: int  # (graphs, users, users)
    item_edge: int  # (items, items)
    ints: int  # the end


@kernel
def places(users: int, size: int, graphs: int, items: int, arms: int, learned: int, floats: int, ints: int) -> Clusters:
    """The parts of what is learned, from f[floats...] and i[ints...] on."""
    matrices, vectors = users * size * size, users * learned * size
    inverse = floats + matrices
    moment = inverse + matrices
    theta = moment + vectors
    pooled_inverse = theta + vectors
    pooled_moment = pooled_inverse + graphs * matrices
    pooled_theta = pooled_moment + graphs * vectors
    estimate = pooled_theta + graphs * vectors
    width = estimate + users * items * learned
    begun = ints + users
    label = begun + 1 + arms
    edge = label + graphs * users
    item_edge = edge + graphs * users * users
    return Clusters(
        users,
        size,
        graphs,
        items,
        floats,
        inverse,
        moment,
        theta,
        pooled_inverse,
        pooled_moment,
        pooled_theta,
        estimate,
        width,
        width + users * items,
        ints,
        begun,
        begun + 1,
        label,
        edge,
        item_edge,
        item_edge + items * items,
    )


@kernel
def clusters(f: Floats, i: Ints, at: Table) -> Clusters:
    """Read the layout off the header and the constants."""
    users = 1
    for j in range(at.context):
        users *= i[at.divisions + j]
    size = (i[CONSTANTS] - FEATURES) // at.arms
    graphs, items = int(f[at.constants + GRAPHS]), int(f[at.constants + ITEMS])
    return places(users, size, graphs, items, at.arms, at.learned, at.floats, at.ints)


@inlined
def item_at(at: Table, c: Clusters, arm: int) -> int:
    """Where the features of an item are."""
    return at.constants + FEATURES + arm * c.size


@inlined
def pool_of(i: Ints, c: Clusters, user: int, arm: int) -> int:
    """The row of what the users know together that are like a user with respect to an item."""
    first = i[c.cluster + arm] * c.users
    return first + i[c.label + first + user]


@kernel
def bonus(alpha: float, width: float, number: int) -> float:
    """What is added to an estimate: alpha sqrt(x'M^-1x log(t + 1)) of round t = number + 1; width is sqrt(x'M^-1x).

    >>> round(bonus(0.2, 0.5**0.5, 9), 7)
    0.2189929
    """
    return alpha * width * math.sqrt(math.log(number + 2.0))


@kernel
def ask(f: Floats, i: Ints, number: int, point: Floats, allowed: Floats) -> tuple[int, float, int]:
    """Draw an arm for the context in `point`, writing it there; returns (finite arm, density, user and arm)."""
    at = table(i)
    user, listed = cell_of(i, at, point), list_arms(f, i, at, allowed)
    if listed == 0:
        arm, density = play_anywhere(f, i, at, number, point, allowed)
        return -1, density, user * at.arms + arm
    c = clusters(f, i, at)
    for k in range(listed):
        score(f, i, at, c, number, user, i[at.listed + k], f[at.constants + ALPHA], at.indices + k, listed)
    arm, probability = choose(f, i, at, listed, uniforms(i[KEY0], i[KEY1], number, 0)[0])
    finite, density = play(f, i, at, number, point, arm, probability, allowed)
    return finite, density, user * at.arms + arm


@kernel
def score(
    f: Floats, i: Ints, at: Table, c: Clusters, number: int, user: int, arm: int, alpha: float, out: int, apart: int
) -> None:
    """Write the indices of an arm for a user, one per learned number, to f[out], f[out + apart], ..."""
    row, x = pool_of(i, c, user, arm), item_at(at, c, arm)
    width = math.sqrt(form(f, c.pooled_inverse + row * c.size * c.size, x, c.size))
    more = bonus(alpha, width, number)
    for o in range(at.learned):
        theta = c.pooled_theta + (row * at.learned + o) * c.size
        f[out + o * apart] = dot(f, theta, x, c.size) + more


@part
def learn(f: Floats, i: Ints, at: Table, c: Clusters, user: int, arm: int, reward: Floats) -> None:
    """Add a reward to what its user knows, alone and in each component."""
    x, square = item_at(at, c, arm), c.size * c.size
    i[c.told + user] += 1
    for a in range(c.size):
        for b in range(c.size):
            f[c.gram + user * square + a * c.size + b] += f[x + a] * f[x + b]
    _add(f, i, at, c, c.inverse, c.moment, c.theta, user, x, reward)
    for graph in range(i[c.begun]):
        row = graph * c.users + i[c.label + graph * c.users + user]
        _add(f, i, at, c, c.pooled_inverse, c.pooled_moment, c.pooled_theta, row, x, reward)


@part
def _add(
    f: Floats,
    i: Ints,
    at: Table,
    c: Clusters,
    inverses: int,
    moments: int,
    thetas: int,
    row: int,
    x: int,
    reward: Floats,
) -> None:
    inverse = inverses + row * c.size * c.size
    add_outer(f, inverse, x, c.size)
    for o in range(at.learned):
        place, r = (row * at.learned + o) * c.size, learned_number(f, i, at, reward, o)
        for a in range(c.size):
            f[moments + place + a] += r * f[x + a]
        times(f, inverse, moments + place, thetas + place, c.size)


@kernel
def start_edges(i: Ints, edges: int, size: int, random: bool, stream: int) -> None:
    """Join all pairs of a graph's vertices, or random ones with probability 3 log(n) / n (Erdos and Renyi)."""
    pair, probability = 0, 3.0 * math.log(size) / size if random else 1.0
    for a in range(size):
        i[edges + a * size + a] = 0
        for b in range(a):
            draw = uniforms(i[KEY0], i[KEY1], pair // 4, stream)[pair % 4] if probability < 1.0 else 0.0
            i[edges + a * size + b] = i[edges + b * size + a] = 1 if draw < probability else 0
            pair += 1


@kernel
def flood(i: Ints, edges: int, size: int, first: int, part: Ints) -> None:
    """Write `first` to part[...] of every vertex that edges join to it."""
    waiting, count = np.empty(size, np.int64), 1
    waiting[0] = first
    part[first] = first
    while count > 0:
        count -= 1
        vertex = waiting[count]
        for other in range(size):
            if i[edges + vertex * size + other] == 1 and part[other] < 0:
                part[other] = first
                waiting[count] = other
                count += 1


@part
def start_graph(f: Floats, i: Ints, at: Table, c: Clusters, graph: int) -> None:
    """A fresh graph on the users, its components, and what each knows."""
    edges, labels = c.edge + graph * c.users * c.users, c.label + graph * c.users
    start_edges(i, edges, c.users, f[at.constants + RANDOM] == 1.0, GRAPH_STREAM + 1 + graph)
    for user in range(c.users):
        i[labels + user] = 0
    _find_components(f, i, at, c, graph, 0, True)


@part
def divide(f: Floats, i: Ints, at: Table, c: Clusters, graph: int, user: int) -> None:
    """Find the components of what was the component of a user before it lost edges."""
    _find_components(f, i, at, c, graph, i[c.label + graph * c.users + user], False)


@part
def _find_components(f: Floats, i: Ints, at: Table, c: Clusters, graph: int, label: int, fresh: bool) -> None:
    edges, labels = c.edge + graph * c.users * c.users, c.label + graph * c.users
    part, whole = np.full(c.users, -1), True
    for user in range(c.users):
        if i[labels + user] == label and part[user] < 0:
            whole = whole and user == label
            flood(i, edges, c.users, user, part)
    if whole and not fresh:
        return
    for user in range(c.users):
        if part[user] >= 0:
            i[labels + user] = part[user]
    for user in range(c.users):
        if part[user] == user:
            _pool(f, i, at, c, graph, user)


@part
def _pool(f: Floats, i: Ints, at: Table, c: Clusters, graph: int, label: int) -> None:
    """Compute what the users of a component know: M = I + sum of (M_j - I), b = sum of b_j, w = M^-1 b."""
    row, square, vectors = graph * c.users + label, c.size * c.size, at.learned * c.size
    matrix, moment, theta = c.pooled_inverse + row * square, c.pooled_moment + row * vectors, c.pooled_theta
    f[matrix : matrix + square] = 0.0
    f[moment : moment + vectors] = 0.0
    for a in range(c.size):
        f[matrix + a * c.size + a] = 1.0
    for user in range(c.users):
        if i[c.label + graph * c.users + user] == label:
            for k in range(square):
                f[matrix + k] += f[c.gram + user * square + k]
            for k in range(vectors):
                f[moment + k] += f[c.moment + user * vectors + k]
    invert(f, matrix, c.size)
    for o in range(at.learned):
        times(f, matrix, moment + o * c.size, theta + row * vectors + o * c.size, c.size)


@kernel
def begin(f: Floats, i: Ints) -> None:
    """Fill what a fresh policy knows: nothing, of every user; all items in the components of their graph."""
    at = table(i)
    c = clusters(f, i, at)
    for user in range(c.users):
        for a in range(c.size):
            f[c.inverse + (user * c.size + a) * c.size + a] = 1.0
        for item in range(c.items):
            x = item_at(at, c, item)
            f[c.width + user * c.items + item] = math.sqrt(dot(f, x, x, c.size))
    if c.items > 0:
        start_edges(i, c.item_edge, c.items, f[at.constants + RANDOM] == 1.0, GRAPH_STREAM)
        divide_items(f, i, at, c, -1)
    else:
        start_graph(f, i, at, c, 0)
        i[c.begun] = 1


@part
def divide_items(f: Floats, i: Ints, at: Table, c: Clusters, item: int) -> None:
    """Find the clusters of what was the cluster of an item before it lost edges; -1 at the start, for all items.

    The part that holds the item keeps its graph on the users, each other part gets a fresh one.
    """
    part, old = np.full(c.items, -1), -1
    if item >= 0:
        old = i[c.cluster + item]
        flood(i, c.item_edge, c.items, item, part)
    for other in range(c.items):
        if part[other] < 0 and (item < 0 or i[c.cluster + other] == old):
            flood(i, c.item_edge, c.items, other, part)
            new = i[c.begun]
            for member in range(c.items):
                if part[member] == other:
                    i[c.cluster + member] = new
            start_graph(f, i, at, c, new)
            i[c.begun] += 1
