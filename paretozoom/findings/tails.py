"""How the rewards of an objective are spread: few that make most of the variance, or few that are other than the rest.

The largest 1 % of squared deviations of normal rewards make 8 % of their variance. Where they make three times as much,
means are moved by few rewards. Rewards that nearly always have one value are told apart: there what is few is counted.
"""

from __future__ import annotations

import msgspec
import numpy as np

from paretozoom.findings.finding import Finding, percent
from paretozoom.problem.dimensions import Floats, Ints, Objective

LARGEST = 0.01  # of the squared deviations: how many are called the largest
OF_NORMAL = 0.0845  # of the variance, that these make of normal rewards
HEAVY = 0.25  # three times that
FEWEST = 500  # rewards, for a share of so few to mean something
FEWEST_OTHERS = 200  # of a rare kind, for their own spread to mean something
RARE = 0.05  # the share of other values up to which they are called rare
WIDE = 10  # times the first percentile is the last, for a logarithm to be worth telling
FIFTH = 25  # of (1 - rate) / rate: how many rewards tell a rate to a fifth of itself


class Tails(msgspec.Struct, frozen=True):
    """How the rewards of an objective are spread, in the user's units.

    `largest_share` is the share of the variance that the largest 1 % of squared deviations make; of rewards that
    nearly always have one value, among the `others`. `cut_mean` is the mean of the same rewards cut off at the first
    and the last percentile, `percentiles` are the 1st, 50th and 99th.

    >>> luck = np.random.default_rng(1)
    >>> found = Tails.of(Objective("r", bounded=False), luck.standard_t(2.1, 10_000))
    >>> found.largest_share > 0.3, found.is_heavy, found.is_rare
    (True, True, False)
    >>> sold = Tails.of(Objective("sold"), (luck.random(10_000) < 0.01).astype(float))
    >>> sold.is_heavy, sold.is_rare, sold.common
    (False, True, 0.0)
    """

    objective: str
    rounds: int
    common: float  # the value that most rewards have
    others: int  # rewards of another value
    two_valued: bool
    largest_share: float
    mean: float
    cut_mean: float
    percentiles: tuple[float, float, float]
    explained: bool = False  # arm and context tell which rewards are far from the rest: it is no noise

    @classmethod
    def of(cls, objective: Objective, reward: Floats) -> Tails:
        """Of some rewards, oriented and scaled."""
        n = len(reward)
        values, count = np.unique(reward, return_counts=True)
        common = values[np.argmax(count)]
        others = reward[reward != common]
        is_rare = 0 < len(others) <= RARE * n
        low, middle, high = np.quantile(reward, [LARGEST, 0.5, 1 - LARGEST])
        lowest, _, highest = sorted(map(objective.decode, (low, middle, high)))
        return cls(
            objective.name,
            n,
            objective.decode(common),
            len(others),
            len(values) == 2,
            largest_share(others if is_rare else reward),
            objective.decode(float(reward.mean())),
            objective.decode(float(np.clip(reward, low, high).mean())),
            (lowest, objective.decode(middle), highest),
        )

    @property
    def is_rare(self) -> bool:
        """Whether nearly all rewards have one value."""
        return self.rounds >= FEWEST and 0 < self.others <= RARE * self.rounds

    @property
    def is_heavy(self) -> bool:
        """Whether few rewards make most of the variance, and not because few are other than the rest."""
        enough = self.others >= FEWEST_OTHERS if self.is_rare else self.rounds >= FEWEST
        return enough and not self.two_valued and not self.explained and self.largest_share >= HEAVY

    @property
    def findings(self) -> list[Finding]:
        """What is to be said of it."""
        found = []
        if self.is_rare:
            rate = self.others / self.rounds
            needed = round(FIFTH * (1 - rate) / rate, -2)
            text = f"rare: {self.others:,} of {self.rounds:,} rewards are other than {self.common:g} ({percent(rate)})."
            advice = (
                f"An arm tells such a rate to a fifth of itself after {needed:,.0f} rounds. Reward an earlier step "
                "too, that happens more often."
            )
            numbers = {"rounds": self.rounds, "others": self.others, "rate": rate}
            found.append(Finding("rare-rewards", self.objective, rate, text, advice, numbers))
        if self.is_heavy:
            low, middle, high = self.percentiles
            which = f" of those other than {self.common:g}" if self.is_rare else ""
            much = "most" if self.largest_share > 0.5 else "much"
            text = (
                f"few rewards make {much} of the variance: the largest 1 %{which} make {percent(self.largest_share)} "
                f"(of normal rewards 8 %). The middle is {middle:.4g}, 98 % lie between {low:.4g} and {high:.4g}."
            )
            how = "its logarithm, or cut it off" if 0 < low < high / WIDE else "it cut off"
            advice = (
                f"If a typical reward will do, tell {how} at these two, with the objective's low and high to match. If "
                f"the mean is wanted, do not: it would be {self.cut_mean:.4g} instead of {self.mean:.4g}."
            )
            found.append(Finding("few-rewards", self.objective, self.largest_share, text, advice, self.numbers()))
        return found

    def numbers(self) -> dict[str, float]:
        """The same as numbers."""
        return {
            "rounds": self.rounds,
            "largest_share": self.largest_share,
            "other_share": self.others / max(1, self.rounds),
            "mean": self.mean,
            "cut_mean": self.cut_mean,
            **dict(zip(("percentile_1", "median", "percentile_99"), self.percentiles, strict=True)),
        }


def largest_share(reward: Floats) -> float:
    """The share of the sum of squared deviations that the largest 1 % of them make; 0 if there are none.

    >>> round(largest_share(np.array([-1.0, 1.0] * 99 + [10.0, -10.0])), 3)
    0.503
    """
    square = np.sort((reward - reward.mean()) ** 2) if len(reward) else np.zeros(0)
    whole, most = float(square.sum()), -(-len(square) // 100)
    return float(square[len(square) - most :].sum()) / whole if whole > 0 else 0.0


def largest_share_of_sums(count: Ints, total: Floats, square: Floats) -> float:
    """The same of rewards of which groups are known by their sums: at least so much, and just so if each is alone.

    >>> reward = np.array([-1.0, 1.0] * 99 + [10.0, -10.0])
    >>> round(largest_share_of_sums(np.ones(200, int), reward, reward**2), 3)
    0.503
    """
    n = int(count.sum())
    if n == 0:
        return 0.0
    mean = float(total.sum()) / n
    each = np.maximum(square - 2 * mean * total + mean * mean * count, 0.0) / np.maximum(count, 1)
    order = np.argsort(-each)
    whole, before = float(each @ count), np.cumsum(count[order]) - count[order]
    taken = np.clip(-(-n // 100) - before, 0, count[order])
    return float(each[order] @ taken) / whole if whole > 0 else 0.0
