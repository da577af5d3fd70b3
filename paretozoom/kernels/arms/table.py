"""What policies with finitely many arms share: the table of arms, context cells, feasible arms, the draw.

The state is two flat arrays. First come the problem and the adaptations (arms, half widths of their cells, divisions of
the contexts, weights), then the policy's constants and what it has learned, then scratch. A policy lays out its
constants and what it learns as it likes, from `at.constants`, `at.floats` and `at.ints` on.
"""

from __future__ import annotations

from typing import NamedTuple

from paretozoom.kernels.core.jit import Floats, Ints, inlined, kernel, part
from paretozoom.kernels.core.kinds import CATEGORICAL
from paretozoom.kernels.core.pareto import mark_front
from paretozoom.kernels.core.philox import uniforms

# i[:HEADER]; LISTED is 1 if the problem's arms are finitely many, WITHIN 1 if an arm stands for its whole cell,
# LEARNED how many numbers a reward is for the policy, WEIGHTS 0 or the number of objectives that are summed.
CONTEXT, DIM, ARMS, LISTED, WITHIN, LEARNED, WEIGHTS, KEY0, KEY1, CONSTANTS, FLOATS, INTS = range(12)
HEADER = 12

PLAY_STREAM = 1 << 20  # of the place within an arm's cell; the choice of the arm uses streams from 0 on


class Table(NamedTuple):
    """Sizes, and where each part of the two arrays begins."""

    context: int
    dim: int
    arms: int
    learned: int
    # parts of f
    weights: int  # (objectives,) if rewards are summed
    arm: int  # (arms, arm coordinates)
    half: int  # (arm coordinates,) half the width of an arm's cell; 0 for discrete coordinates
    constants: int
    floats: int  # what was learned
    indices: int  # scratch: (learned, listed arms)
    # parts of i
    kinds: int  # (dim,)
    values: int  # (dim,)
    divisions: int  # (context,) into how many cells a context coordinate is divided
    ints: int  # what was learned
    listed: int  # scratch: (arms,) the feasible arms
    chosen: int  # scratch: (arms,) a mark for each listed arm
    spare: int  # scratch: (arms,)
    # lengths
    all_floats: int
    all_ints: int


@kernel
def table(i: Ints) -> Table:
    """Read the layout off a header."""
    context, dim, arms, learned = i[CONTEXT], i[DIM], i[ARMS], i[LEARNED]
    arm = i[WEIGHTS]
    half = arm + arms * (dim - context)
    constants = half + dim - context
    floats = constants + i[CONSTANTS]
    index = floats + i[FLOATS]
    values = HEADER + dim
    divisions = values + dim
    ints = divisions + context
    listed = ints + i[INTS]
    return Table(
        context,
        dim,
        arms,
        learned,
        0,
        arm,
        half,
        constants,
        floats,
        index,
        HEADER,
        values,
        divisions,
        ints,
        listed,
        listed + arms,
        listed + 2 * arms,
        index + arms * learned,
        listed + 3 * arms,
    )


@kernel
def cell_of(i: Ints, at: Table, point: Floats) -> int:
    """The number of the context cell a point lies in; the first coordinate counts most."""
    cell = 0
    for j in range(at.context):
        parts = i[at.divisions + j]
        place = int(point[j]) if i[at.kinds + j] == CATEGORICAL else int(point[j] * parts)
        cell = cell * parts + min(place, parts - 1)
    return cell


@part
def cells_in(i: Ints, at: Table) -> int:
    """How many context cells there are."""
    cells = 1
    for j in range(at.context):
        cells *= i[at.divisions + j]
    return cells


@kernel
def list_arms(f: Floats, i: Ints, at: Table, allowed: Floats) -> int:
    """List the feasible arms; returns how many they are, 0 if no arm of a grid is."""
    if len(allowed) == 0:
        for arm in range(at.arms):
            i[at.listed + arm] = arm
        return at.arms
    if i[LISTED] == 1:
        for row in range(len(allowed)):
            i[at.listed + row] = int(allowed[row, 0])
        return len(allowed)
    listed, coordinates = 0, at.dim - at.context
    for arm in range(at.arms):
        for row in range(len(allowed)):
            inside = True
            for j in range(coordinates):
                place = f[at.arm + arm * coordinates + j]
                inside = inside and allowed[row, j] <= place <= allowed[row, coordinates + j]
            if inside:
                i[at.listed + listed] = arm
                listed += 1
                break
    return listed


@part
def choose(f: Floats, i: Ints, at: Table, listed: int, u: float) -> tuple[int, float]:
    """Draw uniformly among the listed arms whose indices no other dominates; returns arm and probability.

    The indices are at f[at.indices...]: the first numbers of all listed arms, then the second ones, and so on.
    """
    mark_front(f, at.indices, at.learned, i, at.chosen, listed, at.spare)
    marked = 0
    for k in range(listed):
        marked += i[at.chosen + k]
    return i[at.listed + marked_place(i, at, int(u * marked))], 1.0 / marked


@part
def marked_place(i: Ints, at: Table, steps: int) -> int:
    """The place of the marked arm that comes after `steps` others."""
    k = 0
    while i[at.chosen + k] == 0 or steps > 0:
        steps -= i[at.chosen + k]
        k += 1
    return k


@kernel
def play(
    f: Floats, i: Ints, at: Table, number: int, point: Floats, arm: int, probability: float, allowed: Floats
) -> tuple[int, float]:
    """Write an arm to the point: itself, or a random feasible place in its cell; returns finite arm and density."""
    coordinates = at.dim - at.context
    for j in range(coordinates):
        point[at.context + j] = f[at.arm + arm * coordinates + j]
    density = probability
    if i[WITHIN] == 1 and i[LISTED] == 0:
        density /= _play_in_cell(f, i, at, number, point, allowed)
    return (arm if i[LISTED] == 1 else -1), density


@part
def _play_in_cell(f: Floats, i: Ints, at: Table, number: int, point: Floats, allowed: Floats) -> float:
    """Move the point to a random place of its cell that is feasible; returns the size of what is."""
    total, chosen = 0.0, 0
    for row in range(len(allowed)):
        total += _overlap(f, at, point, allowed[row])
    left = uniforms(i[KEY0], i[KEY1], number, PLAY_STREAM - 1)[0] * total
    while chosen < len(allowed) - 1 and left >= _overlap(f, at, point, allowed[chosen]):
        left -= _overlap(f, at, point, allowed[chosen])
        chosen += 1
    size, coordinates = 1.0, at.dim - at.context
    for j in range(coordinates):
        middle, half = point[at.context + j], f[at.half + j]
        if half > 0.0:
            draw = uniforms(i[KEY0], i[KEY1], number, PLAY_STREAM + j // 4)[j % 4]
            size *= 2.0 * half
            if len(allowed) == 0:
                point[at.context + j] = min(1.0, max(0.0, middle + (2.0 * draw - 1.0) * half))
            else:
                low = max(middle - half, allowed[chosen, j])
                high = min(middle + half, allowed[chosen, coordinates + j])
                point[at.context + j] = low + (high - low) * draw
    return total if len(allowed) > 0 else size


@part
def _overlap(f: Floats, at: Table, point: Floats, box: Floats) -> float:
    """The size of what a box and the cell around a point have in common."""
    size, coordinates = 1.0, at.dim - at.context
    for j in range(coordinates):
        middle, half = point[at.context + j], f[at.half + j]
        if half > 0.0:
            size *= max(0.0, min(middle + half, box[coordinates + j]) - max(middle - half, box[j]))
        elif not box[j] <= middle <= box[coordinates + j]:
            return 0.0
    return size


@part
def play_anywhere(f: Floats, i: Ints, at: Table, number: int, point: Floats, allowed: Floats) -> tuple[int, float]:
    """Draw from feasible boxes that hold no arm of the grid; returns the nearest of these and the density.

    A box is drawn by its size, then a place in it; where arms are played at the centres of their cells, the middle of
    the box is, and the density is a probability.
    """
    coordinates, total, chosen, middle = at.dim - at.context, 0.0, 0, i[WITHIN] == 0
    for row in range(len(allowed)):
        total += _size(i, at, allowed[row])
    left = uniforms(i[KEY0], i[KEY1], number, 0)[0] * total
    while chosen < len(allowed) - 1 and left >= _size(i, at, allowed[chosen]):
        left -= _size(i, at, allowed[chosen])
        chosen += 1
    for j in range(coordinates):
        draw = 0.5 if middle else uniforms(i[KEY0], i[KEY1], number, PLAY_STREAM + j // 4)[j % 4]
        low, high = allowed[chosen, j], allowed[chosen, coordinates + j]
        point[at.context + j] = low + (high - low) * draw
    return nearest_arm(f, i, at, point), (_size(i, at, allowed[chosen]) if middle else 1.0) / total


@part
def _size(i: Ints, at: Table, box: Floats) -> float:
    size, coordinates = 1.0, len(box) // 2
    for j in range(coordinates):
        if i[at.values + at.context + j] == 0:
            size *= box[coordinates + j] - box[j]
    return size


@part
def nearest_arm(f: Floats, i: Ints, at: Table, point: Floats) -> int:
    """The arm of the table nearest to the arm of a point."""
    best, least, coordinates = 0, 1e300, at.dim - at.context
    for arm in range(at.arms):
        apart = 0.0
        for j in range(coordinates):
            gap = f[at.arm + arm * coordinates + j] - point[at.context + j]
            categorical = i[at.kinds + at.context + j] == CATEGORICAL
            apart += (1.0 if gap != 0.0 else 0.0) if categorical else gap * gap
        if apart < least:
            best, least = arm, apart
    return best


@inlined
def learned_number(f: Floats, i: Ints, at: Table, reward: Floats, o: int) -> float:
    """Number o of a reward, as the policy learns it: an objective, or the weighted sum of those with a weight."""
    if i[WEIGHTS] == 0:
        return reward[o]
    total = 0.0
    for objective in range(i[WEIGHTS]):
        if f[at.weights + objective] > 0.0:
            total += f[at.weights + objective] * reward[objective]
    return total
