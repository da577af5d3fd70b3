"""The definitions of the metrics, round by round, in the user's units."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any

from paretozoom.environments.base import Task
from paretozoom.records import Round


def regret(task: Task, rounds: Sequence[Round]) -> dict[str, Any]:
    gaps = [task.gap(r.decision.context, r.decision.arm) for r in rounds]
    last = gaps[-math.ceil(len(gaps) / 5) :]
    return {"regret": math.fsum(gaps), "mean_gap": math.fsum(gaps) / len(gaps), "tail_gap": math.fsum(last) / len(last)}


def front_share(task: Task, rounds: Sequence[Round]) -> dict[str, Any]:
    hits = [task.optimal(r.decision.context, r.decision.arm) for r in rounds]
    last = hits[-math.ceil(len(hits) / 5) :]
    return {"front_share": sum(hits) / len(hits), "front_share_tail": sum(last) / len(last)}


def paper_bin(decision: Any) -> int | None:
    """Which sixth of [y1, y2] = [0.8 - 0.8x, 1 - 0.8x] an arm of the paper's task lies in."""
    along = decision.arm["y"] - (0.8 - 0.8 * decision.context["x"])
    return max(0, math.ceil(30 * along) - 1) if 0 <= along <= 0.2 else None


def paper_bins(rounds: Iterable[Round]) -> dict[str, Any]:
    found = [paper_bin(r.decision) for r in rounds]
    counts = [found.count(k) for k in range(6)]
    return {"bins": [count / sum(counts) for count in counts], "bin_ratio": min(counts) / max(counts)}


def paper_local_entropy(rounds: Iterable[Round]) -> dict[str, Any]:
    per_slice: dict[int, Counter[int]] = {}
    for r in rounds:
        part = paper_bin(r.decision)
        if part is not None:
            per_slice.setdefault(math.floor(20 * r.decision.context["x"]), Counter())[part] += 1
    return {"local_entropy": mean_entropy(per_slice)}


def mean_entropy(per_slice: dict[int, Counter[int]]) -> float | None:
    """Of the six bins in slices with at least 30 rounds, corrected for few of them; None if there is no such slice."""
    scores = []
    for counts in per_slice.values():
        n = counts.total()
        if n >= 30:
            entropy = -sum(c / n * math.log(c / n) for c in counts.values()) + (len(counts) - 1) / (2 * n)
            scores.append((min(1.0, entropy / math.log(6)), n))
    return sum(s * n for s, n in scores) / sum(n for _, n in scores) if scores else None


def mean_reward(rounds: Sequence[Round]) -> dict[str, Any]:
    names = rounds[0].reward
    return {"mean_reward": {name: math.fsum(r.reward[name] for r in rounds) / len(rounds) for name in names}}


def hypervolume(vectors: Iterable[Sequence[float]]) -> float:
    """The volume between 0 and some vectors: inclusion and exclusion over all subsets."""
    vectors = list(vectors)
    total = 0.0
    for size in range(1, len(vectors) + 1):
        for chosen in itertools.combinations(vectors, size):
            total -= (-1) ** size * math.prod(map(min, zip(*chosen, strict=True)))
    return total
