"""The linear models of LinUCB and SupLinUCB: joint features z for each stage, own features x for each arm, or both.

floats: for each stage a model of the joint features; then for each arm a model of its own features and B = sum x z',
(own, joint). Without joint features this is LinUCB's disjoint model, without own ones the shared model, with both the
hybrid one; SupLinUCB has no own features, and only it has more than one stage.

The hybrid's steps "A0 += B' A^-1 B with the old, A0 += z z' - B' A^-1 B with the new A and B" add up to one outer
product, of q / sqrt(1 + x' A^-1 x) with q = z - B' A^-1 x; those of b0 to q (r - b' A^-1 x) / (1 + x' A^-1 x).
"""

from __future__ import annotations

import math

import numpy as np

from paretozoom.kernels.arms.table import Table
from paretozoom.kernels.core.inverses import raise_inverse
from paretozoom.kernels.core.jit import Floats, Ints, kernel, part
from paretozoom.kernels.linear.linear import (
    BASE,
    EXPLORATION,
    JOINT,
    OWN,
    STAGES,
    add_to,
    block_size,
    constant,
    estimate,
    join,
    observe,
    spread_arm,
    spread_context,
)


@part
def own_block(f: Floats, at: Table, arm: int) -> int:
    """Where the model of an arm's own features begins."""
    own, joint = constant(f, at, OWN), constant(f, at, JOINT)
    first = at.floats + constant(f, at, STAGES) * block_size(joint, at.learned)
    return first + arm * (block_size(own, at.learned) + own * joint)


@kernel
def _take_off(f: Floats, cross: int, solved: Floats, joint: Floats) -> None:
    """Turn z into q = z - B' A^-1 x."""
    k = len(joint)
    for r in range(len(solved)):
        add_to(joint, 0, -solved[r], f[cross + r * k : cross + (r + 1) * k])


@part
def estimate_linear(
    f: Floats, i: Ints, at: Table, stage: int, point: Floats, listed: int, means: Floats, widths: Floats
) -> None:
    """Write means (listed, learned) and widths (listed,) of the listed arms at the context in `point`."""
    base, joint = np.empty(constant(f, at, BASE)), np.empty(constant(f, at, JOINT))
    own = base[: constant(f, at, OWN)]
    solved, solved_joint = np.empty(len(own)), np.empty(len(joint))
    shared = at.floats + stage * block_size(len(joint), at.learned)
    spread_context(i, at, point, base)
    for k in range(listed):
        arm = i[at.listed + k]
        spread_arm(f, i, at, arm, base)
        join(f, at, base, joint)
        block = own_block(f, at, arm)
        means[k] = 0.0
        variance = estimate(f, block, own, solved, means[k])
        _take_off(f, block + block_size(len(own), at.learned), solved, joint)
        variance += estimate(f, shared, joint, solved_joint, means[k])
        widths[k] = f[at.constants + EXPLORATION] * math.sqrt(max(variance, 0.0))


@part
def observe_linear(f: Floats, i: Ints, at: Table, stage: int, point: Floats, arm: int, rewards: Floats) -> None:
    """Add one observation of an arm at the context in `point`."""
    base, joint = np.empty(constant(f, at, BASE)), np.empty(constant(f, at, JOINT))
    own, means = base[: constant(f, at, OWN)], np.zeros(at.learned)
    solved, k = np.empty(len(own)), len(joint)
    spread_context(i, at, point, base)
    spread_arm(f, i, at, arm, base)
    join(f, at, base, joint)
    shared, block = at.floats + stage * block_size(k, at.learned), own_block(f, at, arm)
    cross = block + block_size(len(own), at.learned)
    variance = estimate(f, block, own, solved, means)
    rest = joint.copy()
    _take_off(f, cross, solved, rest)
    for o in range(at.learned):
        add_to(f, shared + k * (k + o), (rewards[o] - means[o]) / (1.0 + variance), rest)
    for c in range(k):
        rest[c] /= math.sqrt(1.0 + variance)
    raise_inverse(f, shared, k, rest, np.empty(k))
    observe(f, block, own, solved, rewards)
    for r in range(len(own)):
        add_to(f, cross + r * k, own[r], joint)
