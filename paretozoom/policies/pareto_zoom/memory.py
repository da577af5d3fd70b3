"""The memory of ParetoZoom for a problem, fresh or as a snapshot says; what no policy can have made is refused."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any

import numpy as np
import numpy.typing as npt

from paretozoom.kernels.core import lattice
from paretozoom.kernels.core.kinds import CATEGORICAL, MOST_CANDIDATES
from paretozoom.kernels.pareto_zoom import blocks, drift, sites
from paretozoom.kernels.pareto_zoom import cells as geometry
from paretozoom.kernels.pareto_zoom import memory as m
from paretozoom.kernels.pareto_zoom.settings import COUNT, Settings
from paretozoom.policies import stored
from paretozoom.policies.pareto_zoom.terms import form_terms_of, simple_of, terms_of
from paretozoom.problem import Problem
from paretozoom.problem.dimensions import Floats, Ints
from paretozoom.problem.feasible import encode_feasible
from paretozoom.records import Refused

ALL_BITS = 60  # of a site's key, which is a whole number of 63
FIRST_ROOM = 64  # of arrays, which grow

Arrays = Mapping[str, npt.NDArray[Any]]


def allocate(
    problem: Problem, settings: Settings, key: Ints, along_front: bool, learned: Mapping[str, int], weights: Any = None
) -> Any:
    """Memory for a problem, with some sizes of what was learned given."""
    encoding, terms = problem.encoding, terms_of(problem, settings)
    arms, dim, context = len(encoding.arms), len(encoding.kinds), encoding.context
    boxes = np.zeros((0, 0)) if arms else encode_feasible(problem, [{}])
    candidates = arms or MOST_CANDIDATES
    (simple, simple_of_arms), form_size = simple_of(problem, terms), int(settings.form_size)
    form_terms = form_terms_of(arms, len(simple), settings)
    wide = len(simple) if 1 < form_terms < len(simple) else 0
    axes = len({j for j, _ in terms.functions if j >= dim})
    sizes = {
        "context": context,
        "dim": dim,
        "arm_dim": dim - context,
        "objectives": len(problem.objectives),
        "arms": arms,
        "finer": dim - context + (arms > 0),
        "coordinates": dim + (arms > 0),
        "key0": int(key[0]),
        "key1": int(key[1]),
        "along_front": int(along_front),
        "candidates": candidates,
        "prefers": int(weights is not None),
        "are_labels": int(arms > 0 and dim == context + 1 and encoding.kinds[context] == CATEGORICAL),
        "boxes": len(boxes),
        "per_box": candidates_of(problem, settings),
        "box": boxes.shape[1],
        "most_cells": most_cells_of(problem, settings),
        "functions": len(terms.functions),
        "raw_functions": terms.raw,
        "context_functions": terms.of_contexts,
        "arm_functions": len(terms.functions) - terms.of_contexts,
        "trend_room": len(terms.factors),
        "trend_sums": len(terms.factors),
        "smooth_room": smooth_room_of(dim, len(terms.functions) > terms.of_contexts, settings),
        "smooth_sums": smooth_room_of(dim, len(terms.functions) > terms.of_contexts, settings) if axes else 0,
        "most_levels": m.MOST_LEVELS,
        "forms": arms,
        "form_blocks": len(problem.objectives) * arms,
        "form_terms": form_terms,
        "simple": len(simple),
        "simple_of_arms": len(simple_of_arms),
        "wide_functions": wide,
        "axes": axes,
        "scales": dim + axes,
        "past_room": 2 * int(settings.last_smooth_fit) if wide or axes else 0,
        "settings": COUNT,
        "members": m.MEMBERS,
        "places": 1 << int(settings.most_bits),
        "corners": candidates << int(settings.most_mixed),
        "most_blocks": 1 << int(settings.most_mixed),
        "two": 2,
        "three": 3,
        "four": 4,
        "next": int(settings.first_rewards),
        **learned,
    }
    rooms = {"site_room": _room(sizes.get("sites", 0)), "block_room": _room(sizes.get("blocks", 0))}
    slots = {"site_slots": 2 * rooms["site_room"], "block_slots": 2 * rooms["block_room"]}
    f, i = m.memory.allocate({**sizes, **rooms, **slots, "cell_room": sizes.get("used", 0)})
    given = {
        "settings": astuple(settings),
        "kinds": encoding.kinds,
        "values": encoding.values,
        "bits": bits_of(problem, settings),
        "box": boxes,
        "weight": 0.0 if weights is None else weights,
        "feature": encoding.arms,
        "function": terms.functions,
        "trend_factor": terms.factors,
        "simple_function": simple,
        "simple_of_arm": simple_of_arms,
        "form_size": form_size,
        "form_noise": 1.0,
        "unbounded": [not objective.bounded for objective in problem.objectives],
        "offset": math.nan,
        "noise": 1.0,
        "scale": settings.centre_scale,
    }
    for name, numbers in given.items():
        m.memory.view(name, f, i)[:] = numbers
    m.memory.view("share", f, i)[:, m.LEVELS_] = 1.0
    if arms:
        unit, inverses = 4.0**form_size * np.eye(form_terms), m.memory.view("form_inverse", f, i)
        m.memory.view("form_common_inverse", f, i)[:] = unit
        inverses[:] = unit
        inverses[:, 0, 0] = 4.0 ** max(form_size, settings.form_level)
    return f, i


def bits_of(problem: Problem, settings: Settings) -> list[int]:
    """Into how many bits the coordinates of contexts and arms are read, and the number of a finite arm."""
    encoding, most = problem.encoding, int(settings.most_bits)
    arms, dim, context = len(encoding.arms), len(encoding.kinds), encoding.context
    in_key = context if arms else dim
    labels = np.where(encoding.kinds == CATEGORICAL, np.abs(encoding.values), 0).tolist()
    bits = [(count - 1).bit_length() if count else 0 for count in labels]
    numbered = [max(1, (arms - 1).bit_length())] if arms else []
    plain = [j for j in range(in_key) if encoding.kinds[j] != CATEGORICAL]
    real = _real_arms(problem)
    least = math.ceil(
        math.log2(settings.cells_per_candidate * candidates_of(problem, settings)) / real
    )  # that an arm coordinate has
    wanted = sum(least if j >= context else 1 for j in plain)
    limit = ALL_BITS - sum(numbered) - min(wanted, ALL_BITS // 2)
    while sum(bits[:in_key]) > limit:  # then some labels are not told apart
        bits[bits.index(max(bits[:in_key]))] -= 1
    left = ALL_BITS - sum(bits[:in_key]) - sum(numbered)
    for j in reversed(plain):  # arms first: what cannot be told apart cannot be played apart
        share = left // (plain.index(j) + 1)
        bits[j] = min(most, max(share, least) if j >= context else share, left)
        left -= bits[j]
    for j in range(in_key, dim):
        bits[j] = bits[j] if encoding.kinds[j] == CATEGORICAL else int(settings.feature_bits)
    return [*bits, *numbered]


def candidates_of(problem: Problem, settings: Settings) -> int:
    """How many candidates are laid on a continuum of arms, by its dimensions."""
    wanted = min(settings.most_candidates, settings.line_candidates * 4 ** (_real_arms(problem) - 1))
    return min(1 << int(wanted - 1).bit_length(), MOST_CANDIDATES)


def _real_arms(problem: Problem) -> int:
    """The number of continuous arm coordinates: 1, 2, or 3 for more."""
    encoding = problem.encoding
    return min(max(int((encoding.values[encoding.context :] == 0).sum()), 1), 3)


def most_cells_of(problem: Problem, settings: Settings) -> int:
    """The most cells of arms of a level: one for each finite arm, or a few for each candidate.

    Values of a discrete coordinate are halved as if they were a power of two.
    """
    encoding = problem.encoding
    if len(encoding.arms):
        return min(len(encoding.arms), int(settings.most_groups))
    values: list[int] = [abs(count) for count in encoding.values[encoding.context :].tolist() if count]
    points = int(lattice.points_per_cell(math.prod(values), candidates_of(problem, settings)))
    return max(1, int(settings.cells_per_candidate * points)) << sum((count - 1).bit_length() for count in values)


def smooth_room_of(coordinates: int, tells_arms_apart: bool, settings: Settings) -> int:
    """The most terms of a smooth estimate: none if it could not tell arms apart."""
    return int(min(settings.most_terms, settings.terms_per_coordinate * coordinates)) if tells_arms_apart else 0


def _room(size: int) -> int:
    return max(FIRST_ROOM, 1 << (size - 1).bit_length()) if size else FIRST_ROOM


def filled(
    problem: Problem, settings: Settings, key: Ints, along_front: bool, arrays: Arrays, number: int, weights: Any = None
) -> Any:
    """Memory with what a snapshot says that was learned in so many decisions."""
    sizes = stored.sizes_in(m.memory, arrays)
    d = len(problem.objectives)
    _check_sizes(sizes, number, d)
    f, i = allocate(problem, settings, key, along_front, {}, weights)
    rooms = {name: int(i[m.memory.place(name)]) for name in ("trend_room", "smooth_room")}
    if sizes["trend_terms"] not in (0, rooms["trend_room"]) or sizes["smooth_terms"] > rooms["smooth_room"]:
        raise Refused(
            f"snapshot: sizes give {sizes['trend_terms']} and {sizes['smooth_terms']} terms, more than there are"
        )
    known = {name: int(i[m.memory.place(name)]) for name in m.memory.sizes}
    stored.check_shapes(m.memory, {**known, **sizes}, arrays)
    f, i = allocate(problem, settings, key, along_front, sizes, weights)
    stored.fill(m.memory, f, i, arrays)
    _check_sites(problem, settings, f, i, number)
    _check_terms(f, i)
    _check_sums(settings, f, i)
    rows = _checked_levels(problem, settings, f, i)
    if rows[:, 2].sum() != sizes["numbered"] or not _blocks_hold(f, i, rows):
        raise Refused("snapshot: blocks are of other cells than the sites lie in")
    return f, i


def _check_sizes(sizes: Mapping[str, int], number: int, d: int) -> None:
    told, due, following = sizes["told"], sizes["due"], sizes["next"]
    counted = ("told", "searched", "trend_fitted", "form_fitted", "found", "forgotten")
    right = sizes["parts"] < d and max(sizes[name] for name in counted) <= number
    right = right and sizes["forgets"] <= 1 and sizes["levels"] <= m.MOST_LEVELS and sizes["sites"] <= max(1, number)
    if not (right and told < following + 1 <= 2 * number + 64 and (sizes["levels"] == 0 or told < due <= 2 * told + 1)):
        raise Refused(f"snapshot: sizes are {dict(sizes)}, which {number} decisions cannot have made")


def _check_sites(problem: Problem, settings: Settings, f: Floats, i: Ints, number: int) -> None:
    """Refuse sites that are no places of the problem, or have more rewards than there were decisions."""
    n, bits, arms = int(i[m.SITES]), bits_of(problem, settings), len(problem.encoding.arms)
    keys, counts = m.memory.view("site_key", f, i)[:n], m.memory.view("site_count", f, i)[:, :n]
    all_bits = sum(bits[: problem.encoding.context]) + bits[-1] if arms else sum(bits)
    if n and (keys.max() >> all_bits or (arms and (keys & ((1 << bits[-1]) - 1)).max() >= arms)):
        raise Refused("snapshot: site_key names a place that does not exist")
    if len(np.unique(keys)) < n:
        raise Refused("snapshot: site_key names a place twice")
    if n and counts.sum(axis=1).max() > number:
        raise Refused(f"snapshot: site_count holds more than the rewards of {number} decisions")
    sites.fill_slots_of(f, i)


def _check_sums(settings: Settings, f: Floats, i: Ints) -> None:
    """Refuse sums that no rewards have, and shares that are none; and arms of the past that there are not."""
    if i[m.ARMS] > 0 and (m.memory.view("past_arm", f, i)[: int(i[m.PAST])] < 0).any():
        raise Refused("snapshot: past_arm names an arm that does not exist")
    offset, counts = m.memory.view("offset", f, i), m.memory.view("site_count", f, i)
    if (np.isnan(offset) & (counts.sum(axis=1) > 0)).any():
        raise Refused(f"snapshot: offset is {offset.tolist()}, expected a number for each objective with rewards")
    watched, share = m.memory.view("watched", f, i), m.memory.view("share", f, i)
    if (watched[[drift.PAIRS, drift.SQUARES, drift.EXPECTED]] < 0).any():
        raise Refused(f"snapshot: watched is {watched.tolist()}, expected no negative sums of squares")
    if (np.abs(share.sum(axis=1) - 1) > 1e-6).any():
        raise Refused(f"snapshot: share is {share.tolist()}, expected shares that add up to 1")
    for name in ("trend_covariance", "smooth_covariance", "trend_gram", "smooth_gram", "form_gram"):
        if (np.diagonal(m.memory.view(name, f, i), axis1=1, axis2=2) < -1e-6).any():
            raise Refused(f"snapshot: {name} holds negative variances")
    for name in ("trend_gram", "smooth_gram", "form_gram"):  # sums of products are no more than sums of squares allow
        gram = m.memory.view(name, f, i)
        root = np.sqrt(np.maximum(np.diagonal(gram, axis1=1, axis2=2), 0)) * (1 + 1e-6) + 1e-9
        if (np.abs(gram) > root[:, :, None] * root[:, None, :]).any():
            raise Refused(f"snapshot: {name} holds sums that no rewards have")
    sizes, forms = 4.0 ** m.memory.view("form_size", f, i), int(i[m.FORMS])
    own = np.maximum(sizes[:, 1], 4.0**settings.form_level)
    for name, most in (("form_common_inverse", sizes[:, 0]), ("form_inverse", np.repeat(own, forms))):
        matrices, slack = m.memory.view(name, f, i), 1e-3 * most
        variances = np.diagonal(matrices, axis1=1, axis2=2)
        if (variances < -slack[:, None]).any() or (np.abs(matrices) > (most + slack)[:, None, None]).any():
            raise Refused(f"snapshot: {name} holds variances that are negative, or above those beforehand")
    levels = m.memory.view("block_level", f, i)[: int(i[m.BLOCKS])]
    cells, d = m.memory.view("arm_cells", f, i)[levels], int(i[m.OBJECTIVES])
    if d * m.STATISTICS * cells.sum() != i[m.USED]:
        raise Refused("snapshot: cells are not as many as blocks have")
    rows = np.tile(np.arange(m.STATISTICS), len(cells) * d)
    kinds = np.repeat(rows, np.repeat(cells, d * m.STATISTICS))
    statistics = m.memory.view("cells", f, i)[: int(i[m.USED])]
    for kind in (m.COUNT_, m.SQUARE_, m.ERROR_):
        if (statistics[kinds == kind] < 0).any():
            raise Refused("snapshot: cells hold negative counts, squares or standard errors")


def _check_terms(f: Floats, i: Ints) -> None:
    """Refuse terms that are no products of functions of different coordinates, in order."""
    n = int(i[m.SMOOTH_TERMS])
    factors, functions = m.memory.view("smooth_factor", f, i)[:n], m.memory.view("function", f, i)
    changes = np.diff(functions[1:, 0], prepend=-1) != 0  # those of axes follow those of contexts
    coordinate = np.concatenate([[-1], np.cumsum(changes) - 1])
    of = coordinate[factors]
    apart = (np.diff(factors, axis=1) >= 0) & ((np.diff(of, axis=1) > 0) | (of[:, :2] < 0))
    if n and not (apart.all() and not factors[0].any() and len(np.unique(factors, axis=0)) == n):
        raise Refused("snapshot: smooth_factor holds terms that there are not")


def _checked_levels(problem: Problem, settings: Settings, f: Floats, i: Ints) -> Ints:
    """Levels as rows (splits inside and outside, cells of arms, depths); what no policy can have made is refused."""
    encoding, bits = problem.encoding, np.array(bits_of(problem, settings))
    context, arms, count = encoding.context, len(encoding.arms), int(i[m.LEVELS])
    names = ("inner", "outer", "arm_cells")
    rows = np.column_stack(
        [*(m.memory.view(name, f, i)[:count] for name in names), m.memory.view("depth", f, i)[:count]]
    )
    depths = rows[:, 3:]
    steps = np.diff(depths, axis=0, prepend=np.zeros((1, depths.shape[1]), np.int64))
    right = (steps >= 0).all() and (depths <= bits).all() and (not count or not depths[0].any())
    most, digits = most_cells_of(problem, settings), _digits_of_arms(f, i)
    for row, step in zip(rows, steps, strict=True):
        inner = np.flatnonzero(step[context:])
        right = right and len(inner) <= 1 and row[0] == (int(inner[-1]) + context if len(inner) else -1)
        right = right and (arms > 0 or step[context:].sum() <= 1)
        right = right and (row[1] == -1 or (0 <= row[1] < context and step[row[1]] > 0))
        if right and arms:
            right = row[2] == len(np.unique(digits >> (bits - row[3:])[context:], axis=0))
        right = right and (arms > 0 or row[2] == 1 << int(row[3 + context :].sum())) and 1 <= row[2] <= most
    if not right:
        raise Refused("snapshot: depth holds levels that this policy cannot have made")
    return np.ascontiguousarray(rows)


def _digits_of_arms(f: Floats, i: Ints) -> Ints:
    digits = np.zeros((int(i[m.ARMS]), int(i[m.COORDINATES])), np.int64)
    for arm, row in enumerate(digits):
        sites.digits_of_arm(f, i, arm, row)
    return digits[:, int(i[m.CONTEXT]) :]


def _blocks_hold(f: Floats, i: Ints, rows: Ints) -> bool:
    """Write what follows from levels, sites and blocks; whether blocks are just those that sites lie in."""
    told, due = (m.memory.view(name, f, i)[: int(i[m.BLOCKS])] for name in ("block_told", "block_due"))
    if not ((told < due) & (due <= 2 * told + 1)).all():
        return False
    return bool(blocks.restore(f, i, rows, geometry.number_arms(f, i, rows)))
